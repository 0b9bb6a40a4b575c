// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// run_server: everything that kvserver's main() does after it has read its options: device, engine,
// handlers, socket, loop, and a clean end.
#pragma once

#include "server/options.h"

namespace kvc::server {

// Serves until SIGTERM or SIGINT and answers the exit code: 0, or 2 when it cannot start, which has
// then been said on stderr.
int run_server(const Options& options);

}  // namespace kvc::server
