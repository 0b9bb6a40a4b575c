// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Markdown report: a run as a comment on a pull request, as GitHub and GitLab take it: the verdict,
// the areas that are not whole, and each failure folded. Pure.
#pragma once

#include <string>
#include <string_view>

#include "conformance/harness/ledger.h"
#include "conformance/harness/report.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

// Its first line, by which a job finds the comment that it is to replace.
inline constexpr std::string_view kMarkdownMark = "<!-- kvconform -->";

// A comment may have 65,536 characters on GitHub. What does not fit is counted, and left out.
inline constexpr std::size_t kMarkdownBytesMax = 60000;

std::string markdown_report(const RunReport& report, const Ledger& ledger,
                            const Registry& registry);

// `text` in a fence that is longer than any in it.
std::string markdown_code(std::string_view text);

// Text for a line or a cell of a table: what Markdown or HTML would read is escaped.
std::string markdown_escaped(std::string_view text);

}  // namespace kvc::conformance
