// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Result<T>: a value, or the reason why a peer's bytes gave none. It is how every function that
// reads something from a peer answers; such functions never throw, print or abort. An Error names
// the place ("$.token_ids[3]") and what was wrong there ("expected int, got str"). Values own their
// memory; any thread may use its own.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "kvc/protocol/assert.h"

namespace kvc {

// What kind of thing was wrong. Closed: a new kind is a change of this header.
enum class Errc {
  kTruncated,        // the document ends inside a value
  kTrailingBytes,    // bytes after the end of the document
  kMalformed,        // no msgpack (c1) or no pickle that we read
  kWrongKind,        // a value of another family: "expected int, got str"
  kBadUtf8,          // a str that is not UTF-8
  kBadValue,         // right family, wrong value: an enum's name, a forbidden character
  kMissingField,     // a map lacks a required field
  kWrongLength,      // a tuple or a message with another number of elements
  kWrongExtCode,     // an Ext that is not code 1
  kForbidden,        // a pickle opcode or global that is not on the allow-list
  kLimit,            // larger, deeper or longer than limits.h allows
  kUnknownType,      // a request type that the release does not have
  kUnknownName,      // a name that the registry does not have
  kInconsistent,     // a registry or a handler that contradicts its definition
  kUnsupported,      // understood, and refused on purpose (an expandable segment, say)
  kInvalidArgument,  // a decoded request that cannot be served (range, instance, block id)
  kNotFound,         // an event, a buffer or an object that is not there
  kNoMemory,         // the object store cannot hold it
};

const char* phrase(Errc code);

struct Error {
  Errc code = Errc::kMalformed;
  std::string path;     // "$", "$.token_ids[3]", "$[0].handle[1]"; empty when there is no document
  std::string message;  // "expected int, got str"

  // "$.token_ids[3]: expected int, got str"
  std::string text() const { return path.empty() ? message : path + ": " + message; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  T& value() & {
    KVC_ASSERT(ok());
    return *value_;
  }
  const T& value() const& {
    KVC_ASSERT(ok());
    return *value_;
  }
  T&& value() && {
    KVC_ASSERT(ok());
    return *std::move(value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    KVC_ASSERT(!ok());
    return error_;
  }

 private:
  std::optional<T> value_;
  Error error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    KVC_ASSERT(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace kvc
