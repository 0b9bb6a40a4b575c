// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ThreadPool, RequestLog, QueueBudget and Options.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/options.h"
#include "server/queue_budget.h"
#include "server/request_log.h"
#include "server/thread_pool.h"

namespace kvc::server {
namespace {

TEST(AffinityPool, RunsOneKeysJobsOnOneThreadInOrder) {
  std::mutex mutex;
  std::vector<std::vector<int>> order(5);
  std::vector<std::vector<std::thread::id>> threads(5);
  std::promise<void> done;
  int num_left = 500;
  const auto pool = create_affinity_pool(3);  // last: its end awaits the jobs
  for (int i = 0; i < 100; ++i) {
    for (std::size_t key = 0; key < 5; ++key) {
      pool->submit(key, [&, i, key] {
        const std::lock_guard lock(mutex);
        order[key].push_back(i);
        threads[key].push_back(std::this_thread::get_id());
        if (--num_left == 0) done.set_value();
      });
    }
  }
  done.get_future().wait();
  for (std::size_t key = 0; key < 5; ++key) {
    EXPECT_TRUE(std::is_sorted(order[key].begin(), order[key].end()));
    for (const std::thread::id id : threads[key]) EXPECT_EQ(id, threads[key][0]);
  }
}

TEST(NormalPool, RunsJobsSideBySide) {
  std::promise<void> first_runs;
  std::promise<void> second_ran;
  std::promise<void> done;
  const auto pool = create_normal_pool(2);  // last: its end awaits the jobs
  pool->submit(0, [&] {
    first_runs.set_value();
    second_ran.get_future().wait();
  });
  first_runs.get_future().wait();
  pool->submit(0, [&] {
    second_ran.set_value();
    done.set_value();
  });
  done.get_future().wait();
}

TEST(ThreadPool, DropsWhatIsQueuedWhenItEnds) {
  std::promise<void> runs;
  std::promise<void> go_on;
  std::promise<bool> dropped;
  auto sentinel = std::shared_ptr<int>(new int(0), [&](int* value) {
    delete value;
    dropped.set_value(true);
  });
  bool ran = false;
  auto pool = create_normal_pool(1);
  pool->submit(0, [&] {
    runs.set_value();
    go_on.get_future().wait();
  });
  runs.get_future().wait();
  pool->submit(0, [&ran, sentinel = std::move(sentinel)] { ran = true; });
  std::thread ender([&] { pool.reset(); });
  EXPECT_TRUE(dropped.get_future().get());  // before the first job has ended
  go_on.set_value();
  ender.join();
  EXPECT_FALSE(ran);
}

TEST(QueueBudget, BoundsEachClientAndAll) {
  QueueBudget budget(100, 150);
  EXPECT_TRUE(budget.acquire("a", 100));
  EXPECT_FALSE(budget.acquire("a", 1));
  EXPECT_FALSE(budget.acquire("b", 51));
  EXPECT_TRUE(budget.acquire("b", 50));
  EXPECT_FALSE(budget.acquire("c", 1));
  EXPECT_FALSE(budget.acquire("c", ~std::size_t{0}));
  budget.release("a", 100);
  EXPECT_TRUE(budget.acquire("a", 100));
  EXPECT_EQ(budget.total_bytes(), 150U);
}

class RequestLogTest : public testing::Test {
 protected:
  TimePoint now_{};
  std::vector<std::string> lines_;
  RequestLog log_{{[] { return false; }, [](const std::string&) {},
                   [this](const std::string& line) { lines_.push_back(line); }},
                  [this] { return now_; }};
};

TEST_F(RequestLogTest, SaysHowManyRefusalsItLeftOut) {
  for (int i = 0; i < 100; ++i) log_.refused("bad");
  EXPECT_EQ(lines_.size(), kRefusalsPerSecond);
  log_.tick();
  EXPECT_EQ(lines_.size(), kRefusalsPerSecond);
  now_ += std::chrono::seconds(1);
  log_.tick();
  ASSERT_EQ(lines_.size(), kRefusalsPerSecond + 1);
  EXPECT_EQ(lines_.back(), "80 more refused requests, not shown");
  log_.tick();
  log_.refused("again");
  EXPECT_EQ(lines_.back(), "again");
  EXPECT_EQ(lines_.size(), kRefusalsPerSecond + 2);
}

TEST_F(RequestLogTest, EscapesAndCutsWhatPeersWrote) {
  log_.refused("a\n\x1b[2J\xff");
  EXPECT_EQ(lines_.back(), "a\\x0a\\x1b[2J\\xff");
  log_.refused(std::string(10'000, 'x'));
  EXPECT_LT(lines_.back().size(), kRefusalCharactersMax + 10);
}

std::optional<Options> parse(std::vector<const char*> arguments, int& exit_code) {
  arguments.insert(arguments.begin(), "kvserver");
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), exit_code);
}

TEST(Options, AreReadFromTheCommandLine) {
  int exit_code = -1;
  const auto options = parse({"--bind",
                              "tcp://127.0.0.1:*",
                              "--chunk-size",
                              "32",
                              "--device",
                              "host",
                              "--l1-size-gb",
                              "0.5",
                              "--max-gpu-workers",
                              "2",
                              "--max-cpu-workers",
                              "3",
                              "--read-ttl-s",
                              "4",
                              "--write-ttl-s",
                              "5",
                              "--event-log",
                              "f",
                              "--blend-start",
                              "1,2",
                              "--blend-end",
                              "3"},
                             exit_code);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->bind, "tcp://127.0.0.1:*");
  EXPECT_EQ(options->chunk_size, 32U);
  EXPECT_EQ(options->device, DeviceKind::kHost);
  EXPECT_EQ(options->l1_size_bytes(), std::size_t{1} << 29);
  EXPECT_EQ(options->max_gpu_workers, 2U);
  EXPECT_EQ(options->max_cpu_workers, 3U);
  EXPECT_EQ(options->read_ttl_s, 4U);
  EXPECT_EQ(options->write_ttl_s, 5U);
  EXPECT_EQ(options->event_log, "f");
  EXPECT_EQ(options->paragraphs.start, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(options->paragraphs.end, std::vector<std::uint32_t>{3});
}

TEST(Options, HaveDefaults) {
  int exit_code = -1;
  const auto options = parse({}, exit_code);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->bind, "tcp://127.0.0.1:5555");
  EXPECT_EQ(options->chunk_size, 256U);
  EXPECT_EQ(options->l1_size_bytes(), std::size_t{1} << 30);
  EXPECT_FALSE(options->binds_beyond_loopback());
}

TEST(Options, ABadOneIsSaidAndExitsWithTwo) {
  for (const std::vector<const char*>& bad :
       std::vector<std::vector<const char*>>{{"--nonsense"},
                                             {"--chunk-size", "0"},
                                             {"--chunk-size", "x"},
                                             {"--l1-size-gb", "-1"},
                                             {"--device", "tpu"},
                                             {"--max-gpu-workers", "0"},
                                             {"--bind"},
                                             {"extra"},
                                             {"--blend-start", "1"},
                                             {"--blend-end", "1"},
                                             {"--blend-start", "1,x", "--blend-end", "1"},
                                             {"--log-level", "loud"}}) {
    int exit_code = -1;
    testing::internal::CaptureStderr();
    EXPECT_FALSE(parse(bad, exit_code));
    EXPECT_EQ(exit_code, 2) << bad[0];
    EXPECT_FALSE(testing::internal::GetCapturedStderr().empty());
  }
}

TEST(Options, HelpExitsWithZeroAndShowsExamples) {
  int exit_code = -1;
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parse({"--help"}, exit_code));
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_EQ(exit_code, 0);
  for (const char* word : {"--bind", "--event-log", "Examples", "kvserver ready"})
    EXPECT_NE(help.find(word), std::string::npos) << word;
}

TEST(Options, TellLoopbackFromTheRest) {
  Options options;
  for (const char* bind : {"tcp://0.0.0.0:1", "tcp://*:1", "tcp://eth0:1", "tcp://10.0.0.1:*"}) {
    options.bind = bind;
    EXPECT_TRUE(options.binds_beyond_loopback()) << bind;
  }
  for (const char* bind :
       {"tcp://127.0.0.1:1", "tcp://localhost:1", "ipc:///tmp/x", "inproc://x"}) {
    options.bind = bind;
    EXPECT_FALSE(options.binds_beyond_loopback()) << bind;
  }
}

}  // namespace
}  // namespace kvc::server
