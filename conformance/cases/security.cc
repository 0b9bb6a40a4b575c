// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Security: the Ext in a KVCache is a Python pickle, and a pickle can be a program. A server parses
// it and never runs it. The canaries do no harm: they sleep half a second, or make an empty file in
// a folder of the test's own. They are sent only with --security.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/harness/pickle_builder.h"
#include "kvc/device/export_tensor.h"

namespace kvc::conformance {
namespace {

using Clock = std::chrono::steady_clock;
using Pickles = std::vector<std::pair<std::string, Bytes>>;

// A REGISTER_KV_CACHE around the pickle; all else in it is right, and no device is needed.
Frames registration(Case& test, const Bytes& pickle) {
  return {msg::unsigned_integer(test.random()() >> 2),
          msg::array({msg::ext(1, pickle)}),
          msg::str(test.unique("canary")),
          msg::integer(1),
          msg::str("vllm"),
          msg::map({})};
}

void expect_all_refused(Case& test, const Pickles& pickles) {
  Client client = test.client();
  for (const auto& [what, pickle] : pickles) {
    test.step(what);
    client.expect_silence(client.send(RequestType::kRegisterKvCache, registration(test, pickle)),
                          "a REGISTER_KV_CACHE with " + what);
  }
  test.expect_alive("pickles that are to be refused");
}

// The time of one NOOP right behind `first`, which is never answered itself.
Clock::duration noop_behind(Client& client, const Frames* first) {
  const Clock::time_point start = Clock::now();
  if (first != nullptr) client.send(RequestType::kRegisterKvCache, *first);
  client.call<std::string>(RequestType::kNoop);
  return Clock::now() - start;
}

void canary_cannot_sleep(Case& test) {
  Client client = test.client();
  const Bytes sleep = pkl::document(pkl::call(pkl::global("time", "sleep"), {pkl::real(0.5)}));
  const Bytes other = pkl::document(pkl::call(pkl::global("time", "monotonic"), {}));
  const Frames quiet = registration(test, other);
  const Frames canary = registration(test, sleep);
  Clock::duration baseline = noop_behind(client, &quiet);
  baseline = std::max(baseline, noop_behind(client, &quiet));
  // Late three times out of three, by nearly all of the half second: it was slept.
  int late = 0;
  for (int i = 0; i < 3; ++i)
    if (noop_behind(client, &canary) > baseline + std::chrono::milliseconds(450)) ++late;
  test.expect(late < 3, "a NOOP behind the canary as prompt as any other",
              "three NOOPs out of three came half a second late: the server ran time.sleep(0.5) "
              "out of a client's bytes");
}

// A folder that goes with the case.
class Nest {
 public:
  explicit Nest(Case& test)
      : path_(std::filesystem::temp_directory_path() / test.unique("kvconform-canary")) {
    std::filesystem::create_directory(path_);
  }
  ~Nest() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Nest(const Nest&) = delete;
  Nest& operator=(const Nest&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// open(path, "w") in every way in which a pickle can have it called.
Pickles canaries(const Nest& nest) {
  Pickles out;
  const auto arguments = [&](const std::string& name) {
    return std::vector<Bytes>{pkl::str(nest.file(name)), pkl::str("w")};
  };
  const Bytes open = pkl::global("builtins", "open");
  const Bytes open_4 = pkl::stack_global("builtins", "open");
  const auto flat = [](const std::vector<Bytes>& values) { return msg::join(values); };
  out.emplace_back("reduce", pkl::document(pkl::call(open, arguments("reduce"))));
  out.emplace_back("reduce-stack-global",
                   pkl::document(pkl::call(open_4, arguments("reduce-stack-global"))));
  out.emplace_back(
      "inst",
      pkl::document(msg::join(
          {{'('}, flat(arguments("inst")), {'i'}, to_bytes(as_bytes("builtins\nopen\n"))})));
  out.emplace_back("obj", pkl::document(msg::join({{'('}, open, flat(arguments("obj")), {'o'}})));
  out.emplace_back(
      "inside-a-state",
      pkl::document(pkl::object(pkl::stack_global(pkl::kWrapperModule, pkl::kCudaWrapper),
                                {{"handle", pkl::call(open, arguments("inside-a-state"))}})));
  out.emplace_back(
      "inside-a-tuple",
      pkl::document(pkl::tuple({pkl::integer(0), pkl::call(open, arguments("inside-a-tuple"))})));
  out.emplace_back("popped",
                   pkl::document(msg::join({pkl::call(open, arguments("popped")), {'0', 'N'}})));
  return out;
}

void canary_cannot_touch_a_file(Case& test) {
  const Nest nest(test);
  Client client = test.client();
  const Pickles all = canaries(nest);
  for (const auto& [name, pickle] : all)
    client.send(RequestType::kRegisterKvCache, registration(test, pickle));
  client.fence();
  for (const auto& [name, pickle] : all)
    test.expect(!std::filesystem::exists(nest.file(name)), "no file made out of a client's bytes",
                fmt::format("the server has made the file that the canary '{}' names", name));
}

Pickles foreign_objects() {
  const Bytes wrapper = pkl::stack_global(pkl::kWrapperModule, pkl::kCudaWrapper);
  return {
      {"None", pkl::document(pkl::none())},
      {"an int", pkl::document(pkl::integer(1))},
      {"a str", pkl::document(pkl::str("text"))},
      {"bytes", pkl::document(pkl::bytes(Bytes(64, 1)))},
      {"a dict", pkl::document(pkl::dict({{"handle", pkl::none()}}))},
      {"a list", pkl::document(pkl::list({pkl::integer(1)}))},
      {"the wrapper's class itself", pkl::document(wrapper)},
      {"a function", pkl::document(pkl::global("os", "system"))},
      {"a module's class", pkl::document(pkl::global("collections", "OrderedDict"))},
      {"an object of another class",
       pkl::document(
           pkl::object(pkl::global("types", "SimpleNamespace"), {{"handle", pkl::none()}}))},
      {"an object of another class of the same module",
       pkl::document(pkl::object(pkl::stack_global(pkl::kWrapperModule, "BlockAllocationRecord"),
                                 {{"req_id", pkl::str("x")}}))},
      {"a class that does not exist",
       pkl::document(pkl::object(pkl::stack_global(pkl::kWrapperModule, "Nothing"), {}))},
      {"a module that does not exist",
       pkl::document(pkl::object(pkl::global("no.such.module", "CudaIPCWrapper"), {}))},
      {"a wrapper's name in another module",
       pkl::document(pkl::object(pkl::global("builtins", "CudaIPCWrapper"), {}))},
      {"an extension code", pkl::document({0x82, 0x01})},
      {"a persistent id", pkl::document({'P', 'x', '\n'})},
  };
}

Pickles bombs() {
  const std::size_t depth = 100000;
  Bytes lists(depth, ']');
  lists.insert(lists.end(), depth - 1, 'a');  // APPEND: each into the one below it
  Bytes marks(1000000, '(');
  Bytes doubling = pkl::list({pkl::integer(0)});
  for (std::uint8_t i = 0; i < 60; ++i) {  // each list holds the one before it twice
    doubling = msg::join(
        {pkl::memoized(doubling), {'0'}, pkl::list({pkl::memo_get(i), pkl::memo_get(i)})});
  }
  return {
      {"lists nested 100,000 deep", pkl::document(lists)},
      {"a million marks", pkl::document(marks)},
      {"lists that double 60 times through the memo", pkl::document(doubling)},
      {"a str of 2^32-1 bytes that is not there",
       pkl::document({'X', 0xff, 0xff, 0xff, 0xff, 'x'})},
      {"bytes of 2^62 bytes that are not there",
       pkl::document({0x8e, 0, 0, 0, 0, 0, 0, 0, 0x40, 'x'})},
      {"an int of 2^31-1 bytes that are not there",
       pkl::document({0x8b, 0xff, 0xff, 0xff, 0x7f, 1})},
      {"a frame of 2^62 bytes", pkl::document({0x95, 0, 0, 0, 0, 0, 0, 0, 0x40, 'N'})},
      {"a memo index of 2^31-1", pkl::document({'N', 'j', 0xff, 0xff, 0xff, 0x7f})},
      {"a tuple of a million elements",
       pkl::document(pkl::tuple(std::vector<Bytes>(1000000, {'N'})))},
      {"8 MiB of str", pkl::document(pkl::str(std::string(std::size_t{8} << 20, 'x')))},
  };
}

}  // namespace

void add_security_cases(CaseList& list, const Registry&) {
  list.add({.id = "Security.PickleCannotSleep",
            .proves = {"security.pickle-runs-nothing"},
            .claim = "A pickle that would call time.sleep(0.5) delays nothing.",
            .needs = {Capability::kSecurity},
            .body = canary_cannot_sleep});
  list.add({.id = "Security.PickleCannotTouchAFile",
            .proves = {"security.pickle-runs-nothing"},
            .claim =
                "A pickle that would call open(path, \"w\"), in any way that pickles have to call, "
                "makes no file.",
            .needs = {Capability::kSecurity},
            .body = canary_cannot_touch_a_file});
  list.add({.id = "Security.RefusesPicklesOfOtherThings",
            .proves = {"security.pickle-other-objects"},
            .claim = "A pickle of anything but the two wrapper classes is refused: no reply.",
            .needs = {},
            .body = [](Case& test) { expect_all_refused(test, foreign_objects()); }});
  list.add({.id = "Security.SurvivesPickleBombs",
            .proves = {"security.pickle-bounds", "robustness.one-client-stops-nobody"},
            .claim = "Pickles that claim or build too much are refused, and the server serves on.",
            .needs = {},
            .body = [](Case& test) { expect_all_refused(test, bombs()); }});
}

}  // namespace kvc::conformance
