// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// EnginePlayer: plays an inference engine: owns paged KV buffers on the device, registers them,
// fills blocks with a pattern that tells every element apart, stores, looks up, retrieves, and
// compares every byte. One instance of a server's `instance_id`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/case.h"
#include "kvc/device/layout.h"

namespace kvc::conformance {

// How the played engine's buffers look. Sizes in elements.
struct EngineShape {
  KvFormat format = KvFormat::kNlXTwoNbBsNhHs;
  std::string dtype = "bfloat16";
  std::size_t num_layers = 2;
  std::size_t num_blocks = 64;
  std::size_t block_size = 16;  // slots of a block
  std::size_t num_heads = 2;
  std::size_t head_size = 8;
  std::size_t dim0_padding = 0;  // elements after each block (MLA only)
  bool raw_wrapper = false;      // RawCudaIPCWrapper instead of CudaIPCWrapper
  bool permuted_view = false;    // HND memory shown as an NHD view by strides, as vLLM does
};

class EnginePlayer {
 public:
  // Allocates the buffers and fills them with zeros. Does not register.
  EnginePlayer(Case& test, const EngineShape& shape, std::string model_name, Int world_size = 1);
  ~EnginePlayer();

  Int instance_id() const;  // unique in the run
  const std::string& model_name() const;
  const Layout& layout() const;  // for this server's chunk size
  Client& client();              // the engine's own client
  KVCache kv_cache() const;      // the wire form of the tensors
  LayoutHints hints() const;
  EngineType engine_type() const;

  void register_kv_cache();  // Finding unless answered
  void unregister_kv_cache();

  // A key of this engine: worker 0, tokens as given, [start, end) all full chunks by default.
  Key key(const std::vector<std::uint32_t>& tokens, const std::string& request_id = "",
          const std::string& cache_salt = "") const;
  // `count` tokens that no other call gives.
  std::vector<std::uint32_t> fresh_tokens(std::size_t count);

  // Memory of the played engine. fill_block writes a pattern made of (seed, layer, kv, slot, head,
  // element); block_digest reads it back token by token, so that equal digests mean equal bytes in
  // every layer, whatever the layout.
  void fill_block(std::int64_t block_id, std::uint64_t seed);
  void fill_all(std::uint8_t byte);
  Bytes block_content(
      std::int64_t block_id) const;  // in object order: [group][kv, layer, slot, NH*HS]
  Bytes snapshot() const;            // every byte of every buffer

  // STORE and RETRIEVE with an event that is recorded and complete, and the returned event waited
  // for. Blocks are counted out from `first_block`, or given.
  TransferResult store(const Key& key, const std::vector<std::int64_t>& block_ids);
  TransferResult retrieve(const Key& key, const std::vector<std::int64_t>& block_ids, Int skip = 0);

  // LOOKUP, then QUERY_PREFETCH_STATUS until it is not None: the number of chunks found and locked.
  Int lookup(const Key& key, Int tp_size = 1);
  Int query(const std::string& request_id);
  void free_locks(const Key& key, Int tp_size = 1);
  void end_session(const std::string& request_id);

  Bytes ready_event();                   // the handle of an event that is complete
  void wait_event(const Bytes& handle);  // Finding when it does not open or complete in time

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kvc::conformance
