// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The handlers of kvserver: each of the 22 request types on its function of the Engine and its
// pool.
#pragma once

#include <cstddef>

#include "engine/engine.h"
#include "kvc/protocol/result.h"
#include "server/handler_table.h"
#include "server/options.h"

namespace kvc::server {

struct PoolSizes {
  std::size_t max_gpu_workers = 1;  // STORE, RETRIEVE, their CB_ kin; a client has one thread
  std::size_t max_cpu_workers = 1;  // all other BLOCKING requests
};

// What the command line says of the engine; who is told of refusals is left open.
EngineOptions engine_options(const Options& options);

// `engine` must outlive the table's pools. An error is our own inconsistency with the registry.
Result<void> add_engine_handlers(HandlerTable& table, Engine& engine, const PoolSizes& sizes);

}  // namespace kvc::server
