// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, bounds: an offset that would read or write outside of the buffer is refused as a whole:
// nothing is stored, nothing is written, and the right request then works.
#include <functional>
#include <limits>

#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"

namespace kvc::conformance {
namespace {

constexpr std::uint64_t kI64Max = std::numeric_limits<std::int64_t>::max();

struct Place {
  std::string id;
  std::string claim;                                 // "an offset … "
  std::function<Int(const BlendPlayer&)> offset_of;  // for a document of two chunks
};

std::int64_t chunk_of(const BlendPlayer& player) {
  return static_cast<std::int64_t>(player.chunk_size());
}
std::int64_t length_of(const BlendPlayer& player) {
  return static_cast<std::int64_t>(player.shape().num_tokens);
}

std::vector<Place> places() {
  return {
      {"MinusOne", "an offset of -1", [](const BlendPlayer&) { return Int(-1); }},
      {"MinusAChunk", "an offset of -chunk",
       [](const BlendPlayer& player) { return Int(-chunk_of(player)); }},
      {"MinusTwoChunks", "an offset of -2 * chunk",
       [](const BlendPlayer& player) { return Int(-2 * chunk_of(player)); }},
      {"MinusTheBuffer", "an offset of minus the buffer's length",
       [](const BlendPlayer& player) { return Int(-length_of(player)); }},
      {"ATokenTooFar", "an offset with which the last chunk ends a token behind the buffer",
       [](const BlendPlayer& player) { return Int(length_of(player) - 2 * chunk_of(player) + 1); }},
      {"OneTokenInside", "an offset with which one token of the last chunk is inside",
       [](const BlendPlayer& player) { return Int(length_of(player) - chunk_of(player) - 1); }},
      {"SecondChunkOutside", "an offset with which the last chunk begins at the buffer's end",
       [](const BlendPlayer& player) { return Int(length_of(player) - chunk_of(player)); }},
      {"TheEnd", "the buffer's length as offset",
       [](const BlendPlayer& player) { return Int(length_of(player)); }},
      {"TwoToTheForty", "an offset of 2^40",
       [](const BlendPlayer&) { return Int(std::int64_t{1} << 40); }},
      {"TwoToTheSixtyOne", "an offset of 2^61",  // * 8 bytes of a token or more: 0 modulo 2^64
       [](const BlendPlayer&) { return Int(std::int64_t{1} << 61); }},
      {"MaxOfI64", "an offset of 2^63 - 1", [](const BlendPlayer&) { return Int(kI64Max); }},
      {"WrapsIntoTheBuffer", "an offset of 2^64 - chunk",
       [](const BlendPlayer& player) {
         return Int(std::uint64_t{0} - static_cast<std::uint64_t>(chunk_of(player)));
       }},
  };
}

BlendPlayer small_player(Case& test) { return registered_blend_player(test, 4); }

void expect_store_refused(Case& test, const Place& place, RequestType type) {
  BlendPlayer player = small_player(test);
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(2);
  player.fill(test.random()());
  const Bytes before = player.image();
  const std::string what = std::string(to_string(type)) + " with " + place.claim;
  const Sent sent = player.send_store(player.key(document), place.offset_of(player),
                                      player.instance_id(), player.ready_event(), type);
  player.expect_never_true(sent, what);
  player.store_ok(player.key(player.document(1)), 0, "another store");  // behind all that is queued
  player.expect_matches(player.key(document), {}, "after " + what);

  test.step("the right store after the refusal");
  const Bytes contents = player.content(2, 2 * chunk);
  player.store_ok(player.key(document), 2, "the right store", type);
  const Key key = player.key(document);
  const CBMatchResults matches =
      player.expect_matches(key, {{0, 0}, {chunk, chunk}}, "after the right store");
  player.retrieve_ok(key, matches, Int(2 * chunk + 5));
  player.expect_image(player.with(before, 2 * chunk + 5, contents), "the right store");
}

// `in_offset`: the offset is the request's; else it is cur_st of the second match, and the first
// is within the buffer.
void expect_retrieve_refused(Case& test, const Place& place, bool in_offset) {
  BlendPlayer player = small_player(test);
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(2);
  player.fill(test.random()());
  const Bytes contents = player.content(0, 2 * chunk);
  player.store_ok(player.key(document));
  player.fill(test.random()());
  const Bytes before = player.image();
  const Key key = player.key(document);
  CBMatchResults matches = player.expect_matches(key, {{0, 0}, {chunk, chunk}}, "of the document");
  Int offset = place.offset_of(player);
  if (!in_offset) {
    // The place is for the first of two chunks in a row.
    const bool negative = offset.is_negative() || offset > Int(kI64Max);
    matches[1].cur_st = negative ? offset : Int(offset.bits() + chunk);
    matches[1].cur_ed = matches[1].cur_st;
    offset = Int(0);
  }
  const std::string what = in_offset ? "a retrieve with " + place.claim
                                     : "a retrieve of which the second match has a cur_st of " +
                                           matches[1].cur_st.to_string();
  player.expect_never_true(
      player.send_retrieve(key, matches, offset, player.instance_id(), player.ready_event()), what);
  player.store_ok(player.key(player.document(1)), 0, "another store");  // behind all that is queued
  player.expect_image(before, what);

  test.step("the right retrieve after the refusal");
  const Key again = player.key(document);
  const CBMatchResults good =
      player.expect_matches(again, {{0, 0}, {chunk, chunk}}, "of the document");
  player.retrieve_ok(again, good, Int(player.shape().num_tokens - 2 * chunk));
  player.expect_image(player.with(before, player.shape().num_tokens - 2 * chunk, contents),
                      "the right retrieve, up to the buffer's last token");
}

// Neither is out of bounds alone.
void sum_is_out_of_bounds(Case& test) {
  BlendPlayer player = small_player(test);
  const Tokens document = player.document(1);
  player.store_ok(player.key(document));
  player.fill(test.random()());
  const Bytes before = player.image();
  const std::size_t far = player.shape().num_tokens - player.chunk_size();
  const std::vector<std::pair<Int, Int>> sums = {
      {Int(far), Int(1)},
      {Int(1), Int(far)},
      {Int(kI64Max), Int(kI64Max)},
      {Int(kI64Max), Int(1)},
      {Int(std::uint64_t{1} << 63), Int(std::uint64_t{1} << 63)},
      {Int(std::numeric_limits<std::int64_t>::min()), Int(std::uint64_t{1} << 62)},
  };
  for (const auto& [offset, cur_st] : sums) {
    const Key key = player.key(document);
    CBMatchResults matches = player.expect_matches(key, {{0, 0}}, "of the document");
    matches[0].cur_st = cur_st;
    const std::string what =
        "a retrieve with offset " + offset.to_string() + " and cur_st " + cur_st.to_string();
    player.expect_never_true(
        player.send_retrieve(key, matches, offset, player.instance_id(), player.ready_event()),
        what);
    player.store_ok(player.key(player.document(1)), 0, "another store");
    player.expect_image(before, what);
  }
}

void says_false(Case& test) {
  BlendPlayer player = small_player(test);
  for (const Place& place : places()) {
    const Sent sent = player.send_store(player.key(player.document(2)), place.offset_of(player),
                                        player.instance_id(), player.ready_event());
    player.expect_says_false(sent, "CB_STORE_PRE_COMPUTED with " + place.claim);
  }
}

// A document that is longer than the buffer.
void longer_than_the_buffer(Case& test) {
  BlendPlayer player = small_player(test);
  const Tokens document = player.document(5);
  player.expect_never_true(
      player.send_store(player.key(document), 0, player.instance_id(), player.ready_event()),
      "CB_STORE_PRE_COMPUTED of five chunks from a buffer of four");
  player.store_ok(player.key(player.document(1)), 0, "another store");
  player.expect_matches(player.key(document), {}, "after it");
}

}  // namespace

void add_blend_bounds_cases(CaseList& cases) {
  for (const Place& place : places()) {
    cases.add({"BlendBounds.StoreAt" + place.id,
               {"blend.bounds", "refusal.never-true"},
               "CB_STORE_PRE_COMPUTED with " + place.claim + " stores nothing.",
               kBlendV2Needs,
               [place](Case& test) {
                 expect_store_refused(test, place, RequestType::kCbStorePreComputed);
               }});
    cases.add({"BlendBounds.RetrieveAt" + place.id,
               {"blend.bounds", "blend.retrieve-untouched", "refusal.never-true"},
               "CB_RETRIEVE_PRE_COMPUTED_V2 with " + place.claim + " writes nothing.",
               kBlendV2Needs,
               [place](Case& test) { expect_retrieve_refused(test, place, true); }});
    cases.add(
        {"BlendBounds.MatchAt" + place.id,
         {"blend.bounds", "blend.retrieve-untouched", "refusal.never-true"},
         "A retrieve with a second match whose cur_st is such that it does not fit, as with " +
             place.claim + ", writes nothing, not even the first match.",
         kBlendV2Needs,
         [place](Case& test) { expect_retrieve_refused(test, place, false); }});
  }
  const std::vector<Place> all = places();
  for (const std::size_t i : {std::size_t{2}, std::size_t{5}, all.size() - 2})
    cases.add({"BlendBounds.StoreFinalAt" + all[i].id,
               {"blend.bounds", "refusal.never-true"},
               "CB_STORE_FINAL with " + all[i].claim + " stores nothing.",
               kBlendV2Needs,
               [place = all[i]](Case& test) {
                 expect_store_refused(test, place, RequestType::kCbStoreFinal);
               }});
  cases.add({"BlendBounds.OffsetAndPlaceTogether",
             {"blend.bounds", "blend.retrieve-untouched"},
             "An offset and a cur_st whose sum is outside, or overflows, write nothing.",
             kBlendV2Needs,
             sum_is_out_of_bounds});
  cases.add({"BlendBounds.DocumentLongerThanTheBuffer",
             {"blend.bounds", "refusal.never-true"},
             "A document that is longer than the buffer is not stored, and no part of it.",
             kBlendV2Needs,
             longer_than_the_buffer});
  cases.add({"BlendBounds.SaysFalse",
             {"blend.says-false"},
             "CB_STORE_PRE_COMPUTED outside of the buffer is answered with False.",
             kBlendV2Needs,
             says_false});
}

}  // namespace kvc::conformance
