// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Badge: a run's score as the JSON that shields.io's endpoint badge asks for. Pure.
// Source: https://shields.io/badges/endpoint-badge
#pragma once

#include <nlohmann/json.hpp>

#include "conformance/harness/report.h"

namespace kvc::conformance {

// Green when all required rules hold, yellow-green when the failures are expected ones, red when
// the server does not conform, grey when there is no judgement (yet).
nlohmann::ordered_json badge_json(const RunReport& report);

}  // namespace kvc::conformance
