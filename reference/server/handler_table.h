// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// HandlerTable: which function serves which request type, and on which pool. A handler's C++
// signature is checked against the registry when it is added, as the real server inspects its
// handlers; the refusals say the real server's words (seed: mq.py, add_handler and its kin).
//
// A handler takes the decoded payloads and answers Result<R>. An error means "cannot be served":
// where R is TransferResult the client is told (b"", False), else it gets no reply (0.4.5 has no
// frame for errors). Handlers may throw what the environment throws; that is the same refusal.
//
// Filled by one thread before the server starts, immutable afterwards. invoke() may then be called
// from any thread.
#pragma once

#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kvc/protocol/codec.h"
#include "kvc/protocol/registry.h"
#include "kvc/protocol/result.h"
#include "server/thread_pool.h"

namespace kvc::server {

// What came of a request.
struct Outcome {
  bool reply = false;            // false: silence
  std::optional<Bytes> result;   // the third frame, if there is one
  std::optional<Error> refusal;  // for the log
};
using Invoke = std::function<Outcome(std::span<const ByteView> payloads)>;

struct HandlerEntry {
  const Definition* definition = nullptr;
  Invoke invoke;
  std::shared_ptr<ThreadPool> pool;  // null for SYNC

  bool blocking() const { return definition->handler == HandlerType::kBlocking; }
};

class HandlerTable {
 public:
  explicit HandlerTable(const Registry& registry) : registry_(registry) {}

  // Adds `handler`, any callable of the form Result<R>(P...). kInconsistent when the signature is
  // not the registry's or `kind` is NON_BLOCKING.
  template <class F>
  Result<void> add_handler(RequestType type, HandlerType kind, F handler) {
    return add_typed(type, kind, std::function{std::move(handler)});
  }
  // The same, with the kind that the registry says.
  template <class F>
  Result<void> add_handler(RequestType type, F handler) {
    const Result<HandlerType> kind = registry_.get_handler_type(type);
    if (!kind) return kind.error();
    return add_handler(type, *kind, std::move(handler));
  }

  // The same for a signature that is known at run time only.
  Result<void> add_handler_of(RequestType type, HandlerType kind,
                              std::span<const WireType> payloads, WireType result, Invoke invoke);

  // Give a pool to BLOCKING handlers that are already there.
  Result<void> add_normal_thread_pool(const std::vector<RequestType>& types,
                                      std::size_t max_workers);
  Result<void> add_affinity_thread_pool(const std::vector<RequestType>& types,
                                        std::size_t max_workers);
  Result<void> assign_pool(const std::vector<RequestType>& types,
                           const std::shared_ptr<ThreadPool>& pool, const std::string& method_name);

  // Whether the server may start: every BLOCKING handler has a pool.
  Result<void> check_pools() const;

  // Puts `wrapper` around the handler of `type`: how a build with deliberate flaws gets them in
  // without touching a handler. REQUIRES: the handler is there.
  void decorate(RequestType type, const std::function<Invoke(Invoke)>& wrapper);

  // Null where nothing is registered.
  const HandlerEntry* find(RequestType type) const;
  const Registry& registry() const { return registry_; }

  // Lets the pools go: with their last user, their threads end (thread_pool.h). No request may
  // follow.
  void stop_pools();

 private:
  template <class R, class... P>
  Result<void> add_typed(RequestType type, HandlerType kind,
                         std::function<Result<R>(P...)> handler) {
    const std::array<WireType, sizeof...(P)> payloads{wire_type_of<std::remove_cvref_t<P>>...};
    return add_handler_of(type, kind, payloads, wire_type_of<R>,
                          [handler = std::move(handler)](std::span<const ByteView> frames) {
                            return invoke_typed<R, P...>(handler, frames,
                                                         std::index_sequence_for<P...>{});
                          });
  }

  template <class R, class... P, std::size_t... I>
  static Outcome invoke_typed(const std::function<Result<R>(P...)>& handler,
                              std::span<const ByteView> frames, std::index_sequence<I...>) {
    if (frames.size() != sizeof...(P)) return wrong_payload_count(sizeof...(P), frames.size());
    std::tuple<std::optional<std::remove_cvref_t<P>>...> values;
    std::optional<Error> error;
    (void)(decode_into(frames[I], I, std::get<I>(values), error) && ...);
    if (error) return Outcome{false, std::nullopt, std::move(error)};
    try {
      Result<R> result = handler(*std::move(std::get<I>(values))...);
      if (!result) return refused<R>(result.error());
      return answered(*result);
    } catch (const std::exception& exception) {
      return refused<R>(Error{Errc::kInvalidArgument, "", exception.what()});
    }
  }

  template <class T>
  static bool decode_into(ByteView frame, std::size_t index, std::optional<T>& out,
                          std::optional<Error>& error) {
    Result<T> value = decode<T>(frame);
    if (value) {
      out.emplace(*std::move(value));
      return true;
    }
    error = payload_error(index, value.error());
    return false;
  }

  template <class R>
  static Outcome answered(const R& result) {
    if constexpr (std::is_same_v<R, None>) {
      return Outcome{true, std::nullopt, std::nullopt};
    } else {
      if constexpr (std::is_same_v<R, OptionalInt>) {
        if (!result) return Outcome{true, std::nullopt, std::nullopt};
      }
      return Outcome{true, encoded(result), std::nullopt};
    }
  }

  template <class R>
  static Outcome refused(Error error) {
    if constexpr (std::is_same_v<R, TransferResult>)
      return Outcome{true, encoded(TransferResult{}), std::move(error)};
    return Outcome{false, std::nullopt, std::move(error)};
  }

  static Outcome wrong_payload_count(std::size_t expected, std::size_t actual);
  static Error payload_error(std::size_t index, const Error& error);
  Result<void> check_signature(RequestType type, std::span<const WireType> payloads,
                               WireType result) const;
  Result<void> add_invoke(RequestType type, HandlerType kind, Invoke invoke);
  HandlerEntry* find_entry(RequestType type);

  const Registry& registry_;
  std::array<std::optional<HandlerEntry>, kNumRequestTypes> entries_;
};

// Handlers that run post to the server: made after it, this ends them before it, however the scope
// is left.
class PoolStopper {
 public:
  explicit PoolStopper(HandlerTable& handlers) : handlers_(handlers) {}
  ~PoolStopper() { handlers_.stop_pools(); }
  PoolStopper(const PoolStopper&) = delete;
  PoolStopper& operator=(const PoolStopper&) = delete;

 private:
  HandlerTable& handlers_;
};

}  // namespace kvc::server
