// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/watch/proxy.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <utility>

namespace kvc::conformance {
namespace {

// Messages of one socket that are passed on before the others get their turn.
constexpr int kMessagesATurn = 256;

}  // namespace

Proxy::Proxy(zmq::context_t& context, const std::string& listen, const std::string& target,
             Observe observe)
    : context_(context),
      clients_(context, zmq::socket_type::router),
      target_(target),
      observe_(std::move(observe)) {
  clients_.set(zmq::sockopt::linger, 0);
  clients_.set(zmq::sockopt::sndhwm, kRepliesPerClientMax);
  clients_.set(zmq::sockopt::router_mandatory, 1);
  try {
    clients_.bind(listen);
    endpoint_ = clients_.get(zmq::sockopt::last_endpoint);
  } catch (const zmq::error_t& error) {
    throw std::runtime_error(fmt::format("cannot listen on {}: {}", listen, error.what()));
  }
  try {
    zmq::socket_t probe(context_, zmq::socket_type::dealer);
    probe.set(zmq::sockopt::linger, 0);
    probe.connect(target_);
  } catch (const zmq::error_t& error) {
    throw std::runtime_error(fmt::format("cannot connect to {}: {}", target_, error.what()));
  }
}

double Proxy::now_ms() const {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
      .count();
}

std::size_t Proxy::peer_of(const zmq::message_t& identity) {
  const std::string_view name(identity.data<char>(), identity.size());
  const auto [found, made] = peer_indices_.try_emplace(std::string(name), peers_.size());
  if (!made) return found->second;
  auto peer = std::make_unique<Peer>();
  peer->identity = found->first;
  peer->server = zmq::socket_t(context_, zmq::socket_type::dealer);
  peer->server.set(zmq::sockopt::linger, 0);
  peer->server.set(zmq::sockopt::sndhwm, 0);
  peer->server.set(zmq::sockopt::rcvhwm, 0);
  // A first byte of zero is libzmq's own choice for a client that made none.
  if (!name.empty() && name[0] != '\0') peer->server.set(zmq::sockopt::routing_id, name);
  peer->server.connect(target_);
  peers_.push_back(std::move(peer));
  return found->second;
}

void Proxy::note(std::size_t index, bool sent, const std::vector<zmq::message_t>& frames,
                 std::size_t from) {
  Passed passed;
  passed.t_ms = now_ms();
  passed.client = static_cast<int>(index) + 1;
  passed.sent = sent;
  passed.frames.reserve(frames.size() - from);
  for (std::size_t i = from; i < frames.size(); ++i) {
    zmq::message_t& frame = passed.frames.emplace_back();
    // The bytes are shared; only the count of their users is written.
    frame.copy(const_cast<zmq::message_t&>(frames[i]));
  }
  batch_.push_back(std::move(passed));
}

void Proxy::receive_rest(zmq::socket_t& socket, std::vector<zmq::message_t>& frames) {
  while (frames.back().more()) {
    zmq::message_t& frame = frames.emplace_back();
    if (!socket.recv(frame, zmq::recv_flags::none)) return;  // whole messages only: never
  }
}

void Proxy::take_from_clients() {
  for (int i = 0; i < kMessagesATurn; ++i) {
    frames_.clear();
    if (!clients_.recv(frames_.emplace_back(), zmq::recv_flags::dontwait)) return;
    receive_rest(clients_, frames_);
    if (frames_.size() < 2) continue;  // a DEALER cannot send less
    const std::size_t index = peer_of(frames_[0]);
    if (observe_) note(index, true, frames_, 1);
    for (std::size_t k = 1; k < frames_.size(); ++k) {
      const bool last = k + 1 == frames_.size();
      peers_[index]->server.send(frames_[k],
                                 last ? zmq::send_flags::none : zmq::send_flags::sndmore);
    }
  }
}

void Proxy::take_from_server(std::size_t index) {
  Peer& peer = *peers_[index];
  for (int i = 0; i < kMessagesATurn; ++i) {
    frames_.clear();
    if (!peer.server.recv(frames_.emplace_back(), zmq::recv_flags::dontwait)) return;
    receive_rest(peer.server, frames_);
    if (observe_) note(index, false, frames_, 0);
    try {
      zmq::message_t identity(peer.identity.data(), peer.identity.size());
      // Where the client is gone, or does not read and has its fill, the first frame says so.
      if (!clients_.send(identity, zmq::send_flags::sndmore | zmq::send_flags::dontwait)) {
        ++num_lost_;
        continue;
      }
      for (std::size_t k = 0; k < frames_.size(); ++k) {
        const bool last = k + 1 == frames_.size();
        clients_.send(frames_[k], last ? zmq::send_flags::none : zmq::send_flags::sndmore);
      }
    } catch (const zmq::error_t&) {
      ++num_lost_;
    }
  }
}

void Proxy::run(int stop_fd) {
  std::vector<zmq::pollitem_t> items;
  while (true) {
    if (items.size() != peers_.size() + 2) {
      items.assign(2, {});
      items[0] = {nullptr, stop_fd, ZMQ_POLLIN, 0};
      items[1] = {clients_.handle(), 0, ZMQ_POLLIN, 0};
      for (const auto& peer : peers_) items.push_back({peer->server.handle(), 0, ZMQ_POLLIN, 0});
    }
    try {
      zmq::poll(items, std::chrono::milliseconds(-1));
    } catch (const zmq::error_t& error) {
      if (error.num() == EINTR) continue;
      throw;
    }
    if (items[0].revents != 0) return;
    const std::size_t num_peers = items.size() - 2;
    for (std::size_t i = 0; i < num_peers; ++i) {
      if (items[i + 2].revents != 0) take_from_server(i);
    }
    if (items[1].revents != 0) take_from_clients();
    if (!batch_.empty()) observe_(std::exchange(batch_, {}));
  }
}

}  // namespace kvc::conformance
