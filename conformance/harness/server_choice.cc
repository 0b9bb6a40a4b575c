// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/server_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "kvc/device/cuda_device.h"
#include "kvc/device/host_device.h"

namespace kvc::conformance {
namespace {

// The embedded server: chunks small enough for quick cases, a cache small enough to be filled.
constexpr int kEmbeddedChunkSize = 32;
constexpr double kEmbeddedCacheGb = 0.0625;
// Paragraphs between tokens that are neither ordinary ones nor the first ones of fresh_values.h.
constexpr const char* kEmbeddedBlendStart = "150101,150102,150103";
constexpr const char* kEmbeddedBlendEnd = "150201,150202";

// A server that is said to be there already needs no time to start.
constexpr std::chrono::milliseconds kAttachPatience{10000};

void set_patterns(const RunOptions& options, RunSettings& settings) {
  if (!options.blend_start.empty()) {
    settings.blend_start = token_pattern(options.blend_start);
    settings.blend_end = token_pattern(options.blend_end);
    if (settings.blend_start.empty() || settings.blend_end.empty())
      throw UsageError("--blend-start and --blend-end are token ids with commas between them");
  } else if (!options.start.empty()) {
    settings.blend_start = pattern_of_command(options.start, "--blend-start");
    settings.blend_end = pattern_of_command(options.start, "--blend-end");
  } else if (options.target.empty()) {
    settings.blend_start = token_pattern(kEmbeddedBlendStart);
    settings.blend_end = token_pattern(kEmbeddedBlendEnd);
  }
}

}  // namespace

RunSettings settings_of(const RunOptions& options) {
  RunSettings settings;
  settings.seed = options.seed;
  settings.timeout = options.timeout;
  settings.probe_timeout = options.probe_timeout;
  settings.grace = options.grace;
  settings.security = options.security;
  if (options.cache_gb)
    settings.cache_bytes =
        static_cast<std::uint64_t>(*options.cache_gb * static_cast<double>(1U << 30U));
  else if (!options.start.empty())
    settings.cache_bytes = cache_bytes_of_command(options.start);
  else if (options.target.empty())
    settings.cache_bytes =
        static_cast<std::uint64_t>(kEmbeddedCacheGb * static_cast<double>(1U << 30U));
  set_patterns(options, settings);
  return settings;
}

std::unique_ptr<Device> device_of(const std::string& name) {
  if (name == "host") {
    try {
      sweep_dead_processes(kDeviceNamePrefix);
      return create_host_device(kDeviceNamePrefix);
    } catch (const std::exception& error) {
      throw UsageError(
          fmt::format("no host device: {}. It needs a writable /dev/shm; without one, "
                      "--device none judges what moves no data",
                      error.what()));
    }
  }
  if (name == "none") return nullptr;
  if (const CudaSupport cuda = cuda_support(); !cuda.available)
    throw UsageError("--device cuda: " + cuda.reason);
  return create_cuda_device({});
}

ServerUnderTest server_of(const RunOptions& options) {
  if (!options.target.empty() && options.target.find("://") == std::string::npos)
    throw UsageError("--target " + options.target +
                     " is no endpoint: tcp://HOST:PORT or ipc://PATH");
  if (!options.target.empty())
    return ServerUnderTest::attached(options.target,
                                     std::min(options.start_timeout, kAttachPatience));
  const std::string log = options.repro_folder + "/server.log";
  if (!options.start.empty()) {
    if (options.start.find("{port}") == std::string::npos)
      throw UsageError("the command of --start has no {port} in it");
    return ServerUnderTest::started(options.start, log, options.start_timeout);
  }
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path program = self.parent_path() / "kvserver";
  if (!std::filesystem::exists(program))
    throw UsageError("there is no kvserver beside kvconform (" + program.string() +
                     "); say --target or --start");
  return ServerUnderTest::embedded(
      {program.string(), "--bind", "tcp://127.0.0.1:*", "--device",
       options.device == "cuda" ? "cuda" : "host", "--chunk-size",
       std::to_string(kEmbeddedChunkSize), "--l1-size-gb", fmt::format("{}", kEmbeddedCacheGb),
       "--blend-start", kEmbeddedBlendStart, "--blend-end", kEmbeddedBlendEnd},
      log, options.start_timeout);
}

}  // namespace kvc::conformance
