// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// CheckedSize: sizes computed from a peer's numbers. An overflow is remembered, not wrapped:
// compute first, ask ok() once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvc {

class CheckedSize {
 public:
  explicit CheckedSize(std::size_t value) : value_(value) {}

  bool ok() const { return ok_; }
  std::size_t value() const { return value_; }  // REQUIRES: ok()

  CheckedSize& operator+=(std::size_t other) {
    if (__builtin_add_overflow(value_, other, &value_)) ok_ = false;
    return *this;
  }
  CheckedSize& operator*=(std::size_t other) {
    if (__builtin_mul_overflow(value_, other, &value_)) ok_ = false;
    return *this;
  }
  CheckedSize& operator+=(const CheckedSize& other) {
    ok_ = ok_ && other.ok_;
    return *this += other.value_;
  }

 private:
  std::size_t value_;
  bool ok_ = true;
};

}  // namespace kvc
