// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: buffers and events cross devices and processes, and leave nothing in /dev/shm, however
// their makers end. Method: two devices in one process, forked processes, and a look at /dev/shm.
#include "kvc/device/host_device.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "device/test_support.h"

namespace kvc {
namespace {

using test::shm_objects;
using test::shm_prefix;

// Runs `body` in a forked process; true when it answered true.
bool in_a_child(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A process that makes a device and objects on it, tells when they are there, and waits.
struct Maker {
  explicit Maker(const std::string& prefix) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid = ::fork();
    if (pid == 0) {
      const auto device = create_host_device(prefix);
      const auto buffer = device->create_buffer(4096);
      const auto event = device->create_event();
      const Bytes made = buffer->ipc_handle();
      if (::write(ready[1], made.data(), made.size()) != 64) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    handle.resize(64);
    EXPECT_EQ(::read(ready[0], handle.data(), handle.size()), 64);
    ::close(ready[0]);
  }
  void kill_it() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  pid_t pid = -1;
  Bytes handle;
};

TEST(HostDevice, KnowsItsTensorsByUuid) {
  const auto device = create_host_device(shm_prefix());
  EXPECT_EQ(device->name(), "host");
  EXPECT_TRUE(device->accepts_uuid(device->own_uuid()));
  EXPECT_TRUE(device->accepts_uuid("HOST-"));
  for (const char* uuid : {"", "HOST", "host-1", "GPU-1", " HOST-1"})
    EXPECT_FALSE(device->accepts_uuid(uuid)) << uuid;
}

TEST(HostDevice, SharesBuffersBetweenDevices) {
  const auto maker = create_host_device(shm_prefix() + "a");
  const auto user = create_host_device(shm_prefix() + "b");
  const auto buffer = maker->create_buffer(10000);
  EXPECT_EQ(buffer->size_bytes(), 10000u);
  EXPECT_EQ(buffer->address()[9999], 0);
  const auto opened = user->open_buffer(buffer->ipc_handle());
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_NE((*opened)->address(), buffer->address());
  EXPECT_EQ((*opened)->ipc_handle(), buffer->ipc_handle());
  buffer->address()[9999] = 17;
  EXPECT_EQ((*opened)->address()[9999], 17);
}

TEST(HostDevice, SharesBuffersAndEventsBetweenProcesses) {
  const auto device = create_host_device(shm_prefix());
  const auto buffer = device->create_buffer(4096);
  buffer->address()[1] = 5;
  const Bytes memory = buffer->ipc_handle();
  ManualHostEvent started(*device);
  const auto finished = device->create_event();
  const Bytes started_handle = started.ipc_handle(), finished_handle = finished->ipc_handle();
  const auto engine_process = [&] {
    const auto engine = create_host_device(shm_prefix() + "c");
    auto opened = engine->open_buffer(memory);
    auto wait_for = engine->open_event(started_handle);
    auto tell = engine->open_event(finished_handle);
    if (!opened || !wait_for || !tell) return 1;
    (*wait_for)->synchronize();
    (*opened)->address()[0] = static_cast<std::uint8_t>((*opened)->address()[1] + 1);
    engine->create_stream(StreamPriority::kNormal)->record(*tell);
    return 0;
  };
  const pid_t child = ::fork();
  if (child == 0) ::_exit(engine_process());
  EXPECT_EQ(buffer->address()[0], 0);
  started.complete();
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  finished->synchronize();
  EXPECT_EQ(buffer->address()[0], 6);
}

TEST(HostDevice, RefusesHandlesOfTheOtherKind) {
  const auto device = create_host_device(shm_prefix());
  EXPECT_FALSE(device->open_event(device->create_buffer(4096)->ipc_handle()).ok());
  EXPECT_FALSE(device->open_buffer(device->create_event()->ipc_handle()).ok());
  EXPECT_FALSE(device->open_event({}).ok());
  EXPECT_FALSE(device->open_buffer(Bytes(64)).ok());
}

TEST(HostDevice, LeavesNothingBehind) {
  std::shared_ptr<Buffer> buffer;
  std::shared_ptr<Event> event;
  {
    const auto device = create_host_device(shm_prefix());
    EXPECT_EQ(shm_objects(shm_prefix()).size(), 1u) << "the mark that its maker lives";
    buffer = device->create_buffer(4096);
    event = device->create_event();
    EXPECT_EQ(shm_objects(shm_prefix()).size(), 3u);
    device->create_buffer(4096).reset();
    EXPECT_EQ(shm_objects(shm_prefix()).size(), 3u) << "a buffer's name goes with it";
  }
  EXPECT_TRUE(shm_objects(shm_prefix()).empty());
  buffer->address()[0] = 1;  // the memory lives as long as its users
  EXPECT_TRUE(event->complete());
}

TEST(HostDevice, KeepsTheMarkWhileAnotherDeviceHasIt) {
  auto first = create_host_device(shm_prefix());
  const auto second = create_host_device(shm_prefix());
  EXPECT_EQ(shm_objects(shm_prefix()).size(), 1u);
  first.reset();
  EXPECT_EQ(shm_objects(shm_prefix()).size(), 1u);
}

TEST(HostDevice, KeepsReleasedEventsOpenableForAWhile) {
  const auto device = create_host_device(shm_prefix());
  const Bytes first = device->create_event()->ipc_handle();
  for (std::size_t i = 1; i < kExportedEventsKept; ++i) device->create_event();
  EXPECT_TRUE(device->open_event(first).ok());
  const Bytes last = device->create_event()->ipc_handle();
  EXPECT_FALSE(device->open_event(first).ok());
  EXPECT_TRUE(device->open_event(last).ok());
  EXPECT_EQ(shm_objects(shm_prefix()).size(), kExportedEventsKept + 1);
}

TEST(HostDevice, LeavesNothingBehindAtExit) {
  const std::string prefix = shm_prefix();
  const pid_t child = ::fork();
  if (child == 0) {
    // As if main had called exit() with these alive. Static, so that the leak checker sees them.
    struct Kept {
      explicit Kept(const std::string& name_prefix) : device(create_host_device(name_prefix)) {}
      std::unique_ptr<Device> device;
      std::shared_ptr<Event> event = device->create_event();
    };
    static const Kept* const kept = new Kept(prefix);
    if (!kept->event->complete() || shm_objects(prefix).size() != 2) ::_exit(1);
    ::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(shm_objects(prefix).empty());
}

TEST(HostDevice, KeepsItsNamesWhenAForkedChildEnds) {
  const auto device = create_host_device(shm_prefix());
  const auto buffer = device->create_buffer(4096);
  const pid_t child = ::fork();
  if (child == 0) ::exit(0);  // runs the handlers of exit()
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(shm_objects(shm_prefix()).size(), 2u);
  EXPECT_TRUE(device->open_buffer(buffer->ipc_handle()).ok());
  EXPECT_TRUE(in_a_child([&] {
    try {
      device->create_event();
      return false;
    } catch (const DeviceError&) {
      return true;
    }
  })) << "a child makes its own device";
}

TEST(HostDevice, SweepsOnlyWhatTheDeadLeft) {
  const std::string prefix = shm_prefix() + "m";
  Maker dead(prefix), alive(prefix);
  const auto mine = create_host_device(prefix);
  EXPECT_EQ(shm_objects(prefix).size(), 3u + 3u + 1u);
  EXPECT_EQ(sweep_dead_processes(prefix), 0u);
  dead.kill_it();
  EXPECT_FALSE(mine->open_buffer(Bytes(64)).ok());
  EXPECT_TRUE(mine->open_buffer(dead.handle).ok()) << "not swept yet";
  EXPECT_EQ(sweep_dead_processes(prefix.substr(0, 5)), 0u) << "another prefix";
  EXPECT_EQ(sweep_dead_processes(prefix), 2u);
  EXPECT_FALSE(mine->open_buffer(dead.handle).ok());
  EXPECT_TRUE(mine->open_buffer(alive.handle).ok());
  alive.kill_it();
  EXPECT_EQ(sweep_dead_processes(prefix), 2u);
  EXPECT_EQ(shm_objects(prefix).size(), 1u);
}

TEST(HostDevice, SaysWhyItCannotMakeABuffer) {
  const auto device = create_host_device(shm_prefix());
  for (const std::size_t size : {std::size_t{0}, std::size_t{1} << 62, ~std::size_t{0}})
    EXPECT_THROW(device->create_buffer(size), DeviceError) << size;
  EXPECT_EQ(shm_objects(shm_prefix()).size(), 1u) << "and leaves nothing of it";
  EXPECT_THROW(create_host_device("a/b"), DeviceError);
  EXPECT_THROW(create_host_device(""), DeviceError);
  EXPECT_THROW(create_host_device(std::string(24, 'x')), DeviceError);
}

}  // namespace
}  // namespace kvc
