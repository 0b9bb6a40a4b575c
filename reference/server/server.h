// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// run_server: everything that kvserver's main() does after it has read its options: device, engine,
// handlers, socket, loop, and a clean end. A build with deliberate flaws passes `prepare`, which
// may change the handlers before anything is served.
#pragma once

#include <functional>

#include "server/handler_table.h"
#include "server/options.h"

namespace kvc::server {

// Serves until SIGTERM or SIGINT and answers the exit code: 0, or 2 when it cannot start, which has
// then been said on stderr.
int run_server(
    const Options& options,
    const std::function<void(HandlerTable&)>& prepare = [](HandlerTable&) {});

}  // namespace kvc::server
