// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/registry.h"

#include <gtest/gtest.h>

#include "kvc/protocol/envelope.h"
#include "kvc/protocol/handler_signature.h"

namespace kvc {
namespace {

const Definition& row(RequestType type) { return *registry_0_4_5().find(type); }

TEST(Registry, FindsByTypeAndByNumber) {
  const Registry& registry = registry_0_4_5();
  EXPECT_EQ(registry.definitions().size(), static_cast<std::size_t>(kNumRequestTypes));
  EXPECT_EQ(registry.find_number(14)->type, RequestType::kNoop);
  EXPECT_EQ(registry.find_number(0), nullptr);
  EXPECT_EQ(registry.find_number(23), nullptr);
  EXPECT_EQ(registry.find_number(UINT64_MAX), nullptr);
  EXPECT_EQ(registry.find_number(-2), nullptr);
  EXPECT_EQ(find_registry("0.4.5"), &registry);
  EXPECT_EQ(find_registry("0.4.6"), nullptr);
}

TEST(Registry, AnswersTheSeedsQueries) {
  const Registry& registry = registry_0_4_5();
  EXPECT_EQ(registry.get_payload_classes(RequestType::kLookup)->size(), 2U);
  EXPECT_EQ(*registry.get_response_class(RequestType::kPing), WireType::kBool);
  EXPECT_EQ(*registry.get_handler_type(RequestType::kPing), HandlerType::kBlocking);
}

TEST(Registry, RefusesATypeThatTheReleaseLacks) {
  const Registry small("test", {row(RequestType::kNoop)});
  const auto answer = small.get_payload_classes(RequestType::kPing);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Errc::kUnknownType);
  EXPECT_EQ(answer.error().text(), "Invalid request type: PING");
  EXPECT_FALSE(small.get_response_class(RequestType::kPing).ok());
  EXPECT_FALSE(small.get_handler_type(RequestType::kPing).ok());
}

TEST(Names, ComeBackFromEveryEnum) {
  for (int i = 0; i < kNumRequestTypes; ++i) {
    const auto type = static_cast<RequestType>(i);
    EXPECT_EQ(parse_request_type(to_string(type)), type);
  }
  for (int i = 0; i < kNumWireTypes; ++i) {
    const auto type = static_cast<WireType>(i);
    EXPECT_EQ(parse_wire_type(to_string(type)), type);
  }
  EXPECT_FALSE(parse_request_type("store").has_value());
  EXPECT_FALSE(parse_wire_type("float").has_value());
  EXPECT_EQ(parse_handler_type("NON_BLOCKING"), HandlerType::kNonBlocking);
  EXPECT_FALSE(parse_handler_type("ASYNC").has_value());
}

TransferResult store(const Key& /*key*/, Int /*instance_id*/, const IntArray& /*block_ids*/,
                     const Bytes& /*event*/) {
  return {{}, true};
}

TEST(HandlerSignature, AcceptsTheHandlerOfItsDefinition) {
  EXPECT_TRUE(check_handler<decltype(&store)>(row(RequestType::kStore)).ok());
  EXPECT_TRUE(store({}, 0, {}, {}).ok);
  const auto clear = [] {};
  EXPECT_TRUE(check_handler<decltype(clear)>(row(RequestType::kClear)).ok());
}

TEST(HandlerSignature, RefusesAnotherArity) {
  const auto handler = [](const Key&, Int, const IntArray&) { return TransferResult{}; };
  const Result<void> result = check_handler<decltype(handler)>(row(RequestType::kStore));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Errc::kInconsistent);
  EXPECT_EQ(result.error().text(), "Handler for STORE expects 4 arguments, but got 3");
}

TEST(HandlerSignature, RefusesAnotherParameterType) {
  const auto handler = [](const Key&, const std::string&) {};
  EXPECT_EQ(check_handler<decltype(handler)>(row(RequestType::kLookup)).error().text(),
            "Handler for LOOKUP argument 1 expects type int, but got str");
}

TEST(HandlerSignature, RefusesAnotherReturnType) {
  const auto handler = [] { return Int(1); };
  EXPECT_EQ(check_handler<decltype(handler)>(row(RequestType::kNoop)).error().text(),
            "Handler for NOOP expects return type str, but got int");
}

TEST(Envelope, TypeFrameMayBeAnyEncodingOfTheNumber) {
  const Bytes wide = {0xcf, 0, 0, 0, 0, 0, 0, 0, 14};
  EXPECT_EQ((*decode_type_frame(registry_0_4_5(), wide))->type, RequestType::kNoop);
  EXPECT_EQ(encode_type_frame(registry_0_4_5(), RequestType::kNoop), Bytes{14});
  EXPECT_EQ(decode_type_frame(registry_0_4_5(), Bytes{99}).error().code, Errc::kUnknownType);
}

TEST(Envelope, PayloadsAreCountedAndDecoded) {
  const Bytes number = {7};
  const Bytes text = {0xa1, 'x'};
  const Definition& unregister = row(RequestType::kUnregisterKvCache);
  EXPECT_EQ(decode_payloads(unregister, std::vector<ByteView>{number})->at(0), Value(Int(7)));
  EXPECT_EQ(decode_payloads(unregister, {}).error().code, Errc::kWrongLength);
  EXPECT_EQ(decode_payloads(unregister, std::vector<ByteView>{number, number}).error().text(),
            "UNREGISTER_KV_CACHE has 1 payloads, got 2");
  EXPECT_EQ(decode_payloads(unregister, std::vector<ByteView>{text}).error().text(),
            "$: payload 0: expected int, got str");
}

TEST(Envelope, ResultMayBeAbsentOnlyWhereItMayBeNone) {
  const Bytes nil = {0xc0};
  const Bytes four = {4};
  const Definition& query = row(RequestType::kQueryPrefetchStatus);
  EXPECT_EQ(decode_result(query, {}).value(), Value(OptionalInt{}));
  EXPECT_EQ(decode_result(query, std::vector<ByteView>{nil}).value(), Value(OptionalInt{}));
  EXPECT_EQ(decode_result(query, std::vector<ByteView>{four}).value(), Value(OptionalInt{4}));
  EXPECT_EQ(decode_result(row(RequestType::kClear), {}).value(), Value(None{}));
  EXPECT_FALSE(decode_result(row(RequestType::kPing), {}).ok());
  EXPECT_FALSE(decode_result(row(RequestType::kClear), std::vector<ByteView>{nil, nil}).ok());
}

}  // namespace
}  // namespace kvc
