// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of what runs where: order, and who waits for whom.
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "mutants/call.h"
#include "mutants/flaw.h"
#include "mutants/frames.h"

namespace kvc::mutants {
namespace {

using server::ThreadPool;
using std::chrono::milliseconds;

std::vector<RequestType> blocking_types() {
  std::vector<RequestType> types;
  for (const Definition& definition : registry_0_4_5().definitions())
    if (definition.handler == HandlerType::kBlocking) types.push_back(definition.type);
  return types;
}

// Runs each job where it is submitted: on the loop.
class NoPool final : public ThreadPool {
 public:
  void submit(std::uint64_t, Job job) override { job(); }
};

// Two jobs in a row run in the wrong order.
class ReversingPool final : public ThreadPool {
 public:
  void submit(std::uint64_t key, Job job) override {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(job));
    }
    pool_->submit(key, [this] {
      std::unique_lock lock(mutex_);
      if (waiting_.size() == 1) {
        lock.unlock();
        std::this_thread::sleep_for(milliseconds(2));  // for one that may come
        lock.lock();
      }
      Job newest = std::move(waiting_.back());
      waiting_.pop_back();
      lock.unlock();
      newest();
    });
  }

 private:
  std::mutex mutex_;
  std::vector<Job> waiting_;
  std::unique_ptr<ThreadPool> pool_ = server::create_normal_pool(1);
};

Changes sync_replies_of_a_pool() {
  Changes changes;
  changes.thread = server::create_normal_pool(1);
  changes.reply = [pool = changes.thread.get()](Reply reply, bool sync,
                                                const std::function<void(Reply)>& next) {
    if (!sync || !is_type(reply.type, RequestType::kGetChunkSize)) return next(std::move(reply));
    pool->submit(0, [reply = std::move(reply), next] {
      std::this_thread::sleep_for(milliseconds(1));
      next(reply);
    });
  };
  return changes;
}

Changes with_pool(std::vector<RequestType> types,
                  std::function<std::shared_ptr<ThreadPool>()> make) {
  return {.handlers = [types = std::move(types), make = std::move(make)](const Parts& parts) {
    // What the registry allows can be assigned.
    if (!parts.handlers.assign_pool(types, make(), "assign_pool")) std::abort();
  }};
}

// STORE waits for its client's event before it answers, on the thread that PING needs too.
Changes one_thread_for_all() {
  Changes changes = with_pool(
      blocking_types(), [] { return std::shared_ptr<ThreadPool>(server::create_normal_pool(1)); });
  changes.handlers = [next = changes.handlers](const Parts& parts) {
    next(parts);
    around(parts.handlers, {RequestType::kStore}, [parts](Call& call) {
      const auto handle = call.get<Bytes>(3);
      if (handle)
        if (const auto event = parts.device.open_event(*handle))
          (*event)->synchronize_for(std::chrono::seconds(10));
      return call.next();
    });
  };
  return changes;
}

bool has_bad_payload(const Message& message) {
  const Definition* const definition = definition_of(message);
  if (definition == nullptr || message.size() != kFirstPayloadFrame + definition->payloads.size())
    return true;
  for (std::size_t i = 0; i < definition->payloads.size(); ++i)
    if (!decode_value(definition->payloads[i], message[kFirstPayloadFrame + i].view())) return true;
  return false;
}

// Who has sent one wrong request is not listened to for a while: its next, or its next ten.
Changes deaf_to_the_clumsy(int num_dropped) {
  const auto left = std::make_shared<std::map<std::string, int>>();
  return {
      .message = [left, num_dropped](Message message, const std::function<void(Message)>& next) {
        const std::string client(as_text(message[kIdentityFrame].view()));
        if (int& drops = (*left)[client]; drops > 0) {
          --drops;
          return;
        }
        if (has_bad_payload(message)) (*left)[client] = num_dropped;
        next(std::move(message));
      }};
}

Changes served_at_most(int num_requests) {
  const auto served = std::make_shared<std::map<std::string, int>>();
  return {
      .message = [served, num_requests](Message message, const std::function<void(Message)>& next) {
        if (++(*served)[std::string(as_text(message[kIdentityFrame].view()))] <= num_requests)
          next(std::move(message));
      }};
}

}  // namespace

void add_handler_flaws(FlawList& list) {
  list.push_back({"sync-on-a-pool", "GET_CHUNK_SIZE is answered by a pool's thread, and late.",
                  "handlers.sync-order", sync_replies_of_a_pool});
  list.push_back({"blocking-on-the-loop", "BLOCKING handlers run where the socket is read.",
                  "handlers.blocking-delays-no-sync", [] {
                    return with_pool(blocking_types(), [] { return std::make_shared<NoPool>(); });
                  }});
  list.push_back({"data-in-any-order",
                  "Of two STOREs and RETRIEVEs in a row the second runs first.",
                  "handlers.data-order", [] {
                    return with_pool({RequestType::kStore, RequestType::kRetrieve},
                                     [] { return std::make_shared<ReversingPool>(); });
                  }});
  list.push_back({"one-thread-for-all", "STORE waits for its event on the only thread of all.",
                  "handlers.store-wait-holds-up-nobody", one_thread_for_all});
  list.push_back({"deaf-to-the-clumsy", "Drops the request behind one that it has refused.",
                  "handlers.independent-clients", [] { return deaf_to_the_clumsy(1); }});
  list.push_back({"deaf-for-long", "Drops ten requests of whom it has refused one.",
                  "robustness.one-client-stops-nobody", [] { return deaf_to_the_clumsy(10); }});
  list.push_back({"hundred-requests-a-client", "Serves a client a hundred times, and no more.",
                  "envelope.one-reply", [] { return served_at_most(100); }});
}

}  // namespace kvc::mutants
