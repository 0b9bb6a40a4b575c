// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// SpecWriter: makes conformance/SPEC.md of prose (pages/*.md) and of what is known as data: ledger,
// registry, cases, golden/. A line of prose that is {{NAME …}} is replaced:
//
//   {{contents}}              a table of contents; headings are numbered by the way
//   {{requests}}              the table of all request types
//   {{request TYPE            what the registry says about it; a line for each payload, in order,
//   name: what it means         and one for the result
//   result: what it means
//   }}
//   {{example TYPE: ABOUT}}   a message of golden/, its bytes annotated
//   {{frame FILE: ENCODING}}  a frame of golden/accept/FILE.jsonl, its bytes annotated
//   {{pickle NAME}}           a pickle of golden/, its bytes annotated
//   {{try CASE}}              the command that tries what is above on a server
//   {{rules PATTERN …}}       the rules that no line above has told of; a pattern that fits none in
//                             the ledger is an error, but in {{rules-if-any PATTERN …}}
//
// A link to a heading is written [words](##the-heading-without-its-number).
//
// Every rule of the ledger is told once: what no page asks for comes with {{rules *}} at the end. A
// line that asks for what is not there throws SpecError with its place. One thread.
#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/cases/testee/golden_data.h"
#include "conformance/harness/case.h"
#include "conformance/harness/ledger.h"

namespace kvc::conformance {

class SpecError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SpecPage {
  std::string name;  // of the file
  std::string text;
};

class SpecWriter {
 public:
  // All outlive it.
  SpecWriter(const Registry& registry, const Ledger& ledger, const CaseList& cases,
             GoldenData& golden)
      : registry_(registry), ledger_(ledger), cases_(cases), golden_(golden) {}

  std::string write(const std::vector<SpecPage>& pages);

 private:
  struct Meanings {  // of a request's payloads, in order, and of its result
    std::vector<std::pair<std::string, std::string>> payloads;
    std::string result;
  };

  std::string woven(const std::string& name, const std::string& rest,
                    const std::vector<std::string>& block);
  std::string heading(const std::string& line);
  std::string requests() const;
  std::string request(const std::string& name, const std::vector<std::string>& block);
  std::string example(const std::string& name, const std::string& about);
  std::string frame(const std::string& file, const std::string& encoding);
  std::string pickle(const std::string& name);
  std::string try_it(const std::string& id) const;
  std::string rules(const std::string& patterns, bool optional);
  void number_links(std::string& text) const;
  std::string rule(const Requirement& requirement) const;
  const Definition& definition(const std::string& name) const;
  std::string message(const Definition& definition, const Json& frames, const GoldenLine& line,
                      bool is_request);

  const Registry& registry_;
  const Ledger& ledger_;
  const CaseList& cases_;
  GoldenData& golden_;
  std::map<std::string, Meanings> meanings_;
  std::set<std::string> told_;                  // rules
  std::map<std::string, std::string> anchors_;  // without number -> with it
  std::string contents_;
  int chapter_ = 0;
  int section_ = 0;
};

}  // namespace kvc::conformance
