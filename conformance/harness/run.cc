// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "conformance/harness/explain.h"
#include "conformance/harness/failure_text.h"
#include "conformance/harness/gtest_suite.h"
#include "conformance/harness/json_report.h"
#include "conformance/harness/nearest.h"
#include "conformance/harness/probe.h"
#include "conformance/harness/release.h"
#include "conformance/harness/repro.h"
#include "conformance/harness/server_choice.h"
#include "conformance/harness/server_under_test.h"
#include "conformance/testee/testee.h"

namespace kvc::conformance {
namespace {

using Clock = std::chrono::steady_clock;

std::unique_ptr<Subject> subject_of(const RunOptions& options, RunContext& context) {
  if (options.testee.empty()) return std::make_unique<ServerUnderTest>(server_of(options));
  auto testee = std::make_unique<Testee>(options.testee, options.golden,
                                         options.repro_folder + "/testee.log");
  context.set_testee(testee.get());
  return testee;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Expectations expectations_of(const RunOptions& options) {
  if (options.expect.empty()) return {};
  // --fix-expect may make the file.
  if (options.fix_expect && !std::filesystem::exists(options.expect))
    return Expectations::parse("", options.expect);
  Expectations expectations = Expectations::load(options.expect);
  if (!expectations.release().empty() && expectations.release() != options.release)
    throw UsageError(fmt::format(
        "{} expects failures of release {}, and this run judges {}; say "
        "--release {}, or another file",
        options.expect, expectations.release(), options.release, expectations.release()));
  return expectations;
}

TestOutcome outcome_of(const GradedResult& graded, const std::string& text) {
  using Kind = TestOutcome::Kind;
  switch (graded.grade) {
    case Grade::kPass:
      return {Kind::kPassed, ""};
    case Grade::kFail:
    case Grade::kStaleLine:
    case Grade::kHarness:
      return {Kind::kFailed, text};
    case Grade::kExpectedFailure:
      return {Kind::kSkipped, "fails as expected: " + graded.reason};
    case Grade::kNote:
      return {Kind::kSkipped, fmt::format("{} only, does not hold: {}", to_string(graded.level),
                                          failure_line(graded.result))};
    case Grade::kSkipped:
      return {Kind::kSkipped, failure_line(graded.result)};
    case Grade::kNotRun:
      return {Kind::kSkipped, "not run: " + graded.result.finding.actual};
  }
  return {};
}

}  // namespace

Run::Run(RunOptions options, const CaseList& cases, const Ledger& ledger, std::ostream& out,
         TerminalStyle style, const CaseList* known)
    : options_(std::move(options)),
      cases_(cases),
      ledger_(ledger),
      rules_{options_.strict, today()},
      expectations_text_(options_.expect.empty() ? "" : read_file(options_.expect)),
      expectations_(expectations_of(options_)),
      context_(registry_named(options_.release), settings_of(options_)),
      subject_(subject_of(options_, context_)),
      terminal_(out, style, ledger, context_.registry()),
      writer_({options_.json, options_.html, options_.markdown, options_.badge}, ledger,
              context_.registry()),
      start_time_(Clock::now()) {
  if (options_.fix_expect && options_.expect.empty())
    throw UsageError("--fix-expect needs --expect FILE");
  if (options_.fix_expect && is_filtered())
    throw UsageError("--fix-expect is refused on a filtered or sharded run: it would drop lines");
  for (const std::string& name : options_.require)
    if (!Capabilities::is_name(name))
      throw UsageError("--require " + name + ": no capability or request type has this name");
  context_.set_device(device_of(options_.device));
  context_.set_exit_check([this] { return subject_->exit_reason(); });
  if (options_.budget_s)
    context_.set_deadline(start_time_ + std::chrono::duration_cast<Clock::duration>(
                                            std::chrono::duration<double>(*options_.budget_s)));
  report_.release = options_.release;
  report_.command = subject_->command();
  report_.noun = subject_->noun();
  report_.server = subject_->description();
  report_.server_version = options_.server_version;
  report_.rerun_options = subject_->options();
  report_.arguments = options_.arguments;
  report_.started_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  report_.seed = options_.seed;
  report_.strict = options_.strict;
  report_.expectations_file = options_.expect;
  report_.server_log = subject_->log_path();
  report_.repro_folder = options_.repro_folder;
  const CaseList& all = known == nullptr ? cases_ : *known;
  // Another release's list lacks the cases of what the release lacks.
  if (options_.release == kCasesRelease) report_.problems = ledger_.problems(all);
  // Only of a whole run: whoever asks for one case is not to be told of all others' lines.
  if (!options_.fix_expect)
    for (const std::string& problem : expectations_.problems(all, ledger_))
      report_.problems.push_back(problem);
}

Run::~Run() = default;

bool Run::is_filtered() const {
  const char* shards = std::getenv("GTEST_TOTAL_SHARDS");
  const char* filter = std::getenv("GTEST_FILTER");
  return options_.filter != "*" || (shards != nullptr && std::string(shards) != "1") ||
         (filter != nullptr && std::string(filter) != "*");
}

void Run::start() {
  started_ = true;
  start_time_ = Clock::now();
  write_reports(true);  // in place of those of a run before, which are not of this server
  try {
    if (!subject_->log_path().empty()) {  // a log of this run only
      std::filesystem::create_directories(options_.repro_folder);
      std::filesystem::remove(subject_->log_path());
    }
    subject_->start(context_);
    if (context_.testee() != nullptr)
      probe_testee(*context_.testee());
    else
      probe_server();
  } catch (const ServerError& error) {
    cannot_start_ = error.what();
  } catch (const Interrupted&) {
    cannot_start_ = "the run was ended while the " + report_.noun + " started";
    report_.ended_early = true;
  } catch (const std::exception& error) {  // an endpoint that is none, a device that fails
    cannot_start_ = fmt::format("{} cannot be asked: {}", subject_->description(), error.what());
  }
  if (!cannot_start_.empty()) report_.problems.push_back(cannot_start_);
  judge_ = std::make_unique<Judge>(context_, *subject_, report_.capabilities);
  write_reports(true);
  terminal_.begin(report_);
}

void Run::probe_testee(Testee& testee) {
  report_.server += ", " + testee.hello().description();
  report_.implemented = testee.hello().implemented;
  if (testee.hello().release != options_.release)
    report_.failures.push_back(fmt::format("the testee says that its release is {}, and not {}",
                                           testee.hello().release, options_.release));
}

void Run::probe_server() {
  report_.capabilities = probe_capabilities(context_);
  if (const auto death = death_of_server(context_)) {
    report_.failures.push_back(
        "the server died of harmless requests by which its capabilities were probed: " + *death);
    if (subject_->can_restart()) subject_->start(context_);
  }
  for (const std::string& name : options_.require)
    if (!report_.capabilities.has(name))
      report_.failures.push_back("the server lacks " + name + ", which --require asks for");
}

const GradedResult& Run::run_one(const CaseSpec& spec, std::size_t num_planned) {
  report_.num_planned = num_planned;
  if (!started_) start();
  terminal_.case_begins(report_, spec.id);
  CaseResult result;
  if (const auto difference = difference_of_rules(ledger_, spec, options_.release)) {
    result.spec = spec;
    result.verdict = Verdict::kSkipped;
    result.finding = {Verdict::kSkipped, "the case is of the release", *difference, ""};
  } else if (cannot_start_.empty()) {
    result = judge_->judge(spec);
  } else {
    result.spec = spec;
    result.not_run = true;
    result.finding.actual = "there is no " + report_.noun;
  }
  if (result.not_run && context_.interrupted()) report_.ended_early = true;
  report_.num_checks = context_.num_checks();
  report_.results.push_back(grade(std::move(result), ledger_, expectations_, rules_));
  const GradedResult& graded = report_.results.back();
  save_repro(graded);
  terminal_.case_ended(report_, graded);
  write_reports(false);
  return graded;
}

void Run::save_repro(const GradedResult& graded) {
  if (graded.result.trace.empty() || graded.grade == Grade::kExpectedFailure) return;
  try {
    write_repro(report_, graded.result);
  } catch (const std::system_error& error) {
    report_.problems.push_back(
        fmt::format("cannot write the frames of {}: {}", graded.result.spec.id, error.what()));
  }
}

void Run::write_reports(bool whether_due_or_not) {
  if (!report_.finished)
    report_.duration_s = std::chrono::duration<double>(Clock::now() - start_time_).count();
  const std::vector<std::string> problems =
      whether_due_or_not ? writer_.write(report_) : writer_.write_if_due(report_);
  report_.problems.insert(report_.problems.end(), problems.begin(), problems.end());
}

void Run::rewrite_expectations() {
  std::vector<Failure> failures;
  std::vector<std::string> judged;
  for (const GradedResult& graded : report_.results) {
    const CaseResult& result = graded.result;
    if (result.not_run || result.verdict == Verdict::kHarness) {
      report_.problems.push_back("--fix-expect leaves " + options_.expect +
                                 " as it is: not all cases were judged");
      return;
    }
    if (result.verdict == Verdict::kSkipped) continue;
    judged.push_back(result.spec.id);
    if (result.verdict != Verdict::kPass && graded.required)
      failures.push_back({result.spec.id, result.verdict});
  }
  try {
    write_whole_file(options_.expect,
                     rewritten(expectations_text_, expectations_, failures, judged));
  } catch (const std::system_error& error) {
    report_.problems.push_back(error.what());
  }
}

// A run that left nothing in repro/ leaves no repro/ either; a log of a good run is of no use.
void Run::remove_empty_folder() {
  const bool clean = exit_code(report_) == 0;
  std::error_code ignored;
  if (clean && !subject_->log_path().empty())
    std::filesystem::remove(subject_->log_path(), ignored);
  if (std::filesystem::is_directory(options_.repro_folder, ignored))
    ::rmdir(options_.repro_folder.c_str());  // only an empty one
}

int Run::finish() {
  if (judge_)
    for (const std::string& death : judge_->late_deaths()) report_.failures.push_back(death);
  subject_->stop();
  report_.duration_s = std::chrono::duration<double>(Clock::now() - start_time_).count();
  report_.finished = true;
  if (options_.fix_expect) rewrite_expectations();
  write_reports(true);
  terminal_.end(report_);
  remove_empty_folder();
  return exit_code(report_);
}

int Run::run_all() {
  const GtestOptions gtest{options_.filter, options_.junit};
  const std::size_t num_run =
      run_as_gtest(cases_, gtest, [this](const CaseSpec& spec, std::size_t planned) {
        const GradedResult& graded = run_one(spec, planned);
        return outcome_of(graded, failure_text(graded, ledger_, context_.registry(), report_));
      });
  if (num_run == 0 && std::getenv("GTEST_TOTAL_SHARDS") == nullptr) {
    remove_empty_folder();
    throw UsageError("no case matches --filter " + options_.filter +
                     did_you_mean(options_.filter, ids_of(cases_)));
  }
  return finish();
}

}  // namespace kvc::conformance
