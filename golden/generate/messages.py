# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""messages/: whole requests and replies. server.jsonl and blend_server.jsonl are recorded between
the real client and a running server (--server, --blend-server); encoder.jsonl is what the real
encoder writes for the types that no server of the release answers."""

import json
from pathlib import Path

import real
import script
from recorder import Recorder
from typed_json import typed

HOW = (
    "recorded between MessageQueueClient and the real {} on the host device, --chunk-size 32; "
    "the server's event handles differ from run to run"
)


def masked(frame, handle):
    """A frame as hex, or as hex and {"any": N} where the server's event handle stands."""
    if not handle or handle not in frame:
        return frame.hex()
    before, after = frame.split(handle, 1)
    return [part for part in (before.hex(), {"any": len(handle)}, after.hex()) if part]


def unmasked(frame):
    parts = [frame] if isinstance(frame, str) else frame
    return b"".join(
        bytes(part["any"]) if isinstance(part, dict) else bytes.fromhex(part) for part in parts
    )


def row(name, about, payloads, request, reply, result, source):
    kind = real.RequestType[name]
    handle = (
        result[0]
        if real.type_name(real.protocol.get_response_class(kind)) == "tuple[bytes, bool]"
        and source == "server"
        else b""
    )
    shown = typed(result)
    if handle:
        shown[0] = {"any": len(handle)}
    return {
        "type": name,
        "about": about,
        "request": [frame.hex() for frame in request],
        "payloads": [typed(value) for value in payloads],
        "reply": [masked(frame, handle) for frame in reply],
        "result": shown,
        "from": source,
    }


def recorded(endpoint, steps):
    recorder, quiet = Recorder(endpoint), Recorder(endpoint)
    try:
        with script.memory():
            for name, about, payloads in steps(quiet.call):
                yield row(name, about, payloads, *recorder.call(name, *payloads), "server")
    finally:
        recorder.close()
        quiet.close()


def encoded(steps):
    """The frames that client and server would write."""
    for uid, (name, about, payloads, result) in enumerate(steps):
        kind = real.RequestType[name]
        classes = real.protocol.get_payload_classes(kind)
        head = [real.mq.encode_request_uid(uid), real.mq.msgspec_encode(kind, real.RequestType)]
        request = head + [
            real.mq.msgspec_encode(value, cls) for value, cls in zip(payloads, classes, strict=True)
        ]
        reply = (
            head
            if result is None
            else head + [real.mq.msgspec_encode(result, real.protocol.get_response_class(kind))]
        )
        yield row(name, about, payloads, request, reply, result, "encoder")


def faults(message):
    """What the real decoder and encoder have against a recorded message."""
    kind = real.RequestType[message["type"]]
    classes = real.protocol.get_payload_classes(kind)
    frames = [unmasked(frame) for frame in message["request"]]
    if (
        real.mq.msgspec_decode(frames[1], real.RequestType) != kind
        or message["reply"][:2] != message["request"][:2]
    ):
        yield "the head is not that of the request"
    for frame, cls, shown in zip(frames[2:], classes, message["payloads"], strict=True):
        value = real.mq.msgspec_decode(frame, cls)
        if typed(value) != shown or real.mq.msgspec_encode(value, cls) != frame:
            yield f"payload {shown} is not what the frame holds"
    cls, rest = (
        real.protocol.get_response_class(kind),
        [unmasked(frame) for frame in message["reply"][2:]],
    )
    result = real.mq.msgspec_decode(rest[0], cls) if rest else None
    shown = json.loads(
        json.dumps(message["result"]),
        object_hook=lambda o: {"bytes": "00" * o["any"]} if "any" in o else o,
    )
    if typed(result) != shown:
        yield f"result {typed(result)} is not what the reply holds"


def keep(out, path, root):
    """Without a server the committed messages stay, as far as the real codec agrees with them."""
    text = (Path(root) / path).read_text()
    for number, line in enumerate(text.splitlines()[1:], 2):
        for fault in faults(json.loads(line)):
            raise SystemExit(f"{path}: line {number}: {fault}")
    out.files[path] = text


def make(out, root, server, blend_server):
    for path, endpoint, steps, which in (
        ("messages/server.jsonl", server, script.server_steps, "server"),
        ("messages/blend_server.jsonl", blend_server, script.blend_steps, "blend server"),
    ):
        if endpoint:
            rows = list(recorded(endpoint, steps))
            out.lines(path, {"count": len(rows), "how": HOW.format(which)}, rows)
        elif (Path(root) / path).exists():
            keep(out, path, root)
        else:
            print(f"{path} is not made: it needs a running server")
    rows = list(encoded(script.encoder_steps()))
    out.lines(
        "messages/encoder.jsonl",
        {
            "count": len(rows),
            "how": "msgspec_encode of the real package; no server of this release answers so",
        },
        rows,
    )
