// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/doctor/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "kvc/protocol/bytes.h"

namespace kvc::conformance {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kGreetingBytes = 64;
constexpr std::size_t kMechanismAt = 12;
constexpr std::size_t kMechanismBytes = 20;
constexpr std::size_t kShownBytes = 40;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_;
};

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

bool same_host(const sockaddr* a, const sockaddr* b) {
  if (a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET)
    return reinterpret_cast<const sockaddr_in*>(a)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(b)->sin_addr.s_addr;
  if (a->sa_family == AF_INET6)
    return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr,
                       &reinterpret_cast<const sockaddr_in6*>(b)->sin6_addr, sizeof(in6_addr)) == 0;
  return false;
}

bool is_local(const sockaddr* address) {
  if (address->sa_family == AF_UNIX) return true;
  if (address->sa_family == AF_INET &&
      (ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24) == 127)
    return true;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* item = list; item != nullptr; item = item->ifa_next)
    if (item->ifa_addr != nullptr && same_host(address, item->ifa_addr)) return true;
  return false;
}

// Fills `out`, or says in `listener` why there is no address.
std::optional<Address> address_of(const std::string& endpoint, Listener& listener) {
  Address out;
  if (endpoint.starts_with("ipc://")) {
    const std::string path = endpoint.substr(6);
    auto* local = reinterpret_cast<sockaddr_un*>(&out.storage);
    if (path.empty() || path.size() >= sizeof(local->sun_path)) return std::nullopt;
    local->sun_family = AF_UNIX;
    std::memcpy(local->sun_path, path.c_str(), path.size() + 1);
    if (path[0] == '@') local->sun_path[0] = '\0';
    out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() +
                                      (path[0] == '@' ? 0 : 1));
    return out;
  }
  const std::size_t colon = endpoint.rfind(':');
  if (!endpoint.starts_with("tcp://") || colon == std::string::npos || colon <= 6)
    return std::nullopt;
  std::string host = endpoint.substr(6, colon - 6);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  const std::string port = endpoint.substr(colon + 1);
  if (port.empty() || port.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    listener.kind = Listener::Kind::kUnknownHost;
    listener.detail = ::gai_strerror(error);
    return std::nullopt;
  }
  std::memcpy(&out.storage, found->ai_addr, found->ai_addrlen);
  out.size = found->ai_addrlen;
  ::freeaddrinfo(found);
  return out;
}

bool wait_for(int fd, short events, Clock::time_point end) {
  const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
  pollfd item{fd, events, 0};
  return ::poll(&item, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) > 0;
}

// The errno of connecting; 0 when it is connected.
int connect_within(int fd, const Address& address, Clock::time_point end) {
  if (::connect(fd, address.get(), address.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(fd, POLLOUT, end)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

void send_all(int fd, ByteView bytes) {
  // A fresh connection's buffer takes a hundred bytes at once; what does not come shows itself.
  [[maybe_unused]] const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

// Reads until `enough` bytes are there, the other side ends, or the time is up.
void read_until(int fd, Bytes& into, std::size_t enough, Clock::time_point end) {
  std::array<std::uint8_t, 512> buffer{};
  while (into.size() < enough && wait_for(fd, POLLIN, end)) {
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) return;
    into.insert(into.end(), buffer.begin(), buffer.begin() + got);
  }
}

Bytes greeting() {
  Bytes out(kGreetingBytes, 0);
  out[0] = 0xff;
  out[8] = 1;  // the length that older versions read here
  out[9] = 0x7f;
  out[10] = 3;
  std::memcpy(&out[kMechanismAt], "NULL", 4);
  return out;
}

void add_property(Bytes& out, std::string_view name, std::string_view value) {
  out.push_back(static_cast<std::uint8_t>(name.size()));
  out.insert(out.end(), name.begin(), name.end());
  for (const int shift : {24, 16, 8, 0})
    out.push_back(static_cast<std::uint8_t>(value.size() >> shift));
  out.insert(out.end(), value.begin(), value.end());
}

Bytes ready_command() {
  Bytes body{5, 'R', 'E', 'A', 'D', 'Y'};
  add_property(body, "Socket-Type", "DEALER");
  add_property(body, "Identity", "");
  Bytes out{0x04, static_cast<std::uint8_t>(body.size())};
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

// The value of Socket-Type behind the greeting, wherever it stands in the READY command.
std::string socket_type_in(ByteView bytes) {
  const std::string_view text = as_text(bytes);
  constexpr std::string_view kName = "Socket-Type";
  const std::size_t at = text.find(kName);
  if (at == std::string_view::npos || at + kName.size() + 4 > text.size()) return "";
  const std::size_t size = bytes[at + kName.size() + 3];
  return std::string(text.substr(at + kName.size() + 4, size));
}

void ask(int fd, Listener& listener, Clock::time_point end) {
  // Signature and version first: a socket of another mechanism hangs up when it reads ours, before
  // it has told its own.
  const Bytes ours = greeting();
  send_all(fd, ByteView(ours).first(kMechanismAt));
  Bytes got;
  read_until(fd, got, kGreetingBytes, end);
  if (got.empty()) {
    listener.kind = Listener::Kind::kSilent;
    return;
  }
  if (got.size() < 10 || got[0] != 0xff || (got[9] & 1) == 0) {
    listener.kind = Listener::Kind::kOther;
    for (const std::uint8_t byte : ByteView(got).first(std::min(got.size(), kShownBytes)))
      listener.detail += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
    return;
  }
  listener.kind = Listener::Kind::kZmq;
  if (got.size() < kGreetingBytes) return;
  const auto* mechanism = reinterpret_cast<const char*>(&got[kMechanismAt]);
  listener.mechanism = std::string(mechanism, ::strnlen(mechanism, kMechanismBytes));
  if (listener.mechanism != "NULL") return;
  send_all(fd, ByteView(ours).subspan(kMechanismAt));
  send_all(fd, ready_command());
  read_until(fd, got, kGreetingBytes + 2, end);
  if (got.size() >= kGreetingBytes + 2)
    read_until(fd, got, kGreetingBytes + 2 + got[kGreetingBytes + 1], end);
  listener.socket_type = socket_type_in(ByteView(got).subspan(kGreetingBytes));
}

}  // namespace

Listener look_at(const std::string& endpoint, milliseconds wait) {
  Listener listener;
  const Clock::time_point end = Clock::now() + wait;
  const std::optional<Address> address = address_of(endpoint, listener);
  if (!address) return listener;
  listener.local = is_local(address->get());
  const Socket socket(
      ::socket(address->get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (const int error = connect_within(socket.fd(), *address, end); error != 0) {
    const bool nobody = error == ECONNREFUSED || error == ENOENT;
    listener.kind = nobody ? Listener::Kind::kNobody : Listener::Kind::kUnreachable;
    listener.detail = std::strerror(error);
    return listener;
  }
  ask(socket.fd(), listener, end);
  return listener;
}

std::string in_words(const Listener& listener, const std::string& endpoint) {
  using Kind = Listener::Kind;
  switch (listener.kind) {
    case Kind::kBadEndpoint:
      return endpoint + " is no endpoint: tcp://HOST:PORT or ipc://PATH";
    case Kind::kUnknownHost:
      return fmt::format("the host of {} has no address ({})", endpoint, listener.detail);
    case Kind::kNobody:
      return fmt::format("nothing listens at {} ({})", endpoint, listener.detail);
    case Kind::kUnreachable:
      return fmt::format("{} cannot be reached ({})", endpoint, listener.detail);
    case Kind::kSilent:
      return fmt::format("something takes connections at {} and says nothing: no ZeroMQ", endpoint);
    case Kind::kOther:
      return fmt::format("what listens at {} speaks no ZeroMQ; it says \"{}\"", endpoint,
                         listener.detail);
    case Kind::kZmq:
      break;
  }
  if (!listener.mechanism.empty() && listener.mechanism != "NULL")
    return fmt::format("the ZeroMQ socket at {} wants {}, which this protocol does not use",
                       endpoint, listener.mechanism);
  if (listener.socket_type.empty())
    return fmt::format("a ZeroMQ socket of an unknown type listens at {}", endpoint);
  return fmt::format("a ZeroMQ {} listens at {}", listener.socket_type, endpoint);
}

}  // namespace kvc::conformance
