// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Release hint: which other release a request that this one does not know would belong to. Numbers
// shift from release to release (registry.renumbering), so a client of another one looks like a
// client that sends junk. Pure function.
#pragma once

#include <span>
#include <string>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

// "NOOP of 0.4.6"; empty when nothing is known. `frames` is a whole request: uid, type, payloads.
std::string release_hint(const Registry& registry, std::span<const ByteView> frames);

}  // namespace kvc::conformance
