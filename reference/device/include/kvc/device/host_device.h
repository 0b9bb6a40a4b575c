// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The host device: the GPU's protocol without a GPU. Buffers and events are POSIX shared memory:
//   memory handle   "KVHOSTM1" and the shm name, with its leading '/', NUL-padded to 64 bytes
//   event handle    "KVHOSTE1" and the shm name, the same way
//   event object    16 bytes: u64 recorded, u64 completed, little-endian
//   device_uuid     begins with "HOST-"
// record: recorded += 1, and completed = that number when the stream gets there. wait: the stream
// waits until completed >= what `recorded` was when the wait was asked for.
// Who creates a shm object removes it: at destruction, at exit, or, if the process was killed, at
// the next start of a process that calls sweep_dead_processes() (names hold the maker's pid).
// A peer may shrink an object that is mapped here. What is then read is zero, nothing is written,
// and the copy or wait that met it fails (see Stream): the process is not killed by SIGBUS. For
// that the first device installs a SIGBUS handler, which passes on what is not its own.
// An event made here stays openable for a while after its last user here is gone, as the importer
// opens it only when the reply has reached it: the last kExportedEventsKept stay.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kvc/device/device.h"
#include "kvc/device/manual_event.h"

namespace kvc {

inline constexpr std::size_t kExportedEventsKept = 4096;

// `name_prefix` tells whose objects these are: names are "/<prefix>-<pid>-<number>".
std::unique_ptr<Device> create_host_device(const std::string& name_prefix);

// Unlinks the shm objects of `name_prefix` whose maker lives no more. Answers how many.
std::size_t sweep_dead_processes(const std::string& name_prefix);

using ManualHostEvent = ManualEvent;  // the name that it had when only the host device had one

}  // namespace kvc
