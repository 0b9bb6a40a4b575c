// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <algorithm>
#include <cstdio>

#include "kvc/protocol/codec.h"

namespace kvc {
namespace {

// What a person still reads; beyond it stands the number of the rest.
constexpr std::size_t kElementsShown = 8;
constexpr std::size_t kBytesShown = 16;
constexpr std::size_t kCharactersShown = 80;

std::string words(None) { return "None"; }
std::string words(Int value) { return value.to_string(); }
std::string words(bool value) { return value ? "True" : "False"; }
std::string words(EngineType value) { return std::string("\"") + to_string(value) + "\""; }

std::string words(const std::string& value) {
  std::string text = "\"";
  for (const char character : value.substr(0, kCharactersShown)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7f) {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      text += escaped;
    } else {
      if (character == '"' || character == '\\') text += '\\';
      text += character;
    }
  }
  text += '"';
  if (value.size() > kCharactersShown) text += "… (" + std::to_string(value.size()) + " bytes)";
  return text;
}

std::string words(const Bytes& value) {
  const ByteView shown = ByteView(value).first(std::min(value.size(), kBytesShown));
  std::string text = "b'" + to_hex(shown) + "'";
  if (value.size() > kBytesShown) text += "… (" + std::to_string(value.size()) + " bytes)";
  return text;
}

std::string words(const OptionalInt& value) {
  return value.has_value() ? value->to_string() : "None";
}

std::string words(const TransferResult& value) {
  return "(" + words(value.event_handle) + ", " + words(value.ok) + ")";
}

std::string words(const Range& value) {
  return "(" + words(value.start) + ", " + words(value.end) + ")";
}

template <class Values>
std::string list_words(const Values& values);
template <class T>
std::string words(const std::vector<T>& values);

std::string words(const IntArray& values) { return list_words(values); }

std::string words(const Key& key) {
  return "Key{model_name=" + words(key.model_name) + ", world_size=" + words(key.world_size) +
         ", worker_id=" + words(key.worker_id) + ", token_ids=" + words(key.token_ids) +
         ", start=" + words(key.start) + ", end=" + words(key.end) +
         ", request_id=" + words(key.request_id) + ", cache_salt=" + words(key.cache_salt) + "}";
}

std::string words(const BlockAllocationRecord& record) {
  return "BlockAllocationRecord{req_id=" + words(record.req_id) +
         ", new_block_ids=" + words(record.new_block_ids) +
         ", new_token_ids=" + words(record.new_token_ids) + "}";
}

std::string words(const CBMatchResult& match) {
  return "CBMatchResult{old_st=" + words(match.old_st) + ", old_ed=" + words(match.old_ed) +
         ", cur_st=" + words(match.cur_st) + ", cur_ed=" + words(match.cur_ed) +
         ", hash=" + words(match.hash) + "}";
}

std::string words(const LayoutHints& hints) {
  std::string text;
  const auto add = [&text](const char* name, const std::string& value) {
    text += (text.empty() ? "" : ", ") + std::string(name) + "=" + value;
  };
  if (hints.kv_layout.has_value()) add("kv_layout", to_string(*hints.kv_layout));
  if (hints.num_kv_heads.has_value()) add("num_kv_heads", words(*hints.num_kv_heads));
  if (hints.tokens_per_block.has_value()) add("tokens_per_block", words(*hints.tokens_per_block));
  if (hints.head_dim.has_value()) add("head_dim", words(*hints.head_dim));
  if (hints.inference_engine_logical_block_size.has_value()) {
    add("inference_engine_logical_block_size", words(*hints.inference_engine_logical_block_size));
  }
  return "LayoutHints{" + text + "}";
}

std::string words(const TorchIpcHandle& handle) {
  return "CudaIPCWrapper{device=" + words(handle.device) + ", handle=" + words(handle.handle) +
         ", storage_size_bytes=" + words(handle.storage_size_bytes) +
         ", storage_offset_bytes=" + words(handle.storage_offset_bytes) +
         ", ref_counter_handle=" + words(handle.ref_counter_handle) +
         ", ref_counter_offset=" + words(handle.ref_counter_offset) +
         ", event_handle=" + words(handle.event_handle) +
         ", event_sync_required=" + words(handle.event_sync_required);
}

std::string words(const RawIpcHandle& handle) {
  return "RawCudaIPCWrapper{handle=" + words(handle.handle) + ", nbytes=" + words(handle.nbytes);
}

std::string words(const IpcTensor& tensor) {
  return std::visit([](const auto& handle) { return words(handle); }, tensor.handle) +
         ", dtype=" + tensor.dtype + ", shape=" + words(tensor.shape) +
         ", stride=" + words(tensor.stride) + ", storage_offset=" + words(tensor.storage_offset) +
         ", device_uuid=" + words(tensor.device_uuid) + "}";
}

template <class Values>
std::string list_words(const Values& values) {
  std::string text = "[";
  std::size_t num_shown = 0;
  for (const auto& value : values) {
    if (num_shown == kElementsShown) {
      return text + ", … (" + std::to_string(values.size()) + " elements)]";
    }
    if (num_shown++ > 0) text += ", ";
    text += words(value);
  }
  return text + "]";
}

template <class T>
std::string words(const std::vector<T>& values) {
  return list_words(values);
}

}  // namespace

std::string describe(const Value& value) {
  return std::visit([](const auto& held) { return words(held); }, value);
}

}  // namespace kvc
