// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/spec/spec_writer.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <sstream>

#include "conformance/spec/annotate.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kCasesShown = 4;  // of a rule
constexpr std::string_view kContentsMark = "\x01 contents \x01";

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

// "STORE: two chunks" as two.
std::pair<std::string, std::string> divided(const std::string& text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string::npos) throw SpecError("'NAME: …' is wanted, not '" + text + "'");
  return {text.substr(0, colon), trimmed(text.substr(colon + 2))};
}

// As code hosts make it of a heading.
std::string anchor(const std::string& heading) {
  std::string out;
  for (const char c : heading) {
    if (c == ' ')
      out += '-';
    else if (c == '-' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string fenced(const std::string& text) { return "```text\n" + text + "```\n"; }

std::string in_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

}  // namespace

std::string SpecWriter::heading(const std::string& line) {
  std::string number;
  std::string indent;
  if (line.rfind("## ", 0) == 0) {
    number = fmt::format("{}.", ++chapter_);
    section_ = 0;
  } else {
    number = fmt::format("{}.{}", chapter_, ++section_);
    indent = "  ";
  }
  const std::size_t space = line.find(' ');
  const std::string text = number + " " + line.substr(space + 1);
  contents_ += fmt::format("{}- [{}](#{})\n", indent, text, anchor(text));
  anchors_.emplace(anchor(line.substr(space + 1)), anchor(text));
  return line.substr(0, space + 1) + text;
}

const Definition& SpecWriter::definition(const std::string& name) const {
  const auto type = parse_request_type(name);
  const Definition* found = type ? registry_.find(*type) : nullptr;
  if (found == nullptr) throw SpecError("the release has no request type " + name);
  return *found;
}

std::string SpecWriter::requests() const {
  std::string out =
      "| number | hex | name | group | payloads | result | handler |\n|--:|---|---|---|---|---|---|"
      "\n";
  for (const Definition& one : registry_.definitions()) {
    std::string payloads;
    for (const WireType type : one.payloads)
      payloads += fmt::format("{}{}", payloads.empty() ? "" : ", ", to_string(type));
    out += fmt::format("| {0} | `{0:02x}` | {1} | {2} | {3} | {4} | {5} |\n", one.number,
                       to_string(one.type), one.group, payloads.empty() ? "none" : payloads,
                       in_cell(std::string(to_string(one.result))), to_string(one.handler));
  }
  return out;
}

std::string SpecWriter::request(const std::string& name, const std::vector<std::string>& block) {
  const Definition& row = definition(name);
  Meanings meanings;
  for (const std::string& line : block) {
    const auto [key, meaning] = divided(line);
    if (key == "result")
      meanings.result = meaning;
    else
      meanings.payloads.emplace_back(key, meaning);
  }
  if (meanings.payloads.size() != row.payloads.size())
    throw SpecError(fmt::format("{} has {} payloads, and {} are explained", name,
                                row.payloads.size(), meanings.payloads.size()));
  if (meanings.result.empty()) throw SpecError("the result of " + name + " is not explained");
  std::string out = fmt::format("Number **{}** (`{:02x}`), group {}, handler {}.\n\n", row.number,
                                row.number, row.group, to_string(row.handler));
  out += "| frame | name | type | meaning |\n|--:|---|---|---|\n";
  for (std::size_t i = 0; i < row.payloads.size(); ++i)
    out += fmt::format("| {} | {} | {} | {} |\n", i + 2, meanings.payloads[i].first,
                       in_cell(std::string(to_string(row.payloads[i]))),
                       in_cell(meanings.payloads[i].second));
  out += fmt::format("| | *result* | {} | {} |\n", in_cell(std::string(to_string(row.result))),
                     in_cell(meanings.result));
  meanings_[name] = std::move(meanings);
  return out;
}

std::string SpecWriter::message(const Definition& definition, const Json& frames,
                                const GoldenLine& line, bool is_request) {
  std::string out;
  const std::string name(to_string(definition.type));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Bytes bytes = message_frame(line, frames[i]);
    std::string title = i == 0 ? "uid" : i == 1 ? "type: " + name : "result";
    WireType type = definition.result;
    if (is_request && i >= 2) {
      type = definition.payloads.at(i - 2);
      title = meanings_.at(name).payloads.at(i - 2).first;
    }
    if (i >= 2) title += fmt::format(": {}", to_string(type));
    out += fmt::format("frame {}, {}, {} byte{}\n", i, title, bytes.size(),
                       bytes.size() == 1 ? "" : "s");
    out += annotated_text(annotate_msgpack(bytes));
  }
  return out;
}

std::string SpecWriter::example(const std::string& name, const std::string& about) {
  const Definition& row = definition(name);
  if (meanings_.count(name) == 0) throw SpecError("{{request " + name + "}} is to come first");
  for (const char* file :
       {"messages/server.jsonl", "messages/blend_server.jsonl", "messages/encoder.jsonl"}) {
    for (const GoldenLine& line : golden_.lines(file).lines) {
      if (line.text("type") != name || line.text("about") != about) continue;
      std::string out = fmt::format("*Example*: {}. The request:\n\n", about);
      out += fenced(message(row, line.at("request"), line, true));
      out += line.text("from") == "encoder"
                 ? "\nThe reply, as the encoder of release " + std::string(registry_.release()) +
                       " writes it:\n\n"
                 : "\nThe reply:\n\n";
      out += fenced(message(row, line.at("reply"), line, false));
      if (row.result == WireType::kTransferResult && line.text("from") == "server")
        out += "\nThe 64 bytes, here zeros, are the server's event handle: others in each run.\n";
      return out;
    }
  }
  throw SpecError("golden/ has no message of " + name + " about '" + about + "'");
}

std::string SpecWriter::frame(const std::string& file, const std::string& encoding) {
  for (const GoldenLine& line : golden_.lines("accept/" + file + ".jsonl").lines) {
    if (!line.has("encoding") || line.text("encoding") != encoding) continue;
    return fenced(annotated_text(annotate_msgpack(line.bytes("hex"))));
  }
  throw SpecError("golden/ has no frame in accept/" + file + ".jsonl of encoding " + encoding);
}

std::string SpecWriter::pickle(const std::string& name) {
  for (const GoldenLine& line : golden_.lines("pickles.jsonl").lines)
    if (line.text("name") == name)
      return fenced(annotated_text(annotate_pickle(line.bytes("hex"))));
  throw SpecError("golden/ has no pickle '" + name + "'");
}

std::string SpecWriter::try_it(const std::string& id) const {
  for (const CaseSpec& spec : cases_.cases()) {
    if (spec.id != id) continue;
    return fmt::format("Try it: `kvconform {} --filter {}`\n",
                       spec.on_socket ? "run --target tcp://127.0.0.1:5555" : "testee 'CMD'", id);
  }
  throw SpecError("there is no case " + id);
}

std::string SpecWriter::rule(const Requirement& requirement) const {
  std::vector<const CaseSpec*> proofs;
  for (const CaseSpec& spec : cases_.cases())
    if (std::count(spec.proves.begin(), spec.proves.end(), requirement.id) > 0)
      proofs.push_back(&spec);
  std::string out = fmt::format("- **{}** `{}` {}<br>Source: {}.", to_string(requirement.level),
                                requirement.id, requirement.text, requirement.source);
  if (proofs.empty()) return out + " No case proves it yet.\n";
  out += proofs.size() == 1 ? " Case: " : " Cases: ";
  for (std::size_t i = 0; i < std::min(proofs.size(), kCasesShown); ++i)
    out += fmt::format("{}`{}`", i > 0 ? ", " : "", proofs[i]->id);
  if (proofs.size() > kCasesShown)
    out += fmt::format(" and {} more (`kvconform explain {}`)", proofs.size() - kCasesShown,
                       requirement.id);
  return out + ".\n";
}

std::string SpecWriter::rules(const std::string& patterns, bool optional) {
  std::istringstream words(patterns);
  std::string out;
  for (std::string pattern; words >> pattern;) {
    bool any = optional || pattern == "*";  // at the end there may be nothing left
    for (const Requirement& requirement : ledger_.requirements()) {
      if (::fnmatch(pattern.c_str(), requirement.id.c_str(), 0) != 0) continue;
      any = true;
      if (told_.insert(requirement.id).second) out += rule(requirement);
    }
    if (!any) throw SpecError("the ledger has no rule " + pattern);
  }
  return out.empty() && !optional ? "None.\n" : out;
}

std::string SpecWriter::woven(const std::string& name, const std::string& rest,
                              const std::vector<std::string>& block) {
  if (name == "contents") return std::string(kContentsMark) + "\n";
  if (name == "requests") return requests();
  if (name == "request") return request(rest, block);
  if (name == "pickle") return pickle(rest);
  if (name == "try") return try_it(rest);
  if (name == "rules") return rules(rest, false);
  if (name == "rules-if-any") return rules(rest, true);
  const auto [first, second] = divided(rest);
  if (name == "example") return example(first, second);
  if (name == "frame") return frame(first, second);
  throw SpecError("there is no {{" + name + "}}");
}

// Prose links to a heading by its words; the page has its number, too.
void SpecWriter::number_links(std::string& text) const {
  static constexpr std::string_view kLink = "](##";
  for (std::size_t at = 0; (at = text.find(kLink, at)) != std::string::npos;) {
    const std::size_t begin = at + 2;
    const std::size_t end = text.find(')', begin);
    const std::string words = text.substr(begin + 2, end - begin - 2);
    const auto found = anchors_.find(words);
    if (found == anchors_.end()) throw SpecError("no heading has the link ##" + words);
    text.replace(begin, end - begin, "#" + found->second);
    at = begin;
  }
}

std::string SpecWriter::write(const std::vector<SpecPage>& pages) {
  std::string out;
  for (const SpecPage& page : pages) {
    std::istringstream lines(page.text);
    bool fence = false;
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const int place = number;
      if (line.rfind("```", 0) == 0) fence = !fence;
      if (fence ||
          (line.rfind("## ", 0) != 0 && line.rfind("### ", 0) != 0 && line.rfind("{{", 0) != 0)) {
        out += line + "\n";
        continue;
      }
      if (line[0] == '#') {
        out += heading(line) + "\n";
        continue;
      }
      std::vector<std::string> block;
      std::string inner = line.substr(2);
      if (inner.size() >= 2 && inner.compare(inner.size() - 2, 2, "}}") == 0) {
        inner.resize(inner.size() - 2);
      } else {
        for (std::string more; std::getline(lines, more) && more != "}}"; ++number)
          block.push_back(more);
        ++number;
      }
      const std::size_t space = inner.find(' ');
      try {
        out += woven(inner.substr(0, space),
                     space == std::string::npos ? "" : trimmed(inner.substr(space)), block);
      } catch (const std::exception& error) {
        throw SpecError(fmt::format("{}:{}: {}", page.name, place, error.what()));
      }
    }
    out += "\n";
  }
  for (const Requirement& requirement : ledger_.requirements())
    if (told_.count(requirement.id) == 0)
      throw SpecError("no page tells the rule " + requirement.id + "; {{rules *}} tells the rest");
  for (const Definition& one : registry_.definitions())
    if (meanings_.count(std::string(to_string(one.type))) == 0)
      throw SpecError("no page has {{request " + std::string(to_string(one.type)) + "}}");
  const std::size_t mark = out.find(kContentsMark);
  if (mark != std::string::npos) out.replace(mark, kContentsMark.size() + 1, contents_);
  number_links(out);
  while (out.size() > 1 && out[out.size() - 2] == '\n') out.pop_back();
  return out;
}

}  // namespace kvc::conformance
