// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Typing, the other side: what has to be taken. Every payload in every longer encoding, every type
// at its limits, and the odd forms of a map that the real decoder accepts. Where a value is of the
// right type but cannot be served (an instance nobody registered), it is only asked that the server
// deals with it and serves on.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/cases/typing.h"
#include "conformance/harness/message_text.h"

namespace kvc::conformance {
namespace {

std::vector<Bytes> int_limits() {
  return {msg::integer(0),
          msg::integer(127),
          msg::integer(-1),
          msg::integer(-32),
          msg::integer(-33),
          msg::integer(std::numeric_limits<std::int32_t>::min()),
          msg::integer(std::numeric_limits<std::int64_t>::min()),
          msg::unsigned_integer(std::uint64_t{1} << 31),
          msg::unsigned_integer(std::uint64_t{1} << 32),
          msg::unsigned_integer((std::uint64_t{1} << 63) - 1),
          msg::unsigned_integer(std::uint64_t{1} << 63),
          msg::unsigned_integer(std::numeric_limits<std::uint64_t>::max())};
}

std::vector<Bytes> str_limits() {
  return {msg::str(""),
          msg::str(std::string(31, 'x')),
          msg::str(std::string(32, 'x')),
          msg::str(std::string(255, 'x')),
          msg::str(std::string(256, 'x')),
          msg::str(std::string(65536, 'x')),
          msg::str(std::string_view("a\0b", 3)),
          msg::str("@/\\ \n"),
          msg::str("\xf0\x9f\x98\x80"),  // U+1F600, four bytes
          msg::str("\xef\xbf\xbf"),      // U+FFFF, no character and yet valid UTF-8
          msg::str("\xf4\x8f\xbf\xbf")};
}

std::vector<Bytes> bytes_limits() {
  std::vector<Bytes> out;
  for (std::size_t size : {0U, 1U, 63U, 64U, 65U, 255U, 256U, 65536U})
    out.push_back(msg::bin(Bytes(size, 0)));
  return out;
}

std::vector<Bytes> hints_limits() {
  std::vector<Bytes> out = {
      msg::map({}), msg::map({{msg::str("kv_layout"), msg::str("HND")}}),
      msg::map({{msg::str("unknown"), msg::nested_arrays(4)}}),
      msg::map({{msg::str(""), msg::nil()}}),
      msg::map({{msg::str("head_dim"), msg::integer(1)}, {msg::str("head_dim"), msg::integer(2)}})};
  for (const char* name :
       {"num_kv_heads", "tokens_per_block", "head_dim", "inference_engine_logical_block_size"})
    for (const Bytes& limit : int_limits()) out.push_back(msg::map({{msg::str(name), limit}}));
  return out;
}

// Whether a request is answered whatever value of its type stands in this place. Elsewhere the
// value decides whether there is something to serve.
bool answered_at_limits(RequestType type) {
  switch (type) {
    case RequestType::kStore:
    case RequestType::kRetrieve:
    case RequestType::kCbRegisterKvCache:  // a second registration replaces the first
    case RequestType::kCbStorePreComputed:
    case RequestType::kCbStoreFinal:
    case RequestType::kCbRetrievePreComputed:
    case RequestType::kCbRetrievePreComputedV2:
      return false;
    default:
      return true;
  }
}

// The answers to the odd ones are as good as the honest one's: same shape, same word on success.
void expect_same_answer(Case& test, const Reply& honest, const Reply& odd, RequestType type) {
  test.expect(honest.has_result() == odd.has_result(),
              "an answer as to the honest " + std::string(to_string(type)),
              describe_response(test.registry(), odd.frames));
  if (!odd.has_result()) return;
  const Result<TransferResult> first = decode<TransferResult>(honest.frames[2]);
  const Result<TransferResult> second = decode<TransferResult>(odd.frames[2]);
  if (first && second) test.expect_equal(second->ok, first->ok, "success");
}

void expect_all_answered(Case& test, RequestType type, std::size_t index,
                         const std::vector<Bytes>& documents) {
  Stage stage(test);
  Client client = test.client();
  const Frames honest = stage.valid(type);
  const Reply reply = client.reply_to(client.send(type, honest));
  std::vector<Sent> sent;
  for (const Bytes& document : documents) {
    Frames frames = honest;
    frames[index] = document;
    sent.push_back(client.send(type, frames));
  }
  for (std::size_t i = 0; i < sent.size(); ++i) {
    test.step(fmt::format("{} = {}", payload_names(type)[index], words(documents[i])));
    expect_same_answer(test, reply, client.reply_to(sent[i]), type);
  }
}

void expect_all_survived(Case& test, RequestType type, std::size_t index,
                         const std::vector<Bytes>& documents) {
  Stage stage(test);
  Client client = test.client();
  const Frames honest = stage.valid(type);
  client.reply_to(client.send(type, honest));
  for (const Bytes& document : documents) {
    Frames frames = honest;
    frames[index] = document;
    client.send(type, frames);
  }
  client.reply_to(client.send(type, honest));
  client.fence();
}

CaseSpec position_case(RequestType type, std::size_t index, WireType wire, std::string_view claim,
                       const std::string& sentence) {
  CaseSpec spec;
  spec.id = fmt::format("Typing.{}_{}", position_name(type, index), claim);
  spec.proves = {requirement_of(wire)};
  spec.claim = fmt::format("{}'s payload {} ({}, {}) {}", to_string(type), index,
                           payload_names(type)[index], to_string(wire), sentence);
  spec.needs = capabilities_of(type);
  return spec;
}

void add_encodings(CaseList& list, RequestType type, std::size_t index, WireType wire) {
  CaseSpec spec = position_case(type, index, wire, "AcceptsLongerEncodings",
                                "is taken in every longer encoding of the same value.");
  spec.proves.emplace_back("typing.any-encoding");
  spec.body = [type, index](Case& test) {
    Stage stage(test);
    expect_all_answered(test, type, index, msg::other_encodings(stage.valid(type)[index]));
  };
  list.add(std::move(spec));
}

void add_limits(CaseList& list, RequestType type, std::size_t index, WireType wire) {
  const std::vector<Bytes> documents = limits(wire);
  if (documents.empty()) return;
  const bool answered = answered_at_limits(type);
  CaseSpec spec = answered ? position_case(type, index, wire, "AcceptsLimits",
                                           "is taken at the limits of its type.")
                           : position_case(type, index, wire, "SurvivesLimits",
                                           "at the limits of its type stops nobody's service.");
  spec.body = [=](Case& test) {
    if (answered)
      expect_all_answered(test, type, index, documents);
    else
      expect_all_survived(test, type, index, documents);
    if (type != RequestType::kRegisterKvCache || index != 0) return;
    Client client = test.client();  // these have registered an instance each
    for (const Bytes& id : documents)
      client.reply_to(client.send(RequestType::kUnregisterKvCache, {id}));
  };
  list.add(std::move(spec));
}

// The forms of one map: fields as the payload's own, in another order, twice, more than known.
void add_odd_forms(CaseList& list, RequestType type, std::size_t index, WireType wire) {
  const bool is_map = wire == WireType::kKey || wire == WireType::kLayoutHints ||
                      wire == WireType::kBlockAllocationRecords ||
                      wire == WireType::kCBMatchResults;
  if (!is_map) return;
  CaseSpec spec = position_case(
      type, index, wire, "AcceptsOddForms",
      "is taken with its fields in any order, repeated, with unknown ones, without optional ones.");
  spec.proves.emplace_back("typing.map-forms");
  spec.body = [=](Case& test) {
    Stage stage(test);
    expect_all_answered(test, type, index, odd_forms(wire, stage.fields(type, index)));
  };
  list.add(std::move(spec));
}

Bytes lookup_key(Stage& stage, const std::string& name, const Bytes& value) {
  std::vector<msg::Pair> pairs;
  for (const Field& field : stage.fields(RequestType::kLookup, 0))
    pairs.emplace_back(msg::str(field.name), field.name == name ? value : field.valid);
  return msg::map(pairs);
}

void add_key_field_limits(CaseList& list) {
  // Token ids that fit no u32 decode, and then cannot be hashed: see Lookup.
  const std::vector<std::pair<std::string, std::vector<Bytes>>> rows = {
      {"model_name", str_limits()},
      {"world_size", int_limits()},
      {"worker_id", int_limits()},
      {"token_ids",
       {msg::array({}), msg::array({msg::integer(0), msg::unsigned_integer(0xffffffff)}),
        msg::array(std::vector<Bytes>(70000, msg::integer(1)))}},
      {"start", int_limits()},
      {"end", int_limits()},
      {"request_id", str_limits()},
  };
  for (const auto& [name, documents] : rows) {
    CaseSpec spec = position_case(RequestType::kLookup, 0, WireType::kKey, name + "_AcceptsLimits",
                                  "is taken with its " + name + " at the limits of its type.");
    spec.body = [name = name, documents = documents](Case& test) {
      Stage stage(test);
      std::vector<Bytes> keys;
      for (const Bytes& document : documents) keys.push_back(lookup_key(stage, name, document));
      expect_all_answered(test, RequestType::kLookup, 0, keys);
    };
    list.add(std::move(spec));
  }
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += piece;
  return out;
}

void add_salt_cases(CaseList& list) {
  constexpr std::string_view kSmiley = "\xf0\x9f\x98\x80";
  const auto add = [&](std::string_view claim, const std::string& sentence,
                       const std::vector<Bytes>& salts, bool accepted) {
    CaseSpec spec = position_case(RequestType::kLookup, 0, WireType::kKey, claim, sentence);
    spec.proves = {"typing.cache-salt"};
    spec.body = [=](Case& test) {
      Stage stage(test);
      std::vector<Bytes> keys;
      for (const Bytes& salt : salts) keys.push_back(lookup_key(stage, "cache_salt", salt));
      if (accepted) return expect_all_answered(test, RequestType::kLookup, 0, keys);
      Client client = test.client();
      std::vector<Frames> others;
      for (const Bytes& key : keys) others.push_back(stage.with(RequestType::kLookup, 0, key));
      expect_only_honest_answered(client, RequestType::kLookup, stage.valid(RequestType::kLookup),
                                  others, "LOOKUP with a forbidden cache_salt");
    };
    list.add(std::move(spec));
  };
  add("cache_salt_Accepts128CodePoints",
      "is taken with a salt of 128 code points, however many bytes they take.",
      {msg::str(""), msg::str("tenant-1"), msg::str(std::string(128, 'x')),
       msg::str(repeated("\xc3\xa9", 128)), msg::str(repeated(kSmiley, 128)),
       msg::str(" !#$%&'()*+,-.:;<=>?[]^_`{|}~\n")},
      true);
  add("cache_salt_RefusesForbiddenCharacters", "is refused with @, /, \\ or NUL in its salt.",
      {msg::str("@"), msg::str("a/b"), msg::str("a\\"), msg::str(std::string_view("\0", 1)),
       msg::str(std::string_view("a\0b", 3)), msg::str(std::string(128, '@'))},
      false);
  add("cache_salt_RefusesMoreThan128CodePoints",
      "is refused with a salt of more than 128 code points.",
      {msg::str(std::string(129, 'x')), msg::str(repeated("\xc3\xa9", 129)),
       msg::str(repeated(kSmiley, 129)), msg::str(std::string(65536, 'x'))},
      false);
}

}  // namespace

std::vector<Bytes> limits(WireType wire) {
  switch (wire) {
    case WireType::kInt:
      return int_limits();
    case WireType::kStr:
      return str_limits();
    case WireType::kBytes:
      return bytes_limits();
    case WireType::kEngineType:
      return {msg::str("vllm"), msg::str("sglang"), msg::str("trtllm"), msg::str("mock")};
    case WireType::kIntList:
      return {msg::array({}), msg::array(int_limits()),
              msg::array(std::vector<Bytes>(70000, msg::integer(1)))};
    case WireType::kLayoutHints:
      return hints_limits();
    case WireType::kKVCache:
    case WireType::kBlockAllocationRecords:
    case WireType::kRanges:
    case WireType::kCBMatchResults:
      return {msg::array({})};
    default:
      return {};
  }
}

std::vector<Bytes> odd_forms(WireType wire, const std::vector<Field>& fields) {
  std::vector<msg::Pair> plain;
  for (const Field& field : fields) plain.emplace_back(msg::str(field.name), field.valid);
  const auto with = [&](std::vector<msg::Pair> more) {
    std::vector<msg::Pair> pairs = plain;
    pairs.insert(pairs.end(), more.begin(), more.end());
    return Stage::compose(wire, pairs);
  };
  std::vector<msg::Pair> reversed(plain.rbegin(), plain.rend());
  std::vector<msg::Pair> rotated = plain;
  std::rotate(rotated.begin(), rotated.begin() + 1, rotated.end());
  std::vector<msg::Pair> required;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].required) required.push_back(plain[i]);

  std::vector<Bytes> out = {
      Stage::compose(wire, reversed),
      Stage::compose(wire, rotated),
      Stage::compose(wire, required),
      with({{msg::str("unknown"), msg::integer(1)}}),
      with({{msg::str("unknown"), msg::map({{msg::str("deep"), msg::nested_arrays(20)}})},
            {msg::str(""), msg::ext(5, as_bytes("abc"))},
            {msg::str("another"), msg::f64(0.5)}}),
      with({plain.front()}),
  };
  // Twice with two values: the last one counts, so the wrong one comes first.
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].type != WireType::kStr) continue;
    std::vector<msg::Pair> twice = plain;
    twice.insert(twice.begin(), {plain[i].first, msg::str("NHD")});
    out.push_back(Stage::compose(wire, twice));
  }
  return out;
}

void add_typing_accept_cases(CaseList& list, const Registry& registry) {
  for (const Definition& definition : registry.definitions()) {
    for (std::size_t i = 0; i < definition.payloads.size(); ++i) {
      add_encodings(list, definition.type, i, definition.payloads[i]);
      add_limits(list, definition.type, i, definition.payloads[i]);
      add_odd_forms(list, definition.type, i, definition.payloads[i]);
    }
  }
  add_key_field_limits(list);
  add_salt_cases(list);
}

}  // namespace kvc::conformance
