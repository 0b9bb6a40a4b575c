// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/dispatcher.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

namespace kvc::server {
namespace {

// Keeps jobs until it is told to run them.
class HeldPool final : public ThreadPool {
 public:
  void submit(std::uint64_t affinity_key, Job job) override {
    affinity_keys.push_back(affinity_key);
    jobs.push_back(std::move(job));
  }
  void run_all() {
    while (!jobs.empty()) {
      jobs.front()();
      jobs.pop_front();
    }
  }
  std::deque<Job> jobs;
  std::vector<std::uint64_t> affinity_keys;
};

class MemorySink final : public ReplySink {
 public:
  void send(Reply reply) override { add(reply); }
  void post(Reply reply) override { add(reply); }
  // "identity|uid|type|result", in hex.
  std::vector<std::string> replies;

 private:
  void add(const Reply& reply) {
    std::string text = to_hex(reply.identity.view()) + "|" + to_hex(reply.uid.view()) + "|" +
                       to_hex(reply.type.view());
    if (reply.result) text += "|" + to_hex(*reply.result);
    replies.push_back(text);
  }
};

class DispatcherTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(table_.add_handler(RequestType::kNoop, [] { return Result<std::string>("OK"); }));
    ASSERT_TRUE(table_.add_handler(RequestType::kPing, [] { return Result<bool>(true); }));
    ASSERT_TRUE(table_.add_handler(RequestType::kEndSession, [this](const std::string& id) {
      if (id == "throw") throw std::runtime_error("thrown");
      ended_.push_back(id);
      return Result<None>(None{});
    }));
    ASSERT_TRUE(table_
                    .assign_pool({RequestType::kPing, RequestType::kEndSession}, pool_,
                                 "add_normal_thread_pool")
                    .ok());
  }
  void dispatch(const std::vector<Bytes>& frames) {
    Message message;
    for (const Bytes& frame : frames) message.emplace_back(frame);
    dispatcher_.dispatch(std::move(message));
  }
  const Bytes kClient{0, 1, 2, 3, 4};

  std::vector<std::string> refusals_;
  std::vector<std::string> debug_;
  bool wants_debug_ = false;
  std::vector<std::string> ended_;
  HandlerTable table_{registry_0_4_5()};
  std::shared_ptr<HeldPool> pool_ = std::make_shared<HeldPool>();
  MemorySink sink_;
  RequestLog log_{
      {[this] { return wants_debug_; }, [this](const std::string& line) { debug_.push_back(line); },
       [this](const std::string& line) { refusals_.push_back(line); }},
      [] { return TimePoint{}; }};
  Dispatcher dispatcher_{table_, sink_, log_, 10'000, 30'000};
};

TEST_F(DispatcherTest, EchoesUidAndTypeByteForByte) {
  dispatch({kClient, {1}, {14}});
  dispatch({kClient, {0xc1, 0xff}, {0xcf, 0, 0, 0, 0, 0, 0, 0, 14}});
  dispatch({kClient, {}, {14}});
  EXPECT_EQ(sink_.replies, (std::vector<std::string>{"0001020304|01|0e|a24f4b",
                                                     "0001020304|c1ff|cf000000000000000e|a24f4b",
                                                     "0001020304||0e|a24f4b"}));
  EXPECT_TRUE(refusals_.empty());
}

TEST_F(DispatcherTest, DropsAndNotesWhatIsNoRequest) {
  const std::vector<std::vector<Bytes>> junk{
      {},
      {kClient},
      {kClient, {1}},
      {kClient, {1}, {0}},
      {kClient, {1}, {99}},
      {kClient, {1}, {0xc1}},
      {kClient, {1}, {}},
      {kClient, {1}, {14, 14}},
      {kClient, {1}, {0xa4, 'N', 'O', 'O', 'P'}},
      {kClient, {1}, {14}, {0xc0}},
      {kClient, {1}, {3}},  // STORE, not registered here
      std::vector<Bytes>(16),
  };
  for (const auto& frames : junk) dispatch(frames);
  pool_->run_all();
  EXPECT_TRUE(sink_.replies.empty());
  EXPECT_EQ(refusals_.size(), junk.size());
  dispatch({kClient, {1}, {14}});
  EXPECT_EQ(sink_.replies.size(), 1U);
}

TEST_F(DispatcherTest, ABlockingRequestHoldsUpNoSyncOne) {
  dispatch({kClient, {1}, {12}});
  dispatch({kClient, {2}, {14}});
  EXPECT_EQ(sink_.replies, (std::vector<std::string>{"0001020304|02|0e|a24f4b"}));
  pool_->run_all();
  EXPECT_EQ(sink_.replies.back(), "0001020304|01|0c|c3");
}

TEST_F(DispatcherTest, OneClientHasOneAffinityKey) {
  dispatch({kClient, {1}, {12}});
  dispatch({{9}, {1}, {12}});
  dispatch({kClient, {2}, {12}});
  ASSERT_EQ(pool_->affinity_keys.size(), 3U);
  EXPECT_EQ(pool_->affinity_keys[0], pool_->affinity_keys[2]);
  EXPECT_NE(pool_->affinity_keys[0], pool_->affinity_keys[1]);
}

TEST_F(DispatcherTest, AHandlerThatThrowsIsARefusal) {
  dispatch({kClient, {1}, {9}, encoded(std::string("throw"))});
  dispatch({kClient, {2}, {9}, encoded(std::string("r"))});
  pool_->run_all();
  EXPECT_EQ(sink_.replies, (std::vector<std::string>{"0001020304|02|09"}));
  EXPECT_EQ(ended_, (std::vector<std::string>{"r"}));
  ASSERT_EQ(refusals_.size(), 1U);
  EXPECT_NE(refusals_[0].find("thrown"), std::string::npos);
}

TEST_F(DispatcherTest, AFloodIsBoundedPerClient) {
  for (int i = 0; i < 1000; ++i) dispatch({kClient, {1}, {12}});
  EXPECT_LT(pool_->jobs.size(), 20U);
  EXPECT_LE(dispatcher_.queued_bytes(), 10'000U);
  const std::size_t num_queued = pool_->jobs.size();
  dispatch({{9}, {1}, {12}});  // another client has its own share
  EXPECT_EQ(pool_->jobs.size(), num_queued + 1);
  pool_->run_all();
  EXPECT_EQ(dispatcher_.queued_bytes(), 0U);
  dispatch({kClient, {1}, {12}});
  EXPECT_EQ(pool_->jobs.size(), 1U);
}

TEST_F(DispatcherTest, JobsThatAPoolDropsGiveTheirShareBack) {
  for (int i = 0; i < 5; ++i) dispatch({kClient, {1}, {12}});
  EXPECT_GT(dispatcher_.queued_bytes(), 0U);
  pool_->jobs.clear();
  EXPECT_EQ(dispatcher_.queued_bytes(), 0U);
}

TEST_F(DispatcherTest, SaysALineARequestAtDebugLevel) {
  dispatch({kClient, {1}, {14}});
  EXPECT_TRUE(debug_.empty());
  wants_debug_ = true;
  dispatch({kClient, {1}, {14}});
  ASSERT_EQ(debug_.size(), 1U);
  EXPECT_EQ(debug_[0], "NOOP from 0001020304: answered");
}

TEST_F(DispatcherTest, AnyFramesAreSurvived) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<Bytes> frames(random() % 6);
    for (Bytes& frame : frames) {
      frame.resize(random() % 5);
      for (std::uint8_t& byte : frame)
        byte = static_cast<std::uint8_t>(random() % 2 == 0 ? random() : random() % 24);
    }
    dispatch(frames);
    pool_->run_all();
  }
  sink_.replies.clear();
  dispatch({kClient, {1}, {14}});
  EXPECT_EQ(sink_.replies.size(), 1U);
}

}  // namespace
}  // namespace kvc::server
