// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/blend_cases.h"

namespace kvc::conformance {

void add_blend_cases(CaseList& cases) {
  add_blend_registration_cases(cases);
  add_blend_store_cases(cases);
  add_blend_lookup_cases(cases);
  add_blend_retrieve_cases(cases);
  add_blend_lock_cases(cases);
  add_blend_event_cases(cases);
  add_blend_tenant_cases(cases);
  add_blend_refusal_cases(cases);
  add_blend_bounds_cases(cases);
  add_blend_forget_cases(cases);
  add_blend_v1_cases(cases);
  add_blend_paragraph_cases(cases);
  add_blend_property_cases(cases);
  add_blend_fingerprint_cases(cases);
}

}  // namespace kvc::conformance
