// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/bus_guard.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

#include "kvc/protocol/assert.h"

namespace kvc {

// Entries are linked once and never freed, only reused: the signal handler may walk the list at any
// time, without a lock. There are as many as mappings ever lived at once.
struct BusGuard::Entry {
  std::atomic<void*> address{nullptr};  // nullptr: free
  std::atomic<std::size_t> size_bytes{0};
  std::atomic<bool> lost{false};
  Entry* next = nullptr;  // in the list of all
};

struct BusGuardTable {
  static std::atomic<BusGuard::Entry*> head;
  static std::mutex mutex;  // of making and freeing entries
  static struct sigaction previous;

  static BusGuard::Entry* find(const void* place) {
    const auto fault = reinterpret_cast<std::uintptr_t>(place);
    for (BusGuard::Entry* entry = head.load(std::memory_order_acquire); entry != nullptr;
         entry = entry->next) {
      const auto begin =
          reinterpret_cast<std::uintptr_t>(entry->address.load(std::memory_order_acquire));
      if (begin != 0 && fault >= begin &&
          fault - begin < entry->size_bytes.load(std::memory_order_relaxed))
        return entry;
    }
    return nullptr;
  }

  static void pass_on(int signal, siginfo_t* info, void* context) {
    if ((previous.sa_flags & SA_SIGINFO) != 0) {
      previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
      // The access is repeated after the return, and then ends the process as it should.
      struct sigaction by_default = {};
      by_default.sa_handler = SIG_DFL;
      sigaction(SIGBUS, &by_default, nullptr);
    } else {
      previous.sa_handler(signal);
    }
  }

  static void handle(int signal, siginfo_t* info, void* context) {
    const int saved_errno = errno;
    BusGuard::Entry* entry = info->si_code == BUS_ADRERR ? find(info->si_addr) : nullptr;
    bool mended = false;
    if (entry != nullptr) {
      // lost first: whoever sees a zero that was not there must be able to know.
      entry->lost.store(true, std::memory_order_seq_cst);
      void* const address = entry->address.load();
      mended = mmap(address, entry->size_bytes.load(), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
    }
    errno = saved_errno;
    if (!mended) pass_on(signal, info, context);
  }

  static void install() {
    struct sigaction action = {};
    action.sa_sigaction = &BusGuardTable::handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    KVC_ASSERT(sigaction(SIGBUS, &action, &previous) == 0);
  }
};

std::atomic<BusGuard::Entry*> BusGuardTable::head{nullptr};
std::mutex BusGuardTable::mutex;
struct sigaction BusGuardTable::previous = {};

BusGuard::BusGuard(void* address, std::size_t size_bytes) {
  const std::lock_guard lock(BusGuardTable::mutex);
  Entry* const first = BusGuardTable::head.load(std::memory_order_relaxed);
  if (first == nullptr) BusGuardTable::install();
  Entry* entry = first;
  while (entry != nullptr && entry->address.load(std::memory_order_relaxed) != nullptr)
    entry = entry->next;
  if (entry == nullptr) {
    entry = new Entry;
    entry->next = first;
    BusGuardTable::head.store(entry, std::memory_order_release);
  }
  entry->lost.store(false, std::memory_order_relaxed);
  entry->size_bytes.store(size_bytes, std::memory_order_relaxed);
  entry->address.store(address, std::memory_order_release);
  entry_ = entry;
}

BusGuard::~BusGuard() {
  const std::lock_guard lock(BusGuardTable::mutex);
  entry_->address.store(nullptr, std::memory_order_release);
}

bool BusGuard::lost() const { return entry_->lost.load(std::memory_order_seq_cst); }

}  // namespace kvc
