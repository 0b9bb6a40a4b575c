// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Release: what of the suite holds in another release than the one that the cases are written for
// (kCasesRelease). A rule names its releases in the ledger; a request type that such a release
// lacks, or whose payloads or result differ there, cannot be sent by a case. Both end as SKIPPED,
// with the reason. Functions without state; any thread may call.
#pragma once

#include <optional>
#include <string>

#include "conformance/harness/case.h"
#include "conformance/harness/ledger.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

inline constexpr std::string_view kCasesRelease = "0.4.5";

// NOOP's number in a release whose registry is not here (measured: its enum). In 0.4.5 it is
// another type's, which has payloads.
inline constexpr int kNoopOf0_4_6 = 19;

// Why a case cannot send `type` in this release; nullopt when it can.
std::optional<std::string> difference_of_type(const Registry& registry, RequestType type);

// Finding kSkipped where a case cannot send `type` in this release.
void require_type(const Registry& registry, RequestType type);

// Why the case is not of this release: a rule that it proves does not name it. nullopt when all do.
std::optional<std::string> difference_of_rules(const Ledger& ledger, const CaseSpec& spec,
                                               const std::string& release);

}  // namespace kvc::conformance
