// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/case.h"

namespace kvc::conformance {

CaseList all_cases(const Registry&) {
  CaseList cases;
  cases.add(
      {"Envelope.NoopAnswers", {"envelope.reply"}, "NOOP is answered with OK.", {}, [](Case& test) {
         Client client = test.client();
         test.expect_equal(client.call<std::string>(RequestType::kNoop), std::string("OK"),
                           "NOOP's result");
       }});
  return cases;
}

}  // namespace kvc::conformance
