// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Typing through the pipe: the documents of the tables in cases/typing.h go to the decoder itself,
// under the id of the case that sends them to a server.
#include <fmt/format.h>

#include "conformance/cases/testee/differences.h"
#include "conformance/cases/testee/testee_cases.h"
#include "conformance/cases/typing.h"
#include "conformance/harness/byte_builder.h"
#include "conformance/harness/message_text.h"
#include "conformance/harness/pickle_builder.h"

namespace kvc::conformance {
namespace {

// Fields as an honest client fills them.
std::vector<Field> honest_fields(WireType wire) {
  const Bytes ids = msg::array({msg::integer(1), msg::integer(2)});
  const Bytes zero = msg::integer(0);
  switch (wire) {
    case WireType::kKey:
      return {{"model_name", WireType::kStr, true, msg::str("model")},
              {"world_size", WireType::kInt, true, msg::integer(1)},
              {"worker_id", WireType::kOptionalInt, true, msg::nil()},
              {"token_ids", WireType::kIntList, true, ids},
              {"start", WireType::kInt, true, zero},
              {"end", WireType::kInt, true, msg::integer(2)},
              {"request_id", WireType::kStr, true, msg::str("request")},
              {"cache_salt", WireType::kStr, false, msg::str("")}};
    case WireType::kLayoutHints:
      return {{"kv_layout", WireType::kStr, false, msg::str("NHD")},
              {"num_kv_heads", WireType::kInt, false, msg::integer(1)},
              {"tokens_per_block", WireType::kInt, false, msg::integer(16)},
              {"head_dim", WireType::kInt, false, msg::integer(8)},
              {"inference_engine_logical_block_size", WireType::kInt, false, msg::integer(16)}};
    case WireType::kBlockAllocationRecords:
      return {{"req_id", WireType::kStr, true, msg::str("request")},
              {"new_block_ids", WireType::kIntList, true, ids},
              {"new_token_ids", WireType::kIntList, true, ids}};
    case WireType::kCBMatchResults:
      return {{"old_st", WireType::kInt, true, zero},
              {"old_ed", WireType::kInt, true, msg::integer(32)},
              {"cur_st", WireType::kInt, true, zero},
              {"cur_ed", WireType::kInt, true, msg::integer(32)},
              {"hash", WireType::kBytes, true, msg::bin(Bytes(32, 7))}};
    default:
      return {};
  }
}

IpcTensor honest_tensor() {
  IpcTensor tensor;
  TorchIpcHandle handle;
  handle.handle = Bytes(66, 5);
  handle.handle[0] = 1;
  handle.handle[1] = 'c';
  handle.storage_size_bytes = 4096;
  handle.ref_counter_handle = Bytes(16, 6);
  handle.event_handle = Bytes(64, 7);
  tensor.handle = handle;
  tensor.dtype = "float16";
  tensor.shape = {2, 4, 16, 1, 8};
  tensor.stride = {512, 128, 8, 8, 1};
  tensor.device_uuid = "uuid";
  return tensor;
}

Bytes honest_payload(WireType wire) {
  const std::vector<Field> fields = honest_fields(wire);
  if (!fields.empty()) return composed(wire, fields, "", std::nullopt);
  switch (wire) {
    case WireType::kInt:
    case WireType::kOptionalInt:
      return msg::integer(7);
    case WireType::kBool:
      return msg::boolean(true);
    case WireType::kStr:
      return msg::str("request");
    case WireType::kBytes:
      return msg::bin(Bytes(64, 7));
    case WireType::kKVCache:
      return msg::array({msg::ext(1, pkl::wrapper(honest_tensor()))});
    case WireType::kEngineType:
      return msg::str("vllm");
    case WireType::kIntList:
      return msg::array({msg::integer(1), msg::integer(2)});
    case WireType::kTransferResult:
      return msg::array({msg::bin(Bytes(64, 7)), msg::boolean(true)});
    case WireType::kRanges:
      return msg::array({msg::array({msg::integer(0), msg::integer(32)})});
    default:
      return msg::nil();
  }
}

std::vector<TesteeReply> decode_all(Case& test, const Position& position,
                                    const std::vector<Bytes>& documents) {
  std::vector<Placed> items;
  for (const Bytes& document : documents) items.push_back(position.place(pipe_bytes(document)));
  return test.testee().ask_all("decode", items, [&](std::size_t i) {
    return position.words() + " = " + msgpack_in_words(documents[i]);
  });
}

// The honest document is decoded, the others are not.
void expect_refused(Case& test, const Position& position, const Bytes& honest,
                    std::vector<Bytes> documents, const std::string& kind) {
  documents.push_back(honest);
  const std::vector<TesteeReply> replies = decode_all(test, position, documents);
  Differences differences(test);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    differences.expect_implemented(replies[i], "decode");
    const std::string where = msgpack_in_words(documents[i]).substr(0, 120);
    if (i + 1 < replies.size()) {
      differences.expect_error(where, {}, kind, replies[i]);
    } else {
      differences.checked();
      if (!replies[i].ok()) differences.add(where, "the honest value", replies[i].text());
    }
  }
  differences.finish();
}

// All are decoded; `same`: to the value that the honest one is decoded to.
void expect_taken(Case& test, const Position& position, const Bytes& honest,
                  std::vector<Bytes> documents, bool same) {
  documents.insert(documents.begin(), honest);
  const std::vector<TesteeReply> replies = decode_all(test, position, documents);
  Differences differences(test);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    differences.expect_implemented(replies[i], "decode");
    const std::string where = msgpack_in_words(documents[i]).substr(0, 120);
    if (same && replies.front().ok()) {
      differences.expect_value(where, replies.front().value, replies[i]);
      continue;
    }
    differences.checked();
    if (!replies[i].ok()) differences.add(where, "a value", replies[i].text());
  }
  differences.finish();
}

void add_refusals(CaseList& list, const Registry& registry) {
  for (const Mutation& mutation : payload_mutations(registry)) {
    const Position position{registry.find(mutation.type), mutation.index};
    list.add(pipe_case(mutation.id(), {mutation.requirement},
                       fmt::format("{} ({}) is refused when it is {}.", position.words(),
                                   to_string(mutation.wire), mutation.kind),
                       [=](Case& test) {
                         const Bytes honest = honest_payload(mutation.wire);
                         expect_refused(test, position, honest, mutation.documents(honest),
                                        mutation.kind);
                       }));
  }
  for (const FieldMutation& mutation : field_mutations(registry)) {
    const Position position{registry.find(mutation.type), mutation.index};
    list.add(pipe_case(
        mutation.id(), {requirement_of(mutation.wire), requirement_of(mutation.field.type)},
        fmt::format("{} is refused with a {} of the kind {}.", position.words(),
                    mutation.field.name, mutation.kind),
        [=](Case& test) {
          std::vector<Bytes> documents;
          for (const std::optional<Bytes>& document : mutation.documents)
            documents.push_back(composed(mutation.wire, honest_fields(mutation.wire),
                                         mutation.field.name, document));
          expect_refused(test, position, honest_payload(mutation.wire), documents,
                         fmt::format("{} of the kind {}", mutation.field.name, mutation.kind));
        }));
  }
}

void add_accepted(CaseList& list, const Position& position) {
  const WireType wire = position.wire();
  const auto add = [&](const std::string& claim, const std::string& sentence,
                       std::vector<std::string> proves, bool same,
                       std::function<std::vector<Bytes>()> documents) {
    list.add(pipe_case(fmt::format("Typing.{}_{}", position.name(), claim), std::move(proves),
                       fmt::format("{} ({}) {}", position.words(), to_string(wire), sentence),
                       [=](Case& test) {
                         expect_taken(test, position, honest_payload(wire), documents(), same);
                       }));
  };
  add("AcceptsLongerEncodings", "is taken in every longer encoding of the same value.",
      {requirement_of(wire), "typing.any-encoding"}, true,
      [=] { return msg::other_encodings(honest_payload(wire)); });
  if (!limits(wire).empty())
    add("AcceptsLimits", "is taken at the limits of its type.", {requirement_of(wire)}, false,
        [=] { return limits(wire); });
  if (!honest_fields(wire).empty())
    add("AcceptsOddForms",
        "is taken with its fields in any order, repeated, with unknown ones, without optional "
        "ones.",
        {requirement_of(wire), "typing.map-forms"}, false,
        [=] { return odd_forms(wire, honest_fields(wire)); });
}

}  // namespace

void add_pipe_typing_cases(CaseList& list, const Registry& registry) {
  add_refusals(list, registry);
  for (const Position& position : positions_of(registry))
    if (position.payload) add_accepted(list, position);
}

}  // namespace kvc::conformance
