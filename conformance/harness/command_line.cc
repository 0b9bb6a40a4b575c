// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/command_line.h"

#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <iostream>
#include <random>

#include "conformance/doctor/doctor_command.h"
#include "conformance/harness/decode_command.h"
#include "conformance/harness/explain.h"
#include "conformance/harness/exporter.h"
#include "conformance/harness/nearest.h"
#include "conformance/harness/replay_command.h"
#include "conformance/harness/run.h"
#include "conformance/harness/version.h"
#include "conformance/report/diff_command.h"
#include "conformance/watch/watch_command.h"

namespace kvc::conformance {
namespace {

constexpr int kOk = 0;
constexpr int kUsage = 2;

std::atomic<RunContext*> g_interrupted{nullptr};

// The first signal ends the run with its reports; a second one ends the process.
void on_signal(int) {
  if (RunContext* context = g_interrupted.load()) context->interrupt();
}

void install_signal_handler(RunContext& context) {
  g_interrupted = &context;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

struct CommandLine {
  RunOptions run;
  DiffOptions diff;
  ReplayCommand replay;
  DoctorOptions doctor;
  WatchOptions watch;
  std::string id;
  std::string input;
  bool json = false;
  int timeout_ms = 5000;
  int probe_ms = 2000;
  int grace_ms = 2;
  int start_timeout_s = 120;
  double budget_s = 0;
  double cache_gb = 0;
};

// What every judging command has.
void add_judging_options(CLI::App& command, CommandLine& line) {
  RunOptions& options = line.run;
  command.add_option("--release", options.release, "Release of the protocol")
      ->capture_default_str();
  command
      .add_option("--filter", options.filter,
                  "Cases to run: patterns with * and ?, joined by ':', those after a '-' excluded")
      ->type_name("GLOB");
  command.add_flag("--strict", options.strict, "SHOULD rules count as MUST rules do");
  auto* expect = command.add_option("--expect", options.expect, "File of expected failures")
                     ->type_name("FILE");
  command.add_flag("--fix-expect", options.fix_expect, "Rewrite that file to what came")
      ->needs(expect);
  command.add_option("--json", options.json, "Write a JSON report")->type_name("FILE");
  command.add_option("--junit", options.junit, "Write a JUnit report")->type_name("FILE");
  command.add_option("--html", options.html, "Write a page for people")->type_name("FILE");
  command.add_option("--markdown", options.markdown, "Write a comment for a pull request")
      ->type_name("FILE");
  command.add_option("--badge", options.badge, "Write the JSON of a shields.io badge")
      ->type_name("FILE");
  command
      .add_option("--server-version", options.server_version,
                  "What you call the judged thing, for reports and diff: a commit, a release")
      ->type_name("TEXT");
  command
      .add_option("--repro-dir", options.repro_folder, "Where failures leave their frames and logs")
      ->type_name("FOLDER")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of all that is random in the cases");
  command.add_option("--timeout-ms", line.timeout_ms, "Wait so long for a reply that is due")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--budget-s", line.budget_s, "End the run after so long; what is left is not run")
      ->check(CLI::PositiveNumber);
}

CLI::App* add_run(CLI::App& app, CommandLine& line) {
  CLI::App* run = app.add_subcommand("run", "Judge a server");
  RunOptions& options = line.run;
  auto* target = run->add_option("--target", options.target, "Judge the server at this endpoint")
                     ->type_name("ENDPOINT");
  run->add_option("--start", options.start,
                  "Start the server with this command, {port} in it; with neither --target nor "
                  "--start the kvserver beside kvconform is judged")
      ->type_name("CMD")
      ->excludes(target);
  add_judging_options(*run, line);
  run->add_option("--device", options.device, "Device to play an engine on")
      ->check(CLI::IsMember({"host", "cuda", "none"}))
      ->capture_default_str();
  run->add_option("--require", options.require,
                  "Fail when the server lacks this capability or request type")
      ->type_name("CAP");
  run->add_flag("--security", options.security,
                "Also run the cases that try an exploit, harmlessly");
  run->add_option("--probe-ms", line.probe_ms, "A server that leaves NOOP so long is dead")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  run->add_option("--grace-ms", line.grace_ms, "Wait so long after a fence for what must not come")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  run->add_option("--start-timeout-s", line.start_timeout_s, "Wait so long for a server to start")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  run->add_option("--cache-gb", line.cache_gb,
                  "Size of the server's cache, where --l1-size-gb in --start does not say it")
      ->check(CLI::PositiveNumber);
  auto* blend_start =
      run->add_option("--blend-start", options.blend_start,
                      "Token ids by which the server's blend paragraphs begin, 1,2,3; where "
                      "--blend-start in --start does not say it")
          ->type_name("IDS");
  auto* blend_end = run->add_option("--blend-end", options.blend_end, "And by which they end")
                        ->type_name("IDS")
                        ->needs(blend_start);
  blend_start->needs(blend_end);
  run->footer(
      "Examples:\n"
      "  kvconform run                                              judge the kvserver beside it\n"
      "  kvconform run --target tcp://127.0.0.1:5555                a server that runs\n"
      "  kvconform run --start 'my-server --port {port}'            start it, and again when it "
      "died\n"
      "  kvconform run --target tcp://127.0.0.1:5555 --filter 'Envelope.*:-*Garbage*'\n"
      "  kvconform run --start 'my-server --port {port}' --expect known.txt --junit results.xml "
      "--html report.html\n\n"
      "Exit codes: 0 all required rules hold (or fail as expected); 1 one does not, or an expected "
      "failure\npasses; 2 the harness or its use is at fault.");
  return run;
}

CLI::App* add_testee(CLI::App& app, CommandLine& line) {
  CLI::App* testee = app.add_subcommand(
      "testee", "Judge a codec and registry in a program that answers on stdout");
  testee
      ->add_option("command", line.run.testee,
                   "The program, for /bin/sh; conformance/testee/README.md has the messages")
      ->type_name("CMD")
      ->required();
  add_judging_options(*testee, line);
  testee
      ->add_option("--golden", line.run.golden,
                   "Judge by the golden data in this folder, and not by that in kvconform")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  testee->footer(
      "Examples:\n"
      "  kvconform testee 'kvserver --testee'                       the codec of kvserver\n"
      "  kvconform testee 'node conformance/peers/example/testee.mjs' --filter 'GoldenFrames.*'");
  return testee;
}

CLI::App* add_diff(CLI::App& app, CommandLine& line) {
  CLI::App* diff = app.add_subcommand("diff", "Say what is new between two JSON reports");
  diff->add_option("old", line.diff.before, "A report of --json")->required();
  diff->add_option("new", line.diff.now, "One of a later run")->required();
  diff->add_option(
          "--again", line.diff.again,
          "Another run of the new server: what passes in one and fails in another is flaky")
      ->type_name("FILE");
  diff->add_option("--markdown", line.diff.markdown, "Write a comment for a pull request")
      ->type_name("FILE");
  diff->footer(
      "Exit codes: 1 a regression: a case that held and does not, or kills the server now, or a "
      "capability is gone;\n2 none, but the new run is not complete; else 0. New and changed cases "
      "are told, and no regression."
      "\n\nExample:\n  kvconform diff main.json branch.json --markdown comment.md");
  return diff;
}

void finish_run_options(const CLI::App& run, CommandLine& line, int argc, char** argv) {
  RunOptions& options = line.run;
  options.timeout = std::chrono::milliseconds(line.timeout_ms);
  options.probe_timeout = std::chrono::milliseconds(line.probe_ms);
  options.grace = std::chrono::milliseconds(line.grace_ms);
  options.start_timeout = std::chrono::seconds(line.start_timeout_s);
  if (run.count("--budget-s") > 0) options.budget_s = line.budget_s;
  if (run.get_name() == "run" && run.count("--cache-gb") > 0) options.cache_gb = line.cache_gb;
  if (run.count("--seed") == 0) options.seed = std::random_device{}();
  options.arguments.assign(argv + 1, argv + argc);
}

int run_command(const CommandLine& line, const Registry& registry, const Suites& suites) {
  RunOptions options = line.run;
  const Ledger& ledger = Ledger::embedded();
  options.filter = ledger.current_id(options.filter);
  const CaseList cases =
      options.testee.empty() ? suites.socket(registry) : suites.pipe(registry, options.golden);
  const CaseList known = suites.all(registry);
  Run run(options, cases, ledger, std::cout, TerminalStyle::of_stdout(), &known);
  install_signal_handler(run.context());
  const int code = run.run_all();
  g_interrupted = nullptr;
  return code;
}

// Which server a file is sent to.
void add_replay_server(CLI::App& command, CommandLine& line) {
  RunOptions& options = line.replay.server;
  auto* target = command.add_option("--target", options.target, "Endpoint of the server")
                     ->type_name("ENDPOINT");
  command
      .add_option("--start", options.start,
                  "Start the server with this command, {port} in it; with neither --target nor "
                  "--start the kvserver beside kvconform is asked")
      ->type_name("CMD")
      ->excludes(target);
  command.add_option("--release", options.release, "Release of the protocol")
      ->capture_default_str();
  command.add_option("--timeout-ms", line.timeout_ms, "Wait so long for each recorded reply")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--probe-ms", line.probe_ms, "A server that leaves NOOP so long is dead")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--repro-dir", options.repro_folder, "Where a started server leaves its log")
      ->type_name("FOLDER")
      ->capture_default_str();
}

CLI::App* add_replay(CLI::App& app, CommandLine& line) {
  CLI::App* replay = app.add_subcommand("replay", "Send a replay file's messages again");
  replay->add_option("file", line.replay.file, "A .kvr file, as in repro/ID/; or golden messages")
      ->required();
  add_replay_server(*replay, line);
  replay->add_flag("--timing", line.replay.timing, "Send each message at its recorded time");
  replay->add_flag("--exact", line.replay.exact,
                   "Fail too when a reply is not as recorded, or was not recorded");
  replay->footer(
      "Exit codes: 0 the server lives and gave each recorded reply; 1 not so; 2 the file or the "
      "use "
      "is at fault.\nBuffers and events of the host device that the recorded process made are "
      "stood "
      "in for by shared memory\nof the same names, which holds zeros.");
  return replay;
}

CLI::App* add_shrink(CLI::App& app, CommandLine& line) {
  CLI::App* shrink = app.add_subcommand(
      "shrink", "Make a replay file as small as it can be while the server does what it did");
  shrink->add_option("file", line.replay.file, "A .kvr file, as in repro/ID/; or golden messages")
      ->required();
  add_replay_server(*shrink, line);
  shrink
      ->add_option("--until", line.replay.until,
                   "What is to be seen: the server dead; a recorded reply missing (silent); one "
                   "that differs, or was not recorded; the last one the same. Left out: what the "
                   "file's verdict stands for: DEAD dead, SILENT silent, WRONG same")
      ->check(CLI::IsMember({"dead", "silent", "differs", "same"}));
  shrink->add_option("--out", line.replay.out_folder, "Where frames.kvr and replay.py go")
      ->type_name("FOLDER")
      ->required();
  shrink->add_option("--budget-s", line.replay.shrink_s, "Give up after so long")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  return shrink;
}

void finish_replay_options(CommandLine& line) {
  RunOptions& options = line.replay.server;
  options.timeout = std::chrono::milliseconds(line.timeout_ms);
  options.probe_timeout = std::chrono::milliseconds(line.probe_ms);
}

}  // namespace

int run_command_line(int argc, char** argv, const Suites& suites) {
  CLI::App app(
      "kvconform judges servers and codecs of the LMCache multiprocess protocol.\n"
      "Exit codes: 0 all required rules hold (or fail as expected); 1 one does not, or an "
      "expected\n"
      "failure passes; 2 the harness or its use is at fault.");
  app.require_subcommand(1);
  app.set_version_flag("--version", "kvconform " + std::string(kSuiteVersion));
  CommandLine line;
  CLI::App* run = add_run(app, line);
  CLI::App* testee = add_testee(app, line);
  CLI::App* list = app.add_subcommand("list", "List the cases");
  list->add_flag("--json", line.json, "As JSON");
  list->add_option("--release", line.run.release, "Release of the protocol");
  list->footer("Example:\n  kvconform list | grep Locks");
  CLI::App* explain_app = app.add_subcommand("explain", "Say all about a case or a requirement");
  explain_app->add_option("id", line.id, "Its id; * and ? for many")->required();
  explain_app->footer(
      "Examples:\n"
      "  kvconform explain Envelope.EchoesNonMinimalUids            what a case asks, and why\n"
      "  kvconform explain envelope.echo-uid                        a rule, its source and its "
      "cases\n"
      "  kvconform explain 'locks.*'                                all rules of an area");
  CLI::App* replay = add_replay(app, line);
  CLI::App* shrink = add_shrink(app, line);
  CLI::App* diff = add_diff(app, line);
  CLI::App* watch = add_watch(app, line.watch);
  CLI::App* doctor = add_doctor(app, line.doctor);
  CLI::App* decode_app = app.add_subcommand("decode", "Say what a frame or a message is");
  decode_app->add_option("input", line.input, "Hex, frames joined by '|'; or a file")->required();
  decode_app->footer(
      "Examples:\n"
      "  kvconform decode '01|0e'                                   a request: NOOP\n"
      "  kvconform decode '01|0e|a24f4b'                            and its reply\n"
      "  kvconform decode repro/Envelope.EchoesShortUids/frames.kvr");
  decode_app->add_option("--release", line.run.release, "Release of the protocol");
  ExportOptions exported;
  // For ourselves: a process whose memory a case registers. In no list of commands.
  CLI::App* export_app = app.add_subcommand("export", "Export memory and an event")->group("");
  export_app->add_option("--device", exported.device, "Of which device");
  export_app->add_option("--size-bytes", exported.size_bytes, "How much memory")->required();
  export_app->add_flag("--pending", exported.pending, "The event is not complete");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  try {
    const Registry& registry = registry_named(line.run.release);
    if (*run) {
      finish_run_options(*run, line, argc, argv);
      return run_command(line, registry, suites);
    }
    if (*testee) {
      line.run.device = "none";
      finish_run_options(*testee, line, argc, argv);
      return run_command(line, registry, suites);
    }
    if (*export_app) return run_exporter(exported);
    if (*list) {
      list_cases(suites.all(registry), Ledger::embedded(), line.json, std::cout);
      return kOk;
    }
    if (*doctor) return doctor_command(line.doctor, std::cout);
    if (*watch) return watch_command(line.watch, std::cout, TerminalStyle::of_stdout());
    if (*diff) return diff_command(line.diff, Ledger::embedded(), std::cout);
    if (*replay || *shrink) {
      finish_replay_options(line);
      const int code = *replay ? replay_command(line.replay, std::cout, install_signal_handler)
                               : shrink_command(line.replay, std::cout, install_signal_handler);
      g_interrupted = nullptr;
      return code;
    }
    if (*decode_app) return decode_command(registry, line.input, std::cout) ? kOk : kUsage;
    if (explain(suites.all(registry), Ledger::embedded(), line.id, std::cout)) return kOk;
    std::vector<std::string> ids = ids_of(suites.all(registry));
    for (const Requirement& rule : Ledger::embedded().requirements()) ids.push_back(rule.id);
    std::cerr << "kvconform: nothing has the id " << line.id << did_you_mean(line.id, ids)
              << " (see kvconform list)\n";
  } catch (const Interrupted&) {
    std::cerr << "kvconform: ended by a signal\n";
  } catch (const std::exception& error) {
    std::cerr << "kvconform: " << error.what() << "\n";
  }
  g_interrupted = nullptr;
  return kUsage;
}

}  // namespace kvc::conformance
