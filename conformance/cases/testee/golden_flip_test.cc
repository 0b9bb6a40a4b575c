// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The referee's eye: one place of the golden data is changed, kvserver stays right, and the run has
// to say which line, what was expected and what came.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "conformance/cases/testee/differences.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

struct Flip {
  const char* file;
  const char* from;  // its first place in the file is changed
  const char* to;
  const char* filter;
  std::vector<const char*> says;
  int code = 1;
};

void PrintTo(const Flip& flip, std::ostream* out) { *out << flip.file << " " << flip.to; }

class GoldenFlip : public testing::TestWithParam<Flip> {
 protected:
  GoldenFlip()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("kvc-flip-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::filesystem::copy(std::string(KVC_SOURCE_DIR) + "/golden/0.4.5", folder_ / "golden",
                          std::filesystem::copy_options::recursive);
  }
  ~GoldenFlip() override { std::filesystem::remove_all(folder_); }

  void change(const Flip& flip) {
    const std::filesystem::path path = folder_ / "golden" / flip.file;
    std::ifstream in(path);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t at = text.find(flip.from);
    ASSERT_NE(at, std::string::npos) << flip.from;
    text.replace(at, std::string_view(flip.from).size(), flip.to);
    std::ofstream(path) << text;
  }

  std::string run(const std::string& filter) {
    const std::string line = std::string(KVC_KVCONFORM) + " testee '" + KVC_KVSERVER +
                             " --testee' --strict --golden " + (folder_ / "golden").string() +
                             " --filter '" + filter + "' --repro-dir " +
                             (folder_ / "repro").string() + " --timeout-ms 60000 2>&1 </dev/null";
    std::string output;
    FILE* pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) return output;
    char buffer[4096];
    for (std::size_t size = 0; (size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
      output.append(buffer, size);
    const int status = ::pclose(pipe);
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return output;
  }

  std::filesystem::path folder_;
  int code_ = -1;
};

TEST_P(GoldenFlip, IsSeenAndTold) {
  const Flip& flip = GetParam();
  const std::string before = run(flip.filter);
  EXPECT_EQ(code_, 0) << before;
  change(flip);
  const std::string after = run(flip.filter);
  EXPECT_EQ(code_, flip.code) << after;
  for (const char* part : flip.says) EXPECT_THAT(after, HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenFlip,
    testing::Values(
        Flip{"accept/key.jsonl",
             "\"world_size\":1",
             "\"world_size\":3",
             "Golden.AcceptsKey",
             {"accept/key.jsonl:2 (shortest): $.world_size = int 3",
              "accept/key.jsonl:2 (shortest): $.world_size = int 1", "WRONG Golden.AcceptsKey"}},
        Flip{"accept/int.jsonl",
             "d38000000000000001",
             "d38000000000000003",
             "Golden.AcceptsInt",
             {"accept/int.jsonl:3", "int -9223372036854775807", "int -9223372036854775805"}},
        Flip{"accept/int.jsonl",
             "d38000000000000001",
             "d98000000000000001",
             "Golden.AcceptsInt",
             {"accept/int.jsonl:3", "an error"}},
        Flip{"accept/bytes.jsonl",
             "\"emit\":\"c400\"",
             "\"emit\":\"c401\"",
             "Golden.EmitsBytes",
             {"accept/bytes.jsonl:3 (bin16)", "c401 (byte 1 of 2)", "c400 (byte 1 of 2)"}},
        Flip{"reject/str.jsonl",
             "\"hex\":\"c0\"",
             "\"hex\":\"a0\"",
             "Golden.RefusesStr",
             {"reject/str.jsonl:2 (nil): an error", "ok: \"\"", "Expected `str`, got `None`"}},
        Flip{"registry.json",
             "\"number\":3,",
             "\"number\":9,",
             "Registry.STORE_*",
             {"registry.json:6 (registry): $.number = int 9",
              "registry.json:6 (registry): $.number = int 3", "registry.json:6 (number 9): STORE",
              "registry.json:6 (number 9): END_SESSION"}},
        Flip{"type_frames.jsonl",
             "\"number\":1,",
             "\"number\":2,",
             "Golden.TypeFramesNameTheirNumber",
             {"type_frames.jsonl:", "int 2", "int 1"}},
        Flip{"pickles.jsonl",
             "\"storage_offset\":0",
             "\"storage_offset\":1",
             "Golden.ReadsPickles",
             {"pickles.jsonl:2 (", ".storage_offset = int 1", ".storage_offset = int 0"}},
        Flip{"hashes.json",
             "\"46cf8f",
             "\"46cf8e",
             "Golden.HashesChains",
             {"hashes.json:6 (chunks of 1, 1 tokens): $[0] = bin h'46cf8e", "h'46cf8f"}},
        Flip{"hashes.json",
             "\"kv_rank\":65537",
             "\"kv_rank\":65536",
             "Golden.RanksWorkers",
             {"(world_size 0, worker_id 1): $[0].kv_rank = int 65536", "= int 65537"}},
        Flip{"messages/server.jsonl",
             "\"a24f4b\"",
             "\"a24f4c\"",
             "Golden.NOOP_Messages",
             {"messages/server.jsonl:2 (alive) result", "\"OL\"", "\"OK\""}},
        Flip{"handlers.json",
             "\"handler\":\"NON_BLOCKING\"",
             "\"handler\":\"SYNC\"",
             "Handlers.RefusesNonBlocking",
             {"handlers.json:", "an error (non_blocking)", "ok: nil"}},
        Flip{"validation.json",
             "{\"PUT\":1,\"GET\":2,\"NOOP\":3}",
             "{\"PUT\":1,\"GOT\":2,\"NOOP\":3}",
             "Registry.InitializeAccepts*",
             {"validation.json:4 (two modules)", "definition_without_enum_member"}},
        Flip{"accept/str.jsonl",
             "\"value\":\"model\"",
             "\"value\":\"model",
             "Golden.AcceptsStr",
             {"HARNESS Golden.AcceptsStr", "accept/str.jsonl:2: no JSON"},
             2},
        Flip{"reject/int.jsonl",
             "\"hex\":\"c0\"",
             "\"hex\":\"g0\"",
             "Golden.RefusesInt",
             {"HARNESS Golden.RefusesInt", "reject/int.jsonl:2: \"hex\" is no hex"},
             2},
        Flip{"accept/bool.jsonl",
             "\"count\":2",
             "\"count\":3",
             "Golden.AcceptsBool",
             {"accept/bool.jsonl:1: it says 3 lines, and has 2"},
             2}),
    [](const auto& suite) { return "Flip" + std::to_string(suite.index); });

TEST(Differences, TellTypesApart) {
  const auto differ = [](const Json& a, const Json& b) {
    return first_difference(a, b).has_value();
  };
  EXPECT_FALSE(differ(1, 1U));
  EXPECT_TRUE(differ(1, 1.0));
  EXPECT_TRUE(differ(1, true));
  EXPECT_TRUE(differ("00", Json::binary({0x30, 0x30})));
  EXPECT_TRUE(differ(Json::binary({1}), Json::binary({2})));
  EXPECT_FALSE(differ(Json::binary({1}), Json::binary({1})));
  EXPECT_TRUE(differ(nullptr, false));
  EXPECT_TRUE(differ(18446744073709551615U, -1));
  EXPECT_TRUE(differ(Json::array(), Json::object()));
  EXPECT_TRUE(differ({1, 2}, {1}));
  EXPECT_FALSE(differ({{"a", 1}, {"b", 2}}, {{"b", 2}, {"a", 1}}));
  EXPECT_TRUE(differ({{"a", 1}}, {{"a", 1}, {"b", 2}}));
  EXPECT_EQ(first_difference({{"a", {1, 2}}}, {{"a", {1, 3}}})->path, "$.a[1]");
}

}  // namespace
}  // namespace kvc::conformance
