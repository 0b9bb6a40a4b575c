// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Testee: `kvserver --testee`: the library's codec, registry and hashes, asked on stdin and
// answering on stdout (conformance/testee/README.md has the messages). Thin: each command calls the
// function of its name. A message that makes no sense gets an error; only a length beyond the limit
// ends the program. One thread.
#pragma once

#include <istream>
#include <map>
#include <ostream>
#include <string>

#include "kvc/protocol/json_message.h"

namespace kvc::server {

// Answers messages until `in` ends; the exit code.
int run_testee(std::istream& in, std::ostream& out, std::ostream& err);

// The reply to one message.
Json testee_reply(const Json& message);

// ---- for the files testee*.cc ----

// Message to reply. May throw std::exception where the message lacks a key that it needs.
using TesteeCommands = std::map<std::string, Json (*)(const Json& message)>;
void add_testee_codec(TesteeCommands& commands);
void add_testee_registry(TesteeCommands& commands);
void add_testee_hashes(TesteeCommands& commands);

Json ok_reply(Json value);
Json error_reply(const std::string& kind, const std::string& message, const std::string& path = "");
Json error_reply(const Error& error);
Bytes binary_of(const Json& json);  // throws std::invalid_argument

}  // namespace kvc::server
