// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/report/report_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "conformance/harness/json_report.h"
#include "conformance/harness/run_options.h"
#include "conformance/report/report_text.h"

namespace kvc::conformance {
namespace {

using ReportJson = nlohmann::json;

CaseRecord record_of(const ReportJson& one, const std::map<std::string, std::string>& rules) {
  CaseRecord out;
  out.verdict = one.at("verdict").is_null() ? "NOT RUN" : one.at("verdict").get<std::string>();
  out.grade = one.at("grade");
  out.required = one.at("required");
  out.expected = one.value("expected", "");
  out.actual = one.value("actual", one.value("not_run", ""));
  out.definition = one.at("claim").get<std::string>() + "\n" + one.at("level").get<std::string>();
  for (const auto& id : one.at("requirements")) {
    const auto rule = rules.find(id);
    out.definition +=
        "\n" + id.get<std::string>() + " " + (rule == rules.end() ? "" : rule->second);
  }
  return out;
}

// "the server lacks small-cache": so the run was called, and says nothing about the server.
bool left_out_by_the_run(const CaseRecord& one) {
  return one.actual.find("lacks security") != std::string::npos ||
         one.actual.find("the run plays its engines") != std::string::npos ||
         one.actual.find("lacks small-cache") != std::string::npos;
}

// Why a failure is no regression though it is new; empty where it is one.
std::string excused(const CaseRecord& one) {
  if (one.grade == "expected-failure") return "as the expectations say: " + one.actual;
  if (one.grade == "note") return "no MUST: " + one.actual;
  return "";
}

// Both say what is judged, and it is the same: then nothing but chance is between two verdicts.
bool same_thing(const LoadedReport& a, const LoadedReport& b) {
  return !a.server_version.empty() && a.server_version == b.server_version &&
         a.server == b.server && a.suite_version == b.suite_version;
}

class Differ {
 public:
  Differ(const LoadedReport& before, const LoadedReport& now,
         const std::vector<LoadedReport>& again)
      : before_(before), now_(now), again_(again), same_thing_(same_thing(before, now)) {}

  ReportDiff diff() {
    for (const auto& [id, one] : now_.cases) classify(id, one);
    for (const auto& [id, one] : before_.cases) out_.num_gone_cases += now_.cases.count(id) == 0;
    std::stable_sort(
        out_.cases.begin(), out_.cases.end(),
        [](const ChangedCase& a, const ChangedCase& b) { return a.change < b.change; });
    if (before_.failures.empty()) out_.outside = now_.failures;
    out_.complete = now_.finished && now_.exit_code != 2;
    compare_servers();
    return std::move(out_);
  }

 private:
  void add(Change change, const std::string& id, const std::string& before, const CaseRecord& now,
           std::string why = "", bool regression = false) {
    if (why.empty()) why = now.actual;
    out_.cases.push_back({change, id, before, now.verdict, regression, std::move(why)});
  }

  // "passes in 1 of 3 runs", or nothing: it does not pass in some and fail in others.
  std::string flaky_words(const std::string& id, const CaseRecord& now) const {
    int passed = now.passed();
    int failed = now.failed();
    for (const LoadedReport& run : again_) {
      const auto found = run.cases.find(id);
      if (found == run.cases.end()) continue;
      passed += found->second.passed();
      failed += found->second.failed();
    }
    if (passed == 0 || failed == 0) return "";
    return fmt::format("passes in {} of {} runs of the new server", passed, passed + failed);
  }

  void classify(const std::string& id, const CaseRecord& now) {
    const bool counts = now.grade == "fail" || now.grade == "stale-line";
    if (const std::string words = flaky_words(id, now); !words.empty()) {
      const auto was = before_.cases.find(id);
      add(Change::kFlaky, id, was == before_.cases.end() ? "not there" : was->second.verdict, now,
          words);
      return;
    }
    const auto found = before_.cases.find(id);
    if (found == before_.cases.end()) {
      ++out_.num_new_cases;
      if (now.failed()) add(Change::kNewCaseFails, id, "not there", now);
      return;
    }
    const CaseRecord& before = found->second;
    if (before.verdict == now.verdict) {
      out_.num_still_failing += now.failed();
      return;
    }
    const bool was_judged = before.passed() || before.failed();
    if (was_judged && (now.verdict == "HARNESS" || now.verdict == "NOT RUN"))
      add(Change::kNotJudged, id, before.verdict, now);
    else if (was_judged && (now.passed() || now.failed()) && before.definition != now.definition)
      add(Change::kChangedCase, id, before.verdict, now, "the case or its rule changed");
    else if (same_thing_ && was_judged && (now.passed() || now.failed()) &&
             before.passed() != now.passed())
      add(Change::kFlaky, id, before.verdict, now,
          "same server version, same case, another verdict");
    else if (before.passed() && now.failed())
      add(Change::kNewlyFailing, id, before.verdict, now, excused(now), counts);
    else if (before.failed() && now.verdict == "DEAD")
      add(Change::kWorse, id, before.verdict, now, excused(now), counts);
    else if (before.failed() && now.failed())
      add(Change::kFailsOtherwise, id, before.verdict, now);
    else if (before.passed() && now.verdict == "SKIPPED" && !left_out_by_the_run(now))
      add(Change::kLost, id, before.verdict, now, "", now.required);
    else if (now.failed())
      add(Change::kNewlyJudged, id, before.verdict, now);
    else if (before.failed() && now.passed())
      add(Change::kFixed, id, before.verdict, now, " ");
  }

  void compare_servers() {
    const auto compare = [&](const char* what, const std::string& a, const std::string& b) {
      if (a != b) out_.server.push_back(fmt::format("{}: {} -> {}", what, a, b));
    };
    const auto said = [](const std::string& text) { return text.empty() ? "not said" : text; };
    compare("server", before_.server, now_.server);
    compare("server version", said(before_.server_version), said(now_.server_version));
    compare("kvconform", before_.suite_version, now_.suite_version);
    for (const std::string& ability : now_.abilities)
      if (before_.abilities.count(ability) == 0) out_.server.push_back("it gained " + ability);
    for (const std::string& ability : before_.abilities)
      if (now_.abilities.count(ability) == 0) out_.server.push_back("it lost " + ability);
  }

  const LoadedReport& before_;
  const LoadedReport& now_;
  const std::vector<LoadedReport>& again_;
  bool same_thing_;
  ReportDiff out_;
};

}  // namespace

LoadedReport parse_report(const std::string& name, const std::string& text, const Ledger& ledger) {
  try {
    const ReportJson json = ReportJson::parse(text);
    if (json.at("tool") != "kvconform" || json.at("schema_version") != kReportSchemaVersion)
      throw UsageError(
          fmt::format("{} is no report of kvconform's schema {}", name, kReportSchemaVersion));
    LoadedReport out;
    out.name = name;
    out.release = json.at("release");
    out.suite_version = json.at("suite_version");
    out.server = json.at("server");
    out.server_version = json.value("server_version", "");
    out.finished = json.at("finished");
    out.failures = json.at("failures").get<std::vector<std::string>>();
    const ReportJson& summary = json.at("summary");
    out.exit_code = summary.at("exit_code");
    out.score = fmt::format("{}/{}", summary.at("required_passed").get<int>(),
                            summary.at("required").get<int>());
    for (const auto& [ability, value] : json.at("capabilities").items()) {
      if (value == true) out.abilities.insert(ability);
      if (!value.is_object()) continue;  // request_types
      for (const auto& [type, answer] : value.items())
        if (answer == "answers") out.abilities.insert(type);
    }
    std::map<std::string, std::string> rules;
    for (const ReportJson& rule : json.at("requirements"))
      rules[rule.at("id")] =
          rule.at("level").get<std::string>() + " " + rule.at("text").get<std::string>();
    for (const ReportJson& one : json.at("cases"))
      out.cases[ledger.current_id(one.at("id"))] = record_of(one, rules);
    return out;
  } catch (const ReportJson::exception& error) {
    throw UsageError(fmt::format("{} is no JSON report of kvconform: {}", name, error.what()));
  }
}

LoadedReport load_report(const std::string& path, const Ledger& ledger) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError("cannot read " + path);
  return parse_report(path, {std::istreambuf_iterator<char>(file), {}}, ledger);
}

std::string_view title_of(Change change) {
  switch (change) {
    case Change::kNewlyFailing:
      return "newly failing";
    case Change::kWorse:
      return "worse: kills the server now";
    case Change::kLost:
      return "no longer judged: a capability is gone";
    case Change::kFlaky:
      return "flaky";
    case Change::kChangedCase:
      return "changed case";
    case Change::kNewCaseFails:
      return "new case that fails";
    case Change::kNewlyJudged:
      return "newly judged, and fails";
    case Change::kFailsOtherwise:
      return "fails otherwise";
    case Change::kNotJudged:
      return "not judged in the new run";
    case Change::kFixed:
      return "fixed";
  }
  return "?";
}

int ReportDiff::count(Change change) const {
  return static_cast<int>(
      std::count_if(cases.begin(), cases.end(),
                    [&](const ChangedCase& changed) { return changed.change == change; }));
}

int ReportDiff::num_regressions() const {
  const auto in_cases = std::count_if(
      cases.begin(), cases.end(), [](const ChangedCase& changed) { return changed.regression; });
  return static_cast<int>(in_cases) + static_cast<int>(outside.size());
}

int ReportDiff::exit_code() const {
  if (num_regressions() > 0) return 1;
  return complete ? 0 : 2;
}

std::string ReportDiff::sentence() const {
  const int regressions = num_regressions();
  std::string out = regressions > 0 ? counted(static_cast<std::size_t>(regressions), "regression")
                    : complete      ? "no regression"
                                    : "no regression among what was judged, but the new run is not "
                                      "complete";
  const auto tell = [&](int number, std::string_view what) {
    if (number > 0) out += fmt::format(", {} {}", number, what);
  };
  tell(static_cast<int>(std::count_if(cases.begin(), cases.end(),
                                      [](const ChangedCase& changed) {
                                        return !changed.regression &&
                                               (changed.change == Change::kNewlyFailing ||
                                                changed.change == Change::kWorse);
                                      })),
       "newly failing but excused");
  tell(count(Change::kFixed), "fixed");
  tell(count(Change::kFlaky), "flaky");
  tell(count(Change::kChangedCase), "changed");
  tell(num_new_cases, "new");
  tell(num_gone_cases, "gone");
  tell(num_still_failing, "still failing");
  return out;
}

ReportDiff diff_reports(const LoadedReport& before, const LoadedReport& now,
                        const std::vector<LoadedReport>& again) {
  if (before.release != now.release)
    throw UsageError(fmt::format("{} is of release {} of the protocol, {} of {}", before.name,
                                 before.release, now.name, now.release));
  return Differ(before, now, again).diff();
}

}  // namespace kvc::conformance
