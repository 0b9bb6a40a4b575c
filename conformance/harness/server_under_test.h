// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ServerUnderTest: where the judged server comes from: it is there already (--target), a command
// starts it (--start), or the kvserver beside our own binary does. Started ones can be started
// again after a case has killed them, and end with this object.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/child_process.h"
#include "conformance/harness/run_context.h"
#include "conformance/harness/subject.h"

namespace kvc::conformance {

class ServerUnderTest : public Subject {
 public:
  static ServerUnderTest attached(
      std::string endpoint, std::chrono::milliseconds patience = std::chrono::milliseconds(10000));
  // `command` is a line for /bin/sh with {port} in it; log_path takes what it prints.
  static ServerUnderTest started(std::string command, std::string log_path,
                                 std::chrono::milliseconds patience);
  // `program` prints "kvserver ready ENDPOINT" when it can serve.
  static ServerUnderTest embedded(std::vector<std::string> program, std::string log_path,
                                  std::chrono::milliseconds patience);

  // Starts or restarts the server, tells `context` its endpoint, and waits until it answers NOOP.
  // Throws ServerError. An attached server is only waited for.
  void start(RunContext& context) override;
  void stop() override;

  bool can_restart() const override { return kind_ != Kind::kAttached; }
  int num_starts() const { return num_starts_; }
  // NOOP from a new client is not answered.
  std::optional<std::string> death(RunContext& context) override;
  std::optional<std::string> exit_reason() const override;

  std::string noun() const override { return "server"; }
  std::string command() const override { return "run"; }

  // For people: "tcp://127.0.0.1:5555", "the command '…'", "the embedded kvserver".
  std::string description() const override;
  // As options that judge the same server again: "--target tcp://…", "--start '…'", "".
  std::string options() const override;
  const std::string& log_path() const override { return log_path_; }  // empty when attached

 private:
  enum class Kind { kAttached, kStarted, kEmbedded };

  void await_ready_line(RunContext& context, std::chrono::steady_clock::time_point end,
                        std::size_t log_start);
  void await_noop(RunContext& context, std::chrono::steady_clock::time_point end) const;
  // `why` it is so, where more is known than that it took too long.
  [[noreturn]] void fail(const std::string& what, const std::string& why = "") const;

  Kind kind_ = Kind::kAttached;
  std::string endpoint_;  // of an attached one
  std::string command_;   // of a started one
  std::vector<std::string> program_;
  std::string log_path_;
  std::chrono::milliseconds patience_{10000};
  std::unique_ptr<ChildProcess> process_;
  int num_starts_ = 0;
};

// 'it'"'"'s' : one word for a shell.
std::string shell_quoted(const std::string& word);

}  // namespace kvc::conformance
