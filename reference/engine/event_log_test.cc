// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/event_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

namespace kvc {
namespace {

class EventLogTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> out;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) out.push_back(nlohmann::json::parse(line));
    return out;
  }
  static EventLog::WallClock clock() {
    return [] { return std::int64_t{1234}; };
  }

  const std::string path_ = testing::TempDir() + "kvc_event_log_" + std::to_string(::getpid()) +
                            testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(EventLogTest, WritesOneObjectARecord) {
  {
    EventLog log(path_, clock());
    log.append(7, "a \"model\"\n", {{"r1", {1, 2, -3}, {}}, {"r2", {}, {~std::uint64_t{0}}}});
    log.append(8, "m", {});
  }
  const auto written = lines();
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(written[0],
            nlohmann::json::parse(
                R"({"time_ms":1234,"instance_id":7,"model_name":"a \"model\"\n","req_id":"r1",
                    "new_block_ids":[1,2,-3],"new_token_ids":[]})"));
  EXPECT_EQ(written[1]["new_token_ids"][0], ~std::uint64_t{0});
}

TEST_F(EventLogTest, AppendsToWhatIsThere) {
  { EventLog(path_, clock()).append(1, "m", {{"r", {}, {}}}); }
  { EventLog(path_, clock()).append(2, "m", {{"r", {}, {}}}); }
  EXPECT_EQ(lines().size(), 2U);
}

TEST_F(EventLogTest, DropsWhatDoesNotFitAndSaysSo) {
  {
    EventLog log(path_, clock(), 1000);
    log.append(1, "m", {{std::string(2000, 'x'), {}, {}}, {"fits", {}, {}}});
  }
  std::size_t num_dropped = 0;
  std::size_t num_records = 0;
  for (const auto& line : lines()) {
    if (line.contains("dropped"))
      num_dropped += line["dropped"].get<std::size_t>();
    else
      ++num_records;
  }
  EXPECT_EQ(num_dropped, 1U);
  EXPECT_EQ(num_records, 1U);
}

TEST(EventLog, SaysWhichFileItCannotOpen) {
  try {
    EventLog log("/nonexistent/folder/log");
    FAIL() << "opened";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/folder/log"), std::string::npos);
  }
}

}  // namespace
}  // namespace kvc
