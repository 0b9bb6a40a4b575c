// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Client: one DEALER socket with an identity of its own, as one engine process is to the server.
// Frames go out exactly as given, so a case can send what no honest client would. Every frame sent
// and received is recorded for the failure's report and its repro/ folder.
//
// Waiting: a reply that is due must come within the run's timeout, else Finding kSilent is thrown
// (or kDead, when a probe then finds the server gone). Not thread-safe: one client, one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/trace.h"
#include "kvc/protocol/bytes.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/request_type.h"

namespace kvc::conformance {

struct Reply {
  Frames frames;  // as received: uid, type, and the result if there is one

  bool has_result() const { return frames.size() > 2; }
};

// A request that was sent and may be answered: its uid and type frames.
struct Sent {
  Bytes uid;
  Bytes type;
  RequestType request_type = RequestType::kNoop;
};

class RunContext;  // endpoint, registry, timeouts, trace; see run_context.h

class Client {
 public:
  explicit Client(RunContext& context);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  // Sends frames as they are.
  void send_frames(const Frames& frames);

  // Sends [uid][type][payloads…] with the next uid of this client and the release's number.
  Sent send(RequestType type, const Frames& payloads);

  // The payloads encoded by type: send(RequestType::kLookup, key, Int(1)).
  template <class... Payloads>
  Sent send_values(RequestType type, const Payloads&... payloads) {
    return send(type, Frames{encoded(payloads)...});
  }

  // The next message for this client, whatever it answers; nothing within `wait`: nullopt.
  std::optional<Reply> receive(std::chrono::milliseconds wait);

  // The reply to `sent`. Replies to other requests that come first are kept for their own wait.
  // Checks the envelope: uid and type byte for byte, at most three frames.
  Reply reply_to(const Sent& sent);

  // send_values, reply_to, and the result decoded as T. T = None expects two frames (or nil).
  template <class T, class... Payloads>
  T call(RequestType type, const Payloads&... payloads) {
    return result<T>(reply_to(send_values(type, payloads...)));
  }

  // The reply's result as T; Finding kWrong with the decoder's words when it is none.
  template <class T>
  T result(const Reply& reply) const;

  // Replies that came and that nobody has asked for.
  std::vector<Reply> unclaimed() const;

  // Proof that everything sent on this client before has been dealt with as far as it ever will be:
  // a NOOP and a PING sent now are answered, and a short grace has passed. What came meanwhile is
  // in unclaimed(). (SYNC answers leave the loop in order; PING runs on the pool of BLOCKING
  // requests.)
  void fence();

  // fence(), then: no reply to any of `silent` came. `what` is said in the failure.
  void expect_silence(const std::vector<Sent>& silent, const std::string& what);
  void expect_silence(const Sent& silent, const std::string& what);

  // The same for raw frames: nothing at all came but the fence's own answers.
  void expect_nothing(const std::string& what);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kvc::conformance
