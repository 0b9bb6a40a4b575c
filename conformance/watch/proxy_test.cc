// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/watch/proxy.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <mutex>
#include <optional>
#include <thread>

#include "conformance/harness/client.h"
#include "conformance/harness/run_context.h"
#include "conformance/harness/stub_server.h"

namespace kvc::conformance {
namespace {

// A proxy before a stub server, and what passed.
class ProxyTest : public testing::Test {
 protected:
  ProxyTest() : stop_fd_(::eventfd(0, 0)) {
    proxy_.emplace(sockets_, "tcp://127.0.0.1:*", server_.endpoint(),
                   [this](std::vector<Passed> batch) {
                     const std::lock_guard lock(mutex_);
                     for (Passed& passed : batch) passed_.push_back(std::move(passed));
                   });
    thread_ = std::thread([this] { proxy_->run(stop_fd_); });
    context_.set_endpoint(proxy_->endpoint());
  }
  ~ProxyTest() override {
    stop();
    ::close(stop_fd_);
  }
  void stop() {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(stop_fd_, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    thread_.join();
  }

  StubServer server_;
  zmq::context_t sockets_{1};
  std::mutex mutex_;
  std::vector<Passed> passed_;
  int stop_fd_;
  std::optional<Proxy> proxy_;
  std::thread thread_;
  RunContext context_{registry_0_4_5(), RunSettings{}};
};

TEST_F(ProxyTest, PassesEveryMessageOnByteForByte) {
  constexpr int kRequests = 300;
  const Bytes uid{0xcf, 0, 0, 0, 0, 0, 0, 0, 7};  // not minimal
  const Bytes type{0xcd, 0, 14};
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) clients.emplace_back(context_);
  for (int i = 0; i < kRequests; ++i)
    clients[static_cast<std::size_t>(i) % 3].send_frames({uid, type});
  for (int i = 0; i < kRequests; ++i) {
    const auto reply = clients[static_cast<std::size_t>(i) % 3].receive(std::chrono::seconds(5));
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->frames.size(), 3u);
    EXPECT_EQ(reply->frames[0], uid);
    EXPECT_EQ(reply->frames[1], type);
  }
  stop();
  EXPECT_EQ(passed_.size(), 2u * kRequests);
  EXPECT_EQ(proxy_->num_lost(), 0u);
  EXPECT_EQ(server_.num_requests(), kRequests);
}

TEST_F(ProxyTest, KeepsClientsApartAndTellsThemApart) {
  Client first(context_);
  Client second(context_);
  EXPECT_EQ(first.call<std::string>(RequestType::kNoop), "OK");
  EXPECT_EQ(second.call<std::string>(RequestType::kNoop), "OK");
  EXPECT_EQ(first.call<std::string>(RequestType::kNoop), "OK");
  stop();
  ASSERT_EQ(passed_.size(), 6u);
  std::vector<int> clients;
  for (const Passed& passed : passed_) clients.push_back(passed.client);
  EXPECT_EQ(clients, (std::vector<int>{1, 1, 2, 2, 1, 1}));
}

TEST(Proxy, SaysWhereItCannotListenOrConnect) {
  zmq::context_t sockets(1);
  EXPECT_THROW(Proxy(sockets, "tcp://nowhere", "tcp://127.0.0.1:1", nullptr), std::runtime_error);
  EXPECT_THROW(Proxy(sockets, "tcp://127.0.0.1:*", "junk", nullptr), std::runtime_error);
}

}  // namespace
}  // namespace kvc::conformance
