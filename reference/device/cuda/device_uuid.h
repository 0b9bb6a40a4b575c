// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// A GPU's UUID as text. torch writes the 16 bytes as 8-4-4-4-12 hex digits; nvidia-smi puts "GPU-"
// in front. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvc::cuda {

using UuidBytes = std::array<std::uint8_t, 16>;

std::string uuid_text(const UuidBytes& bytes);  // as torch does

// Whether `text` names the GPU, with or without "GPU-", in either case.
bool names_uuid(std::string_view text, const UuidBytes& bytes);

}  // namespace kvc::cuda
