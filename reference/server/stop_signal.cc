// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/stop_signal.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace kvc::server {

StopSignal::StopSignal() : fd_(-1) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &signals, nullptr); error != 0)
    throw std::system_error(error, std::generic_category(), "pthread_sigmask");
  fd_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

StopSignal::~StopSignal() { ::close(fd_); }

}  // namespace kvc::server
