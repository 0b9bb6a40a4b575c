// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Case: one claim about a server, with the means to check it. A case is data (CaseSpec) and a body;
// each file of cases/ adds its own to a CaseList, and cases/all.cc calls them all: no hidden
// registration.
//
// Around every body the runner asks NOOP from a new client, before and after: a server that no
// longer answers is DEAD, whatever the body saw.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/client.h"
#include "conformance/harness/verdict.h"
#include "kvc/device/device.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

// What a server may lack; probed by the runner, never asked for.
enum class Capability {
  kDevice,      // REGISTER with a buffer of the run's device (--device) answers
  kHostDevice,  // and that is the host device
  kCudaDevice,  // and that is a GPU
  kBlendV1,     // CB_LOOKUP_PRE_COMPUTED answers
  kBlendV2,     // CB_LOOKUP_PRE_COMPUTED_V2 answers
  kLookupHits,  // QUERY_PREFETCH_LOOKUP_HITS answers
  kSmallCache,  // the cache is small enough to be filled by a case: context().cache_bytes() is set
                // (--cache-gb or --start tells) and at most kSmallCacheBytesMax
  kSecurity,    // the run was started with --security
  kBlendPatterns,  // blend-v1, and paragraphs are between patterns that the run knows
                   // (--blend-start, or --start tells)
  kBlendWhole,     // blend-v1, and no such patterns are known: the whole query is one paragraph
};
inline constexpr int kNumCapabilities = 10;
std::string_view to_string(Capability capability);  // "device", "blend-v1", …
std::optional<Capability> parse_capability(std::string_view name);

// A case can fill this much in a second or two, and the real server takes no less than 1 GiB.
inline constexpr std::uint64_t kSmallCacheBytesMax = std::uint64_t{1} << 30;

class Testee;

class Case {
 public:
  explicit Case(RunContext& context) : context_(context) {}

  Client client();  // a new client, new identity

  const Registry& registry() const;
  std::uint64_t chunk_size();  // tokens, asked once with GET_CHUNK_SIZE
  Device& device();            // the client side of the device under test
  std::mt19937_64& random();   // seeded by --seed and the case's id
  // A string that no other case and no other run uses: model names, salts and request ids built
  // with it make cases independent of each other on a server that lives on.
  std::string unique(std::string_view stem);

  // Finding kWrong unless `condition`.
  void expect(bool condition, const std::string& expected, const std::string& actual);
  template <class T>
  void expect_equal(const T& actual, const T& expected, const std::string& what) {
    if (!(actual == expected))
      wrong(what + " = " + describe(Value(expected)), what + " = " + describe(Value(actual)));
  }
  [[noreturn]] void wrong(const std::string& expected, const std::string& actual);
  [[noreturn]] void harness(const std::string& what);

  // The program behind the pipe: only in cases of `kvconform testee`.
  Testee& testee();
  // Adds to the number of checks that the summary tells.
  void checked(std::size_t count = 1);

  // Says in a failure's report where it happened; for bodies that loop over a table.
  void step(const std::string& note);

  // NOOP from a new client: Finding kDead when it is not answered.
  void expect_alive(const std::string& after_what);

  RunContext& context() { return context_; }

 private:
  RunContext& context_;
};

struct CaseSpec {
  std::string id;                   // "Envelope.EchoesUidByteForByte": never renumbered or reused
  std::vector<std::string> proves;  // requirements of the ledger, "envelope.echo-uid"
  std::string claim;                // one sentence
  std::vector<Capability> needs;
  std::function<void(Case&)> body;
  bool on_socket = true;  // `kvconform run` has it
  bool on_pipe = false;   // `kvconform testee` has it
};

class CaseList {
 public:
  void add(CaseSpec spec);  // asserts that the id is new and well formed
  const std::vector<CaseSpec>& cases() const { return cases_; }
  std::vector<CaseSpec>& cases() { return cases_; }

 private:
  std::vector<CaseSpec> cases_;
};

// The cases of `kvconform run`, in the order of the files (cases/all.cc).
CaseList all_cases(const Registry& registry);

// Both lists as one, for what has to know every id: a rule that is judged both ways has one case.
CaseList merged(const CaseList& socket_cases, const CaseList& pipe_cases);

}  // namespace kvc::conformance
