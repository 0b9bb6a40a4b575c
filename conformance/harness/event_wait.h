// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Event wait: what a client does with the event handle of a reply. Whatever does not open, or does
// not complete in the run's timeout, is a Finding.
#pragma once

#include "conformance/harness/case.h"

namespace kvc::conformance {

void wait_event(Case& test, const Bytes& handle);
bool event_complete(Case& test, const Bytes& handle);
// Until the event is complete or a grace has passed that a server which does not wait needs less
// than; answers whether it is complete.
bool event_completes_within_grace(Case& test, const Bytes& handle);

}  // namespace kvc::conformance
