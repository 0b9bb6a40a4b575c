// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "mutants/flawed_server.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <zmq.hpp>

#include "kvc/device/host_device.h"
#include "server/dispatcher.h"
#include "server/engine_handlers.h"
#include "server/log.h"
#include "server/router_server.h"
#include "server/stop_signal.h"

namespace kvc::mutants {
namespace {

using server::Dispatcher;
using server::ReplySink;
using server::RequestLog;
using server::RouterServer;

constexpr int kCannotStartExitCode = 2;
constexpr const char* kShmPrefix = "kvmutant";

// Made on the loop's thread.
class FlawedSink final : public ReplySink {
 public:
  FlawedSink(ReplySink& next, const Changes& changes) : next_(next), changes_(changes) {}

  void send(Reply reply) override { pass(std::move(reply), true); }
  void post(Reply reply) override { pass(std::move(reply), false); }

 private:
  void pass(Reply reply, bool sync) {
    const auto next = [this](Reply out) {
      if (std::this_thread::get_id() == loop_)
        next_.send(std::move(out));
      else
        next_.post(std::move(out));
    };
    if (changes_.reply)
      changes_.reply(std::move(reply), sync, next);
    else
      next(std::move(reply));
  }

  ReplySink& next_;
  const Changes& changes_;
  const std::thread::id loop_ = std::this_thread::get_id();
};

void serve(const server::Options& options, Changes changes, RequestLog& log) {
  const server::StopSignal stop_signal;
  sweep_dead_processes(kShmPrefix);
  std::unique_ptr<Device> device = create_host_device(kShmPrefix);
  if (changes.units) device = create_flawed_device(std::move(device), changes.units);
  EngineOptions engine_of = server::engine_options(options);
  if (changes.options) changes.options(engine_of);
  Engine engine(std::move(engine_of), *device);
  HandlerTable handlers(registry_0_4_5());
  Result<void> ready = server::add_engine_handlers(
      handlers, engine, {options.max_gpu_workers, options.max_cpu_workers});
  if (!ready) throw std::logic_error(ready.error().text());
  if (changes.handlers) changes.handlers({handlers, engine, *device, options.chunk_size});

  zmq::context_t context;
  RouterServer router(context, options.bind, log);
  FlawedSink sink(router, changes);
  Dispatcher dispatcher(handlers, sink, log);
  const server::PoolStopper stop_pools_first(handlers);
  std::printf("kvserver ready %s\n", router.endpoint().c_str());
  std::fflush(stdout);
  const auto dispatch = [&](Message message) { dispatcher.dispatch(std::move(message)); };
  router.run(stop_signal.fd(), [&](Message message) {
    if (changes.message)
      changes.message(std::move(message), dispatch);
    else
      dispatch(std::move(message));
  });
  changes.thread.reset();
}

}  // namespace

int run_flawed_server(const server::Options& options, const Flaw* flaw) {
  RequestLog log(server::log_sink(server::create_logger(options.log_level)), steady_clock());
  std::signal(SIGPIPE, SIG_IGN);
  try {
    serve(options, flaw == nullptr ? Changes{} : flaw->make(), log);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kvserver-mutants: %s\n", error.what());
    return kCannotStartExitCode;
  }
}

}  // namespace kvc::mutants
