// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/testee/testee.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/harness/server_under_test.h"
#include "conformance/harness/verdict.h"

namespace kvc::conformance {
namespace {

// A testee that ends or hangs so often is not worth the time.
constexpr int kStartsMax = 60;

// Enough to make the pipe's turns cheap, small enough to find the one that it ends at.
constexpr std::size_t kBatchItemsMax = 256;
constexpr std::size_t kBatchBytesMax = std::size_t{1} << 20;

std::vector<std::string> strings_of(const Json& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Json& element : list)
    if (element.is_string()) out.push_back(element.get<std::string>());
  return out;
}

std::size_t size_of(const Json& value) {
  if (value.is_binary()) return value.get_binary().size();
  return value.is_structured() ? 9 * value.size() : 9;  // near enough to bound a batch
}

Json placed_array(const Placed& item) {
  return Json::array({item.type, item.position, item.content});
}

Json single_message(const std::string& what, const Placed& item) {
  return {{"command", what},
          {"type", item.type},
          {"position", item.position},
          {what == "decode" ? "bytes" : "value", item.content}};
}

}  // namespace

bool Hello::implements(const std::string& command) const {
  return std::find(implemented.begin(), implemented.end(), command) != implemented.end();
}

std::string Hello::description() const { return version.empty() ? name : name + " " + version; }

std::string Testee::options() const {
  return shell_quoted(command_) + (golden_.empty() ? "" : " --golden " + shell_quoted(golden_));
}

void Testee::start(RunContext& context) {
  context_ = &context;
  pipe_.reset();
  if (++num_starts_ > kStartsMax)
    throw ServerError(fmt::format("it was started {} times already", kStartsMax));
  pipe_ = std::make_unique<Pipe>(command_, log_path_);
  const auto answer = exchange({{"command", "hello"}});
  const std::string words =
      log_path_.empty() ? "" : fmt::format(" (its stderr is in {})", log_path_);
  if (const auto* fault = std::get_if<PipeFault>(&answer)) {
    pipe_.reset();
    throw ServerError(
        fmt::format("{} does not answer hello: {}{}", description(), fault->text, words));
  }
  const auto& reply = std::get<TesteeReply>(answer);
  if (!reply.ok() || !reply.value.is_object() || !reply.value.contains("name") ||
      !reply.value["name"].is_string() || !reply.value.contains("implemented")) {
    pipe_.reset();
    throw ServerError(fmt::format("{} answers hello with {}", description(), reply.text()));
  }
  const auto text = [&](const char* key) {
    return reply.value.contains(key) && reply.value[key].is_string()
               ? reply.value[key].get<std::string>()
               : std::string();
  };
  hello_ = {text("name"), text("version"), text("release"), strings_of(reply.value["implemented"])};
}

std::optional<std::string> Testee::death(RunContext&) {
  if (is_down()) return "it is down";
  const auto answer = exchange({{"command", "hello"}});
  if (std::holds_alternative<TesteeReply>(answer)) return std::nullopt;
  pipe_.reset();
  return "hello is not answered: the testee " + std::get<PipeFault>(answer).text;
}

std::variant<TesteeReply, PipeFault> Testee::exchange(const Json& message) {
  if (context_->interrupted()) throw Interrupted{};
  const auto answer = pipe_->exchange(write_message(message), context_->settings().timeout);
  if (const auto* fault = std::get_if<PipeFault>(&answer)) return *fault;
  const Bytes& bytes = std::get<Bytes>(answer);
  const std::optional<Json> reply = read_message(bytes);
  const std::string asked = message.value("command", "");
  if (!reply)
    throw Finding{
        Verdict::kWrong, "a msgpack map in reply to " + asked,
        fmt::format("{} bytes that are none: {}", bytes.size(),
                    to_hex(ByteView(bytes).first(std::min<std::size_t>(bytes.size(), 32)))),
        ""};
  const auto parsed = reply_of(*reply);
  if (const auto* reason = std::get_if<std::string>(&parsed))
    throw Finding{Verdict::kWrong, "a reply to " + asked, *reason, ""};
  return std::get<TesteeReply>(parsed);
}

void Testee::fail(const PipeFault& fault, const std::string& asked) {
  pipe_.reset();
  const Verdict verdict = fault.kind == PipeFault::Kind::kHangs ? Verdict::kSilent : Verdict::kDead;
  throw Finding{verdict, "a reply to " + asked, "the testee " + fault.text, ""};
}

TesteeReply Testee::ask(const std::string& command, Json message) {
  Json whole = {{"command", command}};
  whole.update(message);
  const auto answer = exchange(whole);
  if (const auto* fault = std::get_if<PipeFault>(&answer))
    fail(*fault, command + " " + text_of(message));
  return std::get<TesteeReply>(answer);
}

// Nothing: the testee has no batches. Throws PipeFault.
std::optional<std::vector<TesteeReply>> Testee::ask_batch(const std::string& what,
                                                          std::span<const Placed> items) {
  Json list = Json::array();
  for (const Placed& item : items) list.push_back(placed_array(item));
  const std::string command = what + "_batch";
  const auto answer =
      exchange({{"command", command}, {what == "decode" ? "frames" : "values", std::move(list)}});
  if (const auto* fault = std::get_if<PipeFault>(&answer)) throw *fault;
  const auto& reply = std::get<TesteeReply>(answer);
  if (reply.kind == TesteeReply::Kind::kUnimplemented) return std::nullopt;
  if (!reply.ok() || !reply.value.is_array() || reply.value.size() != items.size())
    throw Finding{Verdict::kWrong, fmt::format("{} replies to a {}", items.size(), command),
                  reply.text(), ""};
  std::vector<TesteeReply> out;
  for (const Json& element : reply.value) {
    const auto parsed = reply_of(element);
    if (const auto* reason = std::get_if<std::string>(&parsed))
      throw Finding{Verdict::kWrong, "replies in a " + command, *reason, ""};
    out.push_back(std::get<TesteeReply>(parsed));
  }
  return out;
}

std::vector<TesteeReply> Testee::ask_all(const std::string& what, std::span<const Placed> items,
                                         const std::function<std::string(std::size_t)>& name) {
  std::vector<TesteeReply> out;
  while (out.size() < items.size()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0;
         count < kBatchItemsMax && out.size() + count < items.size() && bytes < kBatchBytesMax;
         ++count)
      bytes += size_of(items[out.size() + count].content);
    const std::span<const Placed> batch = items.subspan(out.size(), count);
    std::optional<PipeFault> fault;
    if (hello_.implements(what + "_batch")) {
      try {
        if (auto replies = ask_batch(what, batch)) {
          out.insert(out.end(), replies->begin(), replies->end());
          continue;
        }
      } catch (const PipeFault& caught) {
        fault = caught;
        start(*context_);
      }
    }
    for (const Placed& item : batch) {
      const auto answer = exchange(single_message(what, item));
      if (const auto* single = std::get_if<PipeFault>(&answer))
        fail(*single, what + " of " + name(out.size()));
      out.push_back(std::get<TesteeReply>(answer));
    }
    if (fault)
      fail(*fault, fmt::format("a {}_batch of {} items that it answers one by one, the first {}",
                               what, count, name(out.size() - count)));
  }
  return out;
}

}  // namespace kvc::conformance
