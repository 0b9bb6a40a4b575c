// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/testee.h"

#include <array>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace kvc::server {
namespace {

constexpr std::size_t kMessageBytesMax = 256U << 20U;
constexpr int kBadFramingExitCode = 2;

const TesteeCommands& commands() {
  static const TesteeCommands all = [] {
    TesteeCommands out;
    add_testee_codec(out);
    add_testee_registry(out);
    add_testee_hashes(out);
    return out;
  }();
  return all;
}

Json hello() {
  // The pickle reader runs nothing, so hostile ones are welcome.
  Json implemented = Json::array({"hello", "hostile_pickles"});
  for (const auto& [name, command] : commands()) implemented.push_back(name);
  return ok_reply({{"name", "kvserver"},
                   {"version", KVC_VERSION},
                   {"release", "0.4.5"},
                   {"implemented", std::move(implemented)}});
}

}  // namespace

Json ok_reply(Json value) { return {{"ok", std::move(value)}}; }

Json error_reply(const std::string& kind, const std::string& message, const std::string& path) {
  return {{"error", {{"kind", kind}, {"path", path}, {"message", message}}}};
}

Json error_reply(const Error& error) {
  return error_reply(phrase(error.code), error.message, error.path);
}

Bytes binary_of(const Json& json) {
  if (!json.is_binary()) throw std::invalid_argument("expected bytes");
  return json.get_binary();
}

Json testee_reply(const Json& message) {
  if (!message.is_object() || !message.contains("command") || !message["command"].is_string())
    return error_reply("malformed", "a message is a map with a command");
  const std::string name = message["command"].get<std::string>();
  if (name == "hello") return hello();
  const auto found = commands().find(name);
  if (found == commands().end()) return {{"unimplemented", "there is no such command"}};
  try {
    return found->second(message);
  } catch (const std::exception& error) {
    return error_reply("malformed", error.what());
  }
}

int run_testee(std::istream& in, std::ostream& out, std::ostream& err) {
  std::array<char, 4> header{};
  while (in.read(header.data(), header.size())) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < header.size(); ++i)
      size |= static_cast<std::size_t>(static_cast<unsigned char>(header[i])) << (8 * i);
    if (size > kMessageBytesMax) {
      err << "kvserver --testee: a message of " << size << " bytes; at most " << kMessageBytesMax
          << " are read\n";
      return kBadFramingExitCode;
    }
    Bytes bytes(size);
    if (!in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) break;
    const std::optional<Json> message = read_message(bytes);
    const Bytes reply = write_message(message ? testee_reply(*message)
                                              : error_reply("malformed", "no msgpack message"));
    for (std::size_t i = 0; i < header.size(); ++i)
      header[i] = static_cast<char>(reply.size() >> (8 * i));
    out.write(header.data(), header.size());
    out.write(reinterpret_cast<const char*>(reply.data()),
              static_cast<std::streamsize>(reply.size()));
    out.flush();
  }
  return 0;
}

}  // namespace kvc::server
