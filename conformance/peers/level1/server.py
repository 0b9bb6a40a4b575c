#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""A server of level 1: the envelope and the control requests, written from SPEC.md and PORTING.md alone.

python3 server.py --port 5555. Needs pyzmq and msgpack. It caches nothing; what it shows is how little a
server needs before it can be judged, and that all it does not know is left unanswered.
"""

import argparse

import msgpack
import zmq

CHUNK_SIZE = 256
NONE = object()  # a result of None has no frame


# Number on the wire -> (number of payloads, what it answers). Numbers are those of release 0.4.5.
HANDLERS = {
    10: (0, lambda: NONE),        # CLEAR: there is nothing to drop
    11: (0, lambda: CHUNK_SIZE),  # GET_CHUNK_SIZE
    12: (0, lambda: True),        # PING
    14: (0, lambda: "OK"),        # NOOP
}  # fmt: skip


def number_of(frame):
    """The request type that a frame names, or None: whatever a stranger sends is no reason to stop."""
    try:
        number = msgpack.unpackb(frame)
    except Exception:  # cut, followed by more, too deep, no UTF-8: msgpack raises many kinds
        return None
    return number if type(number) is int else None  # True is no number here, nor is 14.0


def reply_to(uid, type_frame, payloads):
    """The frames of the reply, or None: a request that cannot be served gets none."""
    handler = HANDLERS.get(number_of(type_frame))
    if handler is None or len(payloads) != handler[0]:
        return None
    result = handler[1](*payloads)
    frames = [uid, type_frame]  # both go back as they came, byte for byte
    return frames if result is NONE else frames + [msgpack.packb(result)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=5555)
    socket = zmq.Context().socket(zmq.ROUTER)
    socket.bind(f"tcp://127.0.0.1:{parser.parse_args().port}")
    while True:
        client, *frames = socket.recv_multipart()
        if len(frames) < 2:  # no type
            continue
        reply = reply_to(frames[0], frames[1], frames[2:])
        if reply is not None:
            socket.send_multipart([client, *reply])


if __name__ == "__main__":
    main()
