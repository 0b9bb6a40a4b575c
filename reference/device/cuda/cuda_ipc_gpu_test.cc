// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: memory and events of another process open, once, and close; garbage does not open, and
// leaves the device well. Method: this program starts itself again as the exporter, which prints
// its handles and lives until its stdin closes.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <string>

#include "device/cuda/gpu_test.h"

namespace kvc::cuda {
namespace {

using CudaIpcTest = GpuTest;

constexpr std::size_t kSize =
    (std::size_t{4} << 30) + (std::size_t{64} << 20);  // offsets over 2^32
constexpr const char* kExporterVariable = "KVC_GPU_TEST_EXPORTER";

// The child: exports a buffer whose last bytes say so, and an event.
TEST(CudaIpcExporter, DISABLED_Runs) {
  if (std::getenv(kExporterVariable) == nullptr) GTEST_SKIP() << "only as a child";
  const auto device = create_cuda_device({});
  const auto buffer = device->create_buffer(kSize);
  write_buffer(*buffer, kSize - 1, Bytes{0x5a});
  const auto event = device->create_event();
  std::cout << "HANDLES " << to_hex(buffer->ipc_handle()) << " " << to_hex(event->ipc_handle())
            << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}

class Exporter {
 public:
  Exporter() {
    std::array<int, 2> input{}, output{};
    if (::pipe(input.data()) != 0 || ::pipe(output.data()) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(input[0], 0);
      ::dup2(output[1], 1);
      for (const int end : {input[0], input[1], output[0], output[1]}) ::close(end);
      ::setenv(kExporterVariable, "1", 1);
      ::execl("/proc/self/exe", "exporter", "--gtest_also_run_disabled_tests",
              "--gtest_filter=CudaIpcExporter.*", nullptr);
      ::_exit(127);
    }
    ::close(input[0]);
    ::close(output[1]);
    input_ = input[1];
    std::FILE* const lines = ::fdopen(output[0], "r");
    std::array<char, 1024> line{};
    while (std::fgets(line.data(), line.size(), lines) != nullptr) {
      std::array<char, 200> memory_text{}, event_text{};
      if (std::sscanf(line.data(), "HANDLES %199s %199s", memory_text.data(), event_text.data()) !=
          2)
        continue;
      memory = from_hex(memory_text.data()).value();
      event = from_hex(event_text.data()).value();
      break;
    }
    output_ = lines;
  }
  ~Exporter() { end(); }
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  void end() {
    if (pid_ <= 0) return;
    ::close(input_);
    ::waitpid(pid_, nullptr, 0);
    std::fclose(output_);
    pid_ = -1;
  }

  Bytes memory, event;

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  std::FILE* output_ = nullptr;
};

TEST_F(CudaIpcTest, OpensAnotherProcessesMemoryOnce) {
  const Exporter exporter;
  ASSERT_EQ(exporter.memory.size(), 64u);
  auto first = device_->open_buffer(exporter.memory).value();
  auto second = device_->open_buffer(exporter.memory).value();
  EXPECT_EQ(first->address(), second->address());
  EXPECT_GE(first->size_bytes(), kSize);
  Bytes mark(1);
  read_buffer(*first, kSize - 1, mark);
  EXPECT_EQ(mark, Bytes{0x5a});
  const auto event = device_->open_event(exporter.event);
  ASSERT_TRUE(event.ok()) << event.error().text();
  EXPECT_TRUE((*event)->complete()) << "never recorded";
}

TEST_F(CudaIpcTest, OpeningAHundredTimesLeavesNothing) {
  const Exporter exporter;
  std::size_t free_before = 0, free_after = 0, total = 0;
  { ASSERT_TRUE(device_->open_buffer(exporter.memory).ok()); }
  ASSERT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(device_->open_buffer(exporter.memory).ok());
  ASSERT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
  EXPECT_GE(free_after + (std::size_t{4} << 20), free_before);
}

TEST_F(CudaIpcTest, RefusesWhatDoesNotOpenAndGoesOn) {
  EXPECT_FALSE(device_->open_buffer(Bytes(64, 0)).ok());
  EXPECT_FALSE(device_->open_buffer(test::random_bytes(64, 7)).ok());
  EXPECT_FALSE(device_->open_buffer(Bytes(63, 1)).ok());
  EXPECT_FALSE(device_->open_event(Bytes(64, 0)).ok());
  EXPECT_FALSE(device_->open_event(test::random_bytes(64, 8)).ok());
  EXPECT_FALSE(device_->open_event(Bytes{}).ok());
  const auto own = device_->create_buffer(4096);
  EXPECT_FALSE(device_->open_buffer(own->ipc_handle()).ok()) << "CUDA refuses one's own memory";
  {
    Exporter gone;
    const Bytes memory = gone.memory, event = gone.event;
    gone.end();
    EXPECT_FALSE(device_->open_buffer(memory).ok()) << "freed with its process";
    EXPECT_FALSE(device_->open_event(event).ok());
  }
  const auto stream = device_->create_stream({});
  const auto event = device_->create_event();
  stream->begin_unit();
  stream->record(event);
  event->synchronize();
}

TEST_F(CudaIpcTest, IsFoundByUuid) {
  EXPECT_TRUE(device_->accepts_uuid(device_->own_uuid()));
  EXPECT_TRUE(device_->accepts_uuid("GPU-" + device_->own_uuid()));
  EXPECT_FALSE(device_->accepts_uuid("0"));
  EXPECT_FALSE(device_->accepts_uuid("HOST-0"));
}

}  // namespace
}  // namespace kvc::cuda
