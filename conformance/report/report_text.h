// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Report text: what the page, the comment and the badge all say of a run: its verdict in a
// sentence, its score by area. And the escaping that text of a stranger's server needs before it
// may stand in a page. Pure functions; nothing throws.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/report.h"

namespace kvc::conformance {

// "The embedded kvserver conforms to release 0.4.5 …: all 926 required cases hold."
std::string verdict_sentence(const RunReport& report);

// "conforms", "does not conform", "no judgement", "not finished"
std::string_view verdict_words(const RunReport& report);

// "Envelope" of "Envelope.EchoesUidByteForByte".
std::string area_of(std::string_view case_id);

struct AreaScore {
  std::string area;
  int required = 0;  // that apply to this server
  int required_passed = 0;
  int failed = 0;    // fail, stale-line, harness
  int expected = 0;  // failures as expected
  int notes = 0;
  int skipped = 0;
  int not_run = 0;
};
// In the order in which the areas first came.
std::vector<AreaScore> area_scores(const RunReport& report);

// A failure that its reader is to do something about.
bool is_bad(Grade grade);

// "3 cases", "1 case".
std::string counted(std::size_t number, std::string_view noun);

// Bytes that are no UTF-8 become U+FFFD, and control characters but for line feed and tab too.
std::string clean_utf8(std::string_view text);

// clean_utf8, with & < > " ' escaped: safe between tags and in quoted attributes.
std::string html_escaped(std::string_view text);

// Cut to `bytes_max`, not within a UTF-8 sequence, with an ellipsis.
std::string shortened(std::string_view text, std::size_t bytes_max);

}  // namespace kvc::conformance
