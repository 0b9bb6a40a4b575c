// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/child_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

namespace kvc::conformance {
namespace {

[[noreturn]] void fail(const std::string& call) {
  throw std::system_error(errno, std::generic_category(), call);
}

// In the child: only what is safe between fork and exec.
[[noreturn]] void become(char* const* arguments, int log, int null, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // when we are killed, nobody else ends it
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execvp(arguments[0], arguments);
  constexpr char kSorry[] = "kvconform: this program cannot be started\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kSorry, sizeof(kSorry) - 1);
  ::_exit(127);
}

std::string reason_of(int status) {
  if (WIFEXITED(status)) return fmt::format("exited with status {}", WEXITSTATUS(status));
  return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                     ::strsignal(WTERMSIG(status)));
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::string& log_path) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) fail("open " + log_path);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become(arguments.data(), log, null, parent);
  const int error = errno;
  ::close(log);
  if (null >= 0) ::close(null);
  if (pid_ < 0) {
    errno = error;
    fail("fork");
  }
  ::setpgid(pid_, pid_);  // whoever of the two comes first
}

ChildProcess::~ChildProcess() { stop(); }

std::optional<std::string> ChildProcess::exit_reason() {
  std::scoped_lock lock(mutex_);
  if (exit_reason_) return exit_reason_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == pid_) exit_reason_ = reason_of(status);
  return exit_reason_;
}

void ChildProcess::stop(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  ::kill(-pid_, SIGTERM);
  // A shell that was the command dies at once; the server that it started may still be tidying up.
  const auto group_lives = [this] { return !exit_reason() || ::kill(-pid_, 0) == 0; };
  while (group_lives() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ::kill(-pid_, SIGKILL);  // what is left of the group
  while (!exit_reason()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) fail("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool found =
      ::bind(socket, generic, size) == 0 && ::getsockname(socket, generic, &size) == 0;
  const int error = errno;
  ::close(socket);
  errno = error;
  if (!found) fail("bind to a free port");
  return ntohs(address.sin_port);
}

}  // namespace kvc::conformance
