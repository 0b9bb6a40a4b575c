// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/doctor/machine_checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "kvc/device/cuda_device.h"

namespace kvc::conformance {
namespace {

// Buffers of the cases take less; the server's own objects are its own affair.
constexpr std::uint64_t kSharedMemoryMin = std::uint64_t{64} << 20;
// A socket takes one or two; the cases use up to a few hundred clients.
constexpr std::uint64_t kOpenFilesMin = 1024;

void check_shared_memory(CheckList& list) {
  const std::string name = fmt::format("/kvconform-doctor-{}", ::getpid());
  const int fd = ::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  if (fd < 0)
    return list.wrong(
        fmt::format("shared memory: none can be made ({})", std::strerror(errno)),
        "the host device is buffers in /dev/shm: mount it writable, or run with --device none");
  ::close(fd);
  ::shm_unlink(name.c_str());
  struct statvfs space {};
  if (::statvfs("/dev/shm", &space) != 0) return list.fine("shared memory: can be made");
  const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  const std::string what = fmt::format("shared memory: {} MiB free in /dev/shm", free_bytes >> 20);
  if (free_bytes < kSharedMemoryMin)
    return list.wrong(what, "the cases take up to 64 MiB: in a container, --shm-size=1g");
  list.fine(what);
}

void check_open_files(CheckList& list) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const std::string what = fmt::format("open files: up to {}", limit.rlim_cur);
  if (limit.rlim_cur < kOpenFilesMin)
    return list.wrong(what, "cases with many clients need more: ulimit -n 4096");
  list.fine(what);
}

void check_kvserver(CheckList& list) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto program = self.parent_path() / "kvserver";
  if (error || ::access(program.c_str(), X_OK) != 0)
    return list.absent("kvserver: none beside kvconform",
                       "kvconform run then needs --target or --start");
  list.fine("kvserver: beside kvconform");
}

void check_cuda(CheckList& list) {
  const CudaSupport cuda = cuda_support();
  if (cuda.available) return list.fine("CUDA: to be had, for --device cuda");
  list.absent("CUDA: " + cuda.reason, "--device host needs none");
}

void check_python(CheckList& list) {
  if (std::system("python3 -c 'import zmq' >/dev/null 2>&1") == 0)
    return list.fine("python3 with pyzmq: the scripts in repro/ run here");
  list.absent("python3 with pyzmq: none",
              "only the scripts in repro/ need it: apt install python3-zmq");
}

}  // namespace

CheckList check_machine() {
  CheckList list{"this machine", {}};
  check_shared_memory(list);
  check_open_files(list);
  check_kvserver(list);
  check_cuda(list);
  check_python(list);
  return list;
}

}  // namespace kvc::conformance
