// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The files of golden/0.4.5 as they were when this was built, put into the binary by the assembler,
// so that a tool that judges by them is one file. Nothing is read or parsed here. Immutable; any
// thread may read.
#pragma once

#include <span>
#include <string_view>

namespace kvc {

struct EmbeddedFile {
  std::string_view path;  // within the release's folder: "accept/key.jsonl"
  std::string_view text;
};

// All of the release's files, in order of path; none for a release that is not embedded.
std::span<const EmbeddedFile> golden_files(std::string_view release);

}  // namespace kvc
