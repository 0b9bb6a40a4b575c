// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// RunOptions: what `kvconform run` was told on its command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kvc/protocol/registry.h"

namespace kvc::conformance {

// A use that cannot be served: a file that cannot be read, options that contradict. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The registry of a release, or a UsageError that says which there are.
const Registry& registry_named(const std::string& release);

struct RunOptions {
  std::string target;  // an endpoint; empty with start empty: the embedded kvserver
  std::string start;   // a command with {port}
  std::string testee;  // a command that speaks the testee pipe; then there is no server
  std::string golden;  // a folder like golden/0.4.5; empty: the data in the binary
  std::string release = "0.4.5";
  std::string device = "host";  // host, cuda, none
  std::string filter = "*";
  bool strict = false;
  bool security = false;
  std::vector<std::string> require;
  std::string expect;  // a file
  bool fix_expect = false;
  std::string json;
  std::string junit;
  std::string html;
  std::string markdown;
  std::string badge;
  std::string server_version;  // a commit, a release: what the user calls what is judged
  std::string repro_folder = "repro";
  std::uint64_t seed = 0;
  std::chrono::milliseconds timeout{5000};
  std::chrono::milliseconds probe_timeout{2000};
  std::chrono::milliseconds grace{2};
  std::chrono::milliseconds start_timeout{120000};
  std::optional<double> budget_s;
  std::optional<double> cache_gb;
  std::string blend_start;  // "1,2,3": the token ids by which the server's paragraphs begin
  std::string blend_end;
  std::vector<std::string> arguments;  // as they were, for the report
};

// The object store's size that a command line gives its server by --l1-size-gb, in bytes.
std::optional<std::uint64_t> cache_bytes_of_command(std::string_view command);

// "1,2,3" as token ids; empty when it is none.
std::vector<std::uint32_t> token_pattern(std::string_view text);

// The token ids that a command line gives its server by --blend-start or --blend-end.
std::vector<std::uint32_t> pattern_of_command(std::string_view command, std::string_view option);

}  // namespace kvc::conformance
