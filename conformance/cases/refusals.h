// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Refusals: how the suite proves that a request was refused because of one thing in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/case.h"

namespace kvc::conformance {

// The honest request, all the others, and the honest one again, pipelined on one client: the honest
// ones are answered, the others never. One client's requests of one type run in order, so what has
// not been answered by the second honest answer will not be.
void expect_only_honest_answered(Client& client, RequestType type, const Frames& honest,
                                 const std::vector<Frames>& others, const std::string& what);

// The reply to `sent` that came, if one did, among those nobody asked for.
std::optional<Reply> unclaimed_reply(const Client& client, const Sent& sent);

// A request that decodes and cannot be served: no answer, or one that says no, by the end of a
// fence and of an honest request behind it. Never True. `what` is said in the failure.
void expect_no_success(Case& test, Client& client, const std::vector<Sent>& requests,
                       const std::string& what);

// `frame` in words that fit a line: kind and hex.
std::string words(ByteView frame);

}  // namespace kvc::conformance
