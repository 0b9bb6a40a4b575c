// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Why a server does not answer NOOP, in words that say what to do: nobody listens, another program
// does, another protocol or another release is spoken. Asks with sockets of its own; harmless to
// any server. Blocks for a second or two.
#pragma once

#include <optional>
#include <string>

#include "conformance/harness/run_context.h"

namespace kvc::conformance {

// "nothing listens at tcp://… (Connection refused): is the server up, and is this its port?"
std::string why_no_answer(RunContext& context, const std::string& endpoint);

// The release whose NOOP the server answers, when it is not `registry`'s. Asks only with numbers
// that are in the range of every release known.
std::optional<std::string> release_that_answers(RunContext& context);

}  // namespace kvc::conformance
