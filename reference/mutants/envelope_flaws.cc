// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of the envelope: the frames around payloads and results.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "mutants/call.h"
#include "mutants/flaw.h"
#include "mutants/frames.h"

namespace kvc::mutants {
namespace {

using server::Frame;
using Send = std::function<void(Reply)>;

Changes with_reply(std::function<void(Reply, const Send&)> flaw) {
  return {.reply = [flaw = std::move(flaw)](Reply reply, bool, const Send& next) {
    flaw(std::move(reply), next);
  }};
}

Changes with_uid(std::function<Frame(const Frame&)> changed) {
  return with_reply([changed = std::move(changed)](Reply reply, const Send& next) {
    reply.uid = changed(reply.uid);
    next(std::move(reply));
  });
}

Frame written_anew(const Frame& frame) {
  const std::optional<Int> value = int_in(frame);
  return value ? Frame(encoded(*value)) : frame;
}

Frame cut_to_8_bytes(const Frame& frame) {
  return Frame(to_bytes(frame.view().first(std::min<std::size_t>(frame.size(), 8))));
}

Frame as_int32(const Frame& frame) {
  const std::optional<Int> value = int_in(frame);
  return value ? Frame(encoded(Int(static_cast<std::int32_t>(value->bits())))) : frame;
}

// By uid, who used it first.
Changes answer_the_first_client() {
  struct State {
    std::mutex mutex;
    std::map<std::string, Frame> first;
  };
  const auto state = std::make_shared<State>();
  Changes changes;
  changes.message = [state](Message message, const std::function<void(Message)>& next) {
    if (message.size() > kUidFrame) {
      const std::lock_guard lock(state->mutex);
      state->first.emplace(as_text(message[kUidFrame].view()), message[kIdentityFrame]);
    }
    next(std::move(message));
  };
  changes.reply = [state](Reply reply, bool, const Send& next) {
    {
      const std::lock_guard lock(state->mutex);
      const auto known = state->first.find(std::string(as_text(reply.uid.view())));
      if (known != state->first.end()) reply.identity = known->second;
    }
    next(std::move(reply));
  };
  return changes;
}

// A uid that is still at work is taken for a repetition.
Changes merge_equal_uids() {
  struct State {
    std::mutex mutex;
    std::set<std::string> at_work;
  };
  const auto state = std::make_shared<State>();
  const auto name = [](const Frame& identity, const Frame& uid) {
    return std::string(as_text(identity.view())) + "/" + std::string(as_text(uid.view()));
  };
  Changes changes;
  changes.message = [state, name](Message message, const std::function<void(Message)>& next) {
    const Definition* const definition = definition_of(message);
    if (definition != nullptr && definition->handler == HandlerType::kBlocking) {
      const std::lock_guard lock(state->mutex);
      if (!state->at_work.insert(name(message[kIdentityFrame], message[kUidFrame])).second) return;
    }
    next(std::move(message));
  };
  changes.reply = [state, name](Reply reply, bool, const Send& next) {
    {
      const std::lock_guard lock(state->mutex);
      state->at_work.erase(name(reply.identity, reply.uid));
    }
    next(std::move(reply));
  };
  return changes;
}

Changes drop_empty_uids() {
  return {.message = [](Message message, const std::function<void(Message)>& next) {
    if (message.size() > kUidFrame && message[kUidFrame].size() == 0) return;
    next(std::move(message));
  }};
}

// The row's number of payloads, whatever came behind.
Changes cut_extra_payloads() {
  return {.message = [](Message message, const std::function<void(Message)>& next) {
    const Definition* const definition = definition_of(message);
    if (definition != nullptr && message.size() > kFirstPayloadFrame + definition->payloads.size())
      message.resize(kFirstPayloadFrame + definition->payloads.size());
    next(std::move(message));
  }};
}

Changes default_last_int() {
  return {.message = [](Message message, const std::function<void(Message)>& next) {
    const Definition* const definition = definition_of(message);
    if (definition != nullptr && !definition->payloads.empty() &&
        definition->payloads.back() == WireType::kInt &&
        message.size() + 1 == kFirstPayloadFrame + definition->payloads.size())
      message.push_back(Frame(encoded(Int(0))));
    next(std::move(message));
  }};
}

// Only to some: where the number is one, or the message has no type.
Changes answer_if(std::function<bool(const Message&)> strange) {
  Changes changes;
  changes.message = [strange = std::move(strange)](Message message,
                                                   const std::function<void(Message)>& next) {
    if (!strange(message)) return next(std::move(message));
    // Disguised as NOOP, and answered under its own type.
    Message noop{message[0], message.size() > 1 ? message[1] : Frame(Bytes{}),
                 frame_of_number(registry_0_4_5().find(RequestType::kNoop)->number)};
    next(std::move(noop));
  };
  return changes;
}

Changes answer_refusals() {
  return {.handlers = [](const Parts& parts) {
    for (const Definition& definition : parts.handlers.registry().definitions())
      around(parts.handlers, {definition.type}, [](Call& call) {
        const Outcome outcome = call.next();
        if (outcome.reply) return outcome;
        return answer(std::string("error: ") + (outcome.refusal ? outcome.refusal->text() : ""));
      });
  }};
}

}  // namespace

void add_envelope_flaws(FlawList& list) {
  list.push_back({"uid-written-anew", "Decodes the uid and encodes it again in the shortest form.",
                  "envelope.echo-uid", [] { return with_uid(written_anew); }});
  list.push_back({"uid-as-int32", "Keeps uids in 32 bits, and echoes what is left of larger ones.",
                  "envelope.echo-uid", [] { return with_uid(as_int32); }});
  list.push_back({"uid-cut", "Echoes the first 8 bytes of a uid.", "envelope.echo-uid",
                  [] { return with_uid(cut_to_8_bytes); }});
  list.push_back({"uid-dropped", "Answers with an empty frame in place of the uid.",
                  "envelope.echo-uid",
                  [] { return with_uid([](const Frame&) { return Frame(Bytes{}); }); }});
  list.push_back({"uid-and-type-swapped", "Writes the type frame before the uid frame.",
                  "envelope.echo-uid", [] {
                    return with_reply([](Reply reply, const Send& next) {
                      std::swap(reply.uid, reply.type);
                      next(std::move(reply));
                    });
                  }});
  list.push_back({"empty-uid-ignored", "Does not answer a request with an empty uid.",
                  "envelope.echo-uid", drop_empty_uids});
  list.push_back({"type-written-anew", "Encodes the type of a reply anew, in the shortest form.",
                  "envelope.echo-type", [] {
                    return with_reply([](Reply reply, const Send& next) {
                      reply.type = written_anew(reply.type);
                      next(std::move(reply));
                    });
                  }});
  list.push_back({"answers-twice", "Sends each reply twice.", "envelope.one-reply", [] {
                    return with_reply([](const Reply& reply, const Send& next) {
                      next(reply);
                      next(reply);
                    });
                  }});
  list.push_back({"equal-uids-merged", "Drops a request whose uid its client has at work already.",
                  "envelope.one-reply", merge_equal_uids});
  list.push_back({"answers-the-first-client",
                  "Finds the client of a reply by the uid: the first that ever used it.",
                  "envelope.to-sender", answer_the_first_client});
  list.push_back(
      {"nil-for-none", "Sends a nil frame for a result of None.", "envelope.none-has-no-frame", [] {
         return with_reply([](Reply reply, const Send& next) {
           if (!reply.result) reply.result = encoded(None{});
           next(std::move(reply));
         });
       }});
  list.push_back({"empty-frame-for-none", "Sends an empty third frame for a result of None.",
                  "envelope.none-has-no-frame", [] {
                    return with_reply([](Reply reply, const Send& next) {
                      if (!reply.result) reply.result.emplace();
                      next(std::move(reply));
                    });
                  }});
  list.push_back({"result-in-an-array", "Wraps each result in an array of one element.",
                  "registry.result-types", [] {
                    return with_reply([](Reply reply, const Send& next) {
                      if (reply.result) reply.result->insert(reply.result->begin(), 0x91);
                      next(std::move(reply));
                    });
                  }});
  list.push_back({"result-with-a-tail", "Writes a nil behind each result, in the same frame.",
                  "registry.result-types", [] {
                    return with_reply([](Reply reply, const Send& next) {
                      if (reply.result) reply.result->push_back(0xc0);
                      next(std::move(reply));
                    });
                  }});
  list.push_back({"result-before-the-type", "Writes the result frame before the type frame.",
                  "envelope.result-frame", [] {
                    return with_reply([](Reply reply, const Send& next) {
                      if (reply.result) {
                        Bytes type = to_bytes(reply.type.view());
                        reply.type = Frame(*std::move(reply.result));
                        reply.result = std::move(type);
                      }
                      next(std::move(reply));
                    });
                  }});
  list.push_back({"extra-payloads-ignored", "Does not look at payload frames beyond its row's.",
                  "envelope.payload-count", cut_extra_payloads});
  list.push_back({"last-int-optional", "Takes a missing int at the end of the payloads for 0.",
                  "envelope.payload-count", default_last_int});
  list.push_back({"unknown-type-answered", "Answers a type that it does not know, as if to NOOP.",
                  "envelope.unknown-type", [] {
                    return answer_if([](const Message& message) {
                      return message.size() > kTypeFrame && definition_of(message) == nullptr;
                    });
                  }});
  list.push_back({"missing-type-answered", "Answers a message without a type, as if to NOOP.",
                  "envelope.too-few-frames", [] {
                    return answer_if(
                        [](const Message& message) { return message.size() <= kTypeFrame; });
                  }});
  list.push_back({"refusals-answered", "Answers what it refuses with an error message.",
                  "typing.refusal-is-silent", answer_refusals});
}

}  // namespace kvc::mutants
