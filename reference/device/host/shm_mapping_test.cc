// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/shm_mapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

#include <thread>
#include <vector>

#include "device/test_support.h"

namespace kvc {
namespace {

// A shared memory object as a peer makes it, behind our back.
class PeerObject {
 public:
  PeerObject(std::string name, off_t size_bytes) : name_(std::move(name)) {
    const int descriptor = ::shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    EXPECT_GE(descriptor, 0);
    ::close(descriptor);
    resize(size_bytes);
  }
  ~PeerObject() { ::shm_unlink(name_.c_str()); }
  PeerObject(const PeerObject&) = delete;
  PeerObject& operator=(const PeerObject&) = delete;

  void resize(off_t size_bytes) {
    const int descriptor = ::shm_open(name_.c_str(), O_RDWR, 0);
    EXPECT_EQ(::ftruncate(descriptor, size_bytes), 0);
    ::close(descriptor);
  }
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
};

std::string peer_name() { return "/" + test::shm_prefix() + "peer"; }

std::shared_ptr<ShmMapping> must_open(MappingCache& cache, const std::string& name) {
  Result<std::shared_ptr<ShmMapping>> mapping = cache.open(name, 1);
  EXPECT_TRUE(mapping.ok()) << mapping.error().text();
  return mapping.ok() ? std::move(mapping).value() : nullptr;
}

TEST(ShmMapping, IsMadeOnceForOneObject) {
  const PeerObject object(peer_name(), 4096);
  MappingCache cache;
  const auto first = must_open(cache, object.name());
  EXPECT_EQ(must_open(cache, object.name()), first);
  EXPECT_EQ(first->size_bytes(), 4096u);
}

TEST(ShmMapping, GoesWithItsLastUser) {
  const PeerObject object(peer_name(), 4096);
  MappingCache cache;
  auto first = must_open(cache, object.name());
  auto second = must_open(cache, object.name());
  const std::weak_ptr<ShmMapping> watch = first;
  first.reset();
  EXPECT_FALSE(watch.expired());
  second.reset();
  EXPECT_TRUE(watch.expired());
  EXPECT_NE(must_open(cache, object.name()), nullptr) << "and can be made again";
}

TEST(ShmMapping, TellsObjectsByInodeAndNotByName) {
  MappingCache cache;
  auto object = std::make_unique<PeerObject>(peer_name(), 4096);
  const auto first = must_open(cache, object->name());
  first->address()[0] = 1;
  object.reset();
  object = std::make_unique<PeerObject>(peer_name(), 4096);
  const auto second = must_open(cache, object->name());
  EXPECT_NE(second, first);
  EXPECT_EQ(second->address()[0], 0) << "the new object's memory";
  EXPECT_EQ(first->address()[0], 1) << "the old object's memory, still there";
}

TEST(ShmMapping, IsMadeAnewForAnObjectThatGrew) {
  PeerObject object(peer_name(), 4096);
  MappingCache cache;
  const auto small = must_open(cache, object.name());
  object.resize(3 * 4096);
  const auto large = must_open(cache, object.name());
  EXPECT_EQ(large->size_bytes(), 3u * 4096u);
  small->address()[7] = 7;
  EXPECT_EQ(large->address()[7], 7);
}

TEST(ShmMapping, RefusesWhatIsMissingEmptyOrSmall) {
  MappingCache cache;
  EXPECT_FALSE(cache.open(peer_name(), 1).ok());
  const PeerObject empty(peer_name(), 0);
  EXPECT_FALSE(cache.open(empty.name(), 1).ok());
  const PeerObject small(peer_name() + "15", 15);
  EXPECT_FALSE(cache.open(small.name(), 16).ok());
  EXPECT_TRUE(cache.open(small.name(), 15).ok());
}

TEST(ShmMapping, RefusesWhatNoAddressSpaceHolds) {
  const PeerObject huge(peer_name(), off_t{1} << 48);
  MappingCache cache;
  EXPECT_FALSE(cache.open(huge.name(), 1).ok());
}

TEST(ShmMapping, RefusesAPipeWithoutWaitingForItsOtherEnd) {
  const std::string path = "/dev/shm" + peer_name();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  MappingCache cache;
  EXPECT_FALSE(cache.open(peer_name(), 1).ok());
  ::unlink(path.c_str());
}

TEST(ShmMapping, SurvivesAPeerThatShrinksTheObject) {
  PeerObject object(peer_name(), 4 * 4096);
  MappingCache cache;
  const auto mapping = must_open(cache, object.name());
  mapping->address()[3 * 4096] = 9;
  EXPECT_FALSE(mapping->lost());
  object.resize(4096);
  EXPECT_EQ(mapping->address()[3 * 4096], 0) << "zeros, and no SIGBUS";
  EXPECT_TRUE(mapping->lost());
  mapping->address()[3 * 4096] = 5;  // harms nobody
  object.resize(4 * 4096);
  const auto again = must_open(cache, object.name());
  EXPECT_NE(again, mapping) << "a lost mapping is not given out again";
  EXPECT_FALSE(again->lost());
  EXPECT_EQ(again->address()[3 * 4096], 0);
}

TEST(ShmMapping, IsLostForAllThreadsAtOnce) {
  PeerObject object(peer_name(), 64 * 4096);
  MappingCache cache;
  const auto mapping = must_open(cache, object.name());
  object.resize(0 + 4096);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t page = 1 + t; page < 64; page += 4)
        EXPECT_EQ(static_cast<volatile std::uint8_t*>(mapping->address())[page * 4096], 0);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(mapping->lost());
}

// The sanitizers report this death too: to the test, and not to where CI looks for reports.
void report_to_stderr() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_set_report_path("stderr");
#endif
}

// The signal of a fault that is not ours must still end the process.
TEST(ShmMappingDeathTest, LeavesOtherFaultsAlone) {
  PeerObject object(peer_name(), 4096);
  MappingCache cache;
  const auto mapping = must_open(cache, object.name());  // the handler is there
  PeerObject other(peer_name() + "2", 4096);
  const int descriptor = ::shm_open(other.name().c_str(), O_RDWR, 0);
  auto* const bare = static_cast<volatile std::uint8_t*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
  ::close(descriptor);
  other.resize(0);
  EXPECT_DEATH(
      {
        report_to_stderr();
        static_cast<void>(bare[0]);
      },
      "");
  ::munmap(const_cast<std::uint8_t*>(bare), 4096);
}

}  // namespace
}  // namespace kvc
