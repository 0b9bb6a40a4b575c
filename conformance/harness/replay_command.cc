// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/replay_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "conformance/fuzz/replay_shrink.h"
#include "conformance/fuzz/server_keeper.h"
#include "conformance/harness/failure_text.h"
#include "conformance/harness/replay.h"
#include "conformance/harness/repro.h"
#include "conformance/harness/server_choice.h"
#include "conformance/harness/stand_ins.h"

namespace kvc::conformance {
namespace {

constexpr int kAsAsked = 0;
constexpr int kNot = 1;

// A log of this replay only, where the server is ours; and none where it ended as it should.
class ServerLog {
 public:
  ServerLog(const ServerUnderTest& server, const RunOptions& options)
      : path_(server.log_path()), folder_(options.repro_folder) {
    if (path_.empty()) return;
    std::filesystem::create_directories(folder_);
    std::filesystem::remove(path_);
  }
  void remove() {
    std::error_code ignored;
    if (path_.empty()) return;
    std::filesystem::remove(path_, ignored);
    ::rmdir(folder_.c_str());  // only an empty one
  }

 private:
  std::string path_;
  std::string folder_;
};

}  // namespace

ReplayFile load_replay(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream || std::filesystem::is_directory(path)) throw UsageError("cannot read " + path);
  Result<ReplayFile> file = read_replay_or_golden({std::istreambuf_iterator<char>(stream), {}});
  if (!file) throw UsageError(path + ": " + file.error().text());
  return *std::move(file);
}

int replay_command(const ReplayCommand& command, std::ostream& out, const OnContext& on_context) {
  const ReplayFile file = load_replay(command.file);
  RunContext context(registry_named(command.server.release), settings_of(command.server));
  on_context(context);
  ServerUnderTest server = server_of(command.server);
  context.set_exit_check([&] { return server.exit_reason(); });
  ServerLog log(server, command.server);
  server.start(context);
  const StandIns stand_ins(shared_memory_of(context.registry(), file.entries));
  if (stand_ins.num_made() > 0)
    out << fmt::format("{} shared memory objects stand in for those of the recorded process\n",
                       stand_ins.num_made());
  const ReplayOutcome outcome = replay(context, file, out, {command.timing});
  const bool good = command.exact ? outcome.as_recorded() : outcome.alive && outcome.missing == 0;
  server.stop();
  if (good) log.remove();
  return good ? kAsAsked : kNot;
}

int shrink_command(const ReplayCommand& command, std::ostream& out, const OnContext& on_context) {
  ReplayFile file = load_replay(command.file);
  const ShrinkUntil until = until_of(command.until, file.header);
  RunContext context(registry_named(command.server.release), settings_of(command.server));
  on_context(context);
  ServerUnderTest server = server_of(command.server);
  context.set_exit_check([&] { return server.exit_reason(); });
  ServerLog log(server, command.server);
  const StandIns stand_ins(shared_memory_of(context.registry(), file.entries));
  ServerKeeper keeper(context, server);
  ReplayShrinker shrinker(context, keeper, file, until);
  const std::optional<ShrunkReplay> shrunk = shrinker.run(command.shrink_s);
  if (!shrunk) {
    out << fmt::format("{}: {} is not seen on {}\n", command.file, to_string(until),
                       server.description());
    return kNot;
  }
  write_repro_folder(command.out_folder, shrunk->file);
  out << fmt::format("{} of {} messages are left after {} tries, in {}/frames.kvr{}\n",
                     shrunk->num_messages, shrinker.num_messages(), shrunk->num_tries,
                     command.out_folder,
                     shrunk->given_up ? "; given up before it was sure to be the least" : "");
  for (const TraceEntry& entry : shrunk->file.entries)
    out << trace_line(entry, context.registry()) << "\n";
  server.stop();
  log.remove();
  return kAsAsked;
}

}  // namespace kvc::conformance
