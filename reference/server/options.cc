// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/options.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <string_view>

namespace kvc::server {
namespace {

constexpr double kBytesPerGb = 1024.0 * 1024.0 * 1024.0;
constexpr double kL1SizeGbMax = 64.0 * 1024.0;
constexpr std::size_t kChunkSizeMax = std::size_t{1} << 20;
constexpr std::size_t kWorkersMax = 1024;
constexpr std::size_t kTtlMaxS = std::size_t{366} * 24 * 3600;

constexpr const char* kExamples =
    "Examples:\n"
    "  kvserver                                        serve on tcp://127.0.0.1:5555\n"
    "  kvserver --bind 'tcp://127.0.0.1:*'             a free port; stdout says which\n"
    "  kvserver --chunk-size 32 --l1-size-gb 0.05      small, for tests\n"
    "  kvserver --event-log blocks.jsonl               keep what engines report of their blocks\n"
    "\n"
    "When it can serve it prints `kvserver ready ENDPOINT` on stdout. SIGTERM stops it.";

}  // namespace

std::size_t Options::l1_size_bytes() const {
  return static_cast<std::size_t>(l1_size_gb * kBytesPerGb);
}

bool Options::binds_beyond_loopback() const {
  const std::string_view endpoint = bind;
  if (!endpoint.starts_with("tcp://")) return false;
  const std::string_view host = endpoint.substr(6);
  return !host.starts_with("127.") && !host.starts_with("localhost:") &&
         !host.starts_with("[::1]:");
}

std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code) {
  Options options;
  CLI::App app{"kvserver: a reference server of the LMCache multiprocess protocol, release 0.4.5."};
  app.footer(kExamples);
  app.get_formatter()->column_width(34);
  app.option_defaults()->always_capture_default();
  app.add_option("--bind", options.bind, "ZeroMQ endpoint to serve on; port * picks a free one")
      ->type_name("ENDPOINT");
  app.add_option("--chunk-size", options.chunk_size, "Tokens of a chunk")
      ->type_name("TOKENS")
      ->check(CLI::Range(std::size_t{1}, kChunkSizeMax));
  const std::map<std::string, DeviceKind> devices{
      {"auto", DeviceKind::kAuto}, {"host", DeviceKind::kHost}, {"cuda", DeviceKind::kCuda}};
  std::string device = "auto";
  app.add_option("--device", device, "Where the engines' KV buffers are: auto, host or cuda")
      ->type_name("KIND")
      ->check(CLI::IsMember({"auto", "host", "cuda"}));
  app.add_option("--l1-size-gb", options.l1_size_gb,
                 "Host memory for the cache; fractions are fine")
      ->type_name("GB")
      ->check(CLI::Range(0.0, kL1SizeGbMax));
  app.add_option("--max-gpu-workers", options.max_gpu_workers, "Threads for STORE and RETRIEVE")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kWorkersMax));
  app.add_option("--max-cpu-workers", options.max_cpu_workers,
                 "Threads for the other BLOCKING requests")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kWorkersMax));
  app.add_option("--read-ttl-s", options.read_ttl_s, "Seconds until a read lock expires")
      ->type_name("S")
      ->check(CLI::Range(std::size_t{1}, kTtlMaxS));
  app.add_option("--write-ttl-s", options.write_ttl_s, "Seconds until a write lock expires")
      ->type_name("S")
      ->check(CLI::Range(std::size_t{1}, kTtlMaxS));
  app.add_option("--event-log", options.event_log,
                 "Append reported block allocations here, as JSON lines")
      ->type_name("FILE");
  std::string blend_start;
  std::string blend_end;
  const auto is_pattern = [](const std::string& text) {
    const auto pattern = parse_pattern(text);
    return pattern ? std::string() : pattern.error().text();
  };
  CLI::Option* const start =
      app.add_option("--blend-start", blend_start,
                     "Token ids that begin a paragraph of CB_LOOKUP_PRE_COMPUTED: 1 to 5, with "
                     "commas; without it a query is one paragraph")
          ->type_name("IDS")
          ->check(is_pattern);
  app.add_option("--blend-end", blend_end, "Token ids that end a paragraph")
      ->type_name("IDS")
      ->check(is_pattern)
      ->needs(start);
  start->needs("--blend-end");
  app.add_option("--log-level", options.log_level, "debug says a line for each request")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  app.add_flag("--testee", options.testee,
               "Serve nobody: answer questions about codec and registry on stdin");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    constexpr int kUsageExitCode = 2;
    exit_code = app.exit(error, std::cout, std::cerr) == 0 ? 0 : kUsageExitCode;
    return std::nullopt;
  }
  options.device = devices.at(device);
  if (!blend_start.empty())
    options.paragraphs = {*parse_pattern(blend_start), *parse_pattern(blend_end)};
  return options;
}

}  // namespace kvc::server
