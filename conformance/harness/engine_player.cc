// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/engine_player.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <numeric>
#include <span>
#include <thread>

#include "conformance/harness/event_wait.h"
#include "conformance/harness/fresh_values.h"
#include "conformance/harness/run_context.h"
#include "kvc/device/buffer_access.h"
#include "kvc/protocol/assert.h"

namespace kvc::conformance {
namespace {

using Clock = std::chrono::steady_clock;

// After a finding the server may be gone: so long is waited for the answer to a farewell.
constexpr std::chrono::milliseconds kGrace{100};
// How often a poll is asked again.
constexpr std::chrono::microseconds kLook{200};

IntArray int_array(const BlockIds& block_ids) {
  return IntArray::of(std::vector<Int>(block_ids.begin(), block_ids.end()));
}

std::string words(const TransferResult& result) { return describe(Value(result)); }

}  // namespace

struct EnginePlayer::Impl {
  Impl(Case& test_, const EngineShape& shape_, std::string model_name_, Int world_size_)
      : test(test_),
        shape(shape_),
        geometry(shape_),
        model_name(std::move(model_name_)),
        world_size(world_size_),
        instance_id(next_instance_id()),
        client(test_.client()),
        chunk_size(test_.chunk_size()) {
    Device& device = test.device();
    ready = device.create_event();
    if (shape.one_storage) {
      std::size_t total = 0;
      for (const TensorPlan& tensor : geometry.tensors()) {
        offsets.push_back(total);
        total += (tensor.size_bytes + 511) / 512 * 512;
      }
      buffers.assign(geometry.tensors().size(), device.create_buffer(total));
    } else {
      for (const TensorPlan& tensor : geometry.tensors()) {
        offsets.push_back(0);
        buffers.push_back(device.create_buffer(tensor.size_bytes));
      }
    }
  }

  // Every byte of every tensor, as it is now.
  MemoryImage image() const {
    MemoryImage out;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      out.emplace_back(geometry.tensors()[i].size_bytes);
      read_buffer(*buffers[i], offsets[i], out.back());
    }
    return out;
  }

  // Where each tensor's bytes are on the host: the memory itself where the host can reach it, else
  // a copy in `copies`, which is empty for the others.
  std::vector<std::uint8_t*> on_host(MemoryImage& copies) const {
    copies.resize(buffers.size());
    std::vector<std::uint8_t*> bytes;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (is_on_host(*buffers[i])) {
        bytes.push_back(buffers[i]->address() + offsets[i]);
        continue;
      }
      copies[i].resize(geometry.tensors()[i].size_bytes);
      read_buffer(*buffers[i], offsets[i], copies[i]);
      bytes.push_back(copies[i].data());
    }
    return bytes;
  }

  // Calls `change` with these, and puts back what are copies.
  template <class Change>
  void edit(Change change) {
    MemoryImage copies;
    change(on_host(copies));
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (!copies[i].empty()) write_buffer(*buffers[i], offsets[i], copies[i]);
  }

  void fill_all(std::uint8_t byte) {
    edit([&](const std::vector<std::uint8_t*>& bytes) {
      for (std::size_t i = 0; i < bytes.size(); ++i)
        std::memset(bytes[i], byte, geometry.tensors()[i].size_bytes);
    });
  }

  // Whether blocks are read and written row by row: what is on a GPU and too large to be copied
  // whole for each.
  bool by_rows() const {
    constexpr std::size_t kLarge = std::size_t{64} << 20;
    std::size_t total = 0;
    for (const TensorPlan& tensor : geometry.tensors()) total += tensor.size_bytes;
    return !is_on_host(*buffers.front()) && total > kLarge;
  }

  // Calls write(index, row, bytes of the row) for every row of each of the blocks.
  template <class Write>
  void edit_rows(const BlockIds& block_ids, Write write) {
    if (by_rows()) {
      Bytes bytes;
      for (std::size_t i = 0; i < block_ids.size(); ++i)
        geometry.for_each_row(static_cast<std::size_t>(block_ids[i]), [&](const RowPlace& row) {
          bytes.resize(row.size);
          write(i, row, bytes.data());
          write_buffer(*buffers[row.tensor], offsets[row.tensor] + row.offset, bytes);
        });
      return;
    }
    edit([&](const std::vector<std::uint8_t*>& bytes) {
      for (std::size_t i = 0; i < block_ids.size(); ++i)
        geometry.for_each_row(static_cast<std::size_t>(block_ids[i]), [&](const RowPlace& row) {
          write(i, row, bytes[row.tensor] + row.offset);
        });
    });
  }

  Case& test;
  EngineShape shape;
  Geometry geometry;
  std::string model_name;
  Int world_size;
  Int instance_id;
  Client client;
  std::size_t chunk_size;
  std::vector<std::shared_ptr<Buffer>> buffers;  // one a tensor
  std::vector<std::size_t> offsets;              // bytes, of each tensor in its buffer
  std::shared_ptr<Event> ready;
  bool registered = false;
};

EnginePlayer::EnginePlayer(Case& test, const EngineShape& shape, std::string model_name,
                           Int world_size)
    : impl_(std::make_unique<Impl>(test, shape, std::move(model_name), world_size)) {}

EnginePlayer::EnginePlayer(EnginePlayer&&) noexcept = default;

EnginePlayer::~EnginePlayer() {
  if (!impl_ || !impl_->registered) return;
  try {
    const Sent sent =
        impl_->client.send_values(RequestType::kUnregisterKvCache, impl_->instance_id);
    // After a finding the server may be gone: it is told, and not waited for.
    if (std::uncaught_exceptions() > 0)
      impl_->client.receive(kGrace);
    else
      impl_->client.reply_to(sent);
  } catch (...) {
    // What the case found is told already; the probe after it will tell of a dead server.
  }
}

Int EnginePlayer::instance_id() const { return impl_->instance_id; }
const std::string& EnginePlayer::model_name() const { return impl_->model_name; }
const Geometry& EnginePlayer::geometry() const { return impl_->geometry; }
Client& EnginePlayer::client() { return impl_->client; }

KVCache EnginePlayer::kv_cache() const {
  KVCache cache;
  for (std::size_t i = 0; i < impl_->buffers.size(); ++i) {
    const TensorPlan& plan = impl_->geometry.tensors()[i];
    IpcTensor tensor;
    const Bytes handle = impl_->buffers[i]->ipc_handle();
    if (impl_->shape.raw_wrapper) {
      KVC_ASSERT(impl_->offsets[i] == 0);
      tensor.handle = RawIpcHandle{handle, Int(plan.size_bytes)};
    } else {
      TorchIpcHandle torch;
      torch.device = 0;
      torch.handle = {2, 'c'};  // version 2, from cudaMalloc: as torch 2.8 writes it
      torch.handle.insert(torch.handle.end(), handle.begin(), handle.end());
      torch.storage_size_bytes = Int(plan.size_bytes);
      torch.storage_offset_bytes = Int(impl_->offsets[i]);
      torch.ref_counter_handle = to_bytes(as_bytes("/kvconform_ref_counter"));
      torch.ref_counter_offset = 0;
      torch.event_handle = Bytes(64, 0);
      tensor.handle = std::move(torch);
    }
    tensor.dtype = plan.dtype;
    tensor.shape.assign(plan.shape.begin(), plan.shape.end());
    tensor.stride.assign(plan.stride.begin(), plan.stride.end());
    tensor.storage_offset = Int(plan.storage_offset);
    tensor.device_uuid = impl_->test.device().own_uuid();
    cache.push_back(std::move(tensor));
  }
  return cache;
}

std::shared_ptr<const BlockSpace> EnginePlayer::block_space() const {
  std::vector<TensorDesc> tensors;
  for (std::size_t i = 0; i < impl_->buffers.size(); ++i) {
    const TensorPlan& plan = impl_->geometry.tensors()[i];
    TensorDesc& desc = tensors.emplace_back();
    desc.dtype = plan.dtype;
    desc.element_size = plan.element_size;
    desc.shape = plan.shape;
    desc.stride = plan.stride;
    desc.storage_offset = static_cast<std::int64_t>(plan.storage_offset);
    desc.base_offset_bytes = impl_->offsets[i] + plan.storage_offset * plan.element_size;
    desc.available_bytes = plan.size_bytes - plan.storage_offset * plan.element_size;
  }
  Result<Layout> layout =
      discover_layout(std::move(tensors), engine_type(), hints(), impl_->chunk_size);
  if (!layout) impl_->test.harness("the engine's own layout: " + layout.error().text());
  return std::make_shared<const BlockSpace>(BlockSpace{std::move(layout).value(), impl_->buffers});
}

LayoutHints EnginePlayer::hints() const {
  LayoutHints hints;
  const EngineShape& shape = impl_->shape;
  switch (shape.format) {
    case KvFormat::kNlXTwoNbNhBsHs:
    case KvFormat::kNlXNbTwoNhBsHs:
      hints.kv_layout = KvLayout::kHND;
      break;
    case KvFormat::kNbNlTwoNhBsHs:
      hints.num_kv_heads = Int(shape.num_heads);
      hints.tokens_per_block = Int(shape.block_size);
      hints.head_dim = Int(shape.head_size);
      break;
    default:
      hints.kv_layout = KvLayout::kNHD;
      break;
  }
  if (shape.logical_block_size)
    hints.inference_engine_logical_block_size = Int(*shape.logical_block_size);
  return hints;
}

EngineType EnginePlayer::engine_type() const {
  return impl_->shape.format == KvFormat::kNbNlTwoNhBsHs ? EngineType::kTrtllm : EngineType::kVllm;
}

Sent EnginePlayer::send_register(const KVCache& kv_cache, EngineType engine,
                                 const LayoutHints& hints) {
  impl_->registered = true;  // perhaps; unregistering what is not there does no harm
  return impl_->client.send_values(RequestType::kRegisterKvCache, impl_->instance_id, kv_cache,
                                   impl_->model_name, impl_->world_size, engine, hints);
}

void EnginePlayer::register_kv_cache() {
  const Sent sent = send_register(kv_cache(), engine_type(), hints());
  impl_->client.result<None>(impl_->client.reply_to(sent));
}

void EnginePlayer::unregister_kv_cache() {
  impl_->client.call<None>(RequestType::kUnregisterKvCache, impl_->instance_id);
  impl_->registered = false;
}

std::size_t EnginePlayer::chunk_size() const { return impl_->chunk_size; }

std::size_t EnginePlayer::blocks_per_chunk() const {
  return impl_->chunk_size / impl_->geometry.tokens_per_block();
}

Tokens EnginePlayer::fresh_tokens(std::size_t count) { return fresh_token_ids(impl_->test, count); }

Tokens EnginePlayer::fresh_chunks(std::size_t num_chunks) {
  return fresh_tokens(num_chunks * impl_->chunk_size);
}

Key EnginePlayer::key(const Tokens& tokens, const std::string& request_id,
                      const std::string& cache_salt) const {
  Key key;
  key.model_name = impl_->model_name;
  key.world_size = impl_->world_size;
  key.worker_id = 0;
  key.token_ids = IntArray::of_u32(tokens);
  key.start = 0;
  key.end = Int(tokens.size() / impl_->chunk_size * impl_->chunk_size);
  key.request_id = request_id.empty() ? impl_->test.unique("request") : request_id;
  key.cache_salt = cache_salt;
  return key;
}

Key EnginePlayer::key_of(const Tokens& tokens, std::size_t first_chunk, std::size_t last_chunk,
                         const std::string& request_id) const {
  Key result = key(tokens, request_id);
  result.start = Int(first_chunk * impl_->chunk_size);
  result.end = Int(last_chunk * impl_->chunk_size);
  return result;
}

BlockIds EnginePlayer::blocks(std::size_t place, std::size_t num_chunks) const {
  BlockIds ids(num_chunks * blocks_per_chunk());
  std::iota(ids.begin(), ids.end(), static_cast<std::int64_t>(place * blocks_per_chunk()));
  KVC_ASSERT(ids.empty() || static_cast<std::size_t>(ids.back()) < impl_->geometry.num_blocks());
  return ids;
}

void EnginePlayer::fill_block(std::int64_t block_id, std::uint64_t seed) {
  impl_->edit_rows({block_id}, [&](std::size_t, const RowPlace& row, std::uint8_t* bytes) {
    write_pattern(seed, row, bytes);
  });
}

Contents EnginePlayer::fill(const BlockIds& block_ids, std::uint64_t seed) {
  impl_->edit_rows(block_ids, [&](std::size_t i, const RowPlace& row, std::uint8_t* bytes) {
    write_pattern(seed + i, row, bytes);
  });
  Contents contents;
  for (std::size_t i = 0; i < block_ids.size(); ++i)
    contents.push_back(pattern_content(impl_->geometry, seed + i));
  return contents;
}

void EnginePlayer::fill_all(std::uint8_t byte) { impl_->fill_all(byte); }

void EnginePlayer::stamp(std::int64_t block_id, std::uint8_t byte) {
  impl_->edit_rows({block_id}, [&](std::size_t, const RowPlace& row, std::uint8_t* bytes) {
    std::memset(bytes, byte, row.size);
  });
}

void EnginePlayer::put(const BlockIds& block_ids, const Contents& contents) {
  KVC_ASSERT(block_ids.size() == contents.size());
  std::vector<std::size_t> at(block_ids.size());  // in each block's content: its rows come in order
  for (const Bytes& content : contents) KVC_ASSERT(content.size() == impl_->geometry.block_bytes());
  impl_->edit_rows(block_ids, [&](std::size_t i, const RowPlace& row, std::uint8_t* bytes) {
    std::memcpy(bytes, contents[i].data() + at[i], row.size);
    at[i] += row.size;
  });
}

Contents EnginePlayer::contents(const BlockIds& block_ids) const {
  if (impl_->by_rows()) {
    Contents contents;
    for (const std::int64_t block : block_ids) {
      Bytes& content = contents.emplace_back();
      impl_->geometry.for_each_row(static_cast<std::size_t>(block), [&](const RowPlace& row) {
        content.resize(content.size() + row.size);
        read_buffer(*impl_->buffers[row.tensor], impl_->offsets[row.tensor] + row.offset,
                    std::span(content).last(row.size));
      });
    }
    return contents;
  }
  MemoryImage copies;
  const std::vector<std::uint8_t*> bytes = impl_->on_host(copies);
  Contents contents;
  for (const std::int64_t block : block_ids) {
    Bytes content;
    content.reserve(impl_->geometry.block_bytes());
    impl_->geometry.for_each_row(static_cast<std::size_t>(block), [&](const RowPlace& row) {
      const std::uint8_t* from = bytes[row.tensor] + row.offset;
      content.insert(content.end(), from, from + row.size);
    });
    contents.push_back(std::move(content));
  }
  return contents;
}

MemoryImage EnginePlayer::image() const { return impl_->image(); }

void EnginePlayer::expect_contents(const BlockIds& block_ids, const Contents& expected,
                                   const std::string& what) const {
  KVC_ASSERT(block_ids.size() == expected.size());
  const Contents actual = contents(block_ids);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    const auto differing =
        std::mismatch(actual[i].begin(), actual[i].end(), expected[i].begin()).first;
    const auto at = static_cast<std::size_t>(differing - actual[i].begin());
    std::size_t num_different = 0;
    for (std::size_t byte = 0; byte < actual[i].size(); ++byte)
      num_different += actual[i][byte] != expected[i][byte] ? 1U : 0U;
    impl_->test.wrong(what + ": every byte of the blocks is exact",
                      std::to_string(num_different) + " of " + std::to_string(actual[i].size()) +
                          " bytes of block " + std::to_string(block_ids[i]) +
                          " differ, the first at " + impl_->geometry.place_in_words(at) + ": " +
                          to_hex(ByteView(&actual[i][at], 1)) + " instead of " +
                          to_hex(ByteView(&expected[i][at], 1)));
  }
}

void EnginePlayer::expect_image(const MemoryImage& expected, const std::string& what) const {
  const MemoryImage actual = image();
  KVC_ASSERT(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    const auto at = std::mismatch(actual[i].begin(), actual[i].end(), expected[i].begin()).first -
                    actual[i].begin();
    impl_->test.wrong(
        what + ": every byte of every tensor is as it should be",
        "tensor " + std::to_string(i) + " differs first at byte " + std::to_string(at) + ": " +
            to_hex(ByteView(&actual[i][static_cast<std::size_t>(at)], 1)) + " instead of " +
            to_hex(ByteView(&expected[i][static_cast<std::size_t>(at)], 1)));
  }
}

MemoryImage EnginePlayer::with(MemoryImage before, const BlockIds& block_ids,
                               const Contents& contents, std::size_t num_skipped) const {
  KVC_ASSERT(block_ids.size() == contents.size());
  for (std::size_t i = num_skipped; i < block_ids.size(); ++i)
    put_block(impl_->geometry, before, static_cast<std::size_t>(block_ids[i]), contents[i]);
  return before;
}

TransferResult EnginePlayer::store(const Key& key, const BlockIds& block_ids) {
  const Sent sent = send_store(key, block_ids, ready_event());
  auto result = impl_->client.result<TransferResult>(impl_->client.reply_to(sent));
  if (result.ok) wait_done(result.event_handle);
  return result;
}

TransferResult EnginePlayer::retrieve(const Key& key, const BlockIds& block_ids, Int skip) {
  const Sent sent = send_retrieve(key, block_ids, ready_event(), skip);
  auto result = impl_->client.result<TransferResult>(impl_->client.reply_to(sent));
  if (result.ok) wait_done(result.event_handle);
  return result;
}

void EnginePlayer::store_ok(const Key& key, const BlockIds& block_ids, const std::string& what) {
  const TransferResult result = store(key, block_ids);
  impl_->test.expect(result.ok, what + " answers (event, True)", words(result));
}

void EnginePlayer::retrieve_ok(const Key& key, const BlockIds& block_ids, Int skip,
                               const std::string& what) {
  const TransferResult result = retrieve(key, block_ids, skip);
  impl_->test.expect(result.ok, what + " answers (event, True)", words(result));
}

Sent EnginePlayer::send_store(const Key& key, const BlockIds& block_ids, const Bytes& event) {
  return send_store(key, impl_->instance_id, block_ids, event);
}

Sent EnginePlayer::send_store(const Key& key, Int instance_id, const BlockIds& block_ids,
                              const Bytes& event) {
  return impl_->client.send_values(RequestType::kStore, key, instance_id, int_array(block_ids),
                                   event);
}

Sent EnginePlayer::send_retrieve(const Key& key, const BlockIds& block_ids, const Bytes& event,
                                 Int skip) {
  return send_retrieve(key, impl_->instance_id, block_ids, event, skip);
}

Sent EnginePlayer::send_retrieve(const Key& key, Int instance_id, const BlockIds& block_ids,
                                 const Bytes& event, Int skip) {
  return impl_->client.send_values(RequestType::kRetrieve, key, instance_id, int_array(block_ids),
                                   event, skip);
}

TransferResult EnginePlayer::miss() {
  const Sent sent = send_retrieve(key(fresh_chunks(1)), blocks(0), ready_event());
  auto result = impl_->client.result<TransferResult>(impl_->client.reply_to(sent));
  impl_->test.expect(!result.ok, "RETRIEVE of a chunk that was never stored answers False",
                     words(result));
  return result;
}

std::optional<TransferResult> EnginePlayer::outcome(const Sent& sent) {
  miss();
  for (const Reply& reply : impl_->client.unclaimed())
    if (!reply.frames.empty() && reply.frames.front() == sent.uid)
      return impl_->client.result<TransferResult>(impl_->client.reply_to(sent));
  return std::nullopt;
}

void EnginePlayer::expect_never_true(const Sent& sent, const std::string& what) {
  const std::optional<TransferResult> result = outcome(sent);
  if (result && result->ok)
    impl_->test.wrong(what + ": no reply, or False", "the reply " + words(*result));
}

void EnginePlayer::expect_says_false(const Sent& sent, bool handle_is_fine,
                                     const std::string& what) {
  const std::string expected =
      what + (handle_is_fine ? ": a reply with False" : ": the reply (b\"\", False)");
  const std::optional<TransferResult> result = outcome(sent);
  if (!result) throw Finding{Verdict::kSilent, expected, "no reply", impl_->test.context().step()};
  if (result->ok || (!handle_is_fine && !result->event_handle.empty()))
    impl_->test.wrong(expected, "the reply " + words(*result));
}

Int EnginePlayer::lookup(const Key& key, Int tp_size) {
  Key all_workers = key;
  all_workers.worker_id = std::nullopt;
  impl_->client.call<None>(RequestType::kLookup, all_workers, tp_size);
  return query(key.request_id);
}

Int EnginePlayer::lookup(const Tokens& tokens, const std::string& cache_salt) {
  return lookup(key(tokens, "", cache_salt));
}

void EnginePlayer::expect_lookup(const Tokens& tokens, Int expected, const std::string& what) {
  impl_->test.expect_equal(lookup(tokens), expected, "chunks found by LOOKUP, " + what);
}

Int EnginePlayer::query(const std::string& request_id) {
  const auto until = Clock::now() + impl_->test.context().settings().timeout;
  while (true) {
    const auto found =
        impl_->client.call<OptionalInt>(RequestType::kQueryPrefetchStatus, request_id);
    if (found) return *found;
    if (Clock::now() > until)
      impl_->test.wrong("QUERY_PREFETCH_STATUS answers an int in time", "None all the time");
    std::this_thread::sleep_for(kLook);
  }
}

void EnginePlayer::free_locks(const Key& key, Int tp_size) {
  Key all_workers = key;
  all_workers.worker_id = std::nullopt;
  impl_->client.call<None>(RequestType::kFreeLookupLocks, all_workers, tp_size);
}

void EnginePlayer::end_session(const std::string& request_id) {
  impl_->client.call<None>(RequestType::kEndSession, request_id);
}

void EnginePlayer::clear() { impl_->client.call<None>(RequestType::kClear); }

Bytes EnginePlayer::ready_event() { return impl_->ready->ipc_handle(); }

void EnginePlayer::wait_event(const Bytes& handle) { conformance::wait_event(impl_->test, handle); }

void EnginePlayer::wait_done(const Bytes& handle) {
  wait_event(handle);
  // The event of a failed RETRIEVE comes behind all work of the instance, where there is one.
  const TransferResult behind = miss();
  if (!behind.event_handle.empty()) wait_event(behind.event_handle);
}

bool EnginePlayer::event_complete(const Bytes& handle) {
  return conformance::event_complete(impl_->test, handle);
}

bool EnginePlayer::event_completes_within_grace(const Bytes& handle) {
  return conformance::event_completes_within_grace(impl_->test, handle);
}

EnginePlayer registered_player(Case& test, const EngineShape& shape) {
  EnginePlayer player(test, shape, test.unique("model"));
  player.register_kv_cache();
  return player;
}

EngineShape small_shape(Case& test, std::size_t num_chunks) {
  const std::size_t chunk_size = test.chunk_size();
  EngineShape shape;
  shape.block_size = chunk_size % 4 == 0 ? chunk_size / 4 : chunk_size;
  // Neither 2, which would make the layouts ambiguous, nor few enough to hide a wrong stride.
  shape.num_blocks = std::max<std::size_t>(num_chunks * (chunk_size / shape.block_size), 3);
  shape.num_heads = 2;
  shape.head_size = 4;
  return shape;
}

EngineShape tiny_shape(Case& test, std::size_t num_chunks) {
  EngineShape shape;
  shape.format = KvFormat::kNlXNbBsHs;
  shape.dtype = "uint8";
  shape.num_layers = 1;
  shape.num_blocks = num_chunks;
  shape.block_size = test.chunk_size();
  shape.num_heads = 1;
  shape.head_size = 1;
  return shape;
}

}  // namespace kvc::conformance
