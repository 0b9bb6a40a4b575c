// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// kvc_spec PAGES_FOLDER FILE          writes the specification
// kvc_spec PAGES_FOLDER FILE --check  says where FILE is not what it would write, and ends with 1
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "conformance/cases/testee/testee_cases.h"
#include "conformance/harness/json_report.h"
#include "conformance/spec/spec_writer.h"

namespace kvc::conformance {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw SpecError("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<SpecPage> pages_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<SpecPage> pages;
  for (const auto& path : paths) pages.push_back({path.filename().string(), read(path)});
  return pages;
}

// The first line in which they differ.
std::string difference(const std::string& old_text, const std::string& new_text) {
  std::istringstream old_lines(old_text);
  std::istringstream new_lines(new_text);
  for (int number = 1;; ++number) {
    std::string a;
    std::string b;
    const bool has_a = static_cast<bool>(std::getline(old_lines, a));
    const bool has_b = static_cast<bool>(std::getline(new_lines, b));
    if (!has_a && !has_b) return "in white space";
    if (a != b || has_a != has_b)
      return "in line " + std::to_string(number) + "\n  is:        " + a + "\n  should be: " + b;
  }
}

int run(const std::string& folder, const std::string& file, bool check) {
  const Registry& registry = registry_0_4_5();
  const CaseList cases = merged(all_cases(registry), testee_cases(registry, ""));
  GoldenData golden(registry.release(), "");
  const std::string text =
      SpecWriter(registry, Ledger::embedded(), cases, golden).write(pages_of(folder));
  if (!check) {
    write_whole_file(file, text);
    return 0;
  }
  const std::string old_text = std::filesystem::exists(file) ? read(file) : "";
  if (old_text == text) return 0;
  std::cerr << file << " is out of date: run ci/spec and commit it. It differs "
            << difference(old_text, text) << "\n";
  return 1;
}

}  // namespace
}  // namespace kvc::conformance

int main(int argc, char** argv) {
  const bool check = argc == 4 && std::string(argv[3]) == "--check";
  if (argc != 3 && !check) {
    std::cerr << "usage: kvc_spec PAGES_FOLDER FILE [--check]\n";
    return 2;
  }
  try {
    return kvc::conformance::run(argv[1], argv[2], check);
  } catch (const std::exception& error) {
    std::cerr << "kvc_spec: " << error.what() << "\n";
    return 2;
  }
}
