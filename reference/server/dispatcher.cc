// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "kvc/protocol/envelope.h"

namespace kvc::server {
namespace {

constexpr std::size_t kNumPrefixFrames = 3;    // identity, uid, type
constexpr std::size_t kRequestOverhead = 512;  // bytes of our own for a waiting request

std::string name_of_client(const Message& message) {
  return message.empty()
             ? "?"
             : to_hex(message[0].view().first(std::min<std::size_t>(message[0].size(), 16)));
}

Reply reply_to(const Message& message, std::optional<Bytes> result) {
  return Reply{message[0], message[1], message[2], std::move(result)};
}

// A request on its way through a pool. Gives its share of the budget back when it is gone, run or
// not.
struct Job {
  Job(std::shared_ptr<QueueBudget> a_budget, Message a_message, std::size_t a_size)
      : budget(std::move(a_budget)), message(std::move(a_message)), size(a_size) {}
  ~Job() { budget->release(as_text(message[0].view()), size); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  std::shared_ptr<QueueBudget> budget;
  Message message;
  std::size_t size;
};

}  // namespace

Dispatcher::Dispatcher(const HandlerTable& handlers, ReplySink& sink, RequestLog& log,
                       std::size_t queued_bytes_per_client_max, std::size_t queued_bytes_max)
    : handlers_(handlers),
      sink_(sink),
      log_(log),
      budget_(std::make_shared<QueueBudget>(queued_bytes_per_client_max, queued_bytes_max)) {}

void Dispatcher::dispatch(Message message) {
  try {
    route(std::move(message));
  } catch (const std::exception& exception) {  // out of memory: this request goes unanswered
    log_.refused(exception.what());
  }
}

void Dispatcher::route(Message message) {
  if (message.size() < kNumPrefixFrames)
    return refuse(message, fmt::format("expected at least 3 frames, identity, uid and type, got {}",
                                       message.size()));
  const Result<const Definition*> definition =
      decode_type_frame(handlers_.registry(), message[2].view());
  if (!definition) return refuse(message, fmt::format("type frame: {}", definition.error().text()));
  const HandlerEntry* entry = handlers_.find((*definition)->type);
  if (entry == nullptr)
    return refuse(message, fmt::format("no handler registered for request type {}",
                                       to_string((*definition)->type)));
  if (entry->blocking())
    submit_blocking(*entry, std::move(message));
  else
    run_sync(*entry, message);
}

void Dispatcher::run_sync(const HandlerEntry& entry, const Message& message) {
  Outcome outcome = invoke(entry, message);
  note(entry, message, outcome);
  if (outcome.reply) sink_.send(reply_to(message, std::move(outcome.result)));
}

void Dispatcher::submit_blocking(const HandlerEntry& entry, Message message) {
  std::size_t size = kRequestOverhead;
  for (const Frame& frame : message) size += frame.size();
  const std::string_view client = as_text(message[0].view());
  const std::uint64_t affinity_key = std::hash<std::string_view>{}(client);
  if (!budget_->acquire(client, size))
    return refuse(message, fmt::format("{}: too many requests wait for a thread",
                                       to_string(entry.definition->type)));
  auto job = std::make_shared<Job>(budget_, std::move(message), size);
  entry.pool->submit(affinity_key, [this, &entry, job = std::move(job)] {
    try {
      Outcome outcome = invoke(entry, job->message);
      note(entry, job->message, outcome);
      if (outcome.reply) sink_.post(reply_to(job->message, std::move(outcome.result)));
    } catch (const std::exception&) {  // no memory even for the reply: this request goes unanswered
    }
  });
}

Outcome Dispatcher::invoke(const HandlerEntry& entry, const Message& message) {
  std::vector<ByteView> payloads;
  payloads.reserve(message.size() - kNumPrefixFrames);
  for (std::size_t i = kNumPrefixFrames; i < message.size(); ++i)
    payloads.push_back(message[i].view());
  try {
    return entry.invoke(payloads);
  } catch (const std::exception& exception) {  // out of memory while decoding, say
    return Outcome{false, std::nullopt, Error{Errc::kNoMemory, "", exception.what()}};
  }
}

void Dispatcher::note(const HandlerEntry& entry, const Message& message, const Outcome& outcome) {
  const std::string_view name = to_string(entry.definition->type);
  if (outcome.refusal)
    log_.refused(
        fmt::format("{} from {} uid {}: {}", name, name_of_client(message),
                    to_hex(message[1].view().first(std::min<std::size_t>(message[1].size(), 16))),
                    outcome.refusal->text()));
  if (log_.wants_debug())
    log_.request(fmt::format("{} from {}: {}", name, name_of_client(message),
                             outcome.reply ? "answered" : "no reply"));
}

void Dispatcher::refuse(const Message& message, const std::string& reason) {
  log_.refused(fmt::format("message of {} frames from {}: {}", message.size(),
                           name_of_client(message), reason));
}

}  // namespace kvc::server
