// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "mutants/command_line.h"
#include "mutants/flaw.h"
#include "mutants/flawed_stream.h"

namespace kvc::mutants {
namespace {

std::string ledger() {
  std::ifstream file(KVC_SOURCE_DIR "/conformance/requirements.yaml");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Flaws, AreManyAndEachHasItsOwnName) {
  std::set<std::string> names;
  for (const Flaw& flaw : all_flaws()) {
    EXPECT_TRUE(names.insert(flaw.name).second) << flaw.name;
    EXPECT_EQ(flaw.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."),
              std::string::npos)
        << flaw.name;
  }
  EXPECT_GE(names.size(), 60U);
}

TEST(Flaws, SayInOneSentenceWhatIsWrong) {
  std::set<std::string> sentences;
  for (const Flaw& flaw : all_flaws()) {
    EXPECT_TRUE(flaw.sentence.ends_with('.')) << flaw.name;
    EXPECT_EQ(flaw.sentence.find(". "), std::string::npos) << flaw.name;
    EXPECT_TRUE(sentences.insert(flaw.sentence).second) << flaw.name;
  }
}

TEST(Flaws, BreakRequirementsOfTheLedger) {
  const std::string text = ledger();
  ASSERT_FALSE(text.empty());
  for (const Flaw& flaw : all_flaws())
    EXPECT_NE(text.find("  - id: " + flaw.requirement + "\n"), std::string::npos)
        << flaw.name << ": " << flaw.requirement;
}

TEST(Flaws, ChangeSomething) {
  for (const Flaw& flaw : all_flaws()) {
    const Changes changes = flaw.make();
    EXPECT_TRUE(changes.options || changes.units || changes.handlers || changes.message ||
                changes.reply)
        << flaw.name;
  }
}

TEST(Flaws, OfRacesNameTheirProperty) {
  std::size_t num_races = 0;
  for (const Flaw& flaw : all_flaws())
    if (!flaw.property.empty()) {
      EXPECT_TRUE(flaw.name.starts_with("race-")) << flaw.name;
      ++num_races;
    }
  EXPECT_GE(num_races, 3U);
}

struct Parsed {
  std::optional<MutantCommand> command;
  int exit_code = -1;
  std::string out;
  std::string err;
};

Parsed parse(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Parsed parsed;
  parsed.command = parse_mutant_command(arguments, out, err, parsed.exit_code);
  parsed.out = out.str();
  parsed.err = err.str();
  return parsed;
}

TEST(MutantCommandLine, LeavesTheRestToKvserver) {
  const Parsed parsed = parse({"--bind", "tcp://127.0.0.1:1", "--flaw", "answers-twice", "--x"});
  ASSERT_TRUE(parsed.command);
  ASSERT_NE(parsed.command->flaw, nullptr);
  EXPECT_EQ(parsed.command->flaw->name, "answers-twice");
  EXPECT_EQ(parsed.command->for_kvserver,
            (std::vector<std::string>{"--bind", "tcp://127.0.0.1:1", "--x"}));
  EXPECT_EQ(parse({"--flaw=answers-twice"}).command->flaw->name, "answers-twice");
  EXPECT_EQ(parse({}).command->flaw, nullptr);
}

TEST(MutantCommandLine, SaysTheNearestNameOfAnUnknownOne) {
  const Parsed parsed = parse({"--flaw", "answer-twise"});
  EXPECT_FALSE(parsed.command);
  EXPECT_EQ(parsed.exit_code, 2);
  EXPECT_NE(parsed.err.find("answer-twise"), std::string::npos);
  EXPECT_NE(parsed.err.find("do you mean answers-twice?"), std::string::npos) << parsed.err;
  EXPECT_EQ(parse({"--flaw"}).exit_code, 2);
}

TEST(MutantCommandLine, ListsEachFlawOnALine) {
  const Parsed parsed = parse({"--list-flaws"});
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_EQ(static_cast<std::size_t>(std::count(parsed.out.begin(), parsed.out.end(), '\n')),
            all_flaws().size());
  EXPECT_NE(parsed.out.find("answers-twice\tenvelope.one-reply\t-\t"), std::string::npos);
}

}  // namespace
}  // namespace kvc::mutants
