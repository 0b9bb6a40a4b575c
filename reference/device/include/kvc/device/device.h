// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Device: where KV blocks live, behind one interface: the host device (POSIX shared memory, see
// facts in host_device.h) and CUDA. It opens the buffers and events that an engine exports, orders
// work on streams, and copies between paged blocks and contiguous chunk objects.
//
// Errors: what a peer can cause (a handle that does not open) is a Result. What the world causes
// (no more shared memory, a CUDA failure) is a DeviceError exception.
// Ownership: buffers and events are shared_ptr; work queued on a stream keeps what it uses alive.
// Threads: a Device may be used from any thread; a Stream takes work from any thread and runs it in
// the order of the calls, off the caller's thread. A stream keeps nothing of the Device alive, and
// the Device nothing of its streams: destroy the streams first.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvc/device/layout.h"
#include "kvc/protocol/bytes.h"
#include "kvc/protocol/result.h"

namespace kvc {

// The environment failed: says the call, the place and the system's reason.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Device memory, opened from a handle or made here.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::size_t size_bytes() const = 0;
  // Where the bytes are for this device's kernels; for the host device an ordinary address.
  virtual std::uint8_t* address() const = 0;
  // The 64 bytes that stand for a cudaIpcMemHandle_t.
  virtual Bytes ipc_handle() const = 0;
};

// A point in a stream's work, shared between processes. An event never recorded is complete.
class Event {
 public:
  virtual ~Event() = default;
  virtual Bytes ipc_handle() const = 0;  // 64 bytes
  virtual bool complete() const = 0;     // of the last record asked for
  virtual void synchronize() const = 0;  // waits, on the calling thread, until complete()
  // The same for at most `limit`; answers complete().
  virtual bool synchronize_for(std::chrono::milliseconds limit) const = 0;
};

enum class CopyDirection {
  kBlocksToChunk,  // STORE: gather paged blocks into a chunk object
  kChunkToBlocks,  // RETRIEVE: scatter a chunk object into paged blocks
};

// One chunk object and the engine blocks it maps to. See layout.h for the arithmetic.
struct ChunkCopy {
  CopyDirection direction = CopyDirection::kBlocksToChunk;
  std::uint8_t* object = nullptr;       // host memory, layout.chunk_bytes long
  std::vector<std::int64_t> block_ids;  // layout.blocks_per_chunk() of them, all in range
  std::size_t num_blocks_skipped = 0;   // leading blocks not to touch (kChunkToBlocks only)
};

// A registration's tensors, opened: what a copy needs to find the blocks. Immutable.
struct BlockSpace {
  Layout layout;
  std::vector<std::shared_ptr<Buffer>> buffers;  // one a tensor, in the order of layout.tensors
};

// A stream's work comes in units: what one request queues. A wait can fail, because its event's
// owner died and the stream was abandoned, or the wait took longer than the stream allows, or the
// event's memory was taken away. So can a copy, when a buffer's memory was taken away. A failure
// spoils the rest of its unit: copies are not made, events not completed, and host functions are
// told. begin_unit() starts the next one, which is whole again. A request that queues wait, copy,
// host function and record must keep other threads from queueing in between.
class Stream {
 public:
  // Gives up as abandon() does, then waits for the rest of the work.
  virtual ~Stream() = default;

  virtual void begin_unit() = 0;
  virtual void wait(std::shared_ptr<Event> event) = 0;
  virtual void record(std::shared_ptr<Event> event) = 0;
  virtual void copy(std::shared_ptr<const BlockSpace> space, std::vector<ChunkCopy> chunks) = 0;

  // Runs on a thread of the stream, after all work queued before, with `completed` false when the
  // unit has failed: what was copied in it is then not to be used. Must not throw, nor call or
  // destroy the stream.
  virtual void host_function(std::function<void(bool completed)> function) = 0;
  // The same, and not run at all when the unit has failed.
  void host_function(std::function<void()> function) {
    host_function([function = std::move(function)](bool completed) {
      if (completed) function();
    });
  }

  // Waits until all work queued so far has run or was given up.
  virtual void synchronize() = 0;
  // True when there is nothing left to do.
  virtual bool idle() const = 0;
  // Fails all waits, pending and to come, whose event is not complete. Returns at once. For a
  // shutdown that must not hang on a client that died.
  virtual void abandon() = 0;
};

enum class StreamPriority { kNormal, kHigh };

struct StreamOptions {
  StreamOptions() = default;
  StreamOptions(StreamPriority of)  // NOLINT(google-explicit-constructor): the usual one to give
      : priority(of) {}

  StreamPriority priority = StreamPriority::kNormal;
  // A wait that takes longer fails, so that one dead client does not hold a stream for ever.
  std::chrono::milliseconds wait_limit = std::chrono::minutes(10);
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;  // "host", "cuda"

  // What `device_uuid` of a tensor must be for this device to open it.
  virtual bool accepts_uuid(std::string_view device_uuid) const = 0;
  virtual std::string own_uuid() const = 0;  // what an exporter on this device writes

  // The same handle opened twice is mapped once; closed with the last user.
  virtual Result<std::shared_ptr<Buffer>> open_buffer(ByteView handle) = 0;
  virtual Result<std::shared_ptr<Event>> open_event(ByteView handle) = 0;

  // The exporter's side. Both throw DeviceError.
  virtual std::shared_ptr<Buffer> create_buffer(std::size_t size_bytes) = 0;
  virtual std::shared_ptr<Event> create_event() = 0;

  virtual std::unique_ptr<Stream> create_stream(const StreamOptions& options) = 0;
};

}  // namespace kvc
