// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/stand_ins.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"
#include "kvc/protocol/pickle.h"

namespace kvc::conformance {
namespace {

constexpr std::string_view kMemory = "KVHOSTM1";
constexpr std::string_view kEvent = "KVHOSTE1";
constexpr std::size_t kHandleBytes = 64;
constexpr std::size_t kEventBytes = 16;
// Sparse, so a large one costs nothing; but nobody has buffers larger than this.
constexpr std::size_t kMemoryBytesMax = std::size_t{1} << 40;

// The name in a handle of the host device: a '/' and no other, and nothing behind it.
std::optional<std::string> name_in(ByteView handle, std::string_view magic) {
  if (handle.size() != kHandleBytes || as_text(handle).substr(0, magic.size()) != magic)
    return std::nullopt;
  const std::string_view text = as_text(handle).substr(magic.size());
  const std::string name(text.substr(0, text.find('\0')));
  const bool plain = name.size() > 1 && name[0] == '/' && name.find('/', 1) == std::string::npos &&
                     name != "/." && name != "/..";
  return plain ? std::optional(name) : std::nullopt;
}

std::size_t bytes_of(const IpcTensor& tensor) {
  std::size_t size = 0;
  if (const auto* torch = std::get_if<TorchIpcHandle>(&tensor.handle)) {
    const auto storage = torch->storage_size_bytes.as_u64();
    const auto offset = torch->storage_offset_bytes.as_u64();
    if (storage && offset && *storage <= kMemoryBytesMax && *offset <= kMemoryBytesMax)
      size = static_cast<std::size_t>(*storage + *offset);
  } else if (const auto nbytes = std::get<RawIpcHandle>(tensor.handle).nbytes.as_u64()) {
    size = static_cast<std::size_t>(std::min<std::uint64_t>(*nbytes, kMemoryBytesMax));
  }
  return size;
}

void add(std::map<std::string, std::size_t>& objects, const std::optional<std::string>& name,
         std::size_t size_bytes) {
  if (!name) return;
  std::size_t& size = objects[*name];
  size = std::max(size, size_bytes);
}

}  // namespace

std::map<std::string, std::size_t> shared_memory_of(const Registry& registry,
                                                    const std::vector<TraceEntry>& entries) {
  std::map<std::string, std::size_t> objects;
  for (const TraceEntry& entry : entries) {
    if (!entry.sent || entry.frames.size() < 2) continue;
    const Result<const Definition*> type = decode_type_frame(registry, entry.frames[1]);
    if (!type || (*type)->payloads.size() != entry.frames.size() - 2) continue;
    for (std::size_t i = 0; i < (*type)->payloads.size(); ++i) {
      const Bytes& frame = entry.frames[i + 2];
      if ((*type)->payloads[i] == WireType::kBytes) {
        if (const Result<Bytes> handle = decode<Bytes>(frame))
          add(objects, name_in(*handle, kEvent), kEventBytes);
      } else if ((*type)->payloads[i] == WireType::kKVCache) {
        const Result<KVCache> tensors = decode<KVCache>(frame);
        if (!tensors) continue;
        for (const IpcTensor& tensor : *tensors)
          if (const Result<ByteView> handle = memory_handle(tensor))
            add(objects, name_in(*handle, kMemory), bytes_of(tensor));
      }
    }
  }
  return objects;
}

StandIns::StandIns(const std::map<std::string, std::size_t>& objects) {
  for (const auto& [name, size_bytes] : objects) {
    const int fd = ::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "shm_open " + name);
    made_.push_back(name);
    const int failed = ::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0 ? errno : 0;
    ::close(fd);
    if (failed != 0) throw std::system_error(failed, std::generic_category(), "ftruncate " + name);
  }
}

StandIns::~StandIns() {
  for (const std::string& name : made_) ::shm_unlink(name.c_str());
}

}  // namespace kvc::conformance
