// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// StubServer: a small server in a thread, right by default, that tests of the referee make
// misbehave in one named way each. Right means: what a server without a device answers.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "conformance/harness/trace.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

class StubServer {
 public:
  struct Flaws {
    bool silent = false;           // answers nothing at all
    bool swaps_uid = false;        // echoes another uid than it got
    bool answers_twice = false;    // sends each reply two times
    bool answers_wrong = false;    // NOOP is "NO"
    bool answers_unknown = false;  // an unknown type is answered, and not dropped
    bool dies_of_poison = false;   // an unknown type ends the thread's work, as in 0.4.5
    bool to_last_client = false;   // replies go to the client that was heard of before this one
    bool adds_frame = false;       // a fourth frame in each reply
    bool no_ping = false;          // PING is not answered
    int noops_until_death = -1;    // after so many answered NOOPs nothing is answered any more
  };

  explicit StubServer(Flaws flaws);
  StubServer() : StubServer(Flaws{}) {}
  ~StubServer();
  StubServer(const StubServer&) = delete;
  StubServer& operator=(const StubServer&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  int num_requests() const { return num_requests_; }

 private:
  void serve();
  void answer(const Frames& message);
  void reply(const Bytes& identity, const Frames& frames);

  Flaws flaws_;
  zmq::context_t sockets_{1};
  zmq::socket_t router_;
  std::string endpoint_;
  std::atomic<bool> stop_{false};
  std::atomic<int> num_requests_{0};
  bool dead_ = false;
  int num_noops_ = 0;
  Bytes last_client_;
  std::thread thread_;
};

}  // namespace kvc::conformance
