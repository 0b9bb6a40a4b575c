// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The cases about blend: chunks found and reused at any position. Each function adds those of the
// file of its name. Those of V2 need a server with CB_LOOKUP_PRE_COMPUTED_V2, those of V1 one with
// CB_LOOKUP_PRE_COMPUTED; all need a device to play an engine on.
#pragma once

#include "conformance/harness/case.h"

namespace kvc::conformance {

inline const std::vector<Capability> kBlendV2Needs = {Capability::kBlendV2, Capability::kDevice};
inline const std::vector<Capability> kBlendV1Needs = {Capability::kBlendV1, Capability::kDevice};
inline const std::vector<Capability> kBlendBothNeeds = {Capability::kBlendV1, Capability::kBlendV2,
                                                        Capability::kDevice};

void add_blend_registration_cases(CaseList& cases);
void add_blend_store_cases(CaseList& cases);
void add_blend_lookup_cases(CaseList& cases);
void add_blend_retrieve_cases(CaseList& cases);
void add_blend_lock_cases(CaseList& cases);
void add_blend_event_cases(CaseList& cases);
void add_blend_tenant_cases(CaseList& cases);
void add_blend_refusal_cases(CaseList& cases);
void add_blend_bounds_cases(CaseList& cases);
void add_blend_forget_cases(CaseList& cases);
void add_blend_v1_cases(CaseList& cases);
void add_blend_paragraph_cases(CaseList& cases);
void add_blend_property_cases(CaseList& cases);
void add_blend_fingerprint_cases(CaseList& cases);

// All of the above. Those about fingerprints come last: they fill the table of a server that has
// one.
void add_blend_cases(CaseList& cases);

}  // namespace kvc::conformance
