// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/stage.h"

#include <chrono>
#include <map>
#include <optional>

#include "conformance/harness/pickle_builder.h"
#include "conformance/harness/release.h"
#include "kvc/device/export_tensor.h"
#include "kvc/protocol/assert.h"

namespace kvc::conformance {
namespace {

constexpr std::uint64_t kBlockSize = 16;  // divides every chunk size that is a power of two from 16
constexpr std::int64_t kHeadSize = 8;

Bytes tokens(std::uint64_t count) {
  std::vector<Bytes> elements;
  for (std::uint64_t i = 0; i < count; ++i) elements.push_back(msg::unsigned_integer(i % 100));
  return msg::array(elements);
}

}  // namespace

const std::vector<std::string_view>& payload_names(RequestType type) {
  static const std::map<RequestType, std::vector<std::string_view>> kNames = {
      {RequestType::kRegisterKvCache,
       {"instance_id", "kv_cache", "model_name", "world_size", "engine_type", "layout_hints"}},
      {RequestType::kUnregisterKvCache, {"instance_id"}},
      {RequestType::kStore, {"key", "instance_id", "gpu_block_ids", "event_ipc_handle"}},
      {RequestType::kRetrieve,
       {"key", "instance_id", "gpu_block_ids", "event_ipc_handle", "skip_first_n_tokens"}},
      {RequestType::kLookup, {"key", "tp_size"}},
      {RequestType::kQueryPrefetchStatus, {"request_id"}},
      {RequestType::kQueryPrefetchLookupHits, {"request_id"}},
      {RequestType::kFreeLookupLocks, {"key", "tp_size"}},
      {RequestType::kEndSession, {"request_id"}},
      {RequestType::kClear, {}},
      {RequestType::kGetChunkSize, {}},
      {RequestType::kPing, {}},
      {RequestType::kReportBlockAllocation, {"instance_id", "model_name", "records"}},
      {RequestType::kNoop, {}},
      {RequestType::kCbRegisterKvCache, {"instance_id", "kv_cache", "model_name", "world_size"}},
      {RequestType::kCbUnregisterKvCache, {"instance_id"}},
      {RequestType::kCbStorePreComputed, {"key", "offset", "instance_id", "event_ipc_handle"}},
      {RequestType::kCbLookupPreComputed, {"key"}},
      {RequestType::kCbRetrievePreComputed,
       {"key", "ranges", "offset", "instance_id", "event_ipc_handle"}},
      {RequestType::kCbStoreFinal, {"key", "offset", "instance_id", "event_ipc_handle"}},
      {RequestType::kCbLookupPreComputedV2, {"key"}},
      {RequestType::kCbRetrievePreComputedV2,
       {"key", "cb_match_result", "offset", "instance_id", "event_ipc_handle"}},
  };
  return kNames.at(type);
}

std::vector<Capability> capabilities_of(RequestType type) {
  switch (type) {
    case RequestType::kRegisterKvCache:
    case RequestType::kStore:
    case RequestType::kRetrieve:
      return {Capability::kDevice};
    case RequestType::kQueryPrefetchLookupHits:
      return {Capability::kLookupHits};
    case RequestType::kCbLookupPreComputed:
      return {Capability::kBlendV1};
    case RequestType::kCbRetrievePreComputed:
      return {Capability::kBlendV1, Capability::kDevice};
    case RequestType::kCbUnregisterKvCache:
    case RequestType::kCbLookupPreComputedV2:
      return {Capability::kBlendV2};
    case RequestType::kCbRegisterKvCache:
    case RequestType::kCbStorePreComputed:
    case RequestType::kCbStoreFinal:
    case RequestType::kCbRetrievePreComputedV2:
      return {Capability::kBlendV2, Capability::kDevice};
    default:
      return {};
  }
}

struct Stage::Impl {
  explicit Impl(Case& of) : test(of), client(of.client()), model(of.unique("stage")) {}

  // The first call for an instance makes it; later ones find it.
  std::uint64_t instance() {
    if (!registered) {
      registered = fresh_id();
      client.reply_to(client.send(RequestType::kRegisterKvCache, registration(*registered)));
    }
    return *registered;
  }

  std::uint64_t blend_instance() {
    if (!blend_registered) {
      blend_registered = fresh_id();
      client.reply_to(
          client.send(RequestType::kCbRegisterKvCache, blend_registration(*blend_registered)));
    }
    return *blend_registered;
  }

  // Instance ids are process ids in the field: positive, and no two the same in a run.
  std::uint64_t fresh_id() { return (test.random()() >> 2) | 1; }

  Frames registration(std::uint64_t id) {
    return {msg::unsigned_integer(id), kv_cache(),
            msg::str(model),           msg::integer(1),
            msg::str("vllm"),          msg::map({{msg::str("kv_layout"), msg::str("NHD")}})};
  }

  Frames blend_registration(std::uint64_t id) {
    const auto length = static_cast<std::int64_t>(2 * test.chunk_size());
    const IpcTensor tensor = exported({2, 1, length, kHeadSize});
    return {msg::unsigned_integer(id), msg::array({msg::ext(1, pkl::wrapper(tensor))}),
            msg::str(model), msg::integer(1)};
  }

  IpcTensor tensor() {
    const auto blocks = static_cast<std::int64_t>(2 * test.chunk_size() / kBlockSize);
    return exported({2, blocks, static_cast<std::int64_t>(kBlockSize), 1, kHeadSize});
  }

  Bytes kv_cache() { return msg::array({msg::ext(1, pkl::wrapper(tensor()))}); }

  IpcTensor exported(const std::vector<std::int64_t>& shape) {
    std::size_t bytes = 2;
    for (std::int64_t size : shape) bytes *= static_cast<std::size_t>(size);
    if (!buffer || buffer->size_bytes() < bytes) {
      if (buffer) retired.push_back(buffer);
      buffer = test.device().create_buffer(bytes);
    }
    ExportedTensor tensor;
    tensor.dtype = "float16";
    tensor.shape = shape;
    return export_tensor(*buffer, tensor, test.device().own_uuid());
  }

  Bytes event_handle() {
    if (!event) event = test.device().create_event();  // never recorded: complete
    return event->ipc_handle();
  }

  // One full chunk for worker 0.
  std::vector<Field> chunk_key() { return key(test.chunk_size(), msg::integer(0), false); }

  std::vector<Field> key(std::uint64_t num_tokens, Bytes worker, bool empty_range) {
    return {
        {"model_name", WireType::kStr, true, msg::str(model)},
        {"world_size", WireType::kInt, true, msg::integer(1)},
        {"worker_id", WireType::kOptionalInt, true, std::move(worker)},
        {"token_ids", WireType::kIntList, true, tokens(num_tokens)},
        {"start", WireType::kInt, true, msg::integer(0)},
        {"end", WireType::kInt, true, msg::unsigned_integer(empty_range ? 0 : num_tokens)},
        {"request_id", WireType::kStr, true, msg::str(model + "-request")},
        {"cache_salt", WireType::kStr, false, msg::str("")},
    };
  }

  // LOOKUP and FREE_LOOKUP_LOCKS ask for a model that nobody registered, and for no full chunk:
  // answered whatever else the key says.
  std::vector<Field> key_of(RequestType type) {
    switch (type) {
      case RequestType::kLookup:
      case RequestType::kFreeLookupLocks:
      case RequestType::kCbLookupPreComputed:
      case RequestType::kCbLookupPreComputedV2:
        return key(3, msg::nil(), true);
      default:
        return chunk_key();
    }
  }

  Bytes key_frame(RequestType type) {
    std::vector<msg::Pair> pairs;
    for (const Field& field : key_of(type)) pairs.emplace_back(msg::str(field.name), field.valid);
    return msg::map(pairs);
  }

  Bytes block_ids() const {
    std::vector<Bytes> ids;
    for (std::uint64_t i = 0; i < test.chunk_size() / kBlockSize; ++i)
      ids.push_back(msg::unsigned_integer(i));
    return msg::array(ids);
  }

  Frames make(RequestType type);
  void withdraw(RequestType type, std::uint64_t instance_id);

  Case& test;
  Client client;
  std::string model;
  std::optional<std::uint64_t> registered;
  std::optional<std::uint64_t> blend_registered;
  std::shared_ptr<Buffer> buffer;
  std::vector<std::shared_ptr<Buffer>> retired;
  std::shared_ptr<Event> event;
};

Frames Stage::Impl::make(RequestType type) {
  const Bytes request_id = msg::str(model + "-request");
  const Bytes zero = msg::integer(0);
  const Bytes one = msg::integer(1);
  switch (type) {
    case RequestType::kRegisterKvCache:
      return registration(instance());
    case RequestType::kUnregisterKvCache:
    case RequestType::kCbUnregisterKvCache:
      return {msg::unsigned_integer(fresh_id())};
    case RequestType::kStore:
      return {key_frame(type), msg::unsigned_integer(instance()), block_ids(),
              msg::bin(event_handle())};
    case RequestType::kRetrieve:
      return {key_frame(type), msg::unsigned_integer(instance()), block_ids(),
              msg::bin(event_handle()), zero};
    case RequestType::kLookup:
    case RequestType::kFreeLookupLocks:
      return {key_frame(type), one};
    case RequestType::kQueryPrefetchStatus:
    case RequestType::kQueryPrefetchLookupHits:
    case RequestType::kEndSession:
      return {request_id};
    case RequestType::kClear:
    case RequestType::kGetChunkSize:
    case RequestType::kPing:
    case RequestType::kNoop:
      return {};
    case RequestType::kReportBlockAllocation: {
      const Bytes ids = msg::array({msg::integer(1), msg::integer(2)});
      return {one, msg::str(model),
              msg::array({msg::map({{msg::str("req_id"), request_id},
                                    {msg::str("new_block_ids"), ids},
                                    {msg::str("new_token_ids"), ids}})})};
    }
    case RequestType::kCbRegisterKvCache:
      return blend_registration(blend_instance());
    case RequestType::kCbStorePreComputed:
    case RequestType::kCbStoreFinal:
      return {key_frame(type), zero, msg::unsigned_integer(blend_instance()),
              msg::bin(event_handle())};
    case RequestType::kCbLookupPreComputed:
    case RequestType::kCbLookupPreComputedV2:
      return {key_frame(type)};
    case RequestType::kCbRetrievePreComputed:
      return {key_frame(type),
              msg::array({msg::array({zero, msg::unsigned_integer(test.chunk_size())})}), zero,
              msg::unsigned_integer(blend_instance()), msg::bin(event_handle())};
    case RequestType::kCbRetrievePreComputedV2: {
      const Bytes end = msg::unsigned_integer(test.chunk_size());
      return {key_frame(type),
              msg::array({msg::map({{msg::str("old_st"), zero},
                                    {msg::str("old_ed"), end},
                                    {msg::str("cur_st"), zero},
                                    {msg::str("cur_ed"), end},
                                    {msg::str("hash"), msg::bin(Bytes(32, 7))}})}),
              zero, msg::unsigned_integer(blend_instance()), msg::bin(event_handle())};
    }
  }
  KVC_ASSERT(false);
}

Stage::Stage(Case& test) : impl_(std::make_unique<Impl>(test)) {}

// Undoes without insisting: on a server that died there is nothing to wait for.
void Stage::Impl::withdraw(RequestType type, std::uint64_t instance_id) {
  const Sent sent = client.send(type, {msg::unsigned_integer(instance_id)});
  for (int i = 0; i < 8; ++i) {
    const std::optional<Reply> reply = client.receive(std::chrono::milliseconds(200));
    if (!reply || reply->frames.front() == sent.uid) return;
  }
}

Stage::~Stage() {
  try {
    if (impl_->registered) impl_->withdraw(RequestType::kUnregisterKvCache, *impl_->registered);
    if (impl_->blend_registered)
      impl_->withdraw(RequestType::kCbUnregisterKvCache, *impl_->blend_registered);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the case has its verdict already
  }
}

Frames Stage::valid(RequestType type) {
  require_type(impl_->test.registry(), type);
  return impl_->make(type);
}

Frames Stage::with(RequestType type, std::size_t index, Bytes payload) {
  Frames frames = valid(type);
  frames.at(index) = std::move(payload);
  return frames;
}

std::vector<Field> Stage::fields(RequestType type, std::size_t index) {
  const WireType wire = impl_->test.registry().find(type)->payloads.at(index);
  const Bytes ids = msg::array({msg::integer(1), msg::integer(2)});
  const Bytes end = msg::unsigned_integer(impl_->test.chunk_size());
  switch (wire) {
    case WireType::kKey:
      return impl_->key_of(type);
    case WireType::kLayoutHints:
      return {{"kv_layout", WireType::kStr, false, msg::str("NHD")},
              {"num_kv_heads", WireType::kInt, false, msg::integer(1)},
              {"tokens_per_block", WireType::kInt, false, msg::integer(16)},
              {"head_dim", WireType::kInt, false, msg::integer(8)},
              {"inference_engine_logical_block_size", WireType::kInt, false, msg::integer(16)}};
    case WireType::kBlockAllocationRecords:
      return {{"req_id", WireType::kStr, true, msg::str("request")},
              {"new_block_ids", WireType::kIntList, true, ids},
              {"new_token_ids", WireType::kIntList, true, ids}};
    case WireType::kCBMatchResults:
      return {{"old_st", WireType::kInt, true, msg::integer(0)},
              {"old_ed", WireType::kInt, true, end},
              {"cur_st", WireType::kInt, true, msg::integer(0)},
              {"cur_ed", WireType::kInt, true, end},
              {"hash", WireType::kBytes, true, msg::bin(Bytes(32, 7))}};
    default:
      return {};
  }
}

Bytes Stage::compose(WireType type, const std::vector<msg::Pair>& fields) {
  const Bytes map = msg::map(fields);
  const bool in_array =
      type == WireType::kBlockAllocationRecords || type == WireType::kCBMatchResults;
  return in_array ? msg::array({map}) : map;
}

IpcTensor Stage::tensor() { return impl_->tensor(); }
Bytes Stage::kv_cache() { return impl_->kv_cache(); }

Frames Stage::registration_of(ByteView pickle, std::uint64_t instance_id) {
  Frames frames = impl_->registration(instance_id);
  frames[1] = msg::array({msg::ext(1, pickle)});
  return frames;
}

std::uint64_t Stage::new_instance_id() { return impl_->fresh_id(); }

Frames Stage::store_of(std::uint64_t instance_id) {
  return {impl_->key_frame(RequestType::kStore), msg::unsigned_integer(instance_id),
          impl_->block_ids(), msg::bin(impl_->event_handle())};
}

void Stage::register_instance() { impl_->instance(); }

}  // namespace kvc::conformance
