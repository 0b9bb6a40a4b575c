// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// stub_testee FLAW COMMAND: a testee for the tests of the referee. It answers hello, says ok to
// decode, and is right about what it does not know, but at COMMAND it shows its flaw: "hangs",
// "exits", "crashes", "closes", "babbles", "garbage", "lies" (ok to everything). A frame that
// begins with 0xfe inside a batch counts as the command "poison".
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kvc/protocol/json_message.h"

namespace {

using kvc::Bytes;
using kvc::Json;

void write_reply(const Bytes& reply) {
  Bytes whole;
  for (int i = 0; i < 4; ++i) whole.push_back(static_cast<std::uint8_t>(reply.size() >> (8 * i)));
  whole.insert(whole.end(), reply.begin(), reply.end());
  std::fwrite(whole.data(), 1, whole.size(), stdout);
  std::fflush(stdout);
}

bool is_poison(const Json& bytes) {
  return bytes.is_binary() && !bytes.get_binary().empty() && bytes.get_binary().front() == 0xfe;
}

bool has_poison(const Json& message) {
  if (message.contains("bytes")) return is_poison(message["bytes"]);
  if (!message.contains("frames")) return false;
  for (const Json& frame : message["frames"])
    if (is_poison(frame[2])) return true;
  return false;
}

void show_flaw(const std::string& flaw) {
  if (flaw == "hangs") ::pause();
  if (flaw == "exits") std::exit(3);
  if (flaw == "crashes") {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  }
  if (flaw == "closes") {
    std::fclose(stdout);
    ::pause();
  }
  if (flaw == "garbage") write_reply({0xc1});
  if (flaw == "babbles") {
    write_reply({0x81, 0xa2, 'o', 'k', 0xc0, 'x'});
  }
}

Json answer(const std::string& command, const Json& message) {
  if (command == "hello")
    return {{"ok",
             {{"name", "stub"},
              {"version", "1"},
              {"release", "0.4.5"},
              {"implemented", {"hello", "decode", "decode_batch"}}}}};
  if (command == "decode") return {{"ok", nullptr}};
  if (command == "decode_batch") {
    Json replies = Json::array();
    for (std::size_t i = 0; i < message["frames"].size(); ++i) replies.push_back({{"ok", nullptr}});
    return {{"ok", replies}};
  }
  return {{"unimplemented", "the stub has no " + command}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string flaw = argc > 1 ? argv[1] : "none";
  const std::string where = argc > 2 ? argv[2] : "";
  std::array<unsigned char, 4> header{};
  while (std::fread(header.data(), 1, header.size(), stdin) == header.size()) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < header.size(); ++i) size |= std::size_t{header[i]} << (8 * i);
    Bytes bytes(size);
    if (std::fread(bytes.data(), 1, size, stdin) != size) break;
    const std::optional<Json> message = kvc::read_message(bytes);
    if (!message) return 4;
    const std::string command = message->value("command", "");
    const bool here = command == where || (where == "poison" && has_poison(*message));
    if (flaw == "lies" && command != "hello") {
      write_reply(kvc::write_message({{"ok", nullptr}}));
    } else if (here) {
      std::fprintf(stderr, "stub: %s at %s\n", flaw.c_str(), where.c_str());
      show_flaw(flaw);
    } else {
      write_reply(kvc::write_message(answer(command, *message)));
    }
  }
  return 0;
}
