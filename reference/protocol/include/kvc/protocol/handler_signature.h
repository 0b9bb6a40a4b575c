// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Handler signature: does a handler fit its request type? The real server inspects each handler
// when it is registered and refuses one whose parameters or result differ from the definition; so
// does a server that calls check_signature, in the same words. Pure functions; any thread.
#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "kvc/protocol/registry.h"
#include "kvc/protocol/result.h"
#include "kvc/protocol/wire_type.h"

namespace kvc {

// kInconsistent with the first difference: number of parameters, then each parameter from 0, then
// the result. "Handler for STORE expects 4 arguments, but got 3".
Result<void> check_signature(const Definition& definition, std::span<const WireType> params,
                             WireType result);

// The wire types of a callable: of R(P...), references and const taken off.
struct Signature {
  std::vector<WireType> params;
  WireType result = WireType::kNone;
};

namespace internal {

template <class T>
struct SignatureOf;

template <class R, class... P>
struct SignatureOf<std::function<R(P...)>> {
  static Signature get() {
    using Plain = std::remove_cvref_t<R>;
    if constexpr (std::is_void_v<Plain>) {
      return {{wire_type_of<std::remove_cvref_t<P>>...}, WireType::kNone};
    } else {
      return {{wire_type_of<std::remove_cvref_t<P>>...}, wire_type_of<Plain>};
    }
  }
};

}  // namespace internal

// signature_of<decltype(handler)>() of a function or of anything that a std::function is made from.
template <class F>
Signature signature_of() {
  return internal::SignatureOf<decltype(std::function(std::declval<F>()))>::get();
}

template <class F>
Result<void> check_handler(const Definition& definition) {
  const Signature signature = signature_of<F>();
  return check_signature(definition, signature.params, signature.result);
}

}  // namespace kvc
