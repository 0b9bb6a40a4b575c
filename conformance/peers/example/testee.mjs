// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// An example testee in JavaScript, from scratch: node and nothing else. It was written from golden/
// and conformance/testee/README.md alone. The registry is here, the codec in codec.mjs.
//     kvconform testee 'node conformance/peers/example/testee.mjs [--flaw NAME]'
// A flaw (codec.mjs lists them) makes it wrong in one way, to see which case says so.
import { readSync, writeSync } from 'node:fs';
import { decode, encode, Fault, flaw, read, Unimplemented, write } from './codec.mjs';

// name; group; handler; result; payloads. The number is the place in the list, from 1.
const ROWS = `
REGISTER_KV_CACHE; engine; SYNC; None; int; KVCache; str; int; EngineType; LayoutHints
UNREGISTER_KV_CACHE; engine; SYNC; None; int
STORE; engine; BLOCKING; tuple[bytes, bool]; IPCCacheEngineKey; int; list[int]; bytes
RETRIEVE; engine; BLOCKING; tuple[bytes, bool]; IPCCacheEngineKey; int; list[int]; bytes; int
LOOKUP; engine; BLOCKING; None; IPCCacheEngineKey; int
QUERY_PREFETCH_STATUS; engine; BLOCKING; int | None; str
QUERY_PREFETCH_LOOKUP_HITS; engine; BLOCKING; int | None; str
FREE_LOOKUP_LOCKS; engine; BLOCKING; None; IPCCacheEngineKey; int
END_SESSION; engine; BLOCKING; None; str
CLEAR; controller; BLOCKING; None
GET_CHUNK_SIZE; controller; SYNC; int
PING; controller; BLOCKING; bool
REPORT_BLOCK_ALLOCATION; observability; BLOCKING; None; int; str; list[BlockAllocationRecord]
NOOP; debug; SYNC; str
CB_REGISTER_KV_CACHE; blend; SYNC; None; int; KVCache; str; int
CB_UNREGISTER_KV_CACHE; blend; SYNC; None; int
CB_STORE_PRE_COMPUTED; blend; BLOCKING; tuple[bytes, bool]; IPCCacheEngineKey; int; int; bytes
CB_LOOKUP_PRE_COMPUTED; blend; BLOCKING; list[tuple[int, int]]; IPCCacheEngineKey
CB_RETRIEVE_PRE_COMPUTED; blend; BLOCKING; tuple[bytes, bool]; IPCCacheEngineKey; \
list[tuple[int, int]]; int; int; bytes
CB_STORE_FINAL; blend; BLOCKING; tuple[bytes, bool]; IPCCacheEngineKey; int; int; bytes
CB_LOOKUP_PRE_COMPUTED_V2; blend_v2; BLOCKING; list[CBMatchResult]; IPCCacheEngineKey
CB_RETRIEVE_PRE_COMPUTED_V2; blend_v2; BLOCKING; tuple[bytes, bool]; IPCCacheEngineKey; \
list[CBMatchResult]; int; int; bytes`.trim().split('\n').map((line, i) => {
  const [name, group, handler, result, ...payloads] = line.split('; ');
  return { number: BigInt(i + 1), name, group, payloads, result, handler };
});
if (flaw('swapped-numbers')) [ROWS[2].number, ROWS[3].number] = [ROWS[3].number, ROWS[2].number];

function row(type) {
  const found = ROWS.find((r) => r.name === type || r.number === type);
  if (!found) throw new Fault('unknown_type', '$', `no request type ${type}`);
  return found;
}
function typeAt(type, position) {
  const { payloads, result } = row(type);
  const found = position === 'result' ? result : payloads[Number(position)];
  if (!found) throw new Fault('unknown_position', '$', `${type} has no payload ${position}`);
  return found;
}

// A handler's life: its signature, its kind, its pool, the start.
function addHandler({ type, payloads, result, handler, pool }) {
  const right = row(type);
  const refuse = (kind, message) => { throw new Fault(kind, '$', `${type}: ${message}`); };
  if (handler !== null) {
    const wrong = payloads.findIndex((name, i) => name !== right.payloads[i]);
    if (payloads.length !== right.payloads.length) refuse('arity', 'another number of parameters');
    if (wrong >= 0) refuse('parameter_type', `parameter ${wrong} is ${right.payloads[wrong]}`);
    if (result !== right.result) refuse('return_type', `returns ${right.result}`);
    if (handler === 'NON_BLOCKING' && !flaw('accepts-non-blocking')) refuse('non_blocking', 'no');
  }
  if (pool !== 'none') {
    if (handler === null) refuse('handler_missing', 'no handler for the pool');
    if (handler !== 'BLOCKING') refuse('pool_not_blocking', `${handler} takes no pool`);
  } else if (handler === 'BLOCKING') refuse('pool_missing', 'BLOCKING without a pool');
  return null;
}

function reply(ask) {
  try {
    return { ok: ask() };
  } catch (error) {
    if (error instanceof Unimplemented) return { unimplemented: error.message };
    const { kind = error.name, path = '$', message } = error; // a Fault, or keys were missing
    return { error: { kind, path, message } };
  }
}

const COMMANDS = {
  hello: () => (
    { name: 'example', version: '1', release: '0.4.5', implemented: Object.keys(COMMANDS) }),
  registry: () => ROWS,
  describe: (m) => (flaw('crashes') ? process.abort() : row(m.type)),
  decode: (m) => decode(typeAt(m.type, m.position), m.bytes),
  encode: (m) => encode(typeAt(m.type, m.position), m.value),
  decode_batch: (m) => m.frames.map(([t, p, bytes]) => reply(() => decode(typeAt(t, p), bytes))),
  encode_batch: (m) => m.values.map(([t, p, value]) => reply(() => encode(typeAt(t, p), value))),
  decode_type: (m) => row(decode('int', m.bytes)).number,
  add_handler: addHandler,
};

function readExactly(size) {
  const bytes = Buffer.alloc(size);
  for (let at = 0, n; at < size; at += n) {
    n = readSync(0, bytes, at, size - at, null);
    if (n === 0) process.exit(0);
  }
  return bytes;
}
for (;;) {
  const message = read(readExactly(readExactly(4).readUInt32LE()));
  const command = COMMANDS[message.command];
  while (flaw('hangs') && command === COMMANDS.describe); // and answers no more
  const bytes = write(command ? reply(() => command(message))
    : flaw('says-ok-to-everything') ? { ok: null } : { unimplemented: `no ${message.command}` });
  const frame = Buffer.concat([Buffer.alloc(4), bytes]);
  frame.writeUInt32LE(bytes.length);
  for (let at = 0; at < frame.length;) at += writeSync(1, frame, at);
}
