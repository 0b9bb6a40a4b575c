// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/router_server.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <zmq_addon.hpp>

#include "engine/engine.h"
#include "engine/engine_test_support.h"
#include "kvc/device/host_device.h"
#include "server/engine_handlers.h"

namespace kvc::server {
namespace {

// A whole server but for its main(), on a free port.
class RouterServerTest : public testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.chunk_size = test::kChunkSize;
    options.l1_size_bytes = 64 * test::kObjectBytes;
    engine_ = std::make_unique<Engine>(options, *device_);
    ASSERT_TRUE(add_engine_handlers(table_, *engine_, {2, 2}).ok());
    ASSERT_TRUE(table_.check_pools().ok());
    server_ = std::make_unique<RouterServer>(context_, "tcp://127.0.0.1:*", log_);
    dispatcher_ = std::make_unique<Dispatcher>(table_, *server_, log_);
    thread_ = std::thread([this] {
      server_->run(stop_.fd(),
                   [this](Message message) { dispatcher_->dispatch(std::move(message)); });
    });
  }
  void TearDown() override {
    stop_.notify();
    thread_.join();
    table_.stop_pools();
  }

  zmq::socket_t client() {
    zmq::socket_t socket(context_, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::rcvtimeo, 30'000);
    socket.connect(server_->endpoint());
    return socket;
  }
  static void send(zmq::socket_t& socket, const std::vector<Bytes>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i)
      socket.send(zmq::buffer(frames[i].data(), frames[i].size()),
                  i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
  // "uid|type|result" in hex.
  static std::string receive(zmq::socket_t& socket) {
    std::vector<zmq::message_t> frames;
    if (!zmq::recv_multipart(socket, std::back_inserter(frames))) return "nothing";
    std::string text;
    for (const zmq::message_t& frame : frames)
      text += (text.empty() ? "" : "|") +
              to_hex({static_cast<const std::uint8_t*>(frame.data()), frame.size()});
    return text;
  }
  static std::string call(zmq::socket_t& socket, const std::vector<Bytes>& frames) {
    send(socket, frames);
    return receive(socket);
  }

  std::unique_ptr<Device> device_ = create_host_device(test::shm_prefix("r"));
  std::unique_ptr<Engine> engine_;
  HandlerTable table_{registry_0_4_5()};
  RequestLog log_{{[] { return false; }, [](const std::string&) {}, [](const std::string&) {}},
                  steady_clock()};
  zmq::context_t context_;
  Notifier stop_;
  std::unique_ptr<RouterServer> server_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::thread thread_;
};

TEST_F(RouterServerTest, AnswersTheMeasuredBytes) {
  zmq::socket_t socket = client();
  EXPECT_EQ(call(socket, {{1}, {14}}), "01|0e|a24f4b");
  EXPECT_EQ(call(socket, {{2}, {12}}), "02|0c|c3");
  EXPECT_EQ(call(socket, {{3}, {11}}), "03|0b|08");
  EXPECT_EQ(call(socket, {{4}, {10}}), "04|0a");
  EXPECT_EQ(call(socket, {{5}, {6}, encoded(std::string("unknown"))}), "05|06|00");
}

TEST_F(RouterServerTest, SyncRepliesLeaveInOrder) {
  zmq::socket_t socket = client();
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i)
    send(socket, {encoded(Int(i)), i % 2 == 0 ? Bytes{14} : Bytes{11}});
  for (int i = 0; i < kCount; ++i)
    ASSERT_EQ(receive(socket), to_hex(encoded(Int(i))) + (i % 2 == 0 ? "|0e|a24f4b" : "|0b|08"));
}

TEST_F(RouterServerTest, RepliesGoToTheSenderOnly) {
  std::vector<zmq::socket_t> sockets;
  for (int i = 0; i < 8; ++i) sockets.push_back(client());
  for (std::uint8_t round = 0; round < 100; ++round)
    for (std::uint8_t i = 0; i < 8; ++i)
      send(sockets[i], {{i, round}, {round % 3 == 0 ? std::uint8_t{12} : std::uint8_t{14}}});
  for (std::uint8_t i = 0; i < 8; ++i)
    for (std::uint8_t round = 0; round < 100; ++round)
      EXPECT_EQ(receive(sockets[i]).substr(0, 2), to_hex(Bytes{i}));
}

TEST_F(RouterServerTest, JunkStopsNobody) {
  zmq::socket_t bad = client();
  zmq::socket_t good = client();
  const std::vector<std::vector<Bytes>> junk{
      {{1}},
      {{1}, {0xc1}},
      {{1}, {}},
      {{1}, {99}},
      {{1}, {0xa4, 'N', 'O', 'O', 'P'}},
      {{1}, {3}, Bytes(1 << 20, 0x93)},
      {{1}, {15}},
      std::vector<Bytes>(1000),
      {{1}, {14}, Bytes(std::size_t{64} << 20, 0xc1)},
  };
  for (const auto& frames : junk) {
    send(bad, frames);
    EXPECT_EQ(call(good, {{7}, {14}}), "07|0e|a24f4b");
    EXPECT_EQ(call(bad, {{8}, {14}}), "08|0e|a24f4b");
  }
}

TEST_F(RouterServerTest, AClientThatVanishedIsForgotten) {
  for (int i = 0; i < 50; ++i) {
    zmq::socket_t socket = client();
    for (int j = 0; j < 20; ++j) send(socket, {{1}, {12}});
  }
  zmq::socket_t socket = client();
  EXPECT_EQ(call(socket, {{1}, {12}}), "01|0c|c3");
}

TEST_F(RouterServerTest, AClientThatDoesNotReadHoldsUpNobody) {
  zmq::socket_t lazy(context_, zmq::socket_type::dealer);
  lazy.set(zmq::sockopt::linger, 0);
  lazy.set(zmq::sockopt::rcvhwm, 1);
  lazy.connect(server_->endpoint());
  zmq::socket_t good = client();
  for (int i = 0; i < 300'000; ++i) send(lazy, {{1}, {14}});
  EXPECT_EQ(call(good, {{7}, {14}}), "07|0e|a24f4b");
}

TEST_F(RouterServerTest, StoreLookupRetrieveOverTheWire) {
  test::PlayedInstance instance;
  zmq::socket_t socket = client();
  EXPECT_EQ(call(socket, {{1},
                          {1},
                          encoded(Int(1)),
                          encoded(instance.kv_cache()),
                          encoded(std::string("model")),
                          encoded(Int(1)),
                          encoded(EngineType::kVllm),
                          encoded(LayoutHints{})}),
            "01|01");
  const Key key = test::make_key(test::tokens_from(5, test::kChunkSize));
  instance.fill(0, 5);
  instance.fill(1, 6);
  // Pipelined: RETRIEVE's lock is taken by the LOOKUP that follows the STORE's event.
  send(socket, {{2},
                {3},
                encoded(key),
                encoded(Int(1)),
                encoded(test::blocks_from(0, 2)),
                encoded(instance.ready_event())});
  std::vector<zmq::message_t> frames;
  ASSERT_TRUE(zmq::recv_multipart(socket, std::back_inserter(frames)));
  ASSERT_EQ(frames.size(), 3U);
  const auto stored = decode<TransferResult>(
      {static_cast<const std::uint8_t*>(frames[2].data()), frames[2].size()});
  ASSERT_TRUE(stored.ok() && stored->ok);
  instance.wait(*stored);
  EXPECT_EQ(call(socket, {{3}, {5}, encoded(key), encoded(Int(1))}), "03|05");
  EXPECT_EQ(call(socket, {{4}, {6}, encoded(key.request_id)}), "04|06|01");
  send(socket, {{5},
                {4},
                encoded(key),
                encoded(Int(1)),
                encoded(test::blocks_from(4, 2)),
                encoded(instance.ready_event()),
                encoded(Int(0))});
  frames.clear();
  ASSERT_TRUE(zmq::recv_multipart(socket, std::back_inserter(frames)));
  const auto read = decode<TransferResult>(
      {static_cast<const std::uint8_t*>(frames[2].data()), frames[2].size()});
  ASSERT_TRUE(read.ok() && read->ok);
  instance.wait(*read);
  EXPECT_EQ(instance.block(4), instance.filled(5));
  EXPECT_EQ(instance.block(5), instance.filled(6));
  // What cannot be served is said where the result can say it: an instance that is not there.
  EXPECT_EQ(call(socket, {{6},
                          {3},
                          encoded(key),
                          encoded(Int(2)),
                          encoded(test::blocks_from(0, 2)),
                          encoded(instance.ready_event())}),
            "06|03|92c400c2");
}

TEST(RouterServer, SaysWhatItCannotBind) {
  zmq::context_t context;
  RequestLog log({[] { return false; }, [](const std::string&) {}, [](const std::string&) {}},
                 steady_clock());
  for (const char* endpoint : {"nonsense", "tcp://256.0.0.1:1", "tcp://192.0.2.1:5"}) {
    try {
      const RouterServer server(context, endpoint, log);
      ADD_FAILURE() << "bound " << endpoint;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(endpoint), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace kvc::server
