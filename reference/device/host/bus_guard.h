// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// BusGuard: shared memory that a peer may shrink at any time. Touching what is no longer there
// raises SIGBUS, which would kill the process. While a BusGuard covers a mapping, the signal's
// handler puts private zero pages in place of the whole mapping instead, and lost() says so. A full
// tmpfs raises the same signal and is treated the same.
//
// The handler is installed once for the process and passes on every fault that is not in a guarded
// mapping. Any thread may fault; guards are made and destroyed on any thread.
#pragma once

#include <cstddef>

namespace kvc {

class BusGuard {
 public:
  BusGuard(void* address, std::size_t size_bytes);
  // REQUIRES: nobody touches the mapping any more. Unmap it after this, not before.
  ~BusGuard();
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;

  // True when some access has met missing memory: what was read since may be zeros.
  bool lost() const;

 private:
  struct Entry;
  friend struct BusGuardTable;
  Entry* entry_;
};

}  // namespace kvc
