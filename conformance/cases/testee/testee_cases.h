// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The cases of `kvconform testee`: golden data, registry, typing and handler rules through a pipe.
// An id that is also one of `kvconform run` is the same rule, judged both ways.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/cases/testee/golden_data.h"
#include "conformance/harness/case.h"
#include "conformance/testee/testee.h"

namespace kvc::conformance {

// All of them. `golden_folder` empty: by the data in the binary.
CaseList testee_cases(const Registry& registry, const std::string& golden_folder);

using Golden = std::shared_ptr<GoldenData>;

// The files of this folder, each with its cases.
void add_testee_basics(CaseList& list);
void add_golden_frame_cases(CaseList& list, const Registry& registry, const Golden& golden);
void add_golden_sample_cases(CaseList& list, const Registry& registry, const Golden& golden);
void add_golden_other_cases(CaseList& list, const Golden& golden);
void add_golden_message_cases(CaseList& list, const Registry& registry, const Golden& golden);
void add_golden_hash_cases(CaseList& list, const Golden& golden);
void add_pipe_registry_cases(CaseList& list, const Registry& registry, const Golden& golden);
void add_pipe_initialize_cases(CaseList& list, const Golden& golden);
void add_pipe_handler_cases(CaseList& list, const Registry& registry, const Golden& golden);
void add_pipe_typing_cases(CaseList& list, const Registry& registry);

// A case of the pipe alone.
CaseSpec pipe_case(std::string id, std::vector<std::string> proves, std::string claim,
                   std::function<void(Case&)> body);

// Where in the registry a type stands.
struct Position {
  const Definition* row = nullptr;
  std::optional<std::size_t> payload;  // none: the result

  WireType wire() const { return payload ? row->payloads[*payload] : row->result; }
  std::string name() const;   // "STORE_payload2_gpu_block_ids", "STORE_result"
  std::string words() const;  // "STORE's payload 2 (gpu_block_ids)"
  Placed place(Json content) const;
};
std::vector<Position> positions_of(const Registry& registry);

// "accept/int_list.jsonl" is of list[int]; an id speaks of IntList.
std::string file_stem(WireType wire);
std::string title(WireType wire);

}  // namespace kvc::conformance
