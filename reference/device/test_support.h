// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What the tests of this layer share. Not part of the library.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kvc/device/device.h"
#include "kvc/device/export_tensor.h"
#include "kvc/device/open_tensor.h"

namespace kvc::test {

// A prefix that no other process has, so that tests may run side by side.
inline std::string shm_prefix() { return "kvct" + std::to_string(::getpid()); }

inline std::vector<std::string> shm_objects(const std::string& prefix) {
  std::vector<std::string> names;
  DIR* const folder = ::opendir("/dev/shm");
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder)) {
    std::string name = entry->d_name;
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  ::closedir(folder);
  return names;
}

inline Bytes random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

// A tensor that fills its storage, as the wire would bring it.
inline TensorDesc contiguous_desc(const std::string& dtype, std::vector<std::int64_t> shape) {
  TensorDesc desc;
  desc.dtype = dtype;
  desc.element_size = dtype_size_bytes(dtype);
  desc.stride = contiguous_stride(shape);
  desc.shape = std::move(shape);
  desc.available_bytes = desc.element_size;
  for (const std::int64_t size : desc.shape) desc.available_bytes *= static_cast<std::size_t>(size);
  return desc;
}

}  // namespace kvc::test
