// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// run_flawed_server: kvserver with one flaw in it, or none. The same parts as server/server.cc puts
// together, with what the flaw changes between them; the host device only.
#pragma once

#include "mutants/flaw.h"
#include "server/options.h"

namespace kvc::mutants {

// Serves until SIGTERM or SIGINT and answers the exit code: 0, or 2 when it cannot start, which has
// then been said on stderr.
int run_flawed_server(const server::Options& options, const Flaw* flaw);

}  // namespace kvc::mutants
