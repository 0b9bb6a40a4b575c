// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What this machine has of what kvconform can use: shared memory for the host device, CUDA, a
// kvserver beside, Python for the scripts of repro/. Looks only, but for one small object in shared
// memory that is made and removed.
#pragma once

#include "conformance/doctor/check_list.h"

namespace kvc::conformance {

CheckList check_machine();

}  // namespace kvc::conformance
