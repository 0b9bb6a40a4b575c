// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, the first generation: CB_LOOKUP_PRE_COMPUTED answers ranges of paragraphs, and
// CB_RETRIEVE_PRE_COMPUTED takes them.
#include <limits>

#include "conformance/cases/blend_cases.h"
#include "conformance/cases/blend_paragraphs.h"

namespace kvc::conformance {
namespace {

constexpr BlendGeneration kV1 = BlendGeneration::kV1;

Range range(std::size_t start, std::size_t end) { return {Int(start), Int(end)}; }

struct Scene {
  explicit Scene(Case& test, std::size_t num_chunks = 8)
      : player(registered_blend_player(test, num_chunks, kV1)),
        paragraphs(test, player),
        chunk(player.chunk_size()) {}

  BlendPlayer player;
  Paragraphs paragraphs;
  std::size_t chunk;
};

void exact(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, scene.chunk + 3}) {
    test.step("offset " + std::to_string(offset));
    player.fill(test.random()());
    const Tokens document = scene.paragraphs.document(3);
    const Bytes contents = player.content(offset, 3 * scene.chunk);
    player.store_ok(player.key(document), Int(offset));
    player.fill(test.random()());
    const Bytes before = player.image();
    const Paragraphs::Query query = scene.paragraphs.around(document);
    const Key key = player.key(query.tokens);
    const Ranges ranges = {range(query.start, query.start + 3 * scene.chunk)};
    player.expect_ranges(key, ranges, "of a stored paragraph");
    player.retrieve_ok(key, ranges, Int(offset));
    player.expect_image(player.with(before, offset + query.start, contents),
                        "the paragraph, retrieved with offset " + std::to_string(offset));
  }
}

void part_of_a_paragraph(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  const Tokens document = scene.paragraphs.document(3, 4);
  player.fill(test.random()());
  const Bytes contents = player.content(0, 2 * scene.chunk);
  player.store_ok(player.key(player.part(document, 0, 2)));
  player.stamp(1);
  const Bytes before = player.image();
  const Paragraphs::Query query = scene.paragraphs.around(document);
  const Key key = player.key(query.tokens);
  const Ranges ranges = {range(query.start, query.start + 2 * scene.chunk)};
  player.expect_ranges(key, ranges, "of a paragraph of which two chunks of three were stored");
  player.retrieve_ok(key, ranges);
  player.expect_image(player.with(before, query.start, contents), "the two chunks");
}

void nothing_stored(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  const Tokens document = scene.paragraphs.document(2);
  player.expect_ranges(player.key(scene.paragraphs.around(document).tokens), {},
                       "of a paragraph that was never stored");
  player.expect_ranges(player.key(Tokens{}), {}, "of no tokens");
}

// A chunk that was stored behind another is not found at the beginning of a paragraph.
void from_its_own_beginning(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  const Tokens document = scene.paragraphs.document(2);
  const Tokens longer = player.query({player.document(1), document});
  player.store_ok(player.key(longer));
  player.expect_ranges(player.key(scene.paragraphs.around(document).tokens), {},
                       "of a paragraph whose chunks were stored behind another chunk only");
}

void locks(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  const Tokens document = scene.paragraphs.document(2);
  player.store_ok(player.key(document));
  const Paragraphs::Query query = scene.paragraphs.around(document);
  const Key key = player.key(query.tokens);
  const Ranges ranges = {range(query.start, query.start + 2 * scene.chunk)};
  for (int i = 0; i < 2; ++i) player.expect_ranges(key, ranges, "of the paragraph");
  for (int i = 0; i < 2; ++i) player.retrieve_ok(key, ranges);
  player.stamp(5);
  const Bytes before = player.image();
  TransferResult result = player.retrieve(key, ranges);
  test.expect(!result.ok, "False for a third retrieve after two lookups", describe(Value(result)));
  player.expect_ranges(key, ranges, "of the paragraph");
  player.end_session(key.request_id);
  result = player.retrieve(key, ranges);
  test.expect(!result.ok, "False for a retrieve after END_SESSION", describe(Value(result)));
  player.expect_image(before, "retrieves without a lock");
}

void not_all_found(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  const std::size_t chunk = scene.chunk;
  const Tokens document = scene.paragraphs.document(3);
  player.fill(test.random()());
  const Bytes contents = player.content(0, 2 * chunk);
  player.store_ok(player.key(player.part(document, 0, 2)));
  player.stamp(7);
  const Bytes before = player.image();
  const Paragraphs::Query query = scene.paragraphs.around(document, 3);
  const std::size_t at = query.start;
  const Ranges found = {range(at, at + 2 * chunk)};
  for (const Ranges& asked :
       {Ranges{range(at, at + 3 * chunk)}, Ranges{range(at + 1, at + 1 + chunk)},
        Ranges{found[0], range(at + chunk, at + 2 * chunk)}}) {
    const Key key = player.key(query.tokens);
    player.expect_ranges(key, found, "of the two stored chunks");
    const TransferResult result = player.retrieve(key, asked);
    test.expect(!result.ok,
                "False for ranges of which not all was found: " + describe(Value(asked)),
                describe(Value(result)));
    player.expect_image(before, "a retrieve of which not all was found");
    player.end_session(key.request_id);
  }
  const Key key = player.key(query.tokens);
  player.expect_ranges(key, found, "after the retrieves that failed");
  player.retrieve_ok(key, found, 1);
  player.expect_image(player.with(before, at + 1, contents), "the next good retrieve");
}

void bounds(Case& test) {
  Scene scene(test, 3);
  BlendPlayer& player = scene.player;
  const auto chunk = static_cast<std::int64_t>(scene.chunk);
  const Tokens document = scene.paragraphs.document(2);
  player.store_ok(player.key(document));
  player.fill(test.random()());
  const Bytes before = player.image();
  const Paragraphs::Query query = scene.paragraphs.around(document, 1);
  const auto at = static_cast<std::int64_t>(query.start);
  const auto length = static_cast<std::int64_t>(player.shape().num_tokens);
  const Ranges ranges = {range(query.start, query.start + 2 * scene.chunk)};
  for (const Int offset :
       {Int(-1 - at), Int(-chunk - at), Int(-2 * chunk - at), Int(length - 2 * chunk - at + 1),
        Int(length - chunk - at), Int(length), Int(std::numeric_limits<std::int64_t>::max()),
        Int(std::numeric_limits<std::int64_t>::min()), Int(std::uint64_t{1} << 63)}) {
    const Key key = player.key(query.tokens);
    player.expect_ranges(key, ranges, "of the paragraph");
    const std::string what = "a retrieve with offset " + offset.to_string();
    player.expect_never_true(
        player.send_retrieve(key, ranges, offset, player.instance_id(), player.ready_event()),
        what);
    player.store_ok(player.key(player.document(1)), 0, "another store");
    player.expect_image(before, what);
    player.end_session(key.request_id);
  }
}

// Ranges that are none of the query's.
void bad_ranges(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  const Tokens document = scene.paragraphs.document(2);
  player.store_ok(player.key(document));
  player.fill(test.random()());
  const Bytes before = player.image();
  const Paragraphs::Query query = scene.paragraphs.around(document);
  const Ranges found = {range(query.start, query.start + 2 * scene.chunk)};
  const Int far(query.tokens.size() + scene.chunk);
  for (const Range& bad :
       {Range{Int(-1), Int(scene.chunk - 1)}, Range{far, Int(far.bits() + scene.chunk)},
        Range{Int(query.tokens.size() - scene.chunk + 1), Int(query.tokens.size() + 1)},
        Range{Int(0), Int(std::numeric_limits<std::int64_t>::max())},
        Range{Int(std::numeric_limits<std::int64_t>::min()), Int(0)}}) {
    const Key key = player.key(query.tokens);
    player.expect_ranges(key, found, "of the paragraph");
    const std::string what = "a retrieve of a range that is not in the query, " +
                             bad.start.to_string() + " to " + bad.end.to_string();
    player.expect_never_true(player.send_retrieve(key, Ranges{found[0], bad}, 0,
                                                  player.instance_id(), player.ready_event()),
                             what);
    player.store_ok(player.key(player.document(1)), 0, "another store");
    player.expect_image(before, what);
    player.end_session(key.request_id);
  }
}

void tenants_apart(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  const Tokens document = scene.paragraphs.document(1);
  player.store_ok(player.key(document, "", "tenant"));
  const Paragraphs::Query query = scene.paragraphs.around(document);
  player.expect_ranges(player.key(query.tokens), {}, "without the tenant's salt");
  player.expect_ranges(player.key(query.tokens, "", "another"), {}, "with another salt");
  player.expect_ranges(player.key(query.tokens, "", "tenant"),
                       {range(query.start, query.start + scene.chunk)}, "of the tenant");
}

// Without salts, which not every release has.
void models_apart(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  BlendPlayer other = registered_blend_player(test, 3, kV1);
  BlendPlayer wider(test, player.shape(), player.model_name(), 2, kV1);
  wider.register_buffer();
  const Tokens document = scene.paragraphs.document(1);
  player.store_ok(player.key(document));
  const Paragraphs::Query query = scene.paragraphs.around(document);
  other.expect_ranges(other.key(query.tokens), {}, "of another model");
  wider.expect_ranges(wider.key(query.tokens), {}, "of another world_size");
  Key nobody = player.key(query.tokens);
  nobody.world_size = Int(3);
  player.expect_ranges(nobody, {}, "of a world_size without a blend buffer");
  player.expect_ranges(player.key(query.tokens), {range(query.start, query.start + scene.chunk)},
                       "of the model and world_size that stored");
}

void one_store_serves_both(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  EnginePlayer paged = paged_twin(test, player, 2);
  const Tokens document = scene.paragraphs.document(2);
  player.fill(test.random()());
  const Bytes contents = player.content(0, 2 * scene.chunk);
  player.store_ok(player.key(document));
  player.fill(test.random()());
  const Bytes before = player.image();
  const Paragraphs::Query query = scene.paragraphs.around(document);
  const std::size_t at = query.start;

  const Key first = player.key(query.tokens);
  const Ranges ranges = {range(at, at + 2 * scene.chunk)};
  player.expect_ranges(first, ranges, "of the paragraph");
  player.retrieve_ok(first, ranges, 1);
  player.expect_image(player.with(before, at + 1, contents), "by the first generation");

  player.fill(test.random()());
  const Bytes again = player.image();
  const Key second = player.key(query.tokens);
  const CBMatchResults matches = player.expect_matches(
      second, {{at, 0}, {at + scene.chunk, scene.chunk}}, "of the same paragraph");
  player.retrieve_ok(second, matches, 2);
  player.expect_image(player.with(again, at + 2, contents), "by the second generation");
  test.expect_equal(paged.lookup(document), Int(2), "chunks found by a plain LOOKUP");
}

void clear_drops(Case& test) {
  Scene scene(test);
  BlendPlayer& player = scene.player;
  const Tokens document = scene.paragraphs.document(1);
  player.store_ok(player.key(document));
  const Paragraphs::Query query = scene.paragraphs.around(document);
  const Ranges ranges = {range(query.start, query.start + scene.chunk)};
  player.expect_ranges(player.key(query.tokens), ranges, "before CLEAR");
  player.clear();
  player.expect_ranges(player.key(query.tokens), {}, "after CLEAR");
  player.fill(test.random()());
  const Bytes contents = player.chunk_at(0);
  player.store_ok(player.key(document));
  const Key key = player.key(query.tokens);
  player.expect_ranges(key, ranges, "of what was stored again");
  player.stamp(0);
  const Bytes before = player.image();
  player.retrieve_ok(key, ranges);
  player.expect_image(player.with(before, query.start, contents), "what was stored again");
}

}  // namespace

void add_blend_v1_cases(CaseList& cases) {
  const auto add = [&](const char* id, std::vector<std::string> proves, const char* claim,
                       std::function<void(Case&)> body) {
    cases.add({id, std::move(proves), claim, kBlendV1Needs, std::move(body)});
  };
  add("BlendV1.RetrieveIsExact", {"blend.v1-ranges", "blend.v1-retrieve"},
      "A range's chunks are at tokens [offset + start, …), and nothing else changed.", exact);
  add("BlendV1.RangeEndsWithWhatIsFound", {"blend.v1-ranges"},
      "The range of a paragraph ends with the last chunk found from its beginning.",
      part_of_a_paragraph);
  add("BlendV1.NothingFoundNoRange", {"blend.v1-ranges"},
      "A paragraph without a stored chunk is not answered.", nothing_stored);
  add("BlendV1.LooksFromTheParagraphsBeginning", {"blend.v1-ranges"},
      "Chunks that were stored behind others are not found at a paragraph's beginning.",
      from_its_own_beginning);
  add("BlendV1.LocksAndTheirEnd", {"blend.v1-locks"},
      "A lookup locks for one retrieve, and END_SESSION gives back what was not retrieved.", locks);
  add("BlendV1.NotAllFoundIsFalse", {"blend.v1-retrieve-all-or-nothing"},
      "When one chunk of the ranges is not there or not locked, the answer is False and nothing "
      "is written.",
      not_all_found);
  add("BlendV1.OffsetOutOfBounds", {"blend.bounds", "refusal.never-true"},
      "A retrieve with an offset that leads out of the buffer writes nothing.", bounds);
  add("BlendV1.RangeOutOfTheQuery", {"blend.v1-range-bounds", "refusal.never-true"},
      "A retrieve of a range that is not within the query writes nothing.", bad_ranges);
  add("BlendV1.TenantsAreApart", {"blend.v1-apart"}, "The salt keeps paragraphs apart.",
      tenants_apart);
  add("BlendV1.ModelsAreApart", {"blend.v1-models-apart"},
      "Model and world_size keep paragraphs apart.", models_apart);
  add("BlendV1.ClearDropsParagraphs", {"blend.v1-ranges", "clear.everything"},
      "After CLEAR no range is found; what is stored again is.", clear_drops);
  cases.add({"BlendV1.OneStoreServesBothGenerations",
             {"blend.v1-one-store"},
             "What one CB_STORE_PRE_COMPUTED stored is found by both lookups and by LOOKUP.",
             kBlendBothNeeds,
             one_store_serves_both});
}

}  // namespace kvc::conformance
