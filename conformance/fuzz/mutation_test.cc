// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What the generator says of its messages, against the decoder, and the decoder against golden/.
#include "conformance/fuzz/mutation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "conformance/fuzz/message_class.h"
#include "conformance/harness/message_text.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

Frames legal_request(const Registry& registry, Random& random) {
  const auto rows = registry.definitions();
  const Definition& row = rows[below(random, rows.size())];
  Frames frames = {encoded(Int(random() >> 1U)), encode_type_frame(registry, row.type)};
  for (const WireType type : row.payloads) frames.push_back(legal_frame(type, random));
  return frames;
}

TEST(Mutation, LegalFramesAreLegal) {
  for (const Registry* registry : {&registry_0_4_5(), &registry_0_4_2()}) {
    Random random(1);
    for (int i = 0; i < 1500; ++i) {
      const Frames frames = legal_request(*registry, random);
      const MessageClass message = classify(*registry, frames);
      ASSERT_TRUE(message.legal()) << message.why << " in " << frames_hex(frames, 200);
    }
  }
}

TEST(Mutation, ClaimsAgreeWithTheDecoder) {
  const Registry& registry = registry_0_4_5();
  for (int m = 0; m < kNumMutations; ++m) {
    const auto mutation = static_cast<Mutation>(m);
    Random random(static_cast<std::uint64_t>(m) + 1);
    const bool is_large = mutation == Mutation::kHuge || mutation == Mutation::kDeep;
    int num_changed = 0;
    // Some fit few requests: a pickle is in two of 22 types.
    const int tries = is_large ? 40 : 400;
    for (int i = 0; i < tries || (num_changed <= 5 && i < 20 * tries); ++i) {
      const Frames before = legal_request(registry, random);
      Frames frames = before;
      if (mutation == Mutation::kCanary)
        make_canary(frames, registry, "/nowhere/canary");
      else if (!mutate(mutation, registry, frames, random))
        continue;
      ++num_changed;
      const MessageClass message = classify(registry, frames);
      switch (legality_of(mutation)) {
        case Legality::kLegal:
          ASSERT_TRUE(message.legal())
              << to_string(mutation) << ": " << message.why << " in " << frames_hex(frames, 200);
          break;
        case Legality::kIllegal:
          ASSERT_FALSE(message.legal())
              << to_string(mutation) << ": " << describe_request(registry, frames) << " from "
              << describe_request(registry, before);
          break;
        case Legality::kEither:
          break;
      }
      if (!keeps_meaning(mutation)) continue;
      const MessageClass same = classify(registry, before);
      ASSERT_EQ(message.definition, same.definition) << to_string(mutation);
      ASSERT_EQ(message.payloads, same.payloads)
          << to_string(mutation) << ": " << describe_request(registry, frames) << " from "
          << describe_request(registry, before);
    }
    EXPECT_GT(num_changed, 5) << to_string(mutation);
  }
}

TEST(Mutation, KindsOfMessagesAreWhatTheyAreCalled) {
  const Registry& registry = registry_0_4_5();
  const std::map<Mutation, MessageKind> kinds = {
      {Mutation::kFewFrames, MessageKind::kTooFewFrames},
      {Mutation::kTypeNumber, MessageKind::kUnknownType},
      {Mutation::kTypeKind, MessageKind::kOtherType},
      {Mutation::kTypeMalformed, MessageKind::kNoType},
      {Mutation::kPayloadMissing, MessageKind::kWrongCount},
      {Mutation::kPayloadExtra, MessageKind::kWrongCount},
      {Mutation::kManyFrames, MessageKind::kWrongCount},
      {Mutation::kOtherKind, MessageKind::kBadPayload},
      {Mutation::kCanary, MessageKind::kBadPayload}};
  for (const auto& [mutation, kind] : kinds) {
    Random random(7);
    for (int i = 0; i < 300; ++i) {
      Frames frames = legal_request(registry, random);
      if (mutation == Mutation::kCanary)
        make_canary(frames, registry, "/nowhere/canary");
      else if (!mutate(mutation, registry, frames, random))
        continue;
      ASSERT_EQ(to_string(classify(registry, frames).kind), to_string(kind))
          << to_string(mutation) << ": " << frames_hex(frames);
    }
  }
}

TEST(Mutation, IsTheSameFromTheSameSeed) {
  const Registry& registry = registry_0_4_5();
  for (int m = 0; m < kNumMutations - 1; ++m) {
    Random one(42);
    Random two(42);
    Frames first = legal_request(registry, one);
    Frames second = legal_request(registry, two);
    mutate(static_cast<Mutation>(m), registry, first, one);
    mutate(static_cast<Mutation>(m), registry, second, two);
    EXPECT_EQ(first, second) << to_string(static_cast<Mutation>(m));
  }
}

// A message around each frame of golden/ is called what the real decoder says of the frame.
TEST(MessageClass, AgreesWithTheRealDecoder) {
  const Registry& registry = registry_0_4_5();
  int num_frames = 0;
  for (const bool accepted : {true, false}) {
    const std::filesystem::path folder =
        std::string(KVC_SOURCE_DIR "/golden/0.4.5/") + (accepted ? "accept" : "reject");
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      std::ifstream stream(file.path());
      std::string line;
      std::getline(stream, line);
      const auto type = parse_wire_type(nlohmann::json::parse(line).at("type").get<std::string>());
      ASSERT_TRUE(type) << file.path();
      // A row with such a payload; types of results alone have none.
      const Definition* row = nullptr;
      std::size_t index = 0;
      for (const Definition& definition : registry.definitions())
        for (std::size_t i = 0; i < definition.payloads.size(); ++i)
          if (definition.payloads[i] == *type) {
            row = &definition;
            index = i;
          }
      if (row == nullptr) continue;
      Random random(3);
      Frames frames = {{0}, encode_type_frame(registry, row->type)};
      for (const WireType payload : row->payloads) frames.push_back(legal_frame(payload, random));
      while (std::getline(stream, line)) {
        const auto hex = nlohmann::json::parse(line).at("hex").get<std::string>();
        frames[index + 2] = from_hex(hex).value();
        const MessageClass message = classify(registry, frames);
        EXPECT_EQ(message.legal(), accepted) << file.path() << ": " << line;
        ++num_frames;
      }
    }
  }
  EXPECT_GT(num_frames, 1000);
}

}  // namespace
}  // namespace kvc::conformance
