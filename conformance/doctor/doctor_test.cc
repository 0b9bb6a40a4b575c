// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The doctor beside all sorts of patients, each in the test's process.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "conformance/doctor/listener.h"
#include "conformance/doctor/machine_checks.h"
#include "conformance/doctor/no_answer.h"
#include "conformance/doctor/target_checks.h"
#include "conformance/harness/child_process.h"
#include "conformance/harness/stub_server.h"
#include "kvc/protocol/codec.h"

namespace kvc::conformance {
namespace {

using Kind = Listener::Kind;
constexpr std::chrono::milliseconds kWait{5000};

// Takes connections and says `greeting` on each.
class PlainServer {
 public:
  explicit PlainServer(std::string greeting) : greeting_(std::move(greeting)) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(fd_, 4), 0);
    socklen_t size = sizeof(address);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    endpoint_ = fmt::format("tcp://127.0.0.1:{}", ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~PlainServer() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  PlainServer(const PlainServer&) = delete;
  PlainServer& operator=(const PlainServer&) = delete;

  const std::string& endpoint() const { return endpoint_; }

 private:
  void serve() {
    while (true) {
      const int peer = ::accept(fd_, nullptr, nullptr);
      if (peer < 0) return;
      if (::send(peer, greeting_.data(), greeting_.size(), MSG_NOSIGNAL) >= 0) {
        pollfd item{peer, POLLRDHUP, 0};  // until the other side has had enough
        ::poll(&item, 1, 10'000);
      }
      ::close(peer);
    }
  }

  std::string greeting_;
  int fd_;
  std::string endpoint_;
  std::thread thread_;
};

std::string bound(zmq::socket_t& socket) {
  socket.bind("tcp://127.0.0.1:*");
  return socket.get(zmq::sockopt::last_endpoint);
}

TEST(Listener, TellsWhoIsThere) {
  EXPECT_EQ(look_at("tcp://127.0.0.1:" + std::to_string(free_port()), kWait).kind, Kind::kNobody);
  EXPECT_EQ(look_at("ipc:///nowhere/at/all", kWait).kind, Kind::kNobody);
  EXPECT_EQ(look_at("tcp://no-such-host.invalid:5555", kWait).kind, Kind::kUnknownHost);
  for (const char* junk :
       {"junk", "tcp://", "tcp://:5", "tcp://127.0.0.1", "tcp://127.0.0.1:x", ""})
    EXPECT_EQ(look_at(junk, kWait).kind, Kind::kBadEndpoint) << junk;
  EXPECT_EQ(look_at(PlainServer("").endpoint(), std::chrono::milliseconds(50)).kind, Kind::kSilent);
}

TEST(Listener, ShowsWhatAnotherProtocolSays) {
  const PlainServer http("HTTP/1.1 400 Bad Request\r\n\r\n");
  const Listener listener = look_at(http.endpoint(), std::chrono::milliseconds(100));
  EXPECT_EQ(listener.kind, Kind::kOther);
  EXPECT_EQ(listener.detail, "HTTP/1.1 400 Bad Request....");
  EXPECT_TRUE(listener.local);
}

TEST(Listener, NamesTheTypeOfAZeroMqSocket) {
  zmq::context_t context(1);
  zmq::socket_t router(context, zmq::socket_type::router);
  const Listener right = look_at(bound(router), kWait);
  EXPECT_TRUE(right.is_router());
  EXPECT_EQ(right.mechanism, "NULL");
  zmq::socket_t pub(context, zmq::socket_type::pub);
  EXPECT_EQ(look_at(bound(pub), kWait).socket_type, "PUB");
  zmq::socket_t guarded(context, zmq::socket_type::router);
  guarded.set(zmq::sockopt::plain_server, 1);
  const Listener plain = look_at(bound(guarded), kWait);
  EXPECT_EQ(plain.mechanism, "PLAIN");
  EXPECT_FALSE(plain.is_router());
  EXPECT_NE(in_words(plain, "E").find("PLAIN"), std::string::npos);
}

TEST(Listener, SurvivesLies) {
  // A greeting that promises more than comes, and one with a READY that ends in the middle.
  std::string greeting(64, '\0');
  greeting[0] = '\xff';
  greeting[9] = '\x7f';
  greeting[10] = '\x03';
  EXPECT_EQ(
      look_at(PlainServer(greeting.substr(0, 20)).endpoint(), std::chrono::milliseconds(50)).kind,
      Kind::kZmq);
  greeting.replace(12, 4, "NULL");
  const PlainServer cut(greeting + std::string("\x04\xff\x05READY\x0bSocket-Type\x00", 20));
  const Listener listener = look_at(cut.endpoint(), std::chrono::milliseconds(50));
  EXPECT_EQ(listener.kind, Kind::kZmq);
  EXPECT_EQ(listener.socket_type, "");
}

RunSettings quick_settings() {
  RunSettings settings;
  settings.timeout = std::chrono::milliseconds(300);
  settings.probe_timeout = settings.timeout;
  return settings;
}

TEST(NoAnswer, SaysWhatToDo) {
  RunContext context(registry_0_4_5(), quick_settings());
  const auto why = [&](const std::string& endpoint) {
    context.set_endpoint(endpoint);
    return why_no_answer(context, endpoint);
  };
  EXPECT_NE(why("tcp://127.0.0.1:" + std::to_string(free_port())).find("is this its port?"),
            std::string::npos);
  EXPECT_NE(why(PlainServer("+OK\r\n").endpoint()).find("speaks no ZeroMQ"), std::string::npos);
  zmq::context_t sockets(1);
  zmq::socket_t pub(sockets, zmq::socket_type::pub);
  EXPECT_NE(why(bound(pub)).find("the server's is a ROUTER"), std::string::npos);
  StubServer::Flaws silent;
  silent.silent = true;
  EXPECT_NE(why(StubServer(silent).endpoint()).find("dead since an earlier message"),
            std::string::npos);
}

// A server of another release: it answers one number with OK.
class OtherRelease {
 public:
  explicit OtherRelease(int noop) : noop_(encoded(Int(noop))) {
    router_ = zmq::socket_t(context_, zmq::socket_type::router);
    router_.set(zmq::sockopt::linger, 0);
    router_.set(zmq::sockopt::rcvtimeo, 20);
    endpoint_ = bound(router_);
    thread_ = std::thread([this] { serve(); });
  }
  ~OtherRelease() {
    stop_ = true;
    thread_.join();
  }
  OtherRelease(const OtherRelease&) = delete;
  OtherRelease& operator=(const OtherRelease&) = delete;

  const std::string& endpoint() const { return endpoint_; }

 private:
  void serve() {
    while (!stop_) {
      std::vector<zmq::message_t> frames(1);
      if (!router_.recv(frames[0])) continue;
      while (frames.back().more()) {
        if (!router_.recv(frames.emplace_back())) return;
      }
      if (frames.size() != 3 || frames[2] != zmq::message_t(noop_.data(), noop_.size())) continue;
      for (zmq::message_t& frame : frames) router_.send(frame, zmq::send_flags::sndmore);
      router_.send(zmq::str_buffer("\xa2OK"), zmq::send_flags::none);
    }
  }

  Bytes noop_;
  zmq::context_t context_{1};
  zmq::socket_t router_;
  std::string endpoint_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(NoAnswer, NamesTheReleaseThatIsSpoken) {
  RunContext context(registry_0_4_5(), quick_settings());
  const OtherRelease later(19);
  context.set_endpoint(later.endpoint());
  EXPECT_NE(why_no_answer(context, later.endpoint()).find("as release 0.4.6"), std::string::npos);
  const OtherRelease earlier(registry_0_4_2().find(RequestType::kNoop)->number);
  context.set_endpoint(earlier.endpoint());
  EXPECT_NE(why_no_answer(context, earlier.endpoint()).find("say --release 0.4.2"),
            std::string::npos);
}

TEST(Doctor, FindsAHealthyServerHealthy) {
  const StubServer server;
  RunContext context(registry_0_4_5(), quick_settings());
  context.set_endpoint(server.endpoint());
  const CheckList quick = check_target(context, true);
  EXPECT_FALSE(quick.any_wrong()) << in_words(quick);
  const CheckList whole = check_target(context, false);
  EXPECT_GT(whole.checks.size(), quick.checks.size());
}

TEST(Doctor, FindsWhatIsWrong) {
  StubServer::Flaws flaws;
  flaws.answers_wrong = true;
  const StubServer wrong(flaws);
  RunContext context(registry_0_4_5(), quick_settings());
  context.set_endpoint(wrong.endpoint());
  EXPECT_TRUE(check_target(context, true).any_wrong());
  flaws = {};
  flaws.no_ping = true;
  const StubServer no_ping(flaws);
  context.set_endpoint(no_ping.endpoint());
  const CheckList list = check_target(context, false);
  EXPECT_TRUE(list.any_wrong());
  EXPECT_NE(in_words(list).find("PING"), std::string::npos);
}

TEST(Doctor, LooksAtTheMachine) {
  const CheckList list = check_machine();
  EXPECT_GE(list.checks.size(), 5u);
  EXPECT_NE(in_words(list).find("shared memory"), std::string::npos);
}

}  // namespace
}  // namespace kvc::conformance
