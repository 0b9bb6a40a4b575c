// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/expectations.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "conformance/harness/nearest.h"

namespace kvc::conformance {
namespace {

constexpr std::string_view kTodo = "TODO";
constexpr std::string_view kUntil = "until=";

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

bool is_date(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (kForm[i] == '-' ? text[i] != '-' : (text[i] < '0' || text[i] > '9')) return false;
  const int month = (text[5] - '0') * 10 + (text[6] - '0');
  const int day = (text[8] - '0') * 10 + (text[9] - '0');
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

// "release 0.4.5": for which release the file is. No case has an id without a dot.
std::optional<std::string> release_of_line(const std::string& line) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string key;
  std::string release;
  std::string more;
  if (!(words >> key >> release) || key != "release" || words >> more) return std::nullopt;
  return release;
}

// What a line says, without its number; nothing for a blank or a comment. Throws a text.
std::optional<Expectation> parse_line(const std::string& line) {
  const std::size_t hash = line.find('#');
  std::istringstream words(line.substr(0, hash));
  Expectation out;
  if (!(words >> out.id)) return std::nullopt;
  if (hash != std::string::npos) out.reason = trimmed(std::string_view(line).substr(hash + 1));
  std::string verdict;
  if (!(words >> verdict)) throw std::string("no verdict after " + out.id);
  const bool fails = parse_verdict(verdict, out.verdict) &&
                     (out.verdict == Verdict::kWrong || out.verdict == Verdict::kSilent ||
                      out.verdict == Verdict::kDead);
  if (!fails) throw "'" + verdict + "' is none of WRONG, SILENT, DEAD";
  for (std::string word; words >> word;) {
    if (word.rfind(kUntil, 0) != 0) throw "'" + word + "' is not understood";
    out.until = word.substr(kUntil.size());
    if (!is_date(out.until)) throw "'" + out.until + "' is no date like 2026-12-31";
  }
  return out;
}

}  // namespace

bool Expectation::has_reason() const { return !reason.empty() && reason.rfind(kTodo, 0) != 0; }

Expectations Expectations::parse(const std::string& text, const std::string& file_name) {
  Expectations out;
  out.file_name_ = file_name;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    try {
      if (const auto release = release_of_line(line)) {
        out.release_ = *release;
        continue;
      }
      std::optional<Expectation> expectation = parse_line(line);
      if (!expectation) continue;
      expectation->line = number;
      out.all_.push_back(*std::move(expectation));
    } catch (const std::string& why) {
      throw ExpectationsError(fmt::format("{}:{}: {}", file_name, number, why));
    }
  }
  return out;
}

Expectations Expectations::load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ExpectationsError("cannot read " + path);
  return parse({std::istreambuf_iterator<char>(file), {}}, path);
}

const Expectation* Expectations::find(std::string_view id) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Expectation& expectation) {
    return expectation.id == id;
  });
  return found == all_.end() ? nullptr : &*found;
}

std::vector<std::string> Expectations::problems(const CaseList& cases, const Ledger& ledger) const {
  std::set<std::string> ids;
  for (const CaseSpec& spec : cases.cases()) ids.insert(spec.id);
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const Expectation& expectation : all_) {
    const auto say = [&](const std::string& what) {
      out.push_back(fmt::format("{}:{}: {}", file_name_, expectation.line, what));
    };
    if (!seen.insert(expectation.id).second) say(expectation.id + " is listed twice");
    if (ids.count(expectation.id) == 0) {
      const std::string now = ledger.current_id(expectation.id);
      say(now == expectation.id ? "there is no case " + expectation.id +
                                      did_you_mean(expectation.id, {ids.begin(), ids.end()})
                                : expectation.id + " is now called " + now);
    }
    if (!expectation.has_reason()) say(expectation.id + " has no reason");
  }
  return out;
}

std::string rewritten(const std::string& old_text, const Expectations& old,
                      const std::vector<Failure>& failures,
                      const std::vector<std::string>& judged) {
  std::map<std::string, Verdict> open;
  for (const Failure& failure : failures) open[failure.id] = failure.verdict;
  const std::set<std::string> known(judged.begin(), judged.end());
  std::map<int, const Expectation*> at_line;
  for (const Expectation& expectation : old.all()) at_line[expectation.line] = &expectation;

  const auto line_of = [](const std::string& id, Verdict verdict, const std::string& until,
                          const std::string& reason) {
    return fmt::format("{} {}{}  # {}\n", id, to_string(verdict),
                       until.empty() ? "" : fmt::format(" {}{}", kUntil, until), reason);
  };
  constexpr std::string_view kOpen = "TODO: reason";
  std::string out;
  int number = 0;
  for (const std::string& line : lines_of(old_text)) {
    const auto found = at_line.find(++number);
    if (found == at_line.end()) {  // a comment or a blank
      out += line + "\n";
      continue;
    }
    const Expectation& expectation = *found->second;
    const auto failure = open.find(expectation.id);
    if (failure != open.end()) {
      if (failure->second == expectation.verdict)
        out += line + "\n";
      else  // another failure than the reason speaks of, perhaps
        out += line_of(expectation.id, failure->second, expectation.until,
                       fmt::format("{} (was {}: {})", kOpen, to_string(expectation.verdict),
                                   expectation.reason));
      open.erase(failure);
    } else if (known.count(expectation.id) == 0) {
      out += line + "\n";  // not judged: nothing is known against it
    }
  }
  for (const Failure& failure : failures)
    if (open.count(failure.id) > 0)
      out += line_of(failure.id, failure.verdict, "", std::string(kOpen));
  return out;
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

}  // namespace kvc::conformance
