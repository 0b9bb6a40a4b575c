// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// EventLog: block allocations as JSON lines in a file, one object a record:
//   {"time_ms":1700000000000,"instance_id":7,"model_name":"m","req_id":"r",
//    "new_block_ids":[1,2],"new_token_ids":[5]}
// Engines report at every step, so append() only copies the records into a queue; a thread of the
// log's own writes them. When the disk is slower than the engines, records are dropped, and a line
// {"dropped":N} says how many.
//
// The constructor throws std::system_error when the file cannot be opened. Any thread may append.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "kvc/protocol/values.h"

namespace kvc {

class EventLog {
 public:
  // Unix time in milliseconds.
  using WallClock = std::function<std::int64_t()>;
  static WallClock wall_clock();

  explicit EventLog(const std::string& path, WallClock clock = wall_clock(),
                    std::size_t queued_bytes_max = std::size_t{64} << 20);
  ~EventLog();  // writes what is queued
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  void append(Int instance_id, const std::string& model_name,
              const BlockAllocationRecords& records);

 private:
  struct Entry {
    std::int64_t time_ms;
    Int instance_id;
    std::shared_ptr<const std::string> model_name;
    BlockAllocationRecord record;  // owns its arrays
    std::size_t size;
  };
  void run();
  void write(const std::deque<Entry>& entries, std::uint64_t num_dropped);

  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, CloseFile> file_;
  const WallClock clock_;
  const std::size_t queued_bytes_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> queue_;
  std::size_t queued_bytes_ = 0;
  std::uint64_t num_dropped_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

// One line of the log, without its end.
std::string event_line(std::int64_t time_ms, Int instance_id, const std::string& model_name,
                       const BlockAllocationRecord& record);

}  // namespace kvc
