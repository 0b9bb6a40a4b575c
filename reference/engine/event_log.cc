// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/event_log.h"

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace kvc {
namespace {

std::FILE* open_or_throw(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot open event log " + path);
  return file;
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

// By hand: a json value a number would cost more than the numbers.
void append_array(std::string& line, const IntArray& values) {
  line += '[';
  bool first = true;
  for (const Int value : values) {
    if (!first) line += ',';
    first = false;
    line += value.to_string();
  }
  line += ']';
}

}  // namespace

std::string event_line(std::int64_t time_ms, Int instance_id, const std::string& model_name,
                       const BlockAllocationRecord& record) {
  std::string line = "{\"time_ms\":" + std::to_string(time_ms) +
                     ",\"instance_id\":" + instance_id.to_string() +
                     ",\"model_name\":" + quoted(model_name) +
                     ",\"req_id\":" + quoted(record.req_id) + ",\"new_block_ids\":";
  append_array(line, record.new_block_ids);
  line += ",\"new_token_ids\":";
  append_array(line, record.new_token_ids);
  return line + "}";
}

EventLog::WallClock EventLog::wall_clock() {
  return [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
}

EventLog::EventLog(const std::string& path, WallClock clock, std::size_t queued_bytes_max)
    : file_(open_or_throw(path)),
      clock_(std::move(clock)),
      queued_bytes_max_(queued_bytes_max),
      thread_([this] { run(); }) {}

EventLog::~EventLog() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void EventLog::append(Int instance_id, const std::string& model_name,
                      const BlockAllocationRecords& records) {
  const std::int64_t time_ms = clock_();
  const auto shared_name = std::make_shared<const std::string>(model_name);
  for (const BlockAllocationRecord& record : records) {
    const std::size_t size = sizeof(Entry) + record.req_id.size() + model_name.size() +
                             record.new_block_ids.encoded().size() +
                             record.new_token_ids.encoded().size();
    {
      const std::lock_guard lock(mutex_);
      if (size > queued_bytes_max_ - queued_bytes_) {
        ++num_dropped_;
        continue;
      }
      queued_bytes_ += size;
      queue_.push_back(
          Entry{time_ms,
                instance_id,
                shared_name,
                {record.req_id, record.new_block_ids.own(), record.new_token_ids.own()},
                size});
    }
  }
  changed_.notify_one();
}

void EventLog::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !queue_.empty() || num_dropped_ > 0; });
    if (queue_.empty() && num_dropped_ == 0) return;
    std::deque<Entry> entries;
    entries.swap(queue_);
    const std::uint64_t num_dropped = std::exchange(num_dropped_, 0);
    lock.unlock();
    write(entries, num_dropped);
    std::size_t written = 0;
    for (const Entry& entry : entries) written += entry.size;
    entries.clear();
    lock.lock();
    queued_bytes_ -= written;
  }
}

void EventLog::write(const std::deque<Entry>& entries, std::uint64_t num_dropped) {
  // A full disk is not a reason to stop serving: what cannot be written is lost.
  for (const Entry& entry : entries) {
    std::string line =
        event_line(entry.time_ms, entry.instance_id, *entry.model_name, entry.record);
    line += '\n';
    (void)std::fwrite(line.data(), 1, line.size(), file_.get());
  }
  if (num_dropped > 0)
    (void)std::fprintf(file_.get(), "{\"dropped\":%llu}\n",
                       static_cast<unsigned long long>(num_dropped));
  (void)std::fflush(file_.get());
}

}  // namespace kvc
