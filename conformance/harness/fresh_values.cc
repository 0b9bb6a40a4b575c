// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/fresh_values.h"

#include <atomic>
#include <random>

namespace kvc::conformance {

Int next_instance_id() {
  static const std::uint64_t base = (std::uint64_t{std::random_device{}()} & 0x3fffffffU) << 20;
  static std::atomic<std::uint64_t> count{0};
  return Int(base + ++count);
}

Tokens fresh_token_ids(Case& test, std::size_t count) {
  static std::atomic<std::uint32_t> first{kFirstTokenMin};
  std::uniform_int_distribution<std::uint32_t> any(0, kOrdinaryTokenMax);  // a usual vocabulary
  Tokens tokens(count);
  for (std::uint32_t& token : tokens) token = any(test.random());
  if (!tokens.empty()) tokens.front() = ++first;
  return tokens;
}

}  // namespace kvc::conformance
