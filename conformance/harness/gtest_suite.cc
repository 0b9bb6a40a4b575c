// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/gtest_suite.h"

#include <gtest/gtest.h>

namespace kvc::conformance {
namespace {

using RunOne = std::function<TestOutcome(const CaseSpec&, std::size_t)>;

class CaseTest : public testing::Test {
 public:
  CaseTest(const CaseSpec& spec, const RunOne& run_one, std::size_t& num_run)
      : spec_(spec), run_one_(run_one), num_run_(num_run) {}

  void TestBody() override {
    const auto planned =
        static_cast<std::size_t>(testing::UnitTest::GetInstance()->test_to_run_count());
    ++num_run_;
    const TestOutcome outcome = run_one_(spec_, planned);
    if (outcome.kind == TestOutcome::Kind::kSkipped) GTEST_SKIP() << outcome.text;
    if (outcome.kind == TestOutcome::Kind::kFailed) ADD_FAILURE() << outcome.text;
  }

 private:
  const CaseSpec& spec_;
  const RunOne& run_one_;
  std::size_t& num_run_;
};

void initialise(const GtestOptions& options) {
  // An exception that gets this far is a fault of ours, and main's to tell.
  std::vector<std::string> words = {"kvconform", "--gtest_filter=" + options.filter,
                                    "--gtest_catch_exceptions=0"};
  if (!options.junit_path.empty()) words.push_back("--gtest_output=xml:" + options.junit_path);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  auto count = static_cast<int>(words.size());
  testing::InitGoogleTest(&count, arguments.data());
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
}

}  // namespace

std::size_t run_as_gtest(const CaseList& cases, const GtestOptions& options,
                         const RunOne& run_one) {
  initialise(options);
  std::size_t num_run = 0;
  for (const CaseSpec& spec : cases.cases()) {
    const std::size_t dot = spec.id.find('.');
    testing::RegisterTest(spec.id.substr(0, dot).c_str(), spec.id.substr(dot + 1).c_str(), nullptr,
                          nullptr, __FILE__, __LINE__,
                          [&]() -> CaseTest* { return new CaseTest(spec, run_one, num_run); });
  }
  // Its own verdict is not asked for: listed failures are skipped tests to it.
  [[maybe_unused]] const int ignored = RUN_ALL_TESTS();
  return num_run;
}

}  // namespace kvc::conformance
