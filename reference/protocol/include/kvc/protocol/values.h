// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Values: the C++ form of every payload and result type of the protocol. Plain structs that own
// their memory, except for IntArray (see int_array.h), which sees the frame it was decoded from.
// Field names, order and defaults are those of the seed's classes (custom_types.py); the order
// matters, because encoding writes the fields in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/int.h"
#include "kvc/protocol/int_array.h"

namespace kvc {

// IPCCacheEngineKey, a map of eight fields. request_id names the session and is not part of the
// key's identity. cache_salt may be missing on the wire (default "").
struct Key {
  std::string model_name;
  Int world_size = 1;
  std::optional<Int> worker_id;  // none: "all workers of world_size"
  IntArray token_ids;
  Int start = 0;  // tokens, [start, end)
  Int end = 0;
  std::string request_id;
  std::string cache_salt;

  friend bool operator==(const Key&, const Key&) = default;
};

struct BlockAllocationRecord {
  std::string req_id;
  IntArray new_block_ids;
  IntArray new_token_ids;

  friend bool operator==(const BlockAllocationRecord&, const BlockAllocationRecord&) = default;
};

// A place where a stored chunk was found in a query: tokens [old_st, old_ed) of the sequence it was
// stored with, [cur_st, cur_ed) of the query, and the 32 bytes of its chunk hash.
struct CBMatchResult {
  Int old_st;
  Int old_ed;
  Int cur_st;
  Int cur_ed;
  Bytes hash;

  friend bool operator==(const CBMatchResult&, const CBMatchResult&) = default;
};

enum class EngineType { kVllm, kSglang, kTrtllm, kMock };
const char* to_string(EngineType type);  // the name on the wire, "vllm"
std::optional<EngineType> parse_engine_type(std::string_view name);

enum class KvLayout { kNHD, kHND };
const char* to_string(KvLayout layout);  // "NHD"
std::optional<KvLayout> parse_kv_layout(std::string_view name);

// LayoutHints, a map whose every field may be missing.
struct LayoutHints {
  std::optional<KvLayout> kv_layout;
  std::optional<Int> num_kv_heads;
  std::optional<Int> tokens_per_block;
  std::optional<Int> head_dim;
  std::optional<Int> inference_engine_logical_block_size;

  // The order in which encoding writes the fields that are there, by their index above: the real
  // encoder writes a dict in the order in which it was filled. Not part of the value.
  std::array<std::uint8_t, 5> order = {0, 1, 2, 3, 4};

  friend bool operator==(const LayoutHints& a, const LayoutHints& b) {
    return a.kv_layout == b.kv_layout && a.num_kv_heads == b.num_kv_heads &&
           a.tokens_per_block == b.tokens_per_block && a.head_dim == b.head_dim &&
           a.inference_engine_logical_block_size == b.inference_engine_logical_block_size;
  }
};

// torch's 8-tuple from UntypedStorage._share_cuda_().
struct TorchIpcHandle {
  Int device;                // ordinal in the sender's process: of no use here
  Bytes handle;              // version byte, type byte, 64 bytes; or the bare 64
  Int storage_size_bytes;    // of the part shared, from storage_offset_bytes
  Int storage_offset_bytes;  // from the start of the allocation
  Bytes ref_counter_handle;
  Int ref_counter_offset;
  Bytes event_handle;  // 64 bytes
  bool event_sync_required = false;

  friend bool operator==(const TorchIpcHandle&, const TorchIpcHandle&) = default;
};

// RawCudaIPCWrapper: a bare cudaIpcMemHandle_t and the allocation's size.
struct RawIpcHandle {
  Bytes handle;  // 64 bytes
  Int nbytes;

  friend bool operator==(const RawIpcHandle&, const RawIpcHandle&) = default;
};

// One tensor of a KVCache: CudaIPCWrapper or RawCudaIPCWrapper, by which handle it holds.
struct IpcTensor {
  std::variant<TorchIpcHandle, RawIpcHandle> handle;
  std::string dtype;        // a name of module torch: "bfloat16"
  std::vector<Int> shape;   // elements
  std::vector<Int> stride;  // elements
  Int storage_offset;       // elements
  std::string device_uuid;

  friend bool operator==(const IpcTensor&, const IpcTensor&) = default;
};
using KVCache = std::vector<IpcTensor>;

// tuple[bytes, bool]: what STORE, RETRIEVE and their CB_ kin answer: the handle of the event after
// which the data is there, and whether the request was carried out. A refusal is (b"", False).
struct TransferResult {
  Bytes event_handle;
  bool ok = false;

  friend bool operator==(const TransferResult&, const TransferResult&) = default;
};

// tuple[int, int] of CB_LOOKUP_PRE_COMPUTED and CB_RETRIEVE_PRE_COMPUTED: tokens [start, end).
struct Range {
  Int start;
  Int end;

  friend bool operator==(const Range&, const Range&) = default;
};

// None as a result: two frames, no third.
struct None {
  friend bool operator==(None, None) = default;
};

using OptionalInt = std::optional<Int>;
using BlockAllocationRecords = std::vector<BlockAllocationRecord>;
using Ranges = std::vector<Range>;
using CBMatchResults = std::vector<CBMatchResult>;

// Any value of any wire type: for tools that do not know the type when they are compiled
// (`kvconform decode`, the testee pipe, tables of cases). Bytes stands for `bytes`.
using Value = std::variant<None, Int, bool, std::string, Bytes, OptionalInt, Key, KVCache,
                           EngineType, LayoutHints, IntArray, BlockAllocationRecords,
                           TransferResult, Ranges, CBMatchResults>;

}  // namespace kvc
