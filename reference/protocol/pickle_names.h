// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The names that a pickle of this protocol may hold.
#pragma once

#include <string_view>

namespace kvc {

inline constexpr std::string_view kWrapperModule = "lmcache.v1.multiprocess.custom_types";
inline constexpr std::string_view kTorchWrapper = "CudaIPCWrapper";
inline constexpr std::string_view kRawWrapper = "RawCudaIPCWrapper";
inline constexpr std::string_view kTorchModule = "torch";

// True for the names of torch's dtypes.
bool is_torch_dtype(std::string_view name);

}  // namespace kvc
