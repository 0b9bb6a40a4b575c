// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/router_server.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace kvc::server {
namespace {

// Requests read in a row before replies of the pools get their turn.
constexpr int kReceiveBatch = 64;
// How often an idle loop wakes up to say what the log left out.
constexpr std::chrono::milliseconds kIdleTick{1000};
// How long replies on their way may take when the server stops.
constexpr int kLingerMs = 200;

ByteView view_of(const zmq::message_t& message) {
  return {static_cast<const std::uint8_t*>(message.data()), message.size()};
}

zmq::socket_t bound_socket(zmq::context_t& context, const std::string& endpoint) {
  try {
    zmq::socket_t socket(context, zmq::socket_type::router);
    socket.set(zmq::sockopt::sndhwm, kRepliesPerPeerMax);
    socket.set(zmq::sockopt::rcvhwm, kRequestsPerPeerMax);
    socket.set(zmq::sockopt::maxmsgsize, kFrameBytesMax);
    socket.set(zmq::sockopt::tcp_keepalive, 1);
    socket.set(zmq::sockopt::linger, kLingerMs);
    socket.bind(endpoint);
    return socket;
  } catch (const zmq::error_t& error) {
    const char* hint = "";
    if (error.num() == EADDRINUSE) hint = "; port * picks a free one";
    if (error.num() == EACCES) hint = "; ports below 1024 are root's";
    throw std::runtime_error(fmt::format("cannot bind {}: {}{}", endpoint, error.what(), hint));
  }
}

}  // namespace

Notifier::Notifier() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}
Notifier::~Notifier() { ::close(fd_); }

void Notifier::notify() const {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the fd is readable as wanted.
  [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);
}

void Notifier::drain() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t num_read = ::read(fd_, &count, sizeof count);
}

RouterServer::RouterServer(zmq::context_t& context, const std::string& endpoint, RequestLog& log)
    : socket_(bound_socket(context, endpoint)),
      endpoint_(socket_.get(zmq::sockopt::last_endpoint)),
      log_(log) {}

void RouterServer::run(int stop_fd, const OnMessage& on_message) {
  std::array<zmq::pollitem_t, 3> items{{{socket_.handle(), 0, ZMQ_POLLIN, 0},
                                        {nullptr, posted_notifier_.fd(), ZMQ_POLLIN, 0},
                                        {nullptr, stop_fd, ZMQ_POLLIN, 0}}};
  while (true) {
    try {
      zmq::poll(items.data(), items.size(), kIdleTick);
    } catch (const zmq::error_t& error) {
      if (error.num() == EINTR) continue;
      throw;
    }
    if ((items[2].revents & ZMQ_POLLIN) != 0) break;
    if ((items[0].revents & ZMQ_POLLIN) != 0)
      for (int i = 0; i < kReceiveBatch && receive_one(on_message); ++i) {
      }
    if ((items[1].revents & ZMQ_POLLIN) != 0) {
      posted_notifier_.drain();
      send_posted();
    }
    log_.tick();
  }
  send_posted();
}

bool RouterServer::receive_one(const OnMessage& on_message) {
  Message message;
  bool more = true;
  while (more) {
    auto part = std::make_shared<zmq::message_t>();
    try {
      if (!socket_.recv(*part, zmq::recv_flags::dontwait)) return false;
    } catch (const zmq::error_t& error) {
      if (error.num() == EINTR) continue;
      throw;
    }
    more = part->more();
    if (message.size() < kFramesMax) message.emplace_back(view_of(*part), part);
  }
  on_message(std::move(message));
  return true;
}

void RouterServer::send(Reply reply) {
  const auto send_part = [this](ByteView bytes, bool more) {
    socket_.send(
        zmq::buffer(bytes.data(), bytes.size()),
        (more ? zmq::send_flags::sndmore : zmq::send_flags::none) | zmq::send_flags::dontwait);
  };
  try {
    send_part(reply.identity.view(), true);
    send_part(reply.uid.view(), true);
    send_part(reply.type.view(), reply.result.has_value());
    if (reply.result) send_part(*reply.result, false);
  } catch (const zmq::error_t& error) {
    log_.refused(fmt::format("a reply could not be sent: {}", error.what()));
  }
}

void RouterServer::post(Reply reply) {
  bool was_empty = false;
  {
    const std::lock_guard lock(posted_mutex_);
    was_empty = posted_.empty();
    posted_.push_back(std::move(reply));
  }
  if (was_empty) posted_notifier_.notify();
}

void RouterServer::send_posted() {
  std::vector<Reply> replies;
  {
    const std::lock_guard lock(posted_mutex_);
    replies.swap(posted_);
  }
  for (Reply& reply : replies) send(std::move(reply));
}

}  // namespace kvc::server
