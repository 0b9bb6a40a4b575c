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


def faults(message, expected):
    """What the script and the real codec have against a recorded message."""
    for field in ("type", "about", "request", "payloads", "from"):
        if message[field] != expected[field]:
            yield f"{field} is {message[field]}, the script says {expected[field]}"
    if message["reply"][:2] != message["request"][:2]:
        yield "the reply does not repeat the request's head"
    cls = real.protocol.get_response_class(real.RequestType[message["type"]])
    rest = [unmasked(frame) for frame in message["reply"][2:]]
    result = real.mq.msgspec_decode(rest[0], cls) if rest else None
    if rest and real.mq.msgspec_encode(result, cls) != rest[0]:
        yield "the real encoder writes the result otherwise"
    filled = json.loads(json.dumps(message["result"]), object_hook=zeros)
    if typed(result) != filled:
        yield f"result {filled} is not what the reply holds: {typed(result)}"


def zeros(value):
    return {"bytes": "00" * value["any"]} if "any" in value else value


def no_server(name, *payloads):
    """In the place of an unrecorded call: what the script waits for has always just come."""
    found = {"GET_CHUNK_SIZE": script.CHUNK, "QUERY_PREFETCH_STATUS": 2}
    return None, None, found.get(name, 0)


def keep(path, root, steps):
    """Without a server the committed replies stay, as far as the real codec agrees with them."""
    text = (Path(root) / path).read_text()
    kept = [json.loads(line) for line in text.splitlines()[1:]]
    expected = list(encoded((*step, None) for step in steps(no_server)))
    if len(kept) != len(expected):
        raise SystemExit(f"{path}: {len(kept)} messages, the script has {len(expected)}")
    for number, (message, made) in enumerate(zip(kept, expected), 2):
        for fault in faults(message, made | {"from": "server"}):
            raise SystemExit(f"{path}: line {number}: {fault}")
    return kept


def make(out, root, server, blend_server):
    for path, endpoint, steps, which in (
        ("messages/server.jsonl", server, script.server_steps, "server"),
        ("messages/blend_server.jsonl", blend_server, script.blend_steps, "blend server"),
    ):
        if endpoint:
            rows = list(recorded(endpoint, steps))
        elif (Path(root) / path).exists():
            rows = keep(path, root, steps)
        else:
            print(f"{path} is not made: it needs a running server")
            continue
        out.lines(path, {"count": len(rows), "how": HOW.format(which)}, rows)
    rows = list(encoded(script.encoder_steps()))
    out.lines(
        "messages/encoder.jsonl",
        {
            "count": len(rows),
            "how": "msgspec_encode of the real package; no server of this release answers so",
        },
        rows,
    )
