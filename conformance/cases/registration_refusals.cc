// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Registration: what REGISTER_KV_CACHE refuses. Its result is None, so a refusal is silence; and
// nothing of the instance is there afterwards: no STORE is True, its model finds nothing, and the
// right REGISTER then works.
#include <memory>

#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"
#include "conformance/harness/exporter.h"

namespace kvc::conformance {
namespace {

// What goes on the wire.
struct Wire {
  KVCache cache;
  EngineType engine;
  LayoutHints hints;
  std::shared_ptr<const void> kept;  // until the case is over
};

struct Refusal {
  std::string id;
  std::string claim;  // "… is refused." is said behind it
  std::string requirement;
  std::function<void(Case&, Wire&)> spoil;
  std::function<EngineShape(Case&)> shape = {};  // another shape than the usual
};

EngineShape usual(Case& test) { return small_shape(test, 3); }

void expect_refused(Case& test, const Refusal& refusal) {
  EnginePlayer witness = registered_player(test, usual(test));
  // Something of the model is in the cache, so that a LOOKUP that answers 0 says something.
  EnginePlayer player(test, usual(test), test.unique("model"));
  player.register_kv_cache();
  const Tokens tokens = player.fresh_chunks(2);
  const Contents contents = player.fill(player.blocks(0, 2), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0, 2));
  player.unregister_kv_cache();

  EnginePlayer odd(test, refusal.shape ? refusal.shape(test) : usual(test), player.model_name());
  Wire wire{odd.kv_cache(), odd.engine_type(), odd.hints(), nullptr};
  refusal.spoil(test, wire);
  const Sent sent = player.send_register(wire.cache, wire.engine, wire.hints);
  player.client().expect_silence(sent, "REGISTER_KV_CACHE with " + refusal.claim);

  test.step("after the refusal");
  witness.expect_never_true(
      witness.send_store(player.key(player.fresh_chunks(1)), player.instance_id(), player.blocks(0),
                         player.ready_event()),
      "STORE of the instance that was refused");
  test.expect_equal(player.lookup(tokens), Int(0), "chunks found by LOOKUP after the refusal");

  test.step("the right REGISTER after the refusal");
  player.register_kv_cache();
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(2), "chunks found by LOOKUP");
  player.retrieve_ok(key, player.blocks(1, 2));
  player.expect_contents(player.blocks(1, 2), contents, "RETRIEVE after the right REGISTER");
}

// Contiguous strides for a shape.
void reshape(IpcTensor& tensor, std::vector<std::int64_t> shape) {
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.stride.assign(shape.size(), Int(1));
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    tensor.stride[i] = Int(stride);
    stride *= shape[i];
  }
}

std::vector<std::int64_t> shape_of(const IpcTensor& tensor) {
  std::vector<std::int64_t> shape;
  for (const Int size : tensor.shape) shape.push_back(size.as_i64().value_or(0));
  return shape;
}

std::int64_t num_elements(const IpcTensor& tensor) {
  std::int64_t product = 1;
  for (const std::int64_t size : shape_of(tensor)) product *= size;
  return product;
}

Bytes& handle_of(IpcTensor& tensor) { return std::get<TorchIpcHandle>(tensor.handle).handle; }

// Large enough that a GPU gives it memory of its own, which goes when it is freed.
constexpr std::int64_t kForeignBytes = std::int64_t{8} << 20;

// Behind the two bytes that torch puts before the handle.
void put_handle(IpcTensor& tensor, const Bytes& handle) {
  std::copy(handle.begin(), handle.end(), handle_of(tensor).begin() + 2);
}

EngineShape mla(Case& test) {
  EngineShape shape = usual(test);
  shape.format = KvFormat::kNlXNbBsHs;
  return shape;
}

EngineShape pool(Case& test) {
  EngineShape shape = usual(test);
  shape.format = KvFormat::kNbNlTwoNhBsHs;
  return shape;
}

// The least number above 2 that does not divide the chunk size.
std::size_t non_divisor(Case& test) {
  std::size_t number = 3;
  while (test.chunk_size() % number == 0) ++number;
  return number;
}

std::vector<Refusal> wrong_engines() {
  return {
      {"SglangTensors", "tensors as SGLang has them, [slots, NH, HS]",
       "registration.refuses-engines",
       [](Case&, Wire& wire) {
         wire.engine = EngineType::kSglang;
         wire.hints = {};
         for (IpcTensor& tensor : wire.cache) reshape(tensor, {num_elements(tensor) / 8, 2, 4});
       }},
      {"SglangMlaTensors", "tensors as SGLang has them, [slots, 1, HS]",
       "registration.refuses-engines",
       [](Case&, Wire& wire) {
         wire.engine = EngineType::kSglang;
         wire.hints = {};
         for (IpcTensor& tensor : wire.cache) reshape(tensor, {num_elements(tensor) / 8, 1, 8});
       }},
      {"MockEngine", "the engine \"mock\"", "registration.refuses-engines",
       [](Case&, Wire& wire) { wire.engine = EngineType::kMock; }},
      {"NoTensors", "an empty list of tensors", "registration.refuses-empty",
       [](Case&, Wire& wire) { wire.cache.clear(); }},
      {"NoTensorsOfTrtllm", "an empty list of tensors, from TensorRT-LLM",
       "registration.refuses-empty", [](Case&, Wire& wire) { wire.cache.clear(); }, pool},
  };
}

Refusal rank(const std::string& id, const std::vector<std::int64_t>& lead) {
  return {id, "tensors of " + std::to_string(lead.size() + 1) + " dimensions",
          "registration.refuses-ranks", [lead](Case&, Wire& wire) {
            for (IpcTensor& tensor : wire.cache) {
              std::vector<std::int64_t> shape = lead;
              std::int64_t product = 1;
              for (const std::int64_t size : lead) product *= size;
              shape.push_back(num_elements(tensor) / product);
              reshape(tensor, shape);
            }
          }};
}

std::vector<Refusal> wrong_shapes() {
  return {
      rank("Rank1", {}),
      rank("Rank2", {4}),
      rank("Rank4", {2, 4, 4}),
      rank("Rank6", {2, 4, 2, 2, 2}),
      {"NoDimensionOfTwo", "five dimensions neither of whose first two is 2",
       "registration.refuses-ranks",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache)
           reshape(tensor, {4, 4, 2, 2, num_elements(tensor) / 64});
       }},
      {"TrtllmWithoutNumKvHeads", "TensorRT-LLM's tensor without the hint num_kv_heads",
       "registration.refuses-hints", [](Case&, Wire& wire) { wire.hints.num_kv_heads.reset(); },
       pool},
      {"TrtllmWithoutTokensPerBlock", "TensorRT-LLM's tensor without the hint tokens_per_block",
       "registration.refuses-hints", [](Case&, Wire& wire) { wire.hints.tokens_per_block.reset(); },
       pool},
      {"TrtllmWithoutHeadDim", "TensorRT-LLM's tensor without the hint head_dim",
       "registration.refuses-hints", [](Case&, Wire& wire) { wire.hints.head_dim.reset(); }, pool},
      {"TrtllmHintsThatDoNotMultiplyOut", "hints whose product is not the last dimension",
       "registration.refuses-hints", [](Case&, Wire& wire) { wire.hints.head_dim = Int(5); }, pool},
      {"TrtllmTwoTensors", "two tensors from TensorRT-LLM", "registration.refuses-ranks",
       [](Case&, Wire& wire) { wire.cache.push_back(wire.cache.front()); }, pool},
      {"TrtllmRank5", "TensorRT-LLM's tensor in five dimensions", "registration.refuses-ranks",
       [](Case&, Wire& wire) {
         IpcTensor& tensor = wire.cache.front();
         std::vector<std::int64_t> shape = shape_of(tensor);
         shape.back() /= 2;
         shape.push_back(2);
         reshape(tensor, shape);
       },
       pool},
      {"NegativeSize", "a negative size", "registration.refuses-bounds",
       [](Case&, Wire& wire) { wire.cache.front().shape[1] = Int(-1); }},
      {"NegativeStride", "a negative stride", "registration.refuses-bounds",
       [](Case&, Wire& wire) { wire.cache.front().stride[4] = Int(-1); }},
      {"HugeSize", "a size whose product overflows", "registration.refuses-bounds",
       [](Case&, Wire& wire) {
         wire.cache.front().shape[1] = Int(std::uint64_t{1} << 62);
         wire.cache.front().shape[2] = Int(std::uint64_t{1} << 62);
       }},
      {"MoreBlocksThanStorage", "more blocks than the storage holds", "registration.refuses-bounds",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache) {
           std::vector<std::int64_t> shape = shape_of(tensor);
           shape[1] *= 16;
           reshape(tensor, shape);
         }
       }},
      {"DtypeTooLargeForStorage", "a dtype of twice the size that the storage was made for",
       "registration.refuses-bounds",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache) tensor.dtype = "float32";
       }},
      {"StorageBeyondBuffer", "a storage larger than the memory behind the handle",
       "registration.refuses-bounds",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache) {
           std::vector<std::int64_t> shape = shape_of(tensor);
           shape[1] *= 16;
           reshape(tensor, shape);
           std::get<TorchIpcHandle>(tensor.handle).storage_size_bytes = Int(16 * (1 << 20));
         }
       }},
      {"OffsetBeyondStorage", "a storage_offset that moves the tensor past its storage",
       "registration.refuses-bounds",
       [](Case&, Wire& wire) { wire.cache.front().storage_offset = Int(64); }},
  };
}

std::vector<Refusal> wrong_views() {
  return {
      {"PaddedSlots", "padding behind each slot", "registration.refuses-views",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache) {
           tensor.shape[4] = Int(3);  // of 4: the strides stay
         }
       }},
      {"StridedElements", "elements that are not side by side", "registration.refuses-views",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache) {
           tensor.shape[2] = Int(2);  // of 4
           tensor.stride[2] = Int(2);
         }
       },
       mla},
      {"PaddedSlotsOfMla", "MLA tensors with padding behind each slot",
       "registration.refuses-views",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache) tensor.shape[2] = Int(3);
       },
       mla},
      {"OverlappingBlocks", "blocks that overlap", "registration.refuses-views",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache) {
           const std::int64_t block = tensor.stride[0].as_i64().value_or(0);
           tensor.stride[0] = Int(block - 4);
         }
       },
       mla},
      {"OffsetInAPaddedView", "a storage_offset in a view with padding",
       "registration.refuses-views",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache) {
           tensor.storage_offset = Int(4);
           tensor.shape[0] = Int(shape_of(tensor)[0] - 1);
         }
       },
       [](Case& test) {
         EngineShape shape = mla(test);
         shape.dim0_padding = 16;
         return shape;
       }},
  };
}

std::vector<Refusal> wrong_handles() {
  return {
      {"UnknownDevice", "the UUID of a device that the server does not have",
       "registration.refuses-unknown-device",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache)
           tensor.device_uuid = "GPU-00000000-dead-beef-0000-000000000000";
       }},
      {"UnknownDeviceOfTheLastTensor", "the UUID of an unknown device in the last tensor alone",
       "registration.refuses-unknown-device",
       [](Case&, Wire& wire) {
         wire.cache.back().device_uuid = "GPU-00000000-dead-beef-0000-000000000000";
       }},
      {"UnknownMemory", "a memory handle of memory that is not there",
       "registration.refuses-handles",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache) handle_of(tensor).at(20) ^= 0x15;
       }},
      {"UnknownMemoryOfTheLastTensor", "a last tensor whose memory is not there",
       "registration.refuses-handles",
       [](Case&, Wire& wire) { handle_of(wire.cache.back()).at(20) ^= 0x15; }},
      {"FreedBuffer", "the handle of a buffer that was freed", "registration.refuses-handles",
       [](Case& test, Wire& wire) {
         const Bytes handle = test.device().create_buffer(kForeignBytes)->ipc_handle();
         for (IpcTensor& tensor : wire.cache) put_handle(tensor, handle);
       }},
      {"FreedBufferOfTheLastTensor", "a last tensor whose buffer was freed",
       "registration.refuses-handles",
       [](Case& test, Wire& wire) {
         put_handle(wire.cache.back(), test.device().create_buffer(kForeignBytes)->ipc_handle());
       }},
      {"BufferOfAnEndedProcess", "the handle of a buffer whose process has ended",
       "registration.refuses-handles",
       [](Case& test, Wire& wire) {
         Exporter owner(test, kForeignBytes);
         owner.end();
         for (IpcTensor& tensor : wire.cache) put_handle(tensor, owner.memory_handle());
       }},
      {"BufferOfAKilledProcess", "the handle of a buffer whose process was killed",
       "registration.refuses-handles",
       [](Case& test, Wire& wire) {
         Exporter owner(test, kForeignBytes);
         owner.kill();
         for (IpcTensor& tensor : wire.cache) put_handle(tensor, owner.memory_handle());
       }},
      {"SmallerAllocation", "the handle of another allocation, smaller than the tensor's storage",
       "registration.refuses-bounds",
       [](Case& test, Wire& wire) {
         const std::shared_ptr<Buffer> other = test.device().create_buffer(4096);
         wire.kept = other;
         for (IpcTensor& tensor : wire.cache) {
           std::vector<std::int64_t> shape = shape_of(tensor);
           shape[1] *= kForeignBytes / (num_elements(tensor) * 2);
           reshape(tensor, shape);
           std::get<TorchIpcHandle>(tensor.handle).storage_size_bytes = Int(kForeignBytes);
           put_handle(tensor, other->ipc_handle());
         }
       }},
      {"GarbageHandle", "a memory handle of arbitrary bytes", "registration.refuses-handles",
       [](Case& test, Wire& wire) {
         for (IpcTensor& tensor : wire.cache)
           for (std::size_t i = 2; i < handle_of(tensor).size(); ++i)
             handle_of(tensor)[i] = static_cast<std::uint8_t>(test.random()());
       }},
      {"EventAsMemory", "an event's handle in the place of a memory handle",
       "registration.refuses-handles",
       [](Case& test, Wire& wire) {
         const Bytes event = test.device().create_event()->ipc_handle();
         for (IpcTensor& tensor : wire.cache) put_handle(tensor, event);
       }},
      {"ExpandableSegment", "a handle of an expandable segment (type byte e)",
       "registration.refuses-handles",
       [](Case&, Wire& wire) {
         for (IpcTensor& tensor : wire.cache) handle_of(tensor).at(1) = 'e';
       }},
  };
}

std::vector<Refusal> wrong_block_sizes() {
  const auto odd_blocks = [](Case& test) {
    EngineShape shape = usual(test);
    shape.block_size = non_divisor(test);
    shape.num_blocks = 3 * (test.chunk_size() / shape.block_size + 1);
    return shape;
  };
  return {
      {"BlockSizeNotDividingChunk", "a block size that does not divide the chunk size",
       "registration.block-divides-chunk", [](Case&, Wire&) {}, odd_blocks},
      {"LogicalBlockSizeNotDividingChunk",
       "an inference_engine_logical_block_size that does not divide the chunk size",
       "registration.block-divides-chunk",
       [](Case& test, Wire& wire) {
         wire.hints.inference_engine_logical_block_size = Int(non_divisor(test));
       },
       odd_blocks},
      {"LogicalBlockLargerThanChunk", "an inference_engine_logical_block_size of two chunks",
       "registration.block-divides-chunk",
       [](Case& test, Wire& wire) {
         wire.hints.inference_engine_logical_block_size = Int(2 * test.chunk_size());
       }},
      {"LogicalBlockSizeNotAMultiple",
       "an inference_engine_logical_block_size that the block size does not divide",
       "registration.logical-block-multiple",
       [](Case& test, Wire& wire) {
         wire.hints.inference_engine_logical_block_size = Int(usual(test).block_size + 1);
       }},
      {"CompressionNotDividingChunk", "a compression ratio that does not divide the chunk size",
       "registration.logical-block-multiple",
       [](Case& test, Wire& wire) {
         wire.hints.inference_engine_logical_block_size =
             Int(non_divisor(test) * usual(test).block_size);
       }},
      {"LogicalBlockSizeZero", "an inference_engine_logical_block_size of 0",
       "registration.logical-block-multiple",
       [](Case&, Wire& wire) { wire.hints.inference_engine_logical_block_size = Int(0); }},
  };
}

}  // namespace

void add_registration_refusal_cases(CaseList& cases) {
  for (const auto& table :
       {wrong_engines(), wrong_shapes(), wrong_views(), wrong_handles(), wrong_block_sizes()})
    for (const Refusal& refusal : table)
      cases.add(
          {"Registration.Refuses" + refusal.id,
           {refusal.requirement, "registration.refusal-leaves-nothing", "refusal.server-lives"},
           "REGISTER_KV_CACHE with " + refusal.claim +
               " is refused by silence, and leaves nothing half registered.",
           {Capability::kDevice},
           [refusal](Case& test) { expect_refused(test, refusal); }});
}

}  // namespace kvc::conformance
