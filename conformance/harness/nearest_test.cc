// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/nearest.h"

#include <gtest/gtest.h>

namespace kvc::conformance {
namespace {

TEST(Nearest, NamesWhatWasMeant) {
  const std::vector<std::string> known{"Envelope.EchoesShortUids", "Store.WritesBlocks",
                                       "Lookup.CountsChunks"};
  EXPECT_EQ(did_you_mean("Envelope.EchosShortUids", known),
            "; did you mean Envelope.EchoesShortUids?");
  EXPECT_EQ(did_you_mean("store.writesblocks", known), "; did you mean Store.WritesBlocks?");
  EXPECT_EQ(did_you_mean("Lookup.Counts", known), "; did you mean Lookup.CountsChunks?");
  EXPECT_EQ(did_you_mean("Something.Else", known), "");
  EXPECT_EQ(did_you_mean("", {}), "");
}

}  // namespace
}  // namespace kvc::conformance
