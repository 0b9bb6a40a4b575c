// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Pipe: a child process that answers one message with one message on its stdin and stdout, each a
// 4-byte little-endian length and that many bytes. It knows nothing of what the messages say.
// Errors: a child that ended, hangs or says too much is an answer (PipeFault), not an exception;
// only a failure of our own system calls throws std::system_error. One thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "kvc/protocol/bytes.h"

namespace kvc::conformance {

// What became of a testee that gave no reply.
struct PipeFault {
  enum class Kind {
    kExited,   // the process ended, or closed its stdout
    kHangs,    // no complete reply within the time
    kTooLong,  // a length beyond kReplyBytesMax, or bytes after a reply
  };
  Kind kind = Kind::kExited;
  std::string text;  // "exited with status 3", "killed by signal 11 (Segmentation fault)"
};

class Pipe {
 public:
  static constexpr std::size_t kReplyBytesMax = 256U << 20U;

  // Starts `command` with /bin/sh in a process group of its own; its stderr goes to `log_path`.
  Pipe(const std::string& command, const std::string& log_path);
  ~Pipe();  // ends the process group
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // Writes a message and reads one. The write does not wait for a reader for longer than `timeout`.
  std::variant<Bytes, PipeFault> exchange(ByteView message, std::chrono::milliseconds timeout);

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  std::optional<PipeFault> write_all(ByteView bytes, Deadline deadline);
  std::optional<PipeFault> read_all(std::uint8_t* out, std::size_t size, Deadline deadline);
  PipeFault ended();
  bool says_too_much() const;

  pid_t pid_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
};

}  // namespace kvc::conformance
