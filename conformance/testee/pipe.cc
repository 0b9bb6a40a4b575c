// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/testee/pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "kvc/protocol/assert.h"

namespace kvc::conformance {
namespace {

[[noreturn]] void throw_errno(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

struct Ends {
  int read = -1;
  int write = -1;
};

Ends make_pipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) throw_errno("pipe2 for a testee");
  return {fds[0], fds[1]};
}

void set_nonblocking(int fd) {
  if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) throw_errno("fcntl O_NONBLOCK");
}

// Waits until `fd` is ready for `events`. False when the deadline passes first.
bool ready(int fd, short events, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() < 0) return false;
    pollfd entry{fd, events, 0};
    const int n = ::poll(&entry, 1, static_cast<int>(left.count()) + 1);
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) throw_errno("poll on a testee");
  }
}

}  // namespace

Pipe::Pipe(const std::string& command, const std::string& log_path) {
  // A testee that ends while we write must be an answer, not the end of us.
  ::signal(SIGPIPE, SIG_IGN);
  const Ends in = make_pipe();
  const Ends out = make_pipe();
  pid_ = ::fork();
  if (pid_ < 0) throw_errno("fork a testee");
  if (pid_ == 0) {
    ::setpgid(0, 0);
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(in.read, STDIN_FILENO);
    ::dup2(out.write, STDOUT_FILENO);
    const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log >= 0) ::dup2(log, STDERR_FILENO);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::setpgid(pid_, pid_);  // also here: whoever comes first
  ::close(in.read);
  ::close(out.write);
  to_child_ = in.write;
  from_child_ = out.read;
  set_nonblocking(to_child_);
  set_nonblocking(from_child_);
}

Pipe::~Pipe() {
  ::close(to_child_);
  ::close(from_child_);
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

PipeFault Pipe::ended() {
  int status = 0;
  std::string text = "closed its stdout";
  if (pid_ > 0) {
    // Its stdout is closed. A process that closed it and lives on has left the conversation too.
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    if (WIFEXITED(status)) {
      text = "exited with status " + std::to_string(WEXITSTATUS(status));
      if (WEXITSTATUS(status) == 127) text += " (the command was not found)";
      // So the shell tells of a program that it waited for.
      if (WEXITSTATUS(status) > 128 && WEXITSTATUS(status) <= 128 + 64)
        text += " (signal " + std::to_string(WEXITSTATUS(status) - 128) + ", " +
                ::strsignal(WEXITSTATUS(status) - 128) + ")";
    } else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
      text = "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
             ::strsignal(WTERMSIG(status)) + ")";
    }
  }
  return {PipeFault::Kind::kExited, text};
}

std::optional<PipeFault> Pipe::write_all(ByteView bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(to_child_, bytes.data(), bytes.size());
    if (n > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      if (!ready(to_child_, POLLOUT, deadline))
        return PipeFault{PipeFault::Kind::kHangs, "does not read its stdin"};
    } else if (n < 0 && errno == EPIPE) {
      return ended();
    } else if (n < 0 && errno != EINTR) {
      throw_errno("write to a testee");
    }
  }
  return std::nullopt;
}

std::optional<PipeFault> Pipe::read_all(std::uint8_t* out, std::size_t size, Deadline deadline) {
  while (size > 0) {
    const ssize_t n = ::read(from_child_, out, size);
    if (n > 0) {
      out += n;
      size -= static_cast<std::size_t>(n);
    } else if (n == 0) {
      return ended();
    } else if (errno == EAGAIN) {
      if (!ready(from_child_, POLLIN, deadline))
        return PipeFault{PipeFault::Kind::kHangs, "gave no reply within the time"};
    } else if (errno != EINTR) {
      throw_errno("read from a testee");
    }
  }
  return std::nullopt;
}

// Whether bytes are there that nobody asked for. They would be taken for the next reply.
bool Pipe::says_too_much() const {
  pollfd entry{from_child_, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0 && (entry.revents & POLLIN) != 0;
}

std::variant<Bytes, PipeFault> Pipe::exchange(ByteView message, std::chrono::milliseconds timeout) {
  KVC_ASSERT(message.size() <= 0xffffffffU);
  if (pid_ < 0) return PipeFault{PipeFault::Kind::kExited, "ended before"};
  const Deadline deadline = std::chrono::steady_clock::now() + timeout;
  std::array<std::uint8_t, 4> header{};
  if (says_too_much())
    return PipeFault{PipeFault::Kind::kTooLong, "wrote more than its last reply"};
  for (std::size_t i = 0; i < header.size(); ++i)
    header[i] = static_cast<std::uint8_t>(message.size() >> (8 * i));
  if (auto fault = write_all(header, deadline)) return *fault;
  if (auto fault = write_all(message, deadline)) return *fault;
  if (auto fault = read_all(header.data(), header.size(), deadline)) return *fault;
  std::size_t size = 0;
  for (std::size_t i = 0; i < header.size(); ++i)
    size |= static_cast<std::size_t>(header[i]) << (8 * i);
  if (size > kReplyBytesMax)
    return PipeFault{PipeFault::Kind::kTooLong,
                     "announces a reply of " + std::to_string(size) + " bytes"};
  Bytes reply(size);
  if (auto fault = read_all(reply.data(), size, deadline)) return *fault;
  return reply;
}

}  // namespace kvc::conformance
