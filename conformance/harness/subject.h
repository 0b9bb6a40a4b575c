// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Subject: what a run judges, be it a server behind its socket (server_under_test.h) or a testee
// behind a pipe (testee/testee.h). Judge and Run know no more of it than this: how it is started,
// whether it lives, and what it is called in a report.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "conformance/harness/run_context.h"

namespace kvc::conformance {

// The subject cannot be started, or does not answer in time. Says what it printed last.
class ServerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Subject {
 public:
  virtual ~Subject() = default;

  // Starts or restarts it, tells `context` how to reach it, and waits until it answers. Throws
  // ServerError.
  virtual void start(RunContext& context) = 0;
  virtual void stop() = 0;
  virtual bool can_restart() const = 0;

  // Whether it waits for start(), because it ended or hung in a case, whose verdict tells of it.
  virtual bool is_down() const { return false; }

  // Why it no longer answers, or nothing: it lives.
  virtual std::optional<std::string> death(RunContext& context) = 0;
  virtual std::optional<std::string> exit_reason() const = 0;

  // For people.
  virtual std::string noun() const = 0;         // "server"
  virtual std::string description() const = 0;  // "the command '…'"
  virtual std::string command() const = 0;      // of kvconform that judges such subjects: "run"
  virtual std::string options() const = 0;      // by which it judges this one: "--target tcp://…"
  virtual const std::string& log_path() const = 0;  // what it prints; empty: none

 protected:
  Subject() = default;
  Subject(const Subject&) = default;
  Subject& operator=(const Subject&) = default;
};

}  // namespace kvc::conformance
