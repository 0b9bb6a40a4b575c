// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Raw socket: a TCP connection that knows nothing of ZeroMQ, for cases about strangers.
#pragma once

#include <string>

#include "kvc/protocol/bytes.h"

namespace kvc::conformance {

// Connects to "tcp://HOST:PORT", sends `bytes` as far as the peer takes them, and hangs up. False
// when the endpoint is no TCP address or nobody listens there.
bool send_raw_tcp(const std::string& endpoint, ByteView bytes);

}  // namespace kvc::conformance
