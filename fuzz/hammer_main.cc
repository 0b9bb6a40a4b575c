// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// kvc_hammer: starts kvserver, sends it random and damaged messages from several clients, asks all
// the while whether it lives, and ends it: it must exit with 0 (under the sanitizers: without a
// report, a leak is one) and leave no shared memory behind.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "conformance/harness/child_process.h"
#include "fuzz/golden_frames.h"
#include "fuzz/message_maker.h"
#include "fuzz/served_frames.h"
#include "kvc/device/host_device.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"

namespace {

using kvc::Bytes;
using kvc::conformance::ChildProcess;
using kvc::fuzz::Frames;
using std::chrono::milliseconds;

constexpr std::size_t kChunkSize = 32;
constexpr int kNumClients = 4;
constexpr int kMessagesPerProbe = 100;
// Under a sanitizer on a busy machine; a dead server is told by its exit sooner.
constexpr milliseconds kProbeTimeout{30'000};
constexpr milliseconds kStopTimeout{30'000};

struct Options {
  std::string server;
  std::string golden;
  std::uint64_t num_messages = 10'000;
  std::uint64_t seed = 1;
};

zmq::socket_t connected(zmq::context_t& sockets, const std::string& endpoint) {
  zmq::socket_t socket(sockets, zmq::socket_type::dealer);
  socket.set(zmq::sockopt::linger, 0);
  socket.connect(endpoint);
  return socket;
}

void send(zmq::socket_t& socket, const Frames& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto flags = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
    socket.send(zmq::buffer(frames[i]), flags);
  }
}

// Takes what has come; the number of replies.
std::uint64_t drain(zmq::socket_t& socket) {
  std::uint64_t num_replies = 0;
  zmq::message_t frame;
  while (socket.recv(frame, zmq::recv_flags::dontwait)) num_replies += frame.more() ? 0 : 1;
  return num_replies;
}

// NOOP from a client that nobody knows yet.
void expect_alive(zmq::context_t& sockets, const std::string& endpoint, ChildProcess& server) {
  zmq::socket_t socket = connected(sockets, endpoint);
  const Bytes uid = kvc::encoded(kvc::Int(7));
  send(socket, {uid, encode_type_frame(kvc::registry_0_4_5(), kvc::RequestType::kNoop)});
  zmq::pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + kProbeTimeout;
  while (zmq::poll(&item, 1, milliseconds(100)) == 0) {
    if (const auto reason = server.exit_reason()) throw std::runtime_error("it " + *reason);
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error("NOOP from a new client is not answered");
  }
}

// Shared memory whose name holds the process id, as all of ours does.
std::vector<std::string> shared_memory_of(pid_t pid) {
  std::vector<std::string> names;
  const std::string mark = "-" + std::to_string(pid) + "-";
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    std::string name = entry.path().filename().string();
    if (name.find(mark) != std::string::npos) names.push_back(std::move(name));
  }
  return names;
}

void hammer(const Options& options, const std::string& endpoint, ChildProcess& server) {
  const auto device = kvc::create_host_device("kvhammer");
  const kvc::fuzz::GoldenFrames golden(options.golden);
  const kvc::fuzz::ServedFrames served(*device, kChunkSize);
  kvc::fuzz::MessageMaker maker(kvc::registry_0_4_5(), golden, served, options.seed);

  zmq::context_t sockets(1);
  expect_alive(sockets, endpoint, server);
  std::vector<zmq::socket_t> clients;
  clients.reserve(kNumClients);
  for (int i = 0; i < kNumClients; ++i) clients.push_back(connected(sockets, endpoint));
  std::uint64_t num_replies = 0;
  for (std::uint64_t i = 0; i < options.num_messages; ++i) {
    zmq::socket_t& client = clients[i % clients.size()];
    send(client, maker.next());
    num_replies += drain(client);
    if (i % kMessagesPerProbe == 0) expect_alive(sockets, endpoint, server);
  }
  expect_alive(sockets, endpoint, server);
  for (zmq::socket_t& client : clients) num_replies += drain(client);
  std::printf("%llu messages, %llu replies\n",
              static_cast<unsigned long long>(options.num_messages),
              static_cast<unsigned long long>(num_replies));
  // Else the messages are so bad that nothing behind the decoder is tried.
  if (num_replies < options.num_messages / 20)
    throw std::runtime_error("hardly a message was served: the hammer itself is broken");
}

void run(const Options& options) {
  const std::string endpoint = "tcp://127.0.0.1:" + std::to_string(kvc::conformance::free_port());
  const std::string log = options.server + ".hammer.log";
  std::filesystem::remove(log);
  ChildProcess server({options.server, "--bind", endpoint, "--device", "host", "--chunk-size",
                       std::to_string(kChunkSize), "--l1-size-gb", "0.0625"},
                      log);
  std::printf("seed %llu; the server's log is %s\n", static_cast<unsigned long long>(options.seed),
              log.c_str());
  hammer(options, endpoint, server);
  server.stop(kStopTimeout);
  const std::string reason = server.exit_reason().value_or("did not exit");
  if (reason != "exited with status 0")
    throw std::runtime_error("on SIGTERM it " + reason + "; see " + log);
  for (const std::string& name : shared_memory_of(server.pid()))
    throw std::runtime_error("it left shared memory behind: /dev/shm/" + name);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Random and damaged messages against kvserver: it lives, and ends well.");
  app.add_option("--server", options.server, "The kvserver program")->required();
  app.add_option("--golden", options.golden, "golden/0.4.5")->required();
  app.add_option("--messages", options.num_messages, "How many")->capture_default_str();
  app.add_option("--seed", options.seed, "The same seed sends the same")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kvc_hammer: FAILED: %s\n", error.what());
    return 1;
  }
  std::printf("passed\n");
  return 0;
}
