// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/handler_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace kvc::server {
namespace {

using testing::HasSubstr;

Outcome invoke(const HandlerTable& table, RequestType type, const std::vector<Bytes>& payloads) {
  const std::vector<ByteView> views(payloads.begin(), payloads.end());
  return table.find(type)->invoke(views);
}

class HandlerTableTest : public testing::Test {
 protected:
  HandlerTable table_{registry_0_4_5()};
};

TEST_F(HandlerTableTest, CallsTheHandlerWithItsPayloads) {
  ASSERT_TRUE(table_.add_handler(RequestType::kFreeLookupLocks, [](const Key& key, Int tp_size) {
    EXPECT_EQ(key.model_name, "m");
    EXPECT_EQ(tp_size, 3);
    return Result<None>(None{});
  }));
  Key key;
  key.model_name = "m";
  const Outcome outcome =
      invoke(table_, RequestType::kFreeLookupLocks, {encoded(key), encoded(Int(3))});
  EXPECT_TRUE(outcome.reply);
  EXPECT_FALSE(outcome.result) << "None has no frame";
}

TEST_F(HandlerTableTest, EncodesTheResult) {
  ASSERT_TRUE(table_.add_handler(RequestType::kNoop, [] { return Result<std::string>("OK"); }));
  const Outcome outcome = invoke(table_, RequestType::kNoop, {});
  ASSERT_TRUE(outcome.result);
  EXPECT_EQ(to_hex(*outcome.result), "a24f4b");
}

TEST_F(HandlerTableTest, AnOptionalWithoutValueHasNoFrame) {
  ASSERT_TRUE(table_.add_handler(RequestType::kQueryPrefetchStatus, [](const std::string& id) {
    return Result<OptionalInt>(id.empty() ? OptionalInt{} : OptionalInt(7));
  }));
  EXPECT_FALSE(invoke(table_, RequestType::kQueryPrefetchStatus, {encoded(std::string())}).result);
  EXPECT_EQ(*invoke(table_, RequestType::kQueryPrefetchStatus, {encoded(std::string("x"))}).result,
            Bytes{7});
}

TEST_F(HandlerTableTest, WhatCannotBeDecodedGetsNoReply) {
  ASSERT_TRUE(table_.add_handler(RequestType::kUnregisterKvCache,
                                 [](Int) { return Result<None>(None{}); }));
  for (const std::vector<Bytes>& payloads :
       std::vector<std::vector<Bytes>>{{}, {{0xc0}}, {{1, 1}}, {{}}, {{1}, {1}}, {{0xc1}}}) {
    const Outcome outcome = invoke(table_, RequestType::kUnregisterKvCache, payloads);
    EXPECT_FALSE(outcome.reply);
    EXPECT_TRUE(outcome.refusal);
  }
  EXPECT_TRUE(invoke(table_, RequestType::kUnregisterKvCache, {{1}}).reply);
}

TEST_F(HandlerTableTest, ARefusalIsSaidWhereTheResultCanSayIt) {
  const Error error{Errc::kNotFound, "", "instance 1 is not registered"};
  ASSERT_TRUE(
      table_.add_handler(RequestType::kStore, [&](const Key&, Int, const IntArray&, const Bytes&) {
        return Result<TransferResult>(error);
      }));
  ASSERT_TRUE(table_.add_handler(RequestType::kLookup,
                                 [&](const Key&, Int) { return Result<None>(error); }));
  const Outcome store =
      invoke(table_, RequestType::kStore, {encoded(Key{}), {1}, {0x90}, {0xc4, 0}});
  ASSERT_TRUE(store.reply && store.result);
  EXPECT_EQ(to_hex(*store.result), "92c400c2");
  EXPECT_EQ(store.refusal->message, error.message);
  const Outcome lookup = invoke(table_, RequestType::kLookup, {encoded(Key{}), {1}});
  EXPECT_FALSE(lookup.reply);
  EXPECT_TRUE(lookup.refusal);
  // Undecodable is another matter.
  EXPECT_FALSE(invoke(table_, RequestType::kStore, {encoded(Key{}), {1}, {0x90}, {0xa0}}).reply);
}

TEST_F(HandlerTableTest, AnExceptionIsARefusal) {
  ASSERT_TRUE(table_.add_handler(
      RequestType::kNoop, []() -> Result<std::string> { throw std::runtime_error("no shm"); }));
  const Outcome outcome = invoke(table_, RequestType::kNoop, {});
  EXPECT_FALSE(outcome.reply);
  EXPECT_EQ(outcome.refusal->message, "no shm");
}

TEST_F(HandlerTableTest, RefusesAnotherSignature) {
  const auto too_few =
      table_.add_handler(RequestType::kLookup, [](const Key&) { return Result<None>(None{}); });
  ASSERT_FALSE(too_few.ok());
  EXPECT_THAT(too_few.error().message,
              HasSubstr("Handler signature does not match for request type: RequestType.LOOKUP"));
  EXPECT_THAT(too_few.error().message,
              HasSubstr("Handler for RequestType.LOOKUP expects 2 arguments, but got 1"));
  const auto wrong_type = table_.add_handler(
      RequestType::kLookup, [](const Key&, const std::string&) { return Result<None>(None{}); });
  ASSERT_FALSE(wrong_type.ok());
  EXPECT_THAT(wrong_type.error().message, HasSubstr("argument 1 expects type int, but got str"));
  const auto wrong_result =
      table_.add_handler(RequestType::kLookup, [](const Key&, Int) { return Result<Int>(1); });
  ASSERT_FALSE(wrong_result.ok());
  EXPECT_THAT(wrong_result.error().message, HasSubstr("expects return type None, but got int"));
  EXPECT_EQ(table_.find(RequestType::kLookup), nullptr);
}

TEST_F(HandlerTableTest, RefusesNonBlockingHandlers) {
  const auto refused = table_.add_handler(RequestType::kNoop, HandlerType::kNonBlocking,
                                          [] { return Result<std::string>("OK"); });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "Non-blocking handler is not supported yet");
}

TEST_F(HandlerTableTest, ABlockingHandlerWithoutPoolStopsTheStart) {
  ASSERT_TRUE(table_.add_handler(RequestType::kNoop, [] { return Result<std::string>("OK"); }));
  EXPECT_TRUE(table_.check_pools().ok());
  ASSERT_TRUE(table_.add_handler(RequestType::kPing, [] { return Result<bool>(true); }));
  const auto refused = table_.check_pools();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "BlockingRequestHandler for RequestType.PING has no thread pool assigned. Call "
            "add_normal_thread_pool or add_affinity_thread_pool before start().");
  ASSERT_TRUE(table_.add_normal_thread_pool({RequestType::kPing}, 1).ok());
  EXPECT_TRUE(table_.check_pools().ok());
}

TEST_F(HandlerTableTest, RefusesAPoolForSyncAndMissingHandlers) {
  ASSERT_TRUE(table_.add_handler(RequestType::kNoop, [] { return Result<std::string>("OK"); }));
  const auto sync = table_.add_affinity_thread_pool({RequestType::kNoop}, 1);
  ASSERT_FALSE(sync.ok());
  EXPECT_EQ(sync.error().message,
            "Handler for RequestType.NOOP is SyncRequestHandler, not BlockingRequestHandler. Only "
            "blocking handlers can use thread pools.");
  const auto missing = table_.add_affinity_thread_pool({RequestType::kStore}, 1);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message,
            "No handler registered for request type: RequestType.STORE. Register handlers before "
            "calling add_affinity_thread_pool.");
}

TEST_F(HandlerTableTest, AHandlerCanBeDecorated) {
  ASSERT_TRUE(table_.add_handler(RequestType::kNoop, [] { return Result<std::string>("OK"); }));
  table_.decorate(RequestType::kNoop, [](Invoke inner) {
    return [inner](std::span<const ByteView> payloads) {
      Outcome outcome = inner(payloads);
      outcome.result = Bytes{0xc0};
      return outcome;
    };
  });
  EXPECT_EQ(*invoke(table_, RequestType::kNoop, {}).result, Bytes{0xc0});
}

}  // namespace
}  // namespace kvc::server
