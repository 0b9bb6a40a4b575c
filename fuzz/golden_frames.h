// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// GoldenFrames: the frames of golden/, by the type that they are of: what the real decoder accepted
// and what it refused. Owns its bytes; immutable. Throws std::runtime_error when a file is missing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/wire_type.h"

namespace kvc::fuzz {

class GoldenFrames {
 public:
  // `folder` is that of a release: golden/0.4.5.
  explicit GoldenFrames(const std::string& folder);

  const std::vector<Bytes>& accepted(WireType type) const { return accepted_.at(type); }
  const std::vector<Bytes>& rejected(WireType type) const { return rejected_.at(type); }

 private:
  std::map<WireType, std::vector<Bytes>> accepted_;
  std::map<WireType, std::vector<Bytes>> rejected_;
};

}  // namespace kvc::fuzz
