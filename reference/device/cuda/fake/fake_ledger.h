// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// FakeLedger: how much of the fake GPU's memory is taken, by all processes that share it: a table
// in shared memory of who has which allocation. What a process had that lives no more counts no
// more. And the names of the shared memory behind allocations and events. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kvc::fake_gpu {

inline constexpr std::size_t kTotalBytes = std::size_t{64} << 30;

// Notes that this process has allocation `id`; answers what drop_use() is to be called with.
std::size_t add_use(std::uint64_t id, std::size_t size_bytes);
void drop_use(std::size_t use);
std::size_t used_bytes();

// "/kvfakegpu-<pid>-<number>"; unlinked by forget_name(), at exit, or when the next process starts
// after this one was killed.
std::string new_name(std::uint64_t& id);
void forget_name(const std::string& name);
// Whether `name` is one, and its process, not this one, lives.
bool is_name_of_another(const std::string& name, std::uint64_t& id);
bool is_own_name(const std::string& name);

}  // namespace kvc::fake_gpu
