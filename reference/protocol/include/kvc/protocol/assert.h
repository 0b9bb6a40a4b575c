// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// KVC_ASSERT: our own mistakes only, on in every build. Nothing that a peer can send reaches one.
#pragma once

namespace kvc {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace kvc

#define KVC_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::kvc::assertion_failed(#condition, __FILE__, __LINE__))
