// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Dispatcher: the loop's core, without a socket: takes a message's frames in, gives replies out.
// SYNC handlers run in dispatch(), so their replies leave in request order. BLOCKING requests go to
// their handler's pool with their frames, and are decoded there: a Key of 131,072 tokens costs the
// loop nothing. Whatever a peer sends is answered, or logged and dropped; nothing is thrown.
//
// The transport is passed in: kvserver's is a ROUTER socket (router_server.h), a test's or a
// fuzzer's is a vector.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "server/frame.h"
#include "server/handler_table.h"
#include "server/queue_budget.h"
#include "server/request_log.h"

namespace kvc::server {

// Where replies go.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void send(Reply reply) = 0;  // on the thread that calls dispatch()
  virtual void post(Reply reply) = 0;  // on any thread
};

// A request's payloads are at most 6; a message with more frames than this is cut when received and
// refused for its count.
inline constexpr std::size_t kFramesMax = 16;
// About 400 LOOKUPs of 131,072 tokens in waiting for one client.
inline constexpr std::size_t kQueuedBytesPerClientMax = std::size_t{256} << 20;
inline constexpr std::size_t kQueuedBytesMax = std::size_t{1} << 30;

class Dispatcher {
 public:
  // `handlers`, `sink` and `log` must outlive the pools of `handlers`.
  Dispatcher(const HandlerTable& handlers, ReplySink& sink, RequestLog& log,
             std::size_t queued_bytes_per_client_max = kQueuedBytesPerClientMax,
             std::size_t queued_bytes_max = kQueuedBytesMax);

  // One message, with the sender's identity in front. One thread at a time.
  void dispatch(Message message);

  std::size_t queued_bytes() const { return budget_->total_bytes(); }

 private:
  void route(Message message);
  void run_sync(const HandlerEntry& entry, const Message& message);
  void submit_blocking(const HandlerEntry& entry, Message message);
  Outcome invoke(const HandlerEntry& entry, const Message& message);
  void note(const HandlerEntry& entry, const Message& message, const Outcome& outcome);
  void refuse(const Message& message, const std::string& reason);

  const HandlerTable& handlers_;
  ReplySink& sink_;
  RequestLog& log_;
  std::shared_ptr<QueueBudget> budget_;  // shared with jobs, which a pool may drop late
};

}  // namespace kvc::server
