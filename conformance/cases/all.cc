// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/blend_cases.h"
#include "conformance/cases/data_cases.h"
#include "conformance/cases/lists.h"
#include "conformance/cases/near_misses.h"

namespace kvc::conformance {

CaseList all_cases(const Registry& registry) {
  CaseList list;
  add_envelope_cases(list, registry);
  add_envelope_count_cases(list, registry);
  add_envelope_type_cases(list, registry);
  add_registry_cases(list, registry);
  add_controller_cases(list, registry);
  add_observability_cases(list, registry);
  add_typing_cases(list, registry);
  add_typing_field_cases(list, registry);
  add_typing_accept_cases(list, registry);
  add_typing_key_form_cases(list, registry);
  add_typing_pickle_cases(list, registry);
  add_handlers_cases(list, registry);
  add_robustness_cases(list, registry);
  add_security_cases(list, registry);
  add_data_cases(list);
  add_blend_cases(list);
  add_near_miss_cases(list);
  add_moment_cases(list);
  return list;
}

}  // namespace kvc::conformance
