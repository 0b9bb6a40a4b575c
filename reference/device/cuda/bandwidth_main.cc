// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// cuda_bandwidth: STORE and RETRIEVE of 64 chunks of 256 tokens (32 layers, 8 heads of 128,
// bfloat16: 2 GiB) as a stream copies them, beside cudaMemcpyAsync of the same bytes from the same
// pinned memory in the same run. Prints both and their ratio; with --check fails below
// 90 %, and where there is no GPU.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kvc/device/cuda_device.h"
#include "kvc/device/export_tensor.h"
#include "kvc/device/layout.h"
#include "kvc/device/pin_memory.h"

namespace {

using namespace kvc;

constexpr std::size_t kChunks = 64, kChunkTokens = 256, kBlockTokens = 16, kLayers = 32;
constexpr int kRounds = 5;
constexpr double kWanted = 0.9;

std::shared_ptr<BlockSpace> make_space(Device& device, bool hnd) {
  constexpr auto kBlocks = static_cast<std::int64_t>(kChunks * kChunkTokens / kBlockTokens);
  TensorDesc desc;
  desc.dtype = "bfloat16";
  desc.element_size = 2;
  desc.shape = hnd ? std::vector<std::int64_t>{2, kBlocks, 8, 16, 128}
                   : std::vector<std::int64_t>{2, kBlocks, 16, 8, 128};
  desc.stride = contiguous_stride(desc.shape);
  desc.available_bytes = static_cast<std::size_t>(desc.shape[0] * desc.stride[0]) * 2;
  LayoutHints hints;
  if (hnd) hints.kv_layout = KvLayout::kHND;
  auto space = std::make_shared<BlockSpace>();
  space->layout = *discover_layout(std::vector<TensorDesc>(kLayers, desc), EngineType::kVllm, hints,
                                   kChunkTokens);
  for (std::size_t i = 0; i < kLayers; ++i)
    space->buffers.push_back(device.create_buffer(desc.available_bytes));
  return space;
}

std::vector<ChunkCopy> make_copies(const BlockSpace& space, std::uint8_t* objects,
                                   CopyDirection direction) {
  std::vector<std::int64_t> ids(space.layout.num_blocks);
  std::iota(ids.begin(), ids.end(), 0);
  std::shuffle(ids.begin(), ids.end(), std::mt19937(1));  // as a paged cache becomes
  const std::size_t per_chunk = space.layout.blocks_per_chunk();
  std::vector<ChunkCopy> copies(kChunks);
  for (std::size_t i = 0; i < kChunks; ++i) {
    copies[i].direction = direction;
    copies[i].object = objects + i * space.layout.chunk_bytes;
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(i * per_chunk);
    copies[i].block_ids.assign(first, first + static_cast<std::ptrdiff_t>(per_chunk));
  }
  return copies;
}

// The best of some rounds, in seconds.
template <class Work>
double seconds(Work work) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

int run(bool check) {
  const CudaSupport support = cuda_support();
  if (!support.available) {
    std::printf("skipped: %s\n", support.reason.c_str());
    return check ? 1 : 0;  // what was to be checked was not
  }
  std::printf("%s\n", support.reason.c_str());
  const auto device = create_cuda_device({});
  const auto stream = device->create_stream({});
  bool fast = true;
  for (const bool hnd : {false, true}) {
    const auto space = make_space(*device, hnd);
    const std::size_t size = kChunks * space->layout.chunk_bytes;
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw DeviceError("mmap of the objects");
    auto* const objects = static_cast<std::uint8_t*>(memory);
    auto pinned = pin_host_memory(*device, {objects, size});
    const auto gpu_side = device->create_buffer(size);
    for (const bool store : {true, false}) {
      const auto direction = store ? CopyDirection::kBlocksToChunk : CopyDirection::kChunkToBlocks;
      const double floor = seconds([&] {
        cudaMemcpyAsync(
            store ? objects : gpu_side->address(), store ? gpu_side->address() : objects, size,
            store ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, cudaStreamPerThread);
        cudaStreamSynchronize(cudaStreamPerThread);
      });
      const auto copies = make_copies(*space, objects, direction);
      const double ours = seconds([&] {
        stream->begin_unit();
        stream->copy(space, copies);
        stream->synchronize();
      });
      fast = fast && floor / ours >= kWanted;
      std::printf("%s %-8s %6.1f GB/s, cudaMemcpyAsync %6.1f GB/s, %5.1f %%\n", hnd ? "HND" : "NHD",
                  store ? "store" : "retrieve", static_cast<double>(size) / ours / 1e9,
                  static_cast<double>(size) / floor / 1e9, 100 * floor / ours);
    }
    pinned.reset();
    ::munmap(memory, size);
  }
  return check && !fast ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 && std::strcmp(argv[1], "--check") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
