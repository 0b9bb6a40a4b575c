// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "fuzz/golden_frames.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace kvc::fuzz {
namespace {

// Each file's first line says which type its frames are of.
void read_folder(const std::filesystem::path& folder,
                 std::map<WireType, std::vector<Bytes>>& frames) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream file(entry.path());
    std::string line;
    if (!std::getline(file, line)) throw std::runtime_error("empty: " + entry.path().string());
    const std::string name = nlohmann::json::parse(line).at("type");
    const std::optional<WireType> type = parse_wire_type(name);
    if (!type) throw std::runtime_error(entry.path().string() + ": no wire type: " + name);
    while (std::getline(file, line)) {
      const std::string hex = nlohmann::json::parse(line).at("hex");
      Result<Bytes> frame = from_hex(hex);
      if (!frame) throw std::runtime_error(entry.path().string() + ": " + frame.error().text());
      frames[*type].push_back(*std::move(frame));
    }
  }
}

}  // namespace

GoldenFrames::GoldenFrames(const std::string& folder) {
  read_folder(std::filesystem::path(folder) / "accept", accepted_);
  read_folder(std::filesystem::path(folder) / "reject", rejected_);
}

}  // namespace kvc::fuzz
