// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// WatchView: a watch in words: a fault a line as it is seen, and a table of the traffic by request
// type; or the same as JSON, a document a line. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/watch/traffic_judge.h"

namespace kvc::conformance {

struct WatchTotals {
  double time_ms = 0;
  std::size_t num_clients = 0;
  std::uint64_t num_lost = 0;  // replies to clients that were gone or did not read
};

std::string fault_line(const TrafficFault& fault);
std::string fault_json(const TrafficFault& fault);

// "type  requests  replies  pending  illegal  p50  p99  max": several lines.
std::string traffic_table(const TrafficJudge& judge);
std::string summary_text(const TrafficJudge& judge, const WatchTotals& totals);
std::string summary_json(const TrafficJudge& judge, const WatchTotals& totals);

}  // namespace kvc::conformance
