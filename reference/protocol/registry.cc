// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/registry.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kvc/protocol/assert.h"

namespace kvc {

Registry::Registry(std::string_view release, std::vector<Definition> definitions)
    : release_(release), definitions_(std::move(definitions)) {
  for (std::size_t i = 0; i < definitions_.size(); ++i) {
    const Definition& definition = definitions_[i];
    KVC_ASSERT(find(definition.type) == &definition);           // each type once
    KVC_ASSERT(find_number(definition.number) == &definition);  // each number once
  }
}

const Definition* Registry::find(RequestType type) const {
  const auto at = std::ranges::find(definitions_, type, &Definition::type);
  return at == definitions_.end() ? nullptr : &*at;
}

const Definition* Registry::find_number(Int number) const {
  const auto at = std::ranges::find_if(
      definitions_, [number](const Definition& each) { return Int(each.number) == number; });
  return at == definitions_.end() ? nullptr : &*at;
}

namespace {

Error invalid_request_type(RequestType type) {
  return {Errc::kUnknownType, {}, "Invalid request type: " + std::string(to_string(type))};
}

}  // namespace

Result<std::span<const WireType>> Registry::get_payload_classes(RequestType type) const {
  const Definition* definition = find(type);
  if (definition == nullptr) return invalid_request_type(type);
  return std::span<const WireType>(definition->payloads);
}

Result<WireType> Registry::get_response_class(RequestType type) const {
  const Definition* definition = find(type);
  if (definition == nullptr) return invalid_request_type(type);
  return definition->result;
}

Result<HandlerType> Registry::get_handler_type(RequestType type) const {
  const Definition* definition = find(type);
  if (definition == nullptr) return invalid_request_type(type);
  return definition->handler;
}

namespace {

// The newest first.
std::array<const Registry*, 2> registries() { return {&registry_0_4_5(), &registry_0_4_2()}; }

}  // namespace

const Registry* find_registry(std::string_view release) {
  for (const Registry* registry : registries())
    if (registry->release() == release) return registry;
  return nullptr;
}

std::vector<std::string_view> known_releases() {
  std::vector<std::string_view> out;
  for (const Registry* registry : registries()) out.push_back(registry->release());
  return out;
}

}  // namespace kvc
