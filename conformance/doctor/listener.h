// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Listener: what is at an endpoint, found out with a plain socket: nobody, something that speaks no
// ZeroMQ, or a ZeroMQ socket and of which type. It says what a ZeroMQ client cannot: libzmq tries
// again for ever and never tells why. Blocks for at most the time given; throws nothing.
//
// The handshake is ZMTP 3.0 (rfc.zeromq.org/spec/23): both sides send a greeting of 64 bytes, then,
// with the NULL mechanism, a READY command whose properties name the socket's type.
#pragma once

#include <chrono>
#include <string>

namespace kvc::conformance {

struct Listener {
  enum class Kind {
    kBadEndpoint,  // no tcp:// or ipc:// endpoint with a host and a port
    kUnknownHost,  // the name has no address
    kNobody,       // refused: nothing listens there
    kUnreachable,  // no answer to the connection in time, no route, no permission
    kSilent,       // a connection, and not a byte
    kOther,        // speaks something else
    kZmq,          // a ZeroMQ socket
  };
  Kind kind = Kind::kBadEndpoint;
  std::string detail;       // the system's reason, or the first bytes of something else
  std::string mechanism;    // of kZmq: "NULL", "CURVE", …
  std::string socket_type;  // of kZmq with NULL: "ROUTER"; empty when it did not say
  bool local = true;        // an address of this machine

  bool is_router() const { return kind == Kind::kZmq && socket_type == "ROUTER"; }
};

Listener look_at(const std::string& endpoint, std::chrono::milliseconds wait);

// "nothing listens at tcp://127.0.0.1:5555 (Connection refused)", in a sentence without its end.
std::string in_words(const Listener& listener, const std::string& endpoint);

}  // namespace kvc::conformance
