// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// All of golden/0.4.5 through the codec: what the real decoder accepted and refused, with the
// values it saw, the bytes its encoder wrote, and the places it named.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"
#include "kvc/protocol/pickle.h"
#include "kvc/protocol/registry_check.h"
#include "kvc/protocol/typed_json.h"

namespace kvc {
namespace {

const std::string kFolder = KVC_SOURCE_DIR "/golden/0.4.5/";

// A .jsonl file of golden/: its header, and its lines.
struct GoldenFile {
  Json header;
  std::vector<Json> lines;
};

GoldenFile read_golden(const std::string& name) {
  std::ifstream file(kFolder + name);
  EXPECT_TRUE(file.is_open()) << name;
  GoldenFile golden;
  std::string text;
  std::getline(file, text);
  golden.header = Json::parse(text);
  while (std::getline(file, text)) golden.lines.push_back(Json::parse(text));
  EXPECT_EQ(golden.lines.size(), golden.header["count"].get<std::size_t>()) << name;
  return golden;
}

Bytes bytes_of(const Json& hex) { return from_hex(hex.get<std::string>()).value(); }

// The bytes that the real encoder writes for an accepted frame's value.
std::string emit_of(const Json& line) {
  return (line.contains("emit") ? line["emit"] : line["hex"]).get<std::string>();
}

class GoldenFrames : public testing::TestWithParam<const char*> {
 protected:
  static WireType type_in(const GoldenFile& golden) {
    return parse_wire_type(golden.header["type"].get<std::string>()).value();
  }
};

TEST_P(GoldenFrames, DecodeToTheirValues) {
  const GoldenFile golden = read_golden("accept/" + std::string(GetParam()) + ".jsonl");
  for (const Json& line : golden.lines) {
    const Bytes frame = bytes_of(line["hex"]);
    const Result<Value> value = decode_value(type_in(golden), frame);
    ASSERT_TRUE(value.ok()) << line["encoding"] << " " << line["hex"] << "\n"
                            << value.error().text();
    EXPECT_EQ(to_typed_json(*value), line["value"]) << line["encoding"] << " " << line["hex"];
    EXPECT_EQ(type_of(*value), type_in(golden));
  }
}

TEST_P(GoldenFrames, AreWhatEncodingWrites) {
  const GoldenFile golden = read_golden("accept/" + std::string(GetParam()) + ".jsonl");
  // A pickle's bytes depend on what the sender's pickler shared: only its values are a rule.
  const bool by_value = golden.header.value("emit", "") == "by value";
  for (const Json& line : golden.lines) {
    const Result<Value> value = from_typed_json(type_in(golden), line["value"]);
    ASSERT_TRUE(value.ok()) << line["value"] << "\n" << value.error().text();
    const Bytes bytes = encode_value(*value);
    if (by_value) {
      const Result<Value> again = decode_value(type_in(golden), bytes);
      ASSERT_TRUE(again.ok()) << again.error().text();
      EXPECT_EQ(*again, *value);
    } else {
      EXPECT_EQ(to_hex(bytes), emit_of(line)) << line["encoding"];
    }
  }
}

TEST_P(GoldenFrames, EncodeTheSameAfterDecoding) {
  const GoldenFile golden = read_golden("accept/" + std::string(GetParam()) + ".jsonl");
  if (golden.header.value("emit", "") == "by value") GTEST_SKIP() << "pickles differ by value only";
  for (const Json& line : golden.lines) {
    const Bytes frame = bytes_of(line["hex"]);
    const Result<Value> value = decode_value(type_in(golden), frame);
    ASSERT_TRUE(value.ok()) << value.error().text();
    EXPECT_EQ(to_hex(encode_value(*value)), emit_of(line))
        << line["encoding"] << " " << line["hex"];
  }
}

TEST_P(GoldenFrames, AreRefusedAtTheSamePlace) {
  const GoldenFile golden = read_golden("reject/" + std::string(GetParam()) + ".jsonl");
  for (const Json& line : golden.lines) {
    const Bytes frame = bytes_of(line["hex"]);
    const Result<Value> value = decode_value(type_in(golden), frame);
    ASSERT_FALSE(value.ok()) << line["mutation"] << " " << line["hex"] << " " << line["error"]
                             << "\n"
                             << describe(*value);
    EXPECT_TRUE(value.error().path.starts_with('$') || value.error().path.starts_with("key in $"))
        << value.error().path;
    if (line["kind"] != "ValidationError") continue;  // the real decoder names no place
    const std::string words = line["error"].get<std::string>();
    std::string path = value.error().path;
    if (path.starts_with("key in ")) path = path.substr(7);
    if (words.starts_with("cache_salt ")) {  // its class checks it, and knows no path
      EXPECT_EQ(path, "$.cache_salt");
      continue;
    }
    if (words.starts_with("Invalid MessagePack timestamp")) continue;  // an Ext that we never open
    EXPECT_EQ(path, line["path"]) << line["mutation"] << " " << line["hex"] << " " << words << "\n"
                                  << value.error().text();
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenFrames,
                         testing::Values("block_allocation_records", "bool", "bytes",
                                         "cb_match_results", "engine_type", "int", "int_list",
                                         "key", "kv_cache", "layout_hints", "none", "optional_int",
                                         "ranges", "str", "transfer_result"),
                         [](const auto& suite) { return std::string(suite.param); });

TEST(GoldenTypeFrames, NameTheirRequestType) {
  for (const Json& line : read_golden("type_frames.jsonl").lines) {
    const Bytes frame = bytes_of(line["hex"]);
    const Result<const Definition*> row = decode_type_frame(registry_0_4_5(), frame);
    ASSERT_EQ(row.ok(), line.contains("number")) << line;
    if (row.ok()) {
      EXPECT_EQ((*row)->number, line["number"].get<int>());
      EXPECT_EQ(to_string((*row)->type), line["name"].get<std::string>());
    }
  }
}

TEST(GoldenPickles, AreReadOrRefused) {
  for (const Json& line : read_golden("pickles.jsonl").lines) {
    const Bytes pickle = bytes_of(line["hex"]);
    const Result<IpcTensor> tensor = read_pickle(pickle);
    if (line.contains("value")) {
      ASSERT_TRUE(tensor.ok()) << line["name"] << "\n" << tensor.error().text();
      EXPECT_EQ(to_typed_json(*tensor), line["value"]) << line["name"];
    } else if (line.contains("refuse")) {
      EXPECT_FALSE(tensor.ok()) << line["name"] << ": " << line["refuse"];
    } else {
      EXPECT_TRUE(line.contains("either"));  // not crashing is all that is asked
    }
  }
}

TEST(GoldenPickles, AreWhatWritePickleWrites) {
  std::size_t num_equal = 0;
  for (const Json& line : read_golden("pickles.jsonl").lines) {
    if (!line.contains("value")) continue;
    const Bytes pickle = bytes_of(line["hex"]);
    const Result<IpcTensor> tensor = read_pickle(pickle);
    ASSERT_TRUE(tensor.ok()) << tensor.error().text();
    const Bytes written = write_pickle(*tensor);
    num_equal += written == pickle;
    const Result<IpcTensor> again = read_pickle(written);
    ASSERT_TRUE(again.ok()) << line["name"] << "\n" << again.error().text();
    EXPECT_EQ(*again, *tensor) << line["name"];
  }
  EXPECT_GE(num_equal, 20U);  // those of CPython's C pickler, in protocol 4
}

std::vector<std::string> strings_of(const Json& json) {
  return json.get<std::vector<std::string>>();
}

class GoldenRegistry : public testing::TestWithParam<const char*> {};

TEST_P(GoldenRegistry, IsTheRegistryOfTheRelease) {
  const Registry* registry = find_registry(GetParam());
  ASSERT_NE(registry, nullptr);
  std::ifstream file(KVC_SOURCE_DIR "/golden/" + std::string(GetParam()) + "/registry.json");
  const Json golden = Json::parse(file);
  EXPECT_EQ(golden["header"]["release"], GetParam());
  const auto rows = registry->definitions();
  ASSERT_EQ(rows.size(), golden["definitions"].size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& expected = golden["definitions"][i];
    std::vector<std::string> payloads;
    for (const WireType payload : rows[i].payloads) payloads.emplace_back(to_string(payload));
    EXPECT_EQ(rows[i].number, expected["number"].get<int>());
    EXPECT_EQ(to_string(rows[i].type), expected["name"].get<std::string>());
    EXPECT_EQ(rows[i].group, expected["group"].get<std::string>());
    EXPECT_EQ(payloads, strings_of(expected["payloads"])) << expected;
    EXPECT_EQ(to_string(rows[i].result), expected["result"].get<std::string>());
    EXPECT_EQ(to_string(rows[i].handler), expected["handler"].get<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenRegistry, testing::Values("0.4.2", "0.4.5"),
                         [](const auto& suite) {
                           std::string name(suite.param);
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

// The real message holds a Python set, in any order: sorts what is between braces.
std::string with_sorted_names(const std::string& message) {
  const std::size_t open = message.find('{');
  const std::size_t close = message.find('}');
  if (open == std::string::npos || close == std::string::npos) return message;
  std::set<std::string> names;
  std::stringstream list(message.substr(open + 1, close - open - 1));
  for (std::string name; std::getline(list >> std::ws, name, ',');) names.insert(name);
  std::string sorted;
  for (const std::string& name : names) sorted += name + ",";
  return message.substr(0, open) + sorted + message.substr(close);
}

TEST(GoldenValidation, ChecksProtocolsInTheRealWords) {
  std::ifstream file(kFolder + "validation.json");
  const Json golden = Json::parse(file);
  const auto cases = std::ranges::find_if(golden, [](const Json& each) { return each.is_array(); });
  ASSERT_NE(cases, golden.end());
  std::size_t num_errors = 0;
  for (const Json& each : *cases) {
    std::vector<EnumMember> members;
    for (const auto& [name, number] : each["enum"].items()) {
      members.push_back({name, number.get<int>()});
    }
    std::vector<ProtocolModuleData> modules;
    for (const Json& module : each["modules"]) {
      modules.push_back({module["name"], strings_of(module["request_names"]), {}});
      for (const Json& definition : module["definitions"]) {
        modules.back().definitions.emplace_back(
            definition["name"].get<std::string>(),
            ProtocolDefinitionData{strings_of(definition["payload_classes"]),
                                   definition["response_class"], definition["handler_type"]});
      }
    }
    const std::optional<RegistryError> error = check_protocols(members, modules);
    if (each.contains("error")) {
      ASSERT_TRUE(error.has_value()) << each["about"];
      ++num_errors;
      if (error->fault == RegistryFault::kDefinitionWithoutName) continue;  // our better words
      EXPECT_EQ(with_sorted_names(error->message),
                with_sorted_names(each["error"].get<std::string>()))
          << each["about"];
    } else if (!each.contains("stricter")) {
      EXPECT_FALSE(error.has_value()) << each["about"] << ": " << error->message;
    }
  }
  EXPECT_GE(num_errors, 10U);
}

}  // namespace
}  // namespace kvc
