// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/data_cases.h"

namespace kvc::conformance {

void add_data_cases(CaseList& cases) {
  add_registration_cases(cases);
  add_registration_refusal_cases(cases);
  add_memory_cases(cases);
  add_gpu_cases(cases);
  add_layout_cases(cases);
  add_layout_pair_cases(cases);
  add_layout_size_cases(cases);
  add_store_cases(cases);
  add_transfer_refusal_cases(cases);
  add_lookup_cases(cases);
  add_query_cases(cases);
  add_retrieve_cases(cases);
  add_lock_cases(cases);
  add_salt_cases(cases);
  add_session_cases(cases);
  add_event_cases(cases);
  add_clear_cases(cases);
  add_eviction_cases(cases);
}

}  // namespace kvc::conformance
