// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/server.h"

#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>
#include <zmq.hpp>

#include "engine/engine.h"
#include "kvc/device/cuda_device.h"
#include "kvc/device/host_device.h"
#include "server/dispatcher.h"
#include "server/engine_handlers.h"
#include "server/log.h"
#include "server/router_server.h"
#include "server/stop_signal.h"

namespace kvc::server {
namespace {

constexpr int kCannotStartExitCode = 2;
constexpr const char* kShmPrefix = "kvserver";

// auto: CUDA where it works, and else the host device; the log says which, and why.
std::unique_ptr<Device> create_device(DeviceKind kind, spdlog::logger& logger) {
  if (kind == DeviceKind::kHost) return create_host_device(kShmPrefix);
  const CudaSupport cuda = cuda_support();
  std::string reason = cuda.reason;
  if (cuda.available) {
    try {
      auto device = create_cuda_device(
          {"", [&logger](const std::string& text) { logger.error("{}", text); }});
      logger.info("CUDA: {}", cuda.reason);
      return device;
    } catch (const DeviceError& error) {
      reason = error.what();
    }
  }
  if (kind == DeviceKind::kCuda) throw std::runtime_error("--device cuda: " + reason);
  logger.info("--device auto: the host device, as CUDA is not to be had: {}", reason);
  return create_host_device(kShmPrefix);
}

void serve(const Options& options, spdlog::logger& logger, RequestLog& request_log) {
  const StopSignal stop_signal;
  if (const std::size_t num_swept = sweep_dead_processes(kShmPrefix); num_swept > 0)
    logger.info("removed {} shared memory objects of servers that died", num_swept);
  const std::unique_ptr<Device> device = create_device(options.device, logger);
  EngineOptions engine_of = engine_options(options);
  engine_of.on_refusal = [&request_log](const std::string& reason) { request_log.refused(reason); };
  Engine engine(std::move(engine_of), *device);
  HandlerTable handlers(registry_0_4_5());
  Result<void> ready =
      add_engine_handlers(handlers, engine, {options.max_gpu_workers, options.max_cpu_workers});
  if (ready) ready = handlers.check_pools();
  if (!ready) throw std::logic_error(ready.error().text());

  zmq::context_t context;
  RouterServer server(context, options.bind, request_log);
  Dispatcher dispatcher(handlers, server, request_log);
  const PoolStopper stop_pools_first(handlers);
  if (options.binds_beyond_loopback())
    logger.warn(
        "{} can be reached from other machines: whoever reaches it can read and clear the "
        "cache",
        server.endpoint());
  logger.info("release 0.4.5, device {}, chunks of {} tokens, {} bytes of cache", device->name(),
              options.chunk_size, options.l1_size_bytes());
  std::printf("kvserver ready %s\n", server.endpoint().c_str());
  std::fflush(stdout);
  server.run(stop_signal.fd(), [&](Message message) { dispatcher.dispatch(std::move(message)); });
  logger.info("stopping");
}

}  // namespace

int run_server(const Options& options) {
  const std::shared_ptr<spdlog::logger> logger = create_logger(options.log_level);
  RequestLog request_log(log_sink(logger), steady_clock());
  // Whoever read our stdout may be gone.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    serve(options, *logger, request_log);
    return 0;
  } catch (const std::exception& error) {
    logger->error("{}", error.what());
    return kCannotStartExitCode;
  }
}

}  // namespace kvc::server
