// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The files of cases/, each with the one function that adds its cases. all.cc calls them in this
// order, which is that of a report.
#pragma once

#include "conformance/harness/case.h"

namespace kvc::conformance {

void add_envelope_cases(CaseList& list, const Registry& registry);
void add_envelope_count_cases(CaseList& list, const Registry& registry);
void add_envelope_type_cases(CaseList& list, const Registry& registry);
void add_registry_cases(CaseList& list, const Registry& registry);
void add_controller_cases(CaseList& list, const Registry& registry);
void add_observability_cases(CaseList& list, const Registry& registry);
void add_typing_cases(CaseList& list, const Registry& registry);
void add_typing_field_cases(CaseList& list, const Registry& registry);
void add_typing_accept_cases(CaseList& list, const Registry& registry);
void add_typing_key_form_cases(CaseList& list, const Registry& registry);
void add_typing_pickle_cases(CaseList& list, const Registry& registry);
void add_handlers_cases(CaseList& list, const Registry& registry);
void add_robustness_cases(CaseList& list, const Registry& registry);
void add_security_cases(CaseList& list, const Registry& registry);

}  // namespace kvc::conformance
