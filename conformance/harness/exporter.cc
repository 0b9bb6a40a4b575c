// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/exporter.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "conformance/harness/server_choice.h"
#include "kvc/device/buffer_access.h"
#include "kvc/device/host_device.h"
#include "kvc/device/manual_event.h"

extern char** environ;

namespace kvc::conformance {
namespace {

struct Pipe {
  int read = -1;
  int write = -1;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
};

// Up to the line's end, or what came before the other side closed.
std::string read_line(int descriptor) {
  std::string line;
  char next = 0;
  while (::read(descriptor, &next, 1) == 1 && next != '\n') line += next;
  return line;
}

}  // namespace

Exporter::Exporter(Case& test, std::size_t size_bytes, bool pending) : test_(test) {
  Pipe input, output;
  if (!input.open() || !output.open()) test.harness("no pipe for a process that exports memory");
  std::vector<std::string> words = {"/proc/self/exe", "export",
                                    "--device",       std::string(test.device().name()),
                                    "--size-bytes",   std::to_string(size_bytes)};
  if (pending) words.emplace_back("--pending");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.read, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.write, STDOUT_FILENO);
  const int error =
      ::posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(input.read);
  ::close(output.write);
  input_ = input.write;
  std::istringstream line(error == 0 ? read_line(output.read) : "");
  ::close(output.read);

  std::string word, memory, event;
  line >> word >> memory >> event;
  const Result<Bytes> memory_bytes = from_hex(memory), event_bytes = from_hex(event);
  if (word != "exports" || !memory_bytes || !event_bytes || event_bytes->empty()) {
    if (error != 0) pid_ = -1;
    kill();
    test.harness("a process that exports memory says '" + line.str() + "'");
  }
  memory_handle_ = *memory_bytes;
  event_handle_ = *event_bytes;
}

Exporter::~Exporter() { kill(); }

void Exporter::end() { wait(); }

void Exporter::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
  wait();
  if (test_.device().name() == "host") sweep_dead_processes(kDeviceNamePrefix);
}

// It ends when its stdin does, if it was not killed.
void Exporter::wait() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int run_exporter(const ExportOptions& options) {
  const std::unique_ptr<Device> device = device_of(options.device);
  const std::shared_ptr<Buffer> buffer = device->create_buffer(options.size_bytes);
  write_buffer(*buffer, 0, Bytes(options.size_bytes, kExportedByte));
  std::optional<ManualEvent> pending;
  std::shared_ptr<Event> event;
  if (options.pending)
    event = pending.emplace(*device).event();
  else
    event = device->create_event();
  std::cout << "exports " << to_hex(buffer->ipc_handle()) << " " << to_hex(event->ipc_handle())
            << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  return 0;
}

}  // namespace kvc::conformance
