#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Sends the messages of a replay file again, in the order in which they were sent, and prints what
comes beside what came then. Needs pyzmq and nothing else.

    python3 replay.py tcp://127.0.0.1:5555 [FILE]        # FILE: frames.kvr beside this script

Exit code 0: all came as recorded, and the server died if it died then; 1: not so.

A message is the uid frame, the type frame, and the payloads, each one msgpack document. Buffers and
events of the host device (shared memory) that the recorded process made are gone by now: while this
runs, objects by their names stand in for them, which hold zeros.
"""

import json
import os
import pathlib
import re
import sys

import zmq

WAIT_MS = 2000  # for a reply that came then
LATE_MS = 500  # for what comes late at the end
HANDLE = re.compile(rb"KVHOST([ME])1(/[^/\0]{1,55})\0")
MEMORY_BYTES = 1 << 30  # sparse


def frame_of(parts):
    if isinstance(parts, str):
        return bytes.fromhex(parts)
    out = b""
    for part in parts:
        if isinstance(part, str):
            out += bytes.fromhex(part)
        elif "any" in part:
            out += bytes(part["any"])
        else:
            out += bytes.fromhex(part["hex"]) * part["times"]
    return out


def shown(frames):
    texts = [frame[:48].hex() + ("..." if len(frame) > 48 else "") for frame in frames]
    return "|".join(texts)


def same(then, now):
    """Byte for byte, but for the handle of an event, which is new each time."""
    if then == now:
        return True
    if len(then) != 3 or len(now) != 3 or then[:2] != now[:2]:
        return False
    is_transfer = then[2][:2] == now[2][:2] == b"\x92\xc4"
    return is_transfer and then[2][2:3] == now[2][2:3] and then[2][-1] == now[2][-1]


def stand_in_for(messages):
    made = []
    for message in messages:
        for frame in message["frames"] if message["dir"] == ">" else []:
            for kind, name in HANDLE.findall(frame):
                path = "/dev/shm" + name.decode("latin-1")
                try:
                    with open(path, "xb") as file:
                        made.append(path)
                        file.truncate(16 if kind == b"E" else MEMORY_BYTES)
                except OSError:
                    pass  # it is there, or this is no machine for it
    return made


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python3 replay.py tcp://HOST:PORT [FILE]")
    here = pathlib.Path(__file__).with_name("frames.kvr")
    lines = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else here).read_text().splitlines()
    header, messages = json.loads(lines[0]), [json.loads(line) for line in lines[1:]]
    for message in messages:
        message["frames"] = [frame_of(frame) for frame in message["frames"]]
    for name in ("case", "release", "verdict", "expected", "actual"):
        print(f"{name}: {header.get(name)}")
    context = zmq.Context()
    clients, waiting, differences = {}, {}, []
    made = stand_in_for(messages)

    def connected():
        client = context.socket(zmq.DEALER)
        client.linger = 0
        client.connect(sys.argv[1])
        return client

    def client(number):
        if number not in clients:
            clients[number], waiting[number] = connected(), []
        return clients[number]

    def receive(number, then):
        """The reply with the uid that came then; others are kept for their own turn."""
        client(number)
        while True:
            for i, reply in enumerate(waiting[number]):
                if then[:1] == reply[:1]:
                    return waiting[number].pop(i)
            if not clients[number].poll(WAIT_MS):
                return None
            waiting[number].append(clients[number].recv_multipart())

    def alive():
        probe = connected()
        probe.send_multipart([frame_of(frame) for frame in header.get("alive", ["00", "0e"])])
        return bool(probe.poll(WAIT_MS))

    dead = False
    for message in messages:
        number, frames = message["client"], message["frames"]
        if message["dir"] == ">":
            print(f"client {number} > {shown(frames)}")
            client(number).send_multipart(frames)
            continue
        print(f"client {number} < then: {shown(frames)}")
        reply = None if dead else receive(number, frames)
        print(f"client {number} < now:  {shown(reply) if reply else 'nothing'}")
        if reply is None:
            dead = dead or not alive()
        if reply is None or not same(frames, reply):
            differences.append("a reply that came then is missing or another one")
    for number in clients:
        while not dead and clients[number].poll(LATE_MS // len(clients)):
            waiting[number].append(clients[number].recv_multipart())
        for reply in waiting[number]:
            print(f"client {number} < more: {shown(reply)}")
            differences.append("a reply came that did not come then")
    dead = dead or not alive()
    print("the server is dead: NOOP of a new client is not answered" if dead else "the server lives")
    if dead != (header.get("verdict") == "DEAD"):
        differences.append("it " + ("died" if dead else "lives"))
    context.destroy()
    for path in made:
        os.unlink(path)
    print("as recorded" if not differences else "not as recorded: " + differences[0])
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
