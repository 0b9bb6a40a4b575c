// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/server_under_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <thread>

#include "conformance/doctor/no_answer.h"
#include "conformance/harness/client.h"
#include "conformance/harness/probe.h"

namespace kvc::conformance {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kPort = "{port}";
constexpr std::string_view kReady = "kvserver ready ";

std::string replaced(std::string text, std::string_view what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

std::string read_from(const std::string& path, std::size_t start) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(start));
  return {std::istreambuf_iterator<char>(file), {}};
}

// The endpoint of the ready line, once that line is whole.
std::optional<std::string> ready_endpoint(const std::string& log) {
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = log.find('\n', at);
    if (end == std::string::npos) return std::nullopt;
    const std::string_view line = std::string_view(log).substr(at, end - at);
    if (line.substr(0, kReady.size()) == kReady) return std::string(line.substr(kReady.size()));
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:=,+@%").find(c) != std::string_view::npos;
  });
  return plain ? word : "'" + replaced(word, "'", "'\\''") + "'";
}

ServerUnderTest ServerUnderTest::attached(std::string endpoint, milliseconds patience) {
  ServerUnderTest server;
  server.patience_ = patience;
  server.endpoint_ = std::move(endpoint);
  return server;
}

ServerUnderTest ServerUnderTest::started(std::string command, std::string log_path,
                                         milliseconds patience) {
  ServerUnderTest server;
  server.kind_ = Kind::kStarted;
  server.command_ = std::move(command);
  server.log_path_ = std::move(log_path);
  server.patience_ = patience;
  return server;
}

ServerUnderTest ServerUnderTest::embedded(std::vector<std::string> program, std::string log_path,
                                          milliseconds patience) {
  ServerUnderTest server;
  server.kind_ = Kind::kEmbedded;
  server.program_ = std::move(program);
  server.log_path_ = std::move(log_path);
  server.patience_ = patience;
  return server;
}

void ServerUnderTest::start(RunContext& context) {
  stop();
  const Clock::time_point end = Clock::now() + patience_;
  ++num_starts_;
  if (kind_ == Kind::kAttached) {
    context.set_endpoint(endpoint_);
    return await_noop(context, end);
  }
  const std::size_t log_start = read_from(log_path_, 0).size();
  try {
    if (kind_ == Kind::kStarted) {
      const std::string port = std::to_string(free_port());
      const std::string line = replaced(command_, kPort, port);
      process_ = std::make_unique<ChildProcess>(std::vector<std::string>{"/bin/sh", "-c", line},
                                                log_path_);
      context.set_endpoint("tcp://127.0.0.1:" + port);
    } else {
      process_ = std::make_unique<ChildProcess>(program_, log_path_);
      await_ready_line(context, end, log_start);
    }
  } catch (const std::system_error& error) {
    throw ServerError(fmt::format("{} cannot be started: {}", description(), error.what()));
  }
  await_noop(context, end);
}

void ServerUnderTest::await_ready_line(RunContext& context, Clock::time_point end,
                                       std::size_t log_start) {
  while (true) {
    if (const auto endpoint = ready_endpoint(read_from(log_path_, log_start)))
      return context.set_endpoint(*endpoint);
    if (const auto reason = exit_reason()) fail(*reason);
    if (Clock::now() >= end) fail("has not said that it is ready");
    if (context.interrupted()) throw Interrupted{};
    std::this_thread::sleep_for(milliseconds(2));
  }
}

void ServerUnderTest::await_noop(RunContext& context, Clock::time_point end) const {
  Client client(context);  // connects as soon as somebody listens, and the NOOP waits until then
  client.send(RequestType::kNoop, {});
  while (true) {
    if (client.receive(milliseconds(50))) return;
    if (const auto reason = exit_reason()) fail(*reason);
    if (Clock::now() >= end)
      fail("does not answer NOOP", why_no_answer(context, context.endpoint()));
  }
}

void ServerUnderTest::fail(const std::string& what, const std::string& why) const {
  std::string text = fmt::format("{} {}", description(), what);
  if (!why.empty()) text += fmt::format(" within {} s: {}", patience_.count() / 1000, why);
  if (log_path_.empty()) throw ServerError(text);
  constexpr std::size_t kTail = 1500;
  std::string log = read_from(log_path_, 0);
  if (log.size() > kTail) log = "…" + log.substr(log.size() - kTail);
  throw ServerError(fmt::format("{}\nits last words ({}):\n{}", text, log_path_, log));
}

void ServerUnderTest::stop() { process_.reset(); }

std::optional<std::string> ServerUnderTest::death(RunContext& context) {
  return death_of_server(context);
}

std::optional<std::string> ServerUnderTest::exit_reason() const {
  return process_ ? process_->exit_reason() : std::nullopt;
}

std::string ServerUnderTest::description() const {
  switch (kind_) {
    case Kind::kAttached:
      return "the server at " + endpoint_;
    case Kind::kStarted:
      return "the server of '" + command_ + "'";
    case Kind::kEmbedded:
      return "the embedded kvserver";
  }
  return "";
}

std::string ServerUnderTest::options() const {
  switch (kind_) {
    case Kind::kAttached:
      return "--target " + shell_quoted(endpoint_);
    case Kind::kStarted:
      return "--start " + shell_quoted(command_);
    case Kind::kEmbedded:
      return "";
  }
  return "";
}

}  // namespace kvc::conformance
