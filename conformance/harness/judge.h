// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Judge: runs cases against a subject, one at a time, and finds each one's verdict: a probe whether
// it lives, the body, the probe again. A subject that is dead is started again for the next case,
// where somebody can; where nobody can, the cases left are not run.
#pragma once

#include <string>
#include <vector>

#include "conformance/harness/capabilities.h"
#include "conformance/harness/case_result.h"
#include "conformance/harness/run_context.h"
#include "conformance/harness/subject.h"

namespace kvc::conformance {

class Judge {
 public:
  // All three outlive the judge. The subject has been started.
  Judge(RunContext& context, Subject& subject, const Capabilities& capabilities)
      : context_(context), subject_(subject), capabilities_(capabilities) {}

  CaseResult judge(const CaseSpec& spec);

  // Deaths that no verdict tells of: found between two cases. A sentence each.
  const std::vector<std::string>& late_deaths() const { return late_deaths_; }

 private:
  // Why the subject cannot be judged now, or nothing: it lives.
  std::optional<std::string> make_ready(const CaseSpec& spec);
  Verdict run_body(const CaseSpec& spec, Finding& finding);
  void probe_after(CaseResult& result);

  RunContext& context_;
  Subject& subject_;
  const Capabilities& capabilities_;
  std::vector<std::string> late_deaths_;
  std::string last_case_;       // the last one whose body ran
  bool dead_ = false;           // and not yet started again
  std::string out_of_service_;  // why no further case can be judged
};

}  // namespace kvc::conformance
