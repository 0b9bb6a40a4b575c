// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// TrafficJudge: what can be said of a protocol's traffic by looking at it: whether requests are of
// the release, whether each is answered once, in time, in order and with a result of its type,
// and which locks are left behind. Each fault names the rule of the ledger, and whose it is.
//
// Fed with messages in the order in which they passed. Owns copies of what it remembers. One
// thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "conformance/watch/latency.h"
#include "conformance/watch/lock_watch.h"
#include "kvc/protocol/bytes.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

struct SeenMessage {
  double t_ms = 0;   // since the watch began
  int client = 0;    // counts from 1
  bool sent = true;  // by the client; else by the server
  std::span<const ByteView> frames;
};

enum class Side { kClient, kServer };
std::string_view to_string(Side side);  // "client", "server"

struct TrafficFault {
  double t_ms = 0;
  int client = 0;
  Side side = Side::kClient;
  bool note = false;    // may be right: told, and no fault
  std::string rule;     // an id of the ledger, for `kvconform explain`
  std::string what;     // a sentence
  std::string message;  // in words
  std::string frames;   // hex, cut short
};

struct TrafficRow {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t illegal = 0;  // requests that must not be answered
  std::uint64_t overdue = 0;  // legal ones that waited longer than the limit
  std::uint64_t pending = 0;
  Latency latency;
};

class TrafficJudge {
 public:
  using Tell = std::function<void(const TrafficFault&)>;

  TrafficJudge(const Registry& registry, double overdue_ms, Tell tell);

  void set_chunk_size(std::uint64_t tokens) { locks_.set_chunk_size(tokens); }
  void see(const SeenMessage& message);
  // What time alone shows: replies that are overdue, a server that has fallen silent.
  void look_at_clock(double now_ms);
  // After the last message: what is still unanswered or locked.
  void end(double now_ms);

  const std::map<RequestType, TrafficRow>& rows() const { return rows_; }
  std::uint64_t num_messages() const { return num_messages_; }
  std::uint64_t num_illegal() const { return num_illegal_; }  // of no known type, too
  std::uint64_t num_faults(Side side) const {
    return side == Side::kClient ? client_faults_ : server_faults_;
  }

 private:
  struct Pending {
    const Definition* definition = nullptr;  // null: not legal, must not be answered
    Bytes type_frame;
    double t_ms = 0;
    std::uint64_t sync_number = 0;  // of SYNC requests of this client, from 1
    bool told_overdue = false;
    std::string request;                         // in words, of an illegal one
    std::function<void(const Value&)> answered;  // what the answer means for locks
  };
  struct ClientState {
    std::unordered_map<std::string, std::deque<Pending>> pending;  // by uid frame
    std::uint64_t num_sync = 0;
    std::uint64_t last_sync_answered = 0;
    bool told_release = false;
  };
  struct Suspect {        // a message that the server should have dropped
    TrafficFault fault;   // as it was told
    bool poison = false;  // known to end the thread of a real 0.4.5
  };

  void see_request(const SeenMessage& message, ClientState& client);
  void see_reply(const SeenMessage& message, ClientState& client);
  void judge_result(const SeenMessage& message, Pending& pending);
  void judge_order(const SeenMessage& message, ClientState& client, const Pending& pending);
  void refuse(const SeenMessage& message, ClientState& client, const std::string& rule,
              const std::string& what);
  void watch_locks(const std::vector<Value>& payloads, const SeenMessage& message,
                   Pending& pending);
  TrafficFault fault_of(const SeenMessage& message, Side side, const std::string& rule,
                        const std::string& what, bool note = false) const;
  void tell(const SeenMessage& message, Side side, const std::string& rule, const std::string& what,
            bool note = false);
  void count(const TrafficFault& fault);
  struct Overdue {  // requests of one client and type
    std::uint64_t count = 0;
    double oldest_ms = 0;
    std::string uid;  // of the oldest
  };
  void tell_overdue(int client, RequestType type, const Overdue& overdue, double now_ms);
  void tell_dead(double now_ms, double oldest_ms);
  void forget_old(ClientState& client, double now_ms);

  const Registry& registry_;
  double overdue_ms_;
  Tell tell_;
  std::map<int, ClientState> clients_;
  std::map<RequestType, TrafficRow> rows_;
  LockWatch locks_;
  std::deque<Suspect> suspects_;  // the latest
  double last_reply_ms_ = 0;
  bool told_dead_ = false;
  std::uint64_t num_messages_ = 0;
  std::uint64_t num_illegal_ = 0;
  std::uint64_t client_faults_ = 0;
  std::uint64_t server_faults_ = 0;
};

}  // namespace kvc::conformance
