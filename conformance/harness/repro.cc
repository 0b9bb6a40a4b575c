// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/repro.h"

#include <filesystem>

#include "conformance/harness/json_report.h"
#include "conformance/harness/replay_file.h"

namespace kvc::conformance {
namespace {

constexpr std::string_view kScript = R"script(#!/usr/bin/env python3
# Sends the messages of frames.kvr again, in the order in which they were sent, and prints what
# comes beside what came then. Needs pyzmq and nothing else.
#   python3 replay.py tcp://127.0.0.1:5555
# A message is the uid frame, the type frame, and the payloads, each one msgpack document. Shared
# memory that the recorded run made for KV buffers and events is gone by now.
import json
import pathlib
import sys

import zmq

WAIT_MS = 2000  # for a reply that came then, and for late ones at the end


def shown(frames):
    return "|".join(frame if len(frame) <= 96 else frame[:96] + "..." for frame in frames)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 replay.py tcp://HOST:PORT")
    lines = pathlib.Path(__file__).with_name("frames.kvr").read_text().splitlines()
    header, messages = json.loads(lines[0]), [json.loads(line) for line in lines[1:]]
    for name in ("case", "release", "verdict", "expected", "actual"):
        print(f"{name}: {header.get(name)}")
    context = zmq.Context()
    clients = {}

    def client(number):
        if number not in clients:
            clients[number] = context.socket(zmq.DEALER)
            clients[number].linger = 0
            clients[number].connect(sys.argv[1])
        return clients[number]

    def receive(number, wait_ms):
        if not client(number).poll(wait_ms):
            return None
        return [frame.hex() for frame in client(number).recv_multipart()]

    for message in messages:
        number = message["client"]
        if message["dir"] == ">":
            print(f"client {number} > {shown(message['frames'])}")
            client(number).send_multipart([bytes.fromhex(frame) for frame in message["frames"]])
            continue
        print(f"client {number} < then: {shown(message['frames'])}")
        reply = receive(number, WAIT_MS)
        print(f"client {number} < now:  {shown(reply) if reply else 'nothing'}")
    print(f"waiting {WAIT_MS} ms for more")
    for number in clients:
        while (reply := receive(number, WAIT_MS // len(clients))) is not None:
            print(f"client {number} < more: {shown(reply)}")
    context.destroy()


main()
)script";

}  // namespace

void write_repro(const RunReport& report, const CaseResult& result) {
  const std::filesystem::path folder = std::filesystem::path(report.repro_folder) / result.spec.id;
  std::filesystem::create_directories(folder);
  ReplayFile replay;
  replay.header = {
      result.spec.id,          report.release,        std::string(to_string(result.verdict)),
      result.finding.expected, result.finding.actual, report.seed};
  replay.entries = result.trace;
  write_whole_file((folder / "frames.kvr").string(), write_replay(replay));
  write_whole_file((folder / "replay.py").string(), std::string(kScript));
}

}  // namespace kvc::conformance
