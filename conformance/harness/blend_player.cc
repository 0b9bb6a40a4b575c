// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/blend_player.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

#include "conformance/harness/blend_fingerprint.h"
#include "conformance/harness/event_wait.h"
#include "conformance/harness/run_context.h"
#include "kvc/device/buffer_access.h"
#include "kvc/device/export_tensor.h"
#include "kvc/protocol/assert.h"

namespace kvc::conformance {
namespace {

// After a finding the server may be gone: so long is waited for the answer to a farewell.
constexpr std::chrono::milliseconds kGrace{100};

constexpr std::size_t kHashBytes = 32;

// Pieces that collide in themselves, or a very long query, are never quiet.
constexpr int kMostDraws = 20;

// Of all that this run has stored, on whatever server: a superset does no harm.
TakenSlots& taken_slots() {
  static TakenSlots slots;
  return slots;
}

std::string words(const TransferResult& result) { return describe(Value(result)); }

std::string words(const std::vector<MatchPlace>& places) {
  std::string out;
  for (const MatchPlace& place : places)
    out += (out.empty() ? "" : ", ") + std::to_string(place.cur_st) + " (from " +
           std::to_string(place.old_st) + ")";
  return out.empty() ? "no match" : "matches at tokens " + out;
}

std::size_t element_size_of(const std::string& dtype) {
  if (dtype == "uint8") return 1;
  if (dtype == "float32") return 4;
  KVC_ASSERT(dtype == "bfloat16" || dtype == "float16");
  return 2;
}

Tokens joined(const std::vector<Piece>& pieces, std::mt19937_64& random) {
  std::uniform_int_distribution<std::uint32_t> any(0, kOrdinaryTokenMax);
  Tokens out;
  for (const Piece& piece : pieces) {
    if (const Tokens* tokens = std::get_if<Tokens>(&piece))
      out.insert(out.end(), tokens->begin(), tokens->end());
    else
      for (std::size_t i = std::get<std::size_t>(piece); i > 0; --i) out.push_back(any(random));
  }
  return out;
}

// The answer to a transfer, when its returned event is complete.
TransferResult completed(BlendPlayer& player, const Sent& sent) {
  TransferResult result = player.reply_to(sent);
  player.wait_done(result.event_handle);
  return result;
}

}  // namespace

struct BlendPlayer::Impl {
  Impl(Case& of, BlendShape its_shape, std::string model, Int world, BlendGeneration which)
      : test(of),
        shape(std::move(its_shape)),
        model_name(std::move(model)),
        world_size(world),
        generation(which),
        instance_id(next_instance_id()),
        client(of.client()),
        chunk_size(of.chunk_size()),
        element_size(element_size_of(shape.dtype)),
        row_bytes(shape.hidden_size * element_size) {
    Device& device = test.device();
    ready = device.create_event();
    buffer = device.create_buffer(num_rows() * shape.num_tokens * row_bytes);
    stamp(0);
  }

  // Through copies, as the host may not reach the buffer's memory.
  void stamp(std::uint8_t byte) { write_buffer(*buffer, 0, Bytes(buffer->size_bytes(), byte)); }

  // A row is one token of one layer of keys or values.
  std::size_t num_rows() const { return 2 * shape.num_layers; }
  std::size_t place(std::size_t row, std::size_t token) const {
    return (row * shape.num_tokens + token) * row_bytes;
  }

  void take_slots(const Key& key) {
    Tokens tokens;
    for (const Int token : key.token_ids.to_vector()) {
      if (!token.as_u32()) return;
      tokens.push_back(*token.as_u32());
    }
    for (std::size_t at = 0; at + chunk_size <= tokens.size(); at += chunk_size)
      taken_slots().take(std::span(tokens).subspan(at, chunk_size));
  }

  Case& test;
  BlendShape shape;
  std::string model_name;
  Int world_size;
  BlendGeneration generation;
  Int instance_id;
  Client client;
  std::size_t chunk_size;
  std::size_t element_size;
  std::size_t row_bytes;
  std::shared_ptr<Buffer> buffer;
  std::shared_ptr<Event> ready;
  bool registered = false;
};

BlendPlayer::BlendPlayer(Case& test, const BlendShape& shape, std::string model_name,
                         Int world_size, BlendGeneration generation)
    : impl_(std::make_unique<Impl>(test, shape, std::move(model_name), world_size, generation)) {}

BlendPlayer::BlendPlayer(BlendPlayer&&) noexcept = default;

BlendPlayer::~BlendPlayer() {
  if (!impl_ || !impl_->registered) return;
  try {
    const Sent sent =
        impl_->client.send_values(RequestType::kCbUnregisterKvCache, impl_->instance_id);
    if (std::uncaught_exceptions() > 0)
      impl_->client.receive(kGrace);
    else
      impl_->client.reply_to(sent);
  } catch (...) {
    // What the case found is told already; the probe after it will tell of a dead server.
  }
}

Int BlendPlayer::instance_id() const { return impl_->instance_id; }
void BlendPlayer::set_instance_id(Int instance_id) { impl_->instance_id = instance_id; }
const std::string& BlendPlayer::model_name() const { return impl_->model_name; }
const BlendShape& BlendPlayer::shape() const { return impl_->shape; }
Client& BlendPlayer::client() { return impl_->client; }
std::size_t BlendPlayer::chunk_size() const { return impl_->chunk_size; }
std::size_t BlendPlayer::token_bytes() const { return impl_->row_bytes; }

KVCache BlendPlayer::kv_cache() const {
  ExportedTensor tensor;
  tensor.dtype = impl_->shape.dtype;
  for (const std::size_t size :
       {std::size_t{2}, impl_->shape.num_layers, impl_->shape.num_tokens, impl_->shape.hidden_size})
    tensor.shape.push_back(static_cast<std::int64_t>(size));
  return {export_tensor(*impl_->buffer, tensor, impl_->test.device().own_uuid())};
}

Sent BlendPlayer::send_register(const KVCache& kv_cache) {
  impl_->registered = true;  // perhaps; unregistering what is not there does no harm
  return impl_->client.send_values(RequestType::kCbRegisterKvCache, impl_->instance_id, kv_cache,
                                   impl_->model_name, impl_->world_size);
}

void BlendPlayer::register_buffer() {
  impl_->client.result<None>(impl_->client.reply_to(send_register(kv_cache())));
}

void BlendPlayer::unregister_buffer() {
  impl_->client.call<None>(RequestType::kCbUnregisterKvCache, impl_->instance_id);
  impl_->registered = false;
}

Tokens BlendPlayer::document(std::size_t num_chunks) {
  Tokens tokens;
  for (int i = 0; i < kMostDraws; ++i) {
    tokens = fresh_token_ids(impl_->test, num_chunks * impl_->chunk_size);
    // Room for colliding_with() in every token.
    for (std::uint32_t& token : tokens) token = std::max(token, kCollisionRoom);
    if (taken_slots().quiet(tokens, impl_->chunk_size)) break;
  }
  return tokens;
}

Tokens BlendPlayer::query(const std::vector<Piece>& pieces) {
  Tokens tokens;
  for (int i = 0; i < kMostDraws; ++i) {
    tokens = joined(pieces, impl_->test.random());
    if (taken_slots().quiet(tokens, impl_->chunk_size)) break;
  }
  return tokens;
}

Tokens BlendPlayer::part(const Tokens& document, std::size_t first, std::size_t last) const {
  KVC_ASSERT(last * impl_->chunk_size <= document.size());
  const auto begin = document.begin();
  return {begin + static_cast<std::ptrdiff_t>(first * impl_->chunk_size),
          begin + static_cast<std::ptrdiff_t>(last * impl_->chunk_size)};
}

Key BlendPlayer::key(const Tokens& tokens, const std::string& request_id,
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

void BlendPlayer::fill(std::uint64_t seed) {
  Bytes bytes(impl_->buffer->size_bytes());
  for (std::size_t row = 0; row < impl_->num_rows(); ++row)
    for (std::size_t token = 0; token < impl_->shape.num_tokens; ++token) {
      RowPlace place{};
      place.kv = row / impl_->shape.num_layers;
      place.layer = row % impl_->shape.num_layers;
      place.slot = token;
      place.size = impl_->row_bytes;
      place.element_size = impl_->element_size;
      write_pattern(seed, place, bytes.data() + impl_->place(row, token));
    }
  write_buffer(*impl_->buffer, 0, bytes);
}

void BlendPlayer::stamp(std::uint8_t byte) { impl_->stamp(byte); }

Bytes BlendPlayer::content(std::size_t at, std::size_t num_tokens) const {
  KVC_ASSERT(at + num_tokens <= impl_->shape.num_tokens);
  const std::size_t size = num_tokens * impl_->row_bytes;
  Bytes out(impl_->num_rows() * size);
  for (std::size_t row = 0; row < impl_->num_rows(); ++row)
    read_buffer(*impl_->buffer, impl_->place(row, at), std::span(out).subspan(row * size, size));
  return out;
}

Bytes BlendPlayer::chunk_at(std::size_t at) const { return content(at, impl_->chunk_size); }
Bytes BlendPlayer::image() const { return content(0, impl_->shape.num_tokens); }

Bytes BlendPlayer::with(Bytes image, std::size_t at, const Bytes& content) const {
  const std::size_t bytes = content.size() / impl_->num_rows();
  KVC_ASSERT(at * impl_->row_bytes + bytes <= impl_->shape.num_tokens * impl_->row_bytes);
  for (std::size_t row = 0; row < impl_->num_rows(); ++row)
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(row * bytes), bytes,
                image.begin() + static_cast<std::ptrdiff_t>(impl_->place(row, at)));
  return image;
}

void BlendPlayer::expect_image(const Bytes& expected, const std::string& what) const {
  const Bytes actual = image();
  KVC_ASSERT(actual.size() == expected.size());
  if (actual == expected) return;
  const auto first = std::mismatch(actual.begin(), actual.end(), expected.begin());
  const auto at = static_cast<std::size_t>(first.first - actual.begin());
  std::size_t num_different = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) num_different += actual[i] != expected[i];
  const std::size_t row = at / impl_->row_bytes / impl_->shape.num_tokens;
  impl_->test.wrong(
      what + ": every byte of the buffer is as it should be",
      std::to_string(num_different) + " of " + std::to_string(actual.size()) +
          " bytes differ, the first at kv " + std::to_string(row / impl_->shape.num_layers) +
          ", layer " + std::to_string(row % impl_->shape.num_layers) + ", token " +
          std::to_string(at / impl_->row_bytes % impl_->shape.num_tokens) + ": " +
          to_hex(ByteView(&actual[at], 1)) + " instead of " + to_hex(ByteView(&expected[at], 1)));
}

Sent BlendPlayer::send_store(const Key& key, Int offset, Int instance_id, const Bytes& event,
                             RequestType type) {
  impl_->take_slots(key);
  return impl_->client.send_values(type, key, offset, instance_id, event);
}

Sent BlendPlayer::send_retrieve(const Key& key, const CBMatchResults& matches, Int offset,
                                Int instance_id, const Bytes& event) {
  return impl_->client.send_values(RequestType::kCbRetrievePreComputedV2, key, matches, offset,
                                   instance_id, event);
}

Sent BlendPlayer::send_retrieve(const Key& key, const Ranges& ranges, Int offset, Int instance_id,
                                const Bytes& event) {
  return impl_->client.send_values(RequestType::kCbRetrievePreComputed, key, ranges, offset,
                                   instance_id, event);
}

TransferResult BlendPlayer::reply_to(const Sent& sent) {
  return impl_->client.result<TransferResult>(impl_->client.reply_to(sent));
}

TransferResult BlendPlayer::store(const Key& key, Int offset, RequestType type) {
  return completed(*this, send_store(key, offset, impl_->instance_id, ready_event(), type));
}

void BlendPlayer::store_ok(const Key& key, Int offset, const std::string& what, RequestType type) {
  const TransferResult result = store(key, offset, type);
  impl_->test.expect(result.ok, what + " answers (event, True)", words(result));
}

TransferResult BlendPlayer::retrieve(const Key& key, const CBMatchResults& matches, Int offset) {
  return completed(*this, send_retrieve(key, matches, offset, impl_->instance_id, ready_event()));
}

void BlendPlayer::retrieve_ok(const Key& key, const CBMatchResults& matches, Int offset,
                              const std::string& what) {
  const TransferResult result = retrieve(key, matches, offset);
  impl_->test.expect(result.ok, what + " answers (event, True)", words(result));
}

TransferResult BlendPlayer::retrieve(const Key& key, const Ranges& ranges, Int offset) {
  return completed(*this, send_retrieve(key, ranges, offset, impl_->instance_id, ready_event()));
}

void BlendPlayer::retrieve_ok(const Key& key, const Ranges& ranges, Int offset,
                              const std::string& what) {
  const TransferResult result = retrieve(key, ranges, offset);
  impl_->test.expect(result.ok, what + " answers (event, True)", words(result));
}

CBMatchResults BlendPlayer::lookup(const Key& key) {
  Key all_workers = key;
  all_workers.worker_id = std::nullopt;
  return impl_->client.call<CBMatchResults>(RequestType::kCbLookupPreComputedV2, all_workers);
}

Ranges BlendPlayer::lookup_ranges(const Key& key) {
  Key all_workers = key;
  all_workers.worker_id = std::nullopt;
  return impl_->client.call<Ranges>(RequestType::kCbLookupPreComputed, all_workers);
}

CBMatchResults BlendPlayer::expect_matches(const Key& key, const std::vector<MatchPlace>& places,
                                           const std::string& what) {
  CBMatchResults matches = lookup(key);
  const std::size_t chunk = impl_->chunk_size;
  const bool right = std::equal(matches.begin(), matches.end(), places.begin(), places.end(),
                                [chunk](const CBMatchResult& match, const MatchPlace& place) {
                                  return match.cur_st == Int(place.cur_st) &&
                                         match.cur_ed == Int(place.cur_st + chunk) &&
                                         match.old_st == Int(place.old_st) &&
                                         match.old_ed == Int(place.old_st + chunk) &&
                                         match.hash.size() == kHashBytes;
                                });
  impl_->test.expect(right,
                     "CB_LOOKUP_PRE_COMPUTED_V2 " + what + ": " + words(places) +
                         ", each of a chunk, with its hash of 32 bytes",
                     describe(Value(matches)));
  return matches;
}

void BlendPlayer::expect_ranges(const Key& key, const Ranges& expected, const std::string& what) {
  impl_->test.expect_equal(lookup_ranges(key), expected, "CB_LOOKUP_PRE_COMPUTED " + what);
}

TransferResult BlendPlayer::miss() {
  const Key nobody = key(fresh_token_ids(impl_->test, impl_->chunk_size));
  const Int end(impl_->chunk_size);
  const Sent sent =
      impl_->generation == BlendGeneration::kV1
          ? send_retrieve(nobody, Ranges{{Int(0), end}}, 0, impl_->instance_id, ready_event())
          : send_retrieve(nobody,
                          CBMatchResults{{Int(0), end, Int(0), end, Bytes(kHashBytes, 0xfe)}}, 0,
                          impl_->instance_id, ready_event());
  TransferResult result = reply_to(sent);
  impl_->test.expect(!result.ok, "a retrieve of a chunk that was never stored answers False",
                     words(result));
  return result;
}

std::optional<TransferResult> BlendPlayer::outcome(const Sent& sent) {
  miss();
  for (const Reply& reply : impl_->client.unclaimed())
    if (!reply.frames.empty() && reply.frames.front() == sent.uid) return reply_to(sent);
  return std::nullopt;
}

void BlendPlayer::expect_never_true(const Sent& sent, const std::string& what) {
  const std::optional<TransferResult> result = outcome(sent);
  if (result && result->ok)
    impl_->test.wrong(what + ": no reply, or False", "the reply " + words(*result));
}

void BlendPlayer::expect_says_false(const Sent& sent, const std::string& what) {
  const std::string expected = what + ": a reply with False";
  const std::optional<TransferResult> result = outcome(sent);
  if (!result) throw Finding{Verdict::kSilent, expected, "no reply", impl_->test.context().step()};
  if (result->ok) impl_->test.wrong(expected, "the reply " + words(*result));
}

void BlendPlayer::free_locks(const Key& key) {
  Key all_workers = key;
  all_workers.worker_id = std::nullopt;
  impl_->client.call<None>(RequestType::kFreeLookupLocks, all_workers, Int(1));
}

void BlendPlayer::end_session(const std::string& request_id) {
  impl_->client.call<None>(RequestType::kEndSession, request_id);
}

void BlendPlayer::clear() { impl_->client.call<None>(RequestType::kClear); }

Bytes BlendPlayer::ready_event() { return impl_->ready->ipc_handle(); }

void BlendPlayer::wait_done(const Bytes& handle) {
  // A transfer that failed may have no event; 0.4.5 has one, and gives its locks back behind it.
  if (!handle.empty()) wait_event(impl_->test, handle);
  // The event of a failed retrieve comes behind all work of the instance, where there is one.
  const TransferResult behind = miss();
  if (!behind.event_handle.empty()) wait_event(impl_->test, behind.event_handle);
}

BlendShape blend_shape(Case& test, std::size_t num_chunks) {
  BlendShape shape;
  // Not a multiple of the chunk, so that strides and borders are told apart.
  shape.num_tokens = num_chunks * test.chunk_size() + 5;
  return shape;
}

BlendPlayer registered_blend_player(Case& test, std::size_t num_chunks,
                                    BlendGeneration generation) {
  BlendPlayer player(test, blend_shape(test, num_chunks), test.unique("blend"), 1, generation);
  player.register_buffer();
  return player;
}

EnginePlayer paged_twin(Case& test, const BlendPlayer& blend, std::size_t num_chunks) {
  EngineShape shape = small_shape(test, num_chunks);
  shape.dtype = blend.shape().dtype;
  shape.num_layers = blend.shape().num_layers;
  KVC_ASSERT(blend.shape().hidden_size % shape.num_heads == 0);
  shape.head_size = blend.shape().hidden_size / shape.num_heads;
  EnginePlayer player(test, shape, blend.model_name());
  player.register_kv_cache();
  return player;
}

Contents as_blocks(const BlendPlayer& blend, const EnginePlayer& paged, const Bytes& chunk) {
  const std::size_t chunk_size = blend.chunk_size();
  const std::size_t num_layers = blend.shape().num_layers;
  const std::size_t block_tokens = paged.geometry().tokens_per_block();
  const std::size_t row = blend.token_bytes();
  KVC_ASSERT(chunk.size() == 2 * num_layers * chunk_size * row);
  Contents contents;
  for (std::size_t first = 0; first < chunk_size; first += block_tokens) {
    Bytes block;  // [layer][kv][slot]
    for (std::size_t layer = 0; layer < num_layers; ++layer)
      for (const std::size_t kv : {0U, 1U}) {
        const auto from =
            chunk.begin() +
            static_cast<std::ptrdiff_t>(((kv * num_layers + layer) * chunk_size + first) * row);
        block.insert(block.end(), from, from + static_cast<std::ptrdiff_t>(block_tokens * row));
      }
    contents.push_back(std::move(block));
  }
  return contents;
}

}  // namespace kvc::conformance
