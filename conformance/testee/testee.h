// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Testee: a codec and registry in a program of its own, asked over a pipe (README.md has the
// messages). It is the subject of `kvconform testee`, and what the cases ask.
//
// Messages are JSON values in which bytes are binary. A testee that ends, hangs or says what is no
// reply throws a Finding: kDead, kSilent, kWrong; after the first two it is down until start(). A
// refusal and "unimplemented" are replies. One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "conformance/harness/subject.h"
#include "conformance/testee/pipe.h"
#include "kvc/protocol/json_message.h"

namespace kvc::conformance {

struct TesteeReply {
  enum class Kind { kOk, kError, kUnimplemented };
  Kind kind = Kind::kOk;
  Json value;           // of kOk
  std::string error;    // of kError: its kind, "arity"
  std::string path;     // of kError: "$.token_ids[3]", or empty
  std::string message;  // of kError and kUnimplemented

  bool ok() const { return kind == Kind::kOk; }
  // "ok: …", "an error (arity): …", "unimplemented: …"
  std::string text() const;
};

struct Hello {
  std::string name;
  std::string version;
  std::string release;
  std::vector<std::string> implemented;

  bool implements(const std::string& command) const;
  std::string description() const;  // "kvserver 0.1.0"
};

// A frame to decode or a value to encode, and where in the registry it stands.
struct Placed {
  Json type;      // a name
  Json position;  // a number, or "result"
  Json content;   // binary, or the value
};

class Testee : public Subject {
 public:
  // `golden` is only remembered, for options().
  Testee(std::string command, std::string golden, std::string log_path)
      : command_(std::move(command)), golden_(std::move(golden)), log_path_(std::move(log_path)) {}

  // ---- Subject ----
  void start(RunContext& context) override;
  void stop() override { pipe_.reset(); }
  bool can_restart() const override { return true; }
  bool is_down() const override { return pipe_ == nullptr; }
  std::optional<std::string> death(RunContext& context) override;
  std::optional<std::string> exit_reason() const override { return std::nullopt; }
  std::string noun() const override { return "testee"; }
  std::string description() const override { return "the testee '" + command_ + "'"; }
  std::string command() const override { return "testee"; }
  std::string options() const override;
  const std::string& log_path() const override { return log_path_; }

  // ---- for the cases ----
  const Hello& hello() const { return hello_; }

  // `message` without its command: {"type": "STORE", …}.
  TesteeReply ask(const std::string& command, Json message = Json::object());

  // All of them in batches, or one by one where the testee has no batches. `what` is "decode" or
  // "encode". When it ends or hangs in a batch, they are asked again one by one, to find which did
  // it: `name(i)` says what it was.
  std::vector<TesteeReply> ask_all(const std::string& what, std::span<const Placed> items,
                                   const std::function<std::string(std::size_t)>& name);

 private:
  std::variant<TesteeReply, PipeFault> exchange(const Json& message);
  [[noreturn]] void fail(const PipeFault& fault, const std::string& asked);
  std::optional<std::vector<TesteeReply>> ask_batch(const std::string& what,
                                                    std::span<const Placed> items);

  std::string command_;
  std::string golden_;
  std::string log_path_;
  std::unique_ptr<Pipe> pipe_;
  RunContext* context_ = nullptr;
  Hello hello_;
  int num_starts_ = 0;
};

// The reply that a map says; its reason not to be one where it is none.
std::variant<TesteeReply, std::string> reply_of(const Json& message);

// JSON as people read it: bytes as hex, long things cut.
std::string text_of(const Json& value, std::size_t bytes_max = 160);

}  // namespace kvc::conformance
