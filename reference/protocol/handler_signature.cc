// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/handler_signature.h"

#include <string>

namespace kvc {

Result<void> check_signature(const Definition& definition, std::span<const WireType> params,
                             WireType result) {
  const std::string handler = "Handler for " + std::string(to_string(definition.type));
  const auto inconsistent = [](std::string message) {
    return Error{Errc::kInconsistent, {}, std::move(message)};
  };
  if (params.size() != definition.payloads.size()) {
    return inconsistent(handler + " expects " + std::to_string(definition.payloads.size()) +
                        " arguments, but got " + std::to_string(params.size()));
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (params[i] == definition.payloads[i]) continue;
    return inconsistent(handler + " argument " + std::to_string(i) + " expects type " +
                        std::string(to_string(definition.payloads[i])) + ", but got " +
                        std::string(to_string(params[i])));
  }
  if (result != definition.result) {
    return inconsistent(handler + " expects return type " +
                        std::string(to_string(definition.result)) + ", but got " +
                        std::string(to_string(result)));
  }
  return {};
}

}  // namespace kvc
