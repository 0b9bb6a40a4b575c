// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <zmq.hpp>
#include <zmq_addon.hpp>

#include "conformance/harness/message_text.h"
#include "conformance/harness/probe.h"
#include "conformance/harness/release.h"
#include "conformance/harness/run_context.h"
#include "conformance/harness/verdict.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// How often a wait looks whether the run is over or the server's process gone.
constexpr milliseconds kSlice{20};

// After so much silence a wait asks NOOP from a new client at the same time, so that a dead server
// costs one timeout and not two.
constexpr milliseconds kProbeAfter{500};

// Requests that move data run on a pool that a fence does not pass through (it would need a
// registered engine): they get a longer grace.
constexpr int kDataGraceFactor = 10;

// The fence's own uids: far from what a case counts or writes by hand.
constexpr std::uint64_t kFenceUid = 0xfe00000000000000U;

bool moves_data(RequestType type) {
  switch (type) {
    case RequestType::kStore:
    case RequestType::kRetrieve:
    case RequestType::kCbStorePreComputed:
    case RequestType::kCbRetrievePreComputed:
    case RequestType::kCbStoreFinal:
    case RequestType::kCbRetrievePreComputedV2:
      return true;
    default:
      return false;
  }
}

std::string name_of(const RunContext& context, const Sent& sent) {
  const Result<const Definition*> definition = decode_type_frame(context.registry(), sent.type);
  if (definition) return std::string(to_string((*definition)->type));
  return "type frame " + to_hex(sent.type);
}

}  // namespace

struct Client::Impl {
  explicit Impl(RunContext& run)
      : context(run), number(run.next_client_number()), socket(run.sockets(), ZMQ_DEALER) {
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::sndhwm, 0);
    socket.set(zmq::sockopt::rcvhwm, 0);
    socket.set(zmq::sockopt::reconnect_ivl, 20);
    socket.connect(run.endpoint());
  }

  void send(const Frames& frames) {
    context.trace().add(number, true, frames);
    for (std::size_t i = 0; i < frames.size(); ++i)
      socket.send(zmq::const_buffer(frames[i].data(), frames[i].size()),
                  i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }

  // Waits for a message on the socket, and reads it.
  std::optional<Reply> read(milliseconds wait) {
    zmq::pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
    if (zmq::poll(&item, 1, wait) == 0) return std::nullopt;
    Reply reply;
    zmq::message_t frame;
    do {
      if (!socket.recv(frame, zmq::recv_flags::none)) break;
      const auto* data = frame.data<std::uint8_t>();
      reply.frames.emplace_back(data, data + frame.size());
    } while (frame.more());
    context.trace().add(number, false, reply.frames);
    return reply;
  }

  std::optional<Reply> take(const Bytes& uid) {
    const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const Reply& reply) {
      return !reply.frames.empty() && reply.frames.front() == uid;
    });
    if (found == waiting.end()) return std::nullopt;
    Reply reply = std::move(*found);
    waiting.erase(found);
    return reply;
  }

  Finding silent(const Sent& sent) const {
    std::string actual = fmt::format("no reply within {} ms", context.settings().timeout.count());
    if (!waiting.empty())
      actual += "; meanwhile came " + describe_response(context.registry(), waiting.back().frames);
    return {Verdict::kSilent, "a reply to " + name_of(context, sent), actual, context.step()};
  }

  Finding dead(const Sent& sent, const std::string& how) const {
    return {Verdict::kDead, "a reply to " + name_of(context, sent), how, context.step()};
  }

  Reply await(const Sent& sent) {
    const milliseconds timeout = context.settings().timeout;
    const milliseconds probe_timeout = context.settings().probe_timeout;
    const Clock::time_point start = Clock::now();
    std::optional<Probe> probe;
    while (true) {
      if (std::optional<Reply> reply = take(sent.uid)) return *std::move(reply);
      const auto age = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
      if (context.interrupted()) throw Interrupted{};
      if (age >= kSlice) {
        if (const auto exit = context.server_exit())
          throw dead(sent, "the server's process " + *exit);
      }
      if (!probe && age >= std::min(kProbeAfter, timeout)) probe.emplace(context);
      if (probe && !probe->answered() && probe->age() >= probe_timeout)
        throw dead(sent, fmt::format("no reply, and NOOP from a new client is not answered within "
                                     "{} ms either",
                                     probe_timeout.count()));
      if (age >= timeout && probe && probe->answered()) throw silent(sent);
      if (std::optional<Reply> reply = read(kSlice)) waiting.push_back(*std::move(reply));
    }
  }

  // Reads whatever comes within `grace`.
  void drain(milliseconds grace) {
    const Clock::time_point end = Clock::now() + grace;
    while (true) {
      const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
      std::optional<Reply> reply = read(std::max(left, milliseconds(0)));
      if (reply)
        waiting.push_back(*std::move(reply));
      else if (left <= milliseconds(0))
        return;
    }
  }

  Sent send_fence(RequestType type) {
    Sent sent{encoded(Int(kFenceUid + num_fences++)), encode_type_frame(context.registry(), type),
              type};
    send({sent.uid, sent.type});
    return sent;
  }

  void fence(milliseconds grace) {
    std::vector<Sent> posts = {send_fence(RequestType::kNoop)};
    if (context.ping_answers()) posts.push_back(send_fence(RequestType::kPing));
    for (const Sent& post : posts) await(post);
    drain(grace);
  }

  RunContext& context;
  int number;
  zmq::socket_t socket;
  std::uint64_t next_uid = 0;
  std::uint64_t num_fences = 0;
  std::deque<Reply> waiting;
};

Client::Client(RunContext& context) : impl_(std::make_unique<Impl>(context)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

void Client::send_frames(const Frames& frames) { impl_->send(frames); }

Sent Client::send(RequestType type, const Frames& payloads) {
  require_type(impl_->context.registry(), type);
  Sent sent{encoded(Int(impl_->next_uid++)), encode_type_frame(impl_->context.registry(), type),
            type};
  Frames frames = {sent.uid, sent.type};
  frames.insert(frames.end(), payloads.begin(), payloads.end());
  impl_->send(frames);
  return sent;
}

std::optional<Reply> Client::receive(milliseconds wait) {
  if (!impl_->waiting.empty()) {
    Reply reply = std::move(impl_->waiting.front());
    impl_->waiting.pop_front();
    return reply;
  }
  const Clock::time_point end = Clock::now() + wait;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    if (std::optional<Reply> reply = impl_->read(std::clamp(left, milliseconds(0), kSlice)))
      return reply;
    if (left <= milliseconds(0)) return std::nullopt;
    if (impl_->context.interrupted()) throw Interrupted{};
    if (impl_->context.server_exit()) return impl_->read(milliseconds(0));
  }
}

Reply Client::reply_to(const Sent& sent) {
  Reply reply = impl_->await(sent);
  const RunContext& context = impl_->context;
  const auto fail = [&](const std::string& expected) {
    throw Finding{Verdict::kWrong,
                  fmt::format("{} in the reply to {}", expected, name_of(context, sent)),
                  describe_response(context.registry(), reply.frames), context.step()};
  };
  if (reply.frames.size() < 2) fail("the uid and the type frame");
  if (reply.frames[1] != sent.type)
    fail("the type frame " + to_hex(sent.type) + ", byte for byte,");
  if (reply.frames.size() > 3) fail("at most three frames");
  return reply;
}

template <class T>
T Client::result(const Reply& reply) const {
  const RunContext& context = impl_->context;
  const auto fail = [&](const std::string& why) {
    throw Finding{Verdict::kWrong, fmt::format("a result of type {}", to_string(wire_type_of<T>)),
                  fmt::format("{} ({})", describe_response(context.registry(), reply.frames), why),
                  context.step()};
  };
  if (!reply.has_result()) {
    if constexpr (std::is_same_v<T, None> || std::is_same_v<T, OptionalInt>) return T{};
    fail("no result frame");
  }
  Result<T> value = decode<T>(reply.frames[2]);
  if (!value) fail(value.error().text());
  return *std::move(value);
}

template None Client::result<None>(const Reply&) const;
template Int Client::result<Int>(const Reply&) const;
template bool Client::result<bool>(const Reply&) const;
template std::string Client::result<std::string>(const Reply&) const;
template Bytes Client::result<Bytes>(const Reply&) const;
template OptionalInt Client::result<OptionalInt>(const Reply&) const;
template TransferResult Client::result<TransferResult>(const Reply&) const;
template Ranges Client::result<Ranges>(const Reply&) const;
template CBMatchResults Client::result<CBMatchResults>(const Reply&) const;

std::vector<Reply> Client::unclaimed() const {
  return {impl_->waiting.begin(), impl_->waiting.end()};
}

void Client::fence() { impl_->fence(impl_->context.settings().grace); }

void Client::expect_silence(const std::vector<Sent>& silent, const std::string& what) {
  const bool data = std::any_of(silent.begin(), silent.end(),
                                [](const Sent& sent) { return moves_data(sent.request_type); });
  const RunContext& context = impl_->context;
  impl_->fence(context.settings().grace * (data ? kDataGraceFactor : 1));
  for (const Sent& sent : silent) {
    for (const Reply& reply : impl_->waiting) {
      if (reply.frames.empty() || reply.frames.front() != sent.uid) continue;
      throw Finding{Verdict::kWrong, "no reply to " + what,
                    describe_response(context.registry(), reply.frames), context.step()};
    }
  }
}

void Client::expect_silence(const Sent& silent, const std::string& what) {
  expect_silence(std::vector<Sent>{silent}, what);
}

void Client::expect_nothing(const std::string& what) {
  const RunContext& context = impl_->context;
  impl_->fence(context.settings().grace);
  if (impl_->waiting.empty()) return;
  throw Finding{Verdict::kWrong, "no reply to " + what,
                describe_response(context.registry(), impl_->waiting.front().frames),
                context.step()};
}

}  // namespace kvc::conformance
