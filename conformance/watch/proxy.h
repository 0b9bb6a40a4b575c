// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Proxy: stands between clients and a server and passes every message on, byte for byte: a ROUTER
// towards the clients, and for each client a DEALER of its own towards the server, with the
// client's routing id where it chose one, so that the server sees the same peers. What passed is
// also given to an observer, in batches, on the proxy's thread.
//
// Nothing is dropped: what the server does not take waits in memory, and so does what a client does
// not take, up to kRepliesPerClientMax messages; what is above is counted as lost. The constructor
// throws std::runtime_error when it cannot bind or connect. One thread runs it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>
#include <zmq.hpp>

namespace kvc::conformance {

inline constexpr int kRepliesPerClientMax = 1 << 20;

// One message that passed. Frames share their bytes with what was sent.
struct Passed {
  double t_ms = 0;   // since the proxy was made
  int client = 0;    // counts from 1
  bool sent = true;  // by the client
  std::vector<zmq::message_t> frames;
};

class Proxy {
 public:
  // Called after each round of passing on, with what passed, in order. Null: nothing is copied.
  using Observe = std::function<void(std::vector<Passed> batch)>;

  Proxy(zmq::context_t& context, const std::string& listen, const std::string& target,
        Observe observe);

  const std::string& endpoint() const { return endpoint_; }  // with the port that was chosen

  // Passes messages on until `stop_fd` is readable.
  void run(int stop_fd);

  std::uint64_t num_lost() const { return num_lost_; }  // after run()
  double now_ms() const;

 private:
  struct Peer {
    std::string identity;
    zmq::socket_t server;
  };

  void take_from_clients();
  void take_from_server(std::size_t index);
  std::size_t peer_of(const zmq::message_t& identity);
  void receive_rest(zmq::socket_t& socket, std::vector<zmq::message_t>& frames);
  void note(std::size_t index, bool sent, const std::vector<zmq::message_t>& frames,
            std::size_t from);

  zmq::context_t& context_;
  zmq::socket_t clients_;
  std::string endpoint_;
  std::string target_;
  Observe observe_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Peer>> peers_;
  std::unordered_map<std::string, std::size_t> peer_indices_;  // by routing id at clients_
  std::vector<Passed> batch_;
  std::vector<zmq::message_t> frames_;  // of the message in hand
  std::uint64_t num_lost_ = 0;
};

}  // namespace kvc::conformance
