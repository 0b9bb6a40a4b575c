// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// STORE and RETRIEVE. Both check everything before anything happens, queue one unit of work on the
// instance's stream, and answer before it has run:
//   STORE      wait for the client's event; copy; make the objects readable; complete the event
//   RETRIEVE   wait for the client's event; copy; let the objects go;       complete the event
// So after the returned event the objects of a STORE are visible to all, and before it, never.
#include <algorithm>
#include <utility>

#include "engine/engine.h"
#include "engine/transfer_unit.h"

namespace kvc {
namespace {

Error invalid(std::string message) { return Error{Errc::kInvalidArgument, "", std::move(message)}; }

std::vector<std::int64_t> blocks_of_chunk(const std::vector<std::int64_t>& block_ids,
                                          std::size_t chunk, std::size_t blocks_per_chunk) {
  const auto first = block_ids.begin() + static_cast<std::ptrdiff_t>(chunk * blocks_per_chunk);
  return {first, first + static_cast<std::ptrdiff_t>(blocks_per_chunk)};
}

}  // namespace

Result<Engine::Transfer> Engine::begin_transfer(const Key& key, Int instance_id,
                                                const Bytes& event_handle,
                                                bool empty_handle_is_fine) {
  if (!key.worker_id) return invalid("worker_id is None, and must say whose data it is");
  if (Result<void> checked = check_model_name(key); !checked) return checked.error();
  const std::size_t chunk_size = options_.chunk_size;
  const std::optional<std::uint64_t> start = key.start.as_u64();
  const std::optional<std::uint64_t> end = key.end.as_u64();
  if (!start || !end || *start % chunk_size != 0 || *end % chunk_size != 0 || *start > *end ||
      *end > key.token_ids.size())
    return invalid("tokens [" + key.start.to_string() + ", " + key.end.to_string() +
                   ") are no whole chunks of " + std::to_string(chunk_size) + " within " +
                   std::to_string(key.token_ids.size()) + " tokens");

  Transfer transfer;
  transfer.registration = registrations_.find(instance_id);
  if (transfer.registration == nullptr)
    return Error{Errc::kNotFound, "", "instance " + instance_id.to_string() + " is not registered"};
  if (Result<void> checked = check_object_shape(registrations_, key, *transfer.registration);
      !checked)
    return checked.error();

  Result<std::vector<ChunkHash>> chunks =
      hash_chunks(key.token_ids, chunk_size, static_cast<std::size_t>(*end / chunk_size));
  if (!chunks) return chunks.error();
  transfer.chunks = *std::move(chunks);
  const KeyScope scope = key_scope(key.model_name, key.world_size, *key.worker_id, key.cache_salt);
  for (std::size_t i = static_cast<std::size_t>(*start / chunk_size); i < transfer.chunks.size();
       ++i)
    transfer.keys.push_back(ObjectKey{transfer.chunks[i], scope});

  if (Result<void> opened = open_events(transfer, event_handle, empty_handle_is_fine); !opened)
    return opened.error();
  return transfer;
}

Result<void> Engine::check_object_shape(const RegistrationTable& registrations, const Key& key,
                                        const Registration& registration) {
  const std::optional<ObjectShape> shape = registrations.find_shape(key.model_name, key.world_size);
  if (shape && *shape != registration.shape)
    return invalid("the objects of model " + key.model_name +
                   " look different from those of instance " +
                   registration.instance_id.to_string());
  return {};
}

Result<void> Engine::open_events(Transfer& transfer, const Bytes& event_handle,
                                 bool empty_handle_is_fine) {
  if (!event_handle.empty() || !empty_handle_is_fine) {
    Result<std::shared_ptr<Event>> event = device_.open_event(event_handle);
    if (!event) return Error{event.error().code, "", "the client's event: " + event.error().text()};
    transfer.client_event = *std::move(event);
  }
  transfer.done_event = device_.create_event();
  return {};
}

Result<std::vector<std::int64_t>> Engine::checked_block_ids(const Layout& layout,
                                                            const IntArray& block_ids,
                                                            std::size_t num_chunks) {
  const std::size_t num_needed = num_chunks * layout.blocks_per_chunk();
  if (block_ids.size() < num_needed)
    return invalid(std::to_string(num_chunks) + " chunks take " + std::to_string(num_needed) +
                   " block ids, and " + std::to_string(block_ids.size()) + " are given");
  std::vector<std::int64_t> checked;
  checked.reserve(num_needed);
  for (auto at = block_ids.begin(); checked.size() < num_needed; ++at) {
    const std::optional<std::uint64_t> id = (*at).as_u64();
    if (!id || *id >= layout.num_blocks)
      return invalid("block id " + (*at).to_string() + " is none of the instance's " +
                     std::to_string(layout.num_blocks) + " blocks");
    checked.push_back(static_cast<std::int64_t>(*id));
  }
  return checked;
}

TransferResult Engine::refused(const Transfer& transfer, const std::string& reason) {
  options_.on_refusal(reason);
  Registration& registration = *transfer.registration;
  const std::lock_guard lock(registration.unit_mutex);
  registration.stream->begin_unit();
  registration.stream->record(transfer.done_event);
  return TransferResult{transfer.done_event->ipc_handle(), false};
}

Result<TransferResult> Engine::store(const Key& key, Int instance_id, const IntArray& block_ids,
                                     const Bytes& event_handle) {
  Result<Transfer> transfer = begin_transfer(key, instance_id, event_handle, false);
  if (!transfer) return transfer.error();
  const Layout& layout = transfer->registration->space->layout;
  const auto checked = checked_block_ids(layout, block_ids, transfer->keys.size());
  if (!checked) return refused(*transfer, "STORE: " + checked.error().text());
  auto reserved =
      objects_->reserve(transfer->keys, layout.chunk_bytes, transfer->registration->shape);
  if (!reserved) return refused(*transfer, "STORE: " + reserved.error().text());
  auto pending = std::make_shared<PendingStore>(objects_, *std::move(reserved));

  std::vector<ChunkCopy> copies;
  for (std::size_t i = 0; i < transfer->keys.size(); ++i) {
    const ObjectRef& object = pending->objects()[i];
    if (object == nullptr) continue;  // is there already: the first writer wins
    copies.push_back(ChunkCopy{CopyDirection::kBlocksToChunk, object->bytes(),
                               blocks_of_chunk(*checked, i, layout.blocks_per_chunk()), 0});
  }
  queue_unit<PendingStore>(*transfer->registration, std::move(copies), transfer->client_event,
                           transfer->done_event, std::move(pending),
                           [](PendingStore& finished) { finished.publish(); });
  sessions_.extend(request_number(key.request_id), transfer->chunks);
  return TransferResult{transfer->done_event->ipc_handle(), true};
}

Result<TransferResult> Engine::retrieve(const Key& key, Int instance_id, const IntArray& block_ids,
                                        const Bytes& event_handle, Int skip_first_n_tokens) {
  Result<Transfer> transfer = begin_transfer(key, instance_id, event_handle, true);
  if (!transfer) return transfer.error();
  const Layout& layout = transfer->registration->space->layout;
  const auto checked = checked_block_ids(layout, block_ids, transfer->keys.size());
  if (!checked) return refused(*transfer, "RETRIEVE: " + checked.error().text());
  std::vector<ObjectRef> objects = objects_->begin_read(
      transfer->keys, transfer->registration->shape, request_number(key.request_id));
  if (objects.empty()) return refused(*transfer, "RETRIEVE: not all chunks are locked for reading");
  auto pending = std::make_shared<PendingRead>(objects_, std::move(objects));

  const std::size_t blocks_per_chunk = layout.blocks_per_chunk();
  const std::size_t num_blocks = checked->size();
  std::size_t num_skipped = 0;  // rounded down to a block: what is skipped must not be written
  if (skip_first_n_tokens > Int(0))
    num_skipped = static_cast<std::size_t>(std::min<std::uint64_t>(
        *skip_first_n_tokens.as_u64() / layout.tokens_per_block, num_blocks));
  std::vector<ChunkCopy> copies;
  for (std::size_t i = num_skipped / blocks_per_chunk; i < transfer->keys.size(); ++i) {
    const std::size_t num_before = i * blocks_per_chunk;
    copies.push_back(ChunkCopy{CopyDirection::kChunkToBlocks, pending->objects()[i]->bytes(),
                               blocks_of_chunk(*checked, i, blocks_per_chunk),
                               num_skipped > num_before ? num_skipped - num_before : 0});
  }
  queue_unit<PendingRead>(*transfer->registration, std::move(copies), transfer->client_event,
                          transfer->done_event, std::move(pending), [](PendingRead&) {});
  return TransferResult{transfer->done_event->ipc_handle(), true};
}

}  // namespace kvc
