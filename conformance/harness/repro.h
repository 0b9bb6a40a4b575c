// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// repro/ID/: what a failed case leaves for somebody who has none of this: the frames (frames.kvr)
// and a script for python3 with pyzmq that sends them again and prints what comes (replay.py).
#pragma once

#include <string>

#include "conformance/harness/replay_file.h"
#include "conformance/harness/report.h"

namespace kvc::conformance {

// Throws std::system_error or std::filesystem::filesystem_error when it cannot write.
void write_repro_folder(const std::string& folder, const ReplayFile& replay);
void write_repro(const RunReport& report, const CaseResult& result);

}  // namespace kvc::conformance
