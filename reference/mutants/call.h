// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Call: a request on its way to its handler, for flaws that change what it says, what comes of it,
// or both. around() puts a flaw in front of a handler. One thread a call.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kvc/protocol/codec.h"
#include "server/handler_table.h"

namespace kvc::mutants {

class Call {
 public:
  Call(const server::Invoke& next, std::span<const ByteView> payloads)
      : next_(next), payloads_(payloads.begin(), payloads.end()) {}

  ByteView payload(std::size_t index) const {
    return index < payloads_.size() ? payloads_[index] : ByteView{};
  }
  // A payload, if it is there and decodes. Sees the frame.
  template <class T>
  std::optional<T> get(std::size_t index) const {
    if (index >= payloads_.size()) return std::nullopt;
    Result<T> value = decode<T>(payloads_[index]);
    if (!value) return std::nullopt;
    return *std::move(value);
  }
  template <class T>
  void set(std::size_t index, const T& value) {
    payloads_[index] = kept_.emplace_back(encoded(value));
  }
  // Changes a payload that decodes; others are for the handler to refuse.
  template <class T, class F>
  void change(std::size_t index, F changed) {
    if (std::optional<T> value = get<T>(index)) {
      changed(*value);
      set(index, *value);
    }
  }
  // The right thing; as often as it is called.
  server::Outcome next() const { return next_(payloads_); }

 private:
  const server::Invoke& next_;
  std::vector<ByteView> payloads_;
  std::deque<Bytes> kept_;
};

using Around = std::function<server::Outcome(Call&)>;

inline void around(server::HandlerTable& handlers, std::initializer_list<RequestType> types,
                   const Around& flaw) {
  for (const RequestType type : types)
    handlers.decorate(type, [flaw](server::Invoke next) {
      return [flaw, next = std::move(next)](std::span<const ByteView> payloads) {
        Call call(next, payloads);
        return flaw(call);
      };
    });
}

// The result of a call that was answered.
template <class R>
std::optional<R> result_of(const server::Outcome& outcome) {
  if (!outcome.reply || !outcome.result) return std::nullopt;
  Result<R> value = decode<R>(*outcome.result);
  if (!value) return std::nullopt;
  return *std::move(value);
}
// Owns what it answers: R must not be a type that sees its frame.
template <class R>
server::Outcome answer(const R& result) {
  return {true, encoded(result), std::nullopt};
}
inline server::Outcome answer_none() { return {true, std::nullopt, std::nullopt}; }
inline server::Outcome silence() { return {false, std::nullopt, std::nullopt}; }

inline bool transferred(const server::Outcome& outcome) {
  const auto result = result_of<TransferResult>(outcome);
  return result && result->ok;
}

}  // namespace kvc::mutants
