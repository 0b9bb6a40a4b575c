// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/handler_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvc/protocol/assert.h"

namespace kvc::server {
namespace {

// As Python prints the enum's member.
std::string member(RequestType type) { return fmt::format("RequestType.{}", to_string(type)); }

std::string class_name(const HandlerEntry& entry) {
  return entry.blocking() ? "BlockingRequestHandler" : "SyncRequestHandler";
}

Error inconsistent(std::string message) {
  return Error{Errc::kInconsistent, "", std::move(message)};
}

}  // namespace

Outcome HandlerTable::wrong_payload_count(std::size_t expected, std::size_t actual) {
  return Outcome{
      false, std::nullopt,
      Error{Errc::kWrongLength, "", fmt::format("expected {} payloads, got {}", expected, actual)}};
}

Error HandlerTable::payload_error(std::size_t index, const Error& error) {
  return Error{error.code, "", fmt::format("payload {}: {}", index, error.text())};
}

Result<void> HandlerTable::check_signature(RequestType type, std::span<const WireType> payloads,
                                           WireType result) const {
  const Result<std::span<const WireType>> expected = registry_.get_payload_classes(type);
  if (!expected) return expected.error();
  const std::string refusal =
      fmt::format("Handler signature does not match for request type: {}", member(type));
  if (payloads.size() != expected->size())
    return inconsistent(fmt::format("{}: Handler for {} expects {} arguments, but got {}", refusal,
                                    member(type), expected->size(), payloads.size()));
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if (payloads[i] == (*expected)[i]) continue;
    return inconsistent(fmt::format("{}: Handler for {} argument {} expects type {}, but got {}",
                                    refusal, member(type), i, to_string((*expected)[i]),
                                    to_string(payloads[i])));
  }
  const Result<WireType> expected_result = registry_.get_response_class(type);
  if (!expected_result) return expected_result.error();
  if (result != *expected_result)
    return inconsistent(fmt::format("{}: Handler for {} expects return type {}, but got {}",
                                    refusal, member(type), to_string(*expected_result),
                                    to_string(result)));
  return {};
}

Result<void> HandlerTable::add_handler_of(RequestType type, HandlerType kind,
                                          std::span<const WireType> payloads, WireType result,
                                          Invoke invoke) {
  if (Result<void> checked = check_signature(type, payloads, result); !checked) return checked;
  return add_invoke(type, kind, std::move(invoke));
}

Result<void> HandlerTable::add_invoke(RequestType type, HandlerType kind, Invoke invoke) {
  const Definition* definition = registry_.find(type);
  KVC_ASSERT(definition != nullptr);  // check_signature found it
  if (kind == HandlerType::kNonBlocking)
    return inconsistent("Non-blocking handler is not supported yet");
  if (kind != definition->handler)
    return inconsistent(fmt::format("Handler for {} expects handler type {}, but got {}",
                                    member(type), to_string(definition->handler), to_string(kind)));
  entries_[static_cast<std::size_t>(type)] = HandlerEntry{definition, std::move(invoke), nullptr};
  return {};
}

Result<void> HandlerTable::add_normal_thread_pool(const std::vector<RequestType>& types,
                                                  std::size_t max_workers) {
  return assign_pool(types, create_normal_pool(max_workers), "add_normal_thread_pool");
}

Result<void> HandlerTable::add_affinity_thread_pool(const std::vector<RequestType>& types,
                                                    std::size_t max_workers) {
  return assign_pool(types, create_affinity_pool(max_workers), "add_affinity_thread_pool");
}

Result<void> HandlerTable::assign_pool(const std::vector<RequestType>& types,
                                       const std::shared_ptr<ThreadPool>& pool,
                                       const std::string& method_name) {
  for (const RequestType type : types) {
    const HandlerEntry* entry = find(type);
    if (entry == nullptr)
      return inconsistent(
          fmt::format("No handler registered for request type: {}. "
                      "Register handlers before calling {}.",
                      member(type), method_name));
    if (!entry->blocking())
      return inconsistent(
          fmt::format("Handler for {} is {}, not BlockingRequestHandler. "
                      "Only blocking handlers can use thread pools.",
                      member(type), class_name(*entry)));
  }
  for (const RequestType type : types) find_entry(type)->pool = pool;
  return {};
}

Result<void> HandlerTable::check_pools() const {
  for (const std::optional<HandlerEntry>& entry : entries_) {
    if (!entry || !entry->blocking() || entry->pool != nullptr) continue;
    return inconsistent(
        fmt::format("BlockingRequestHandler for {} has no thread pool assigned. Call "
                    "add_normal_thread_pool or add_affinity_thread_pool before start().",
                    member(entry->definition->type)));
  }
  return {};
}

void HandlerTable::decorate(RequestType type, const std::function<Invoke(Invoke)>& wrapper) {
  HandlerEntry* entry = find_entry(type);
  KVC_ASSERT(entry != nullptr);
  entry->invoke = wrapper(std::move(entry->invoke));
}

const HandlerEntry* HandlerTable::find(RequestType type) const {
  const std::optional<HandlerEntry>& entry = entries_[static_cast<std::size_t>(type)];
  return entry ? &*entry : nullptr;
}

HandlerEntry* HandlerTable::find_entry(RequestType type) {
  std::optional<HandlerEntry>& entry = entries_[static_cast<std::size_t>(type)];
  return entry ? &*entry : nullptr;
}

void HandlerTable::stop_pools() {
  std::vector<std::shared_ptr<ThreadPool>> pools;
  for (std::optional<HandlerEntry>& entry : entries_) {
    if (!entry || entry->pool == nullptr) continue;
    if (std::find(pools.begin(), pools.end(), entry->pool) == pools.end())
      pools.push_back(entry->pool);
    entry->pool.reset();
  }
  pools.clear();
}

}  // namespace kvc::server
