// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/raw_socket.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kvc::conformance {

bool send_raw_tcp(const std::string& endpoint, ByteView bytes) {
  constexpr std::string_view kScheme = "tcp://";
  const std::size_t colon = endpoint.rfind(':');
  if (!endpoint.starts_with(kScheme) || colon < kScheme.size()) return false;
  const std::string host = endpoint.substr(kScheme.size(), colon - kScheme.size());
  const std::string port = endpoint.substr(colon + 1);

  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return false;
  bool connected = false;
  for (const addrinfo* at = found; at != nullptr && !connected; at = at->ai_next) {
    const int socket = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (socket < 0) continue;
    connected = ::connect(socket, at->ai_addr, at->ai_addrlen) == 0;
    std::size_t sent = 0;
    while (connected && sent < bytes.size()) {
      const ssize_t count =
          ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count <= 0) break;  // hung up on, or its buffer is full: enough was said
      sent += static_cast<std::size_t>(count);
    }
    ::close(socket);
  }
  freeaddrinfo(found);
  return connected;
}

}  // namespace kvc::conformance
