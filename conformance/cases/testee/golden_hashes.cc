// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Golden, the names of stored things: chunk hashes, ranks and object keys.
#include <fmt/format.h>

#include "conformance/cases/testee/frames.h"

namespace kvc::conformance {
namespace {

Json binaries(const GoldenLine& line, const char* key) {
  Json out = Json::array();
  for (const Json& hex : line.at(key)) {
    const Result<Bytes> bytes = from_hex(hex.is_string() ? hex.get<std::string>() : "x");
    if (!bytes) throw GoldenError(fmt::format("{}: {} has no hex", line.place, key));
    out.push_back(pipe_bytes(*bytes));
  }
  return out;
}

enum class Chains { kWhole, kPart, kRefused };

Chains kind_of(const GoldenLine& line) {
  if (line.has("error")) return Chains::kRefused;
  return line.has("prefix") || line.has("start") || line.has("end") ? Chains::kPart
                                                                    : Chains::kWhole;
}

void chains(Case& test, GoldenData& golden, Chains kind) {
  Differences differences(test);
  for (const GoldenLine& line : golden.list("hashes.json", "chains")) {
    if (kind_of(line) != kind) continue;
    Json message = {{"chunk_size", line.at("chunk_size")},
                    {"tokens", pipe_value(line.at("tokens"))}};
    for (const char* key : {"start", "end"})
      if (line.has(key)) message[key] = line.at(key);
    if (line.has("prefix")) message["prefix"] = pipe_bytes(line.bytes("prefix"));
    const TesteeReply reply = test.testee().ask("chunk_hashes", message);
    differences.expect_implemented(reply, "chunk_hashes");
    const std::string where = fmt::format("{} (chunks of {}, {} tokens)", line.place,
                                          line.at("chunk_size").dump(), line.at("tokens").size());
    if (kind == Chains::kRefused)
      differences.expect_error(where, {}, line.text("error"), reply);
    else
      differences.expect_value(where, binaries(line, "hashes"), reply);
  }
  differences.finish();
}

void object_keys(Case& test, GoldenData& golden) {
  Differences differences(test);
  for (const GoldenLine& line : golden.list("hashes.json", "object_keys")) {
    const TesteeReply reply = test.testee().ask(
        "object_keys", {{"key", pipe_value(line.at("key"))}, {"hashes", binaries(line, "hashes")}});
    differences.expect_implemented(reply, "object_keys");
    if (line.has("error"))
      differences.expect_error(line.place, {}, line.text("error"), reply);
    else
      differences.expect_value(line.place, pipe_value(line.at("object_keys")), reply);
  }
  differences.finish();
}

// The rank alone is not asked for; it is that of a key with one hash.
void kv_ranks(Case& test, GoldenData& golden) {
  Differences differences(test);
  const Json hash = pipe_bytes(Bytes(32, 7));
  for (const GoldenLine& line : golden.list("hashes.json", "kv_ranks")) {
    const Json key = {{"model_name", "m"},
                      {"world_size", pipe_value(line.at("world_size"))},
                      {"worker_id", pipe_value(line.at("worker_id"))},
                      {"token_ids", Json::array()},
                      {"start", 0},
                      {"end", 0},
                      {"request_id", "r"},
                      {"cache_salt", ""}};
    const TesteeReply reply =
        test.testee().ask("object_keys", {{"key", key}, {"hashes", Json::array({hash})}});
    differences.expect_implemented(reply, "object_keys");
    const Json expected = Json::array({{{"chunk_hash", hash},
                                        {"model_name", "m"},
                                        {"kv_rank", pipe_value(line.at("kv_rank"))},
                                        {"cache_salt", ""}}});
    differences.expect_value(fmt::format("{} (world_size {}, worker_id {})", line.place,
                                         line.at("world_size").dump(), line.at("worker_id").dump()),
                             expected, reply);
  }
  differences.finish();
}

}  // namespace

void add_golden_hash_cases(CaseList& list, const Golden& golden) {
  list.add(pipe_case("Golden.HashesChains", {"golden.hashes"},
                     "The hashes of the full chunks of a token list are those of the real hasher.",
                     [=](Case& test) { chains(test, *golden, Chains::kWhole); }));
  list.add(pipe_case("Golden.HashesPartsOfChains", {"golden.hash-parts"},
                     "A hash before the first chunk, and a range of tokens, choose the chunks.",
                     [=](Case& test) { chains(test, *golden, Chains::kPart); }));
  list.add(pipe_case("Golden.RefusesTokensThatCannotBeHashed", {"golden.hashes"},
                     "Tokens that do not fit 32 bits are refused.",
                     [=](Case& test) { chains(test, *golden, Chains::kRefused); }));
  list.add(pipe_case("Golden.NamesObjects", {"golden.object-keys"},
                     "A key and its hashes make the object keys of the real server.",
                     [=](Case& test) { object_keys(test, *golden); }));
  list.add(pipe_case("Golden.RanksWorkers", {"golden.object-keys"},
                     "World size and worker make the kv_rank of the real server.",
                     [=](Case& test) { kv_ranks(test, *golden); }));
}

}  // namespace kvc::conformance
