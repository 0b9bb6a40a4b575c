// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Report diff: what is new between two JSON reports, and who did it: the server, the case, or
// chance. Only what a server that was judged before does worse now is a regression: a new case, a
// changed case and a case that changes its mind on the same server are told, and excused. Pure, but
// for load_report.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/harness/ledger.h"

namespace kvc::conformance {

struct CaseRecord {
  std::string verdict;  // "PASS", …; "NOT RUN"
  std::string grade;
  bool required = false;
  std::string definition;  // all that says what the case asks: claim, level, rules and their texts
  std::string expected;
  std::string actual;

  bool passed() const { return verdict == "PASS"; }
  bool failed() const { return verdict == "WRONG" || verdict == "SILENT" || verdict == "DEAD"; }
};

struct LoadedReport {
  std::string name;  // of the file
  std::string release;
  std::string suite_version;
  std::string server;
  std::string server_version;
  std::string score;  // "926/926"
  bool finished = false;
  int exit_code = 0;
  std::set<std::string> abilities;          // capabilities, and request types that answer
  std::vector<std::string> failures;        // outside any case
  std::map<std::string, CaseRecord> cases;  // by the id that is theirs now
};

// `text` is a JSON report of schema_version 1; renamed cases get their new id from `ledger`. Throws
// UsageError, with `name` in it.
LoadedReport parse_report(const std::string& name, const std::string& text, const Ledger& ledger);
LoadedReport load_report(const std::string& path, const Ledger& ledger);

enum class Change {
  kNewlyFailing,    // passed, and fails
  kWorse,           // failed, and kills the server now
  kLost,            // passed, and is skipped now: a capability is gone
  kFlaky,           // passes and fails on one and the same server
  kChangedCase,     // another verdict, but the case asks something else now
  kNewCaseFails,    // was not in OLD
  kNewlyJudged,     // was skipped or not run in OLD, and fails
  kFailsOtherwise,  // WRONG was SILENT, or the other way about; or DEAD no more
  kNotJudged,       // was judged in OLD, and the harness failed or the run ended first
  kFixed,
};
std::string_view title_of(Change change);  // "newly failing"

struct ChangedCase {
  Change change;
  std::string id;
  std::string before;
  std::string after;
  bool regression = false;
  std::string why;  // what came, or what makes it no regression
};

struct ReportDiff {
  std::vector<ChangedCase> cases;    // by change, in the order of Change
  std::vector<std::string> server;   // what is not the same in server and suite
  std::vector<std::string> outside;  // failures outside any case, of NEW only
  int num_new_cases = 0;             // with those that pass
  int num_gone_cases = 0;
  int num_still_failing = 0;
  bool complete = true;  // NEW was judged to its end

  int count(Change change) const;
  int num_regressions() const;
  // 1: a regression. 2: none was found, but NEW is not complete. Else 0.
  int exit_code() const;
  std::string sentence() const;
};

// `again`: further runs of the server of `now`. Throws UsageError for reports of two releases.
ReportDiff diff_reports(const LoadedReport& before, const LoadedReport& now,
                        const std::vector<LoadedReport>& again = {});

}  // namespace kvc::conformance
