// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/watch/watch_command.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>

#include "conformance/harness/replay_file.h"
#include "conformance/harness/run_options.h"
#include "conformance/watch/passed_queue.h"
#include "conformance/watch/proxy.h"
#include "conformance/watch/traffic_judge.h"
#include "conformance/watch/watch_view.h"

namespace kvc::conformance {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLookEvery{200};
constexpr milliseconds kDrawEvery{1000};

std::atomic<int> g_stop_fd{-1};

void on_stop_signal(int) {
  const std::uint64_t one = 1;
  if (const int fd = g_stop_fd.load(); fd >= 0) [[maybe_unused]]
    const auto written = ::write(fd, &one, sizeof(one));
}

// SIGINT and SIGTERM make fd() readable, the first time; the second ends the process.
class StopOnSignal {
 public:
  StopOnSignal() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    g_stop_fd = fd_;
    struct sigaction action {};
    action.sa_handler = on_stop_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
  }
  ~StopOnSignal() {
    g_stop_fd = -1;
    ::close(fd_);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  int fd() const { return fd_; }
  void stop() { on_stop_signal(0); }

 private:
  int fd_;
};

// What the watch says, on a terminal with a table that is drawn over itself.
class Screen {
 public:
  Screen(std::ostream& out, const WatchOptions& options, TerminalStyle style)
      : out_(out), json_(options.json), live_(style.progress && !options.json) {}

  void begin(const Proxy& proxy, const WatchOptions& options) {
    if (json_) return;
    out_ << fmt::format("watching: clients at {}, server at {}; Ctrl-C ends\n", proxy.endpoint(),
                        options.target)
         << std::flush;
  }
  void fault(const TrafficFault& fault) {
    erase();
    out_ << (json_ ? fault_json(fault) : fault_line(fault)) << std::flush;
  }
  void draw(const TrafficJudge& judge) {
    if (!live_ || Clock::now() - drawn_ < kDrawEvery) return;
    erase();
    const std::string table = traffic_table(judge);
    out_ << table << std::flush;
    lines_ = static_cast<int>(std::count(table.begin(), table.end(), '\n'));
    drawn_ = Clock::now();
  }
  void end(const TrafficJudge& judge, const WatchTotals& totals) {
    erase();
    out_ << (json_ ? summary_json(judge, totals) : summary_text(judge, totals)) << std::flush;
  }

 private:
  void erase() {
    if (lines_ > 0) out_ << fmt::format("\x1b[{}A\x1b[J", lines_);
    lines_ = 0;
  }

  std::ostream& out_;
  bool json_;
  bool live_;
  int lines_ = 0;
  Clock::time_point drawn_{};
};

class Recording {
 public:
  explicit Recording(const WatchOptions& options) {
    if (options.record.empty()) return;
    file_.open(options.record, std::ios::binary | std::ios::trunc);
    if (!file_) throw UsageError("cannot write " + options.record);
    ReplayHeader header;
    header.release = options.release;
    file_ << write_replay_header(header);
  }
  void add(const Passed& passed, const std::vector<ByteView>& frames) {
    if (!file_.is_open()) return;
    TraceEntry entry{passed.t_ms, passed.client, passed.sent, {}};
    for (const ByteView frame : frames) entry.frames.push_back(to_bytes(frame));
    file_ << write_replay_entry(entry);
  }
  // So that a killed watch leaves all but the last moment.
  void flush() {
    if (file_.is_open()) file_.flush();
  }

 private:
  std::ofstream file_;  // closed: nothing is recorded
};

class Watch {
 public:
  Watch(const WatchOptions& options, const Registry& registry, std::ostream& out,
        TerminalStyle style)
      : options_(options),
        screen_(out, options, style),
        recording_(options),
        judge_(registry, options.overdue_ms,
               [this](const TrafficFault& fault) { screen_.fault(fault); }) {}

  int run() {
    zmq::context_t context(1);
    context.set(zmq::ctxopt::max_sockets, 65'000);
    PassedQueue queue;
    Proxy::Observe observe;
    if (!options_.forward_only)
      observe = [&](std::vector<Passed> batch) { queue.give(std::move(batch)); };
    std::optional<Proxy> proxy;
    try {
      proxy.emplace(context, options_.listen, options_.target, std::move(observe));
    } catch (const std::runtime_error& error) {
      throw UsageError(error.what());
    }
    StopOnSignal stop;
    screen_.begin(*proxy, options_);
    std::exception_ptr failure;
    std::thread passing([&] {
      try {
        proxy->run(stop.fd());
      } catch (...) {
        failure = std::current_exception();
      }
      queue.close();
    });
    judge_until_closed(queue, *proxy, stop);
    passing.join();
    if (failure) std::rethrow_exception(failure);
    judge_.end(proxy->now_ms());
    screen_.end(judge_, {proxy->now_ms(), num_clients_, proxy->num_lost()});
    return judge_.num_faults(Side::kClient) + judge_.num_faults(Side::kServer) == 0 ? 0 : 1;
  }

 private:
  void judge_until_closed(PassedQueue& queue, const Proxy& proxy, StopOnSignal& stop) {
    Clock::time_point looked = Clock::now();
    while (true) {
      const bool last = queue.closed();  // before take(): then all that was given is taken
      for (const Passed& passed : queue.take(kLookEvery)) see(passed);
      if (last) return;
      if (options_.budget_s > 0 && proxy.now_ms() > options_.budget_s * 1000) stop.stop();
      if (Clock::now() - looked < kLookEvery) continue;
      looked = Clock::now();
      recording_.flush();
      judge_.look_at_clock(proxy.now_ms());
      screen_.draw(judge_);
    }
  }

  void see(const Passed& passed) {
    frames_.clear();
    for (const zmq::message_t& frame : passed.frames)
      frames_.emplace_back(frame.data<std::uint8_t>(), frame.size());
    num_clients_ = std::max(num_clients_, static_cast<std::size_t>(passed.client));
    recording_.add(passed, frames_);
    judge_.see({passed.t_ms, passed.client, passed.sent, frames_});
  }

  const WatchOptions& options_;
  Screen screen_;
  Recording recording_;
  TrafficJudge judge_;
  std::vector<ByteView> frames_;
  std::size_t num_clients_ = 0;
};

}  // namespace

CLI::App* add_watch(CLI::App& app, WatchOptions& options) {
  CLI::App* watch =
      app.add_subcommand("watch", "Stand between clients and a server, and say what is wrong");
  watch->add_option("--listen", options.listen, "Where clients connect; port * picks a free one")
      ->type_name("ENDPOINT")
      ->required();
  watch->add_option("--target", options.target, "The server")->type_name("ENDPOINT")->required();
  watch->add_option("--release", options.release, "Release of the protocol")->capture_default_str();
  watch->add_option("--record", options.record, "Write all messages to a .kvr file, for replay")
      ->type_name("FILE");
  watch->add_flag("--json", options.json, "A JSON document a line: faults, notes, the summary");
  watch
      ->add_option("--overdue-ms", options.overdue_ms,
                   "A request that waits so long for its reply is told")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  watch->add_option("--budget-s", options.budget_s, "End after so long")
      ->check(CLI::PositiveNumber);
  watch->add_flag("--forward-only", options.forward_only,
                  "Pass on only, neither judge nor record: to measure what those cost");
  watch->footer(
      "Every message is passed on byte for byte. Faults are those that traffic alone shows; each "
      "names a rule\nfor kvconform explain. Exit codes: 0 no fault was seen; 1 one was; 2 it "
      "could not be used.\n\n"
      "  kvconform watch --listen tcp://127.0.0.1:6555 --target tcp://127.0.0.1:5555\n"
      "  kvconform watch --listen tcp://127.0.0.1:6555 --target tcp://127.0.0.1:5555 --record "
      "day.kvr --json");
  return watch;
}

int watch_command(const WatchOptions& options, std::ostream& out, TerminalStyle style) {
  Watch watch(options, registry_named(options.release), out, style);
  return watch.run();
}

}  // namespace kvc::conformance
