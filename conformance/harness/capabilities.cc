// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/capabilities.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/harness/release.h"
#include "conformance/harness/run_context.h"
#include "kvc/device/export_tensor.h"

namespace kvc::conformance {
namespace {

// Some answers are due from a pool that a fence does not pass through, or never. So long, once in a
// run, is waited for the ones that are missing.
constexpr std::chrono::milliseconds kPatience{200};

// Sends the harmless requests, all at once.
class Prober {
 public:
  explicit Prober(RunContext& context)
      : context_(context), client_(context), model_(context.unique("kvconform-probe")) {}

  Capabilities run() {
    ask_anywhere();
    if (context_.device_or_null() != nullptr) ask_with_buffer();
    try {
      client_.fence();
      const auto end = std::chrono::steady_clock::now() + kPatience;
      while (true) {
        sort_replies();
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (answered_.size() == asked_.size() || left.count() <= 0) break;
        if (std::optional<Reply> reply = client_.receive(left)) note(*reply);
      }
    } catch (const Finding&) {  // the server died, or does not know PING: what came, came
      sort_replies();
    }
    return result();
  }

 private:
  template <class... Payloads>
  void ask(RequestType type, const Payloads&... payloads) {
    if (difference_of_type(context_.registry(), type)) return;  // stays "not probed"
    const Sent sent = client_.send_values(type, payloads...);
    asked_.emplace_back(sent);
  }

  Key key() const {
    Key out;
    out.model_name = model_;
    out.worker_id = Int(0);
    out.request_id = model_;
    return out;
  }

  void ask_anywhere() {
    using enum RequestType;
    ask(kNoop);
    ask(kPing);
    ask(kGetChunkSize);
    ask(kReportBlockAllocation, unknown_instance_, model_, BlockAllocationRecords{});
    ask(kLookup, key(), Int(1));
    ask(kQueryPrefetchStatus, model_);
    ask(kQueryPrefetchLookupHits, model_);
    ask(kFreeLookupLocks, key(), Int(1));
    ask(kEndSession, model_);
    ask(kUnregisterKvCache, unknown_instance_);
    ask(kCbUnregisterKvCache, unknown_instance_);
    ask(kCbLookupPreComputed, key());
    ask(kCbLookupPreComputedV2, key());
  }

  // One chunk's worth of buffer, registered, stored once and asked back once without a lock.
  void ask_with_buffer() {
    using enum RequestType;
    Device& device = *context_.device_or_null();
    const auto chunk = static_cast<std::int64_t>(chunk_size_or_default());
    ExportedTensor tensor;
    tensor.dtype = "uint8";
    tensor.shape = {2, 1, chunk, 1, 1};
    buffer_ = device.create_buffer(static_cast<std::size_t>(2 * chunk));
    event_ = device.create_event();
    const Bytes event = event_->ipc_handle();
    const KVCache kv_cache = {export_tensor(*buffer_, tensor, device.own_uuid())};
    if (difference_of_type(context_.registry(), kRegisterKvCache)) {  // blend's is the same in all
      tensor.shape = {2, 1, chunk, 1};
      ask(kCbRegisterKvCache, instance_,
          KVCache{export_tensor(*buffer_, tensor, device.own_uuid())}, model_, Int(1));
      return;
    }
    Key all = key();
    all.token_ids = IntArray::of(std::vector<Int>(static_cast<std::size_t>(chunk), Int(7)));
    all.end = Int(chunk);
    ask(kRegisterKvCache, instance_, kv_cache, model_, Int(1), EngineType::kVllm, LayoutHints{});
    ask(kStore, all, instance_, IntArray{Int(0)}, event);
    ask(kRetrieve, all, instance_, IntArray{Int(0)}, event, Int(0));
  }

  // GET_CHUNK_SIZE was asked first; a server that does not answer it may still take 256.
  std::uint64_t chunk_size_or_default() {
    try {
      return context_.chunk_size();
    } catch (const Finding&) {
      return 256;
    }
  }

  void note(const Reply& reply) {
    for (std::size_t i = 0; i < asked_.size(); ++i)
      if (reply.frames.size() >= 2 && reply.frames[0] == asked_[i].uid) answered_.insert(i);
  }
  void sort_replies() {
    while (!client_.unclaimed().empty())
      if (std::optional<Reply> reply = client_.receive(std::chrono::milliseconds(0))) note(*reply);
  }

  Capabilities result() {
    Capabilities out;
    for (std::size_t i = 0; i < asked_.size(); ++i)
      out.set_answer(asked_[i].request_type,
                     answered_.count(i) > 0 ? Answer::kAnswers : Answer::kSilent);
    const auto answers = [&](RequestType type) { return out.answer(type) == Answer::kAnswers; };
    const bool of_blend = answers(RequestType::kCbRegisterKvCache);
    if (of_blend || answers(RequestType::kRegisterKvCache)) {
      out.set(Capability::kDevice);
      out.set(context_.device().name() == "cuda" ? Capability::kCudaDevice
                                                 : Capability::kHostDevice);
      client_.send_values(
          of_blend ? RequestType::kCbUnregisterKvCache : RequestType::kUnregisterKvCache,
          instance_);
      try {
        client_.fence();
      } catch (const Finding&) {  // the caller asks whether it lives
      }
    }
    if (answers(RequestType::kCbLookupPreComputed)) {
      out.set(Capability::kBlendV1);
      out.set(context_.settings().blend_start.empty() ? Capability::kBlendWhole
                                                      : Capability::kBlendPatterns);
    }
    if (answers(RequestType::kCbLookupPreComputedV2)) out.set(Capability::kBlendV2);
    if (answers(RequestType::kQueryPrefetchLookupHits)) out.set(Capability::kLookupHits);
    if (context_.cache_bytes() && *context_.cache_bytes() <= kSmallCacheBytesMax)
      out.set(Capability::kSmallCache);
    if (context_.settings().security) out.set(Capability::kSecurity);
    context_.set_ping_answers(answers(RequestType::kPing));
    return out;
  }

  RunContext& context_;
  Client client_;
  std::string model_;
  Int instance_ = Int(0x6b76636f6e66);  // "kvconf": no process id comes near it
  Int unknown_instance_ = Int(0x6b76636f6e67);
  std::shared_ptr<Buffer> buffer_;
  std::shared_ptr<Event> event_;
  std::vector<Sent> asked_;
  std::set<std::size_t> answered_;
};

}  // namespace

std::string_view to_string(Answer answer) {
  switch (answer) {
    case Answer::kAnswers:
      return "answers";
    case Answer::kSilent:
      return "silent";
    case Answer::kNotProbed:
      return "not probed";
  }
  return "?";
}

Answer Capabilities::answer(RequestType type) const {
  const auto found = answers_.find(type);
  return found == answers_.end() ? Answer::kNotProbed : found->second;
}

bool Capabilities::has(const std::string& name) const {
  if (const auto capability = parse_capability(name)) return has(*capability);
  const auto type = parse_request_type(name);
  return type && answer(*type) == Answer::kAnswers;
}

bool Capabilities::is_name(const std::string& name) {
  return parse_capability(name).has_value() || parse_request_type(name).has_value();
}

std::string Capabilities::text() const {
  std::string has;
  for (const Capability capability : present_)
    if (capability != Capability::kDevice)  // which one says it
      has += (has.empty() ? "" : ", ") + std::string(to_string(capability));
  std::string silent;
  for (const auto& [type, answer] : answers_)
    if (answer == Answer::kSilent)
      silent += (silent.empty() ? "" : ", ") + std::string(to_string(type));
  return (has.empty() ? "none" : has) + (silent.empty() ? "" : "; silent: " + silent);
}

Capabilities probe_capabilities(RunContext& context) {
  context.begin_case("capabilities");
  context.set_ping_answers(true);
  return Prober(context).run();
}

}  // namespace kvc::conformance
