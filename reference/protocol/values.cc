// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/values.h"

#include "kvc/protocol/assert.h"

namespace kvc {

const char* to_string(EngineType type) {
  switch (type) {
    case EngineType::kVllm:
      return "vllm";
    case EngineType::kSglang:
      return "sglang";
    case EngineType::kTrtllm:
      return "trtllm";
    case EngineType::kMock:
      return "mock";
  }
  KVC_ASSERT(false);
}

std::optional<EngineType> parse_engine_type(std::string_view name) {
  for (const EngineType type :
       {EngineType::kVllm, EngineType::kSglang, EngineType::kTrtllm, EngineType::kMock}) {
    if (name == to_string(type)) return type;
  }
  return std::nullopt;
}

const char* to_string(KvLayout layout) { return layout == KvLayout::kNHD ? "NHD" : "HND"; }

std::optional<KvLayout> parse_kv_layout(std::string_view name) {
  if (name == "NHD") return KvLayout::kNHD;
  if (name == "HND") return KvLayout::kHND;
  return std::nullopt;
}

}  // namespace kvc
