// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// RouterServer: a ROUTER socket and the one thread that reads and writes it. Messages go to whoever
// calls run(), a Dispatcher as a rule; replies of pools come back through a queue and an eventfd.
//
// A peer that vanished or does not read loses its own replies: the ROUTER never blocks, and keeps
// at most kRepliesPerPeerMax of them. The constructor throws std::runtime_error, saying endpoint
// and reason, when the socket cannot be bound. run() returns only when it is asked to stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "server/dispatcher.h"
#include "server/frame.h"
#include "server/request_log.h"

namespace kvc::server {

// Replies that wait for a peer to read them: about 200 bytes each, so 3 MB for a peer that never
// does. What comes above is dropped. TCP's buffers hold some thousands more.
inline constexpr int kRepliesPerPeerMax = 16'384;
// Requests of a peer that libzmq reads ahead; then TCP makes the peer wait.
inline constexpr int kRequestsPerPeerMax = 256;
// A Key of a million tokens takes 5 MB. libzmq closes the connection of a peer that sends more.
inline constexpr std::int64_t kFrameBytesMax = std::int64_t{128} << 20;

// An eventfd: notify() from any thread, readable until drain().
class Notifier {
 public:
  Notifier();
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  void notify() const;  // async-signal-safe
  void drain() const;
  int fd() const { return fd_; }

 private:
  int fd_;
};

class RouterServer final : public ReplySink {
 public:
  // Binds `endpoint`, which may end in ":*". `log` must outlive this.
  RouterServer(zmq::context_t& context, const std::string& endpoint, RequestLog& log);

  // Where it listens, with the port that was chosen.
  const std::string& endpoint() const { return endpoint_; }

  // Calls `on_message` with what is received, until `stop_fd` is readable.
  using OnMessage = std::function<void(Message)>;
  void run(int stop_fd, const OnMessage& on_message);

  void send(Reply reply) override;
  void post(Reply reply) override;

 private:
  bool receive_one(const OnMessage& on_message);  // false when nothing waits
  void send_posted();

  zmq::socket_t socket_;
  std::string endpoint_;
  RequestLog& log_;
  Notifier posted_notifier_;
  std::mutex posted_mutex_;
  std::vector<Reply> posted_;
};

}  // namespace kvc::server
