// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// `kvconform list` and `kvconform explain`: the suite read as a specification by example.
#pragma once

#include <ostream>
#include <string>

#include "conformance/harness/case.h"
#include "conformance/harness/ledger.h"

namespace kvc::conformance {

// One line a case, or one JSON document.
void list_cases(const CaseList& cases, const Ledger& ledger, bool json, std::ostream& out);

std::vector<std::string> ids_of(const CaseList& cases);

// Says all about a case or a requirement; `id` may be an old id, or have * and ? for many. False
// when nothing has that id.
bool explain(const CaseList& cases, const Ledger& ledger, const std::string& id, std::ostream& out);

}  // namespace kvc::conformance
