// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The cases about data: what is registered, stored, found, locked, retrieved, forgotten. Each
// function adds those of the file of its name. All need a device to play an engine on.
#pragma once

#include "conformance/harness/case.h"

namespace kvc::conformance {

void add_clear_cases(CaseList& cases);
void add_event_cases(CaseList& cases);
void add_eviction_cases(CaseList& cases);
void add_gpu_cases(CaseList& cases);
void add_layout_cases(CaseList& cases);
void add_layout_pair_cases(CaseList& cases);
void add_layout_size_cases(CaseList& cases);
void add_lock_cases(CaseList& cases);
void add_lookup_cases(CaseList& cases);
void add_memory_cases(CaseList& cases);
void add_query_cases(CaseList& cases);
void add_registration_cases(CaseList& cases);
void add_registration_refusal_cases(CaseList& cases);
void add_retrieve_cases(CaseList& cases);
void add_salt_cases(CaseList& cases);
void add_session_cases(CaseList& cases);
void add_store_cases(CaseList& cases);
void add_transfer_refusal_cases(CaseList& cases);

// All of the above.
void add_data_cases(CaseList& cases);

}  // namespace kvc::conformance
