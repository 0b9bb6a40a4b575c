// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// msgpack, read and written by type as msgspec does for the protocol. Integers are BigInt: they go
// to 2^64-1. Bytes are Buffer, str is string, nil is null, maps are objects.

// How the example can be made wrong on purpose; README.md says each in a sentence.
const FLAWS = ['swapped-numbers', 'str-for-bytes', 'bool-for-int', 'no-salt-default', 'signed-64',
  'array-for-map', 'accepts-non-blocking', 'utf8-unchecked', 'first-field-wins', 'salt-in-bytes',
  'takes-trailing-bytes', 'never-minimal', 'says-ok-to-everything', 'hangs', 'crashes'];
const [, chosen] = /--flaw[ =](.*)/.exec(process.argv.join(' ')) ?? [];
if (chosen && !FLAWS.includes(chosen)) throw new Error(`no flaw ${chosen}; there are: ${FLAWS}`);
export const flaw = (name) => name === chosen;

export class Fault extends Error {
  constructor(kind, path, message) { super(message); Object.assign(this, { kind, path }); }
}
export class Unimplemented extends Error {}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

// A head is { family, value } of what is complete with it, { family, length } of what follows it.
class Reader {
  constructor(bytes) { Object.assign(this, { bytes, at: 0 }); }
  take(size) {
    if (size > this.bytes.length - this.at) throw new Fault('truncated', '$', 'ends too soon');
    return this.bytes.subarray(this.at, this.at += size);
  }
  uint(size) { return BigInt(`0x${this.take(size).toString('hex')}`); }
  head() {
    const b = this.take(1)[0];
    const sized = (family, size) => ({ family, length: Number(this.uint(size)) });
    const number = (value) => ({ family: 'int', value });
    const ext = (head) => (this.take(1), head);
    if (b < 0x80) return number(BigInt(b));
    if (b < 0x90) return { family: 'object', length: b & 15 };
    if (b < 0xa0) return { family: 'array', length: b & 15 };
    if (b < 0xc0) return { family: 'str', length: b & 31 };
    if (b === 0xc0) return { family: 'null', value: null };
    if (b === 0xc1) return { family: 'unknown' };
    if (b < 0xc4) return { family: 'bool', value: b === 0xc3 };
    if (b < 0xc7) return sized('bytes', 1 << (b - 0xc4));
    if (b < 0xca) return ext(sized('ext', 1 << (b - 0xc7)));
    if (b < 0xcc) return { family: 'float', value: this.take(4 << (b - 0xca)) };
    if (b < 0xd0 && !flaw('signed-64')) return number(this.uint(1 << (b - 0xcc)));
    if (b < 0xd4) return number(BigInt.asIntN(8 << (b & 3), this.uint(1 << (b & 3))));
    if (b < 0xd9) return ext({ family: 'ext', length: 1 << (b - 0xd4) });
    if (b < 0xdc) return sized('str', 1 << (b - 0xd9));
    if (b < 0xde) return sized('array', 2 << (b - 0xdc));
    if (b < 0xe0) return sized('object', 2 << (b - 0xde));
    return number(BigInt(b) - 256n);
  }
  text(length) {
    const bytes = this.take(length);
    if (flaw('utf8-unchecked')) return bytes.toString('utf8');
    try { return utf8.decode(bytes); } catch { throw new Fault('utf8', '$', 'invalid UTF-8'); }
  }
  // The value of an unknown field: only its shape is looked at.
  skip(depth = 0) {
    const { family, length } = this.head();
    if (family === 'unknown' || depth > 512) throw new Fault('malformed', '$', 'c1, or too deep');
    const numInside = { array: length, object: 2 * length }[family];
    if (numInside === undefined) this.take(length ?? 0);
    for (let i = 0; i < numInside; ++i) this.skip(depth + 1);
  }
  any() {
    const { family, length, value } = this.head();
    if (family === 'str') return this.text(length);
    if (family === 'bytes') return this.take(length);
    if (family === 'array') return Array.from({ length }, () => this.any());
    if (family !== 'object') return value;
    return Object.fromEntries(Array.from({ length }, () => [this.any(), this.any()]));
  }
}
export const read = (bytes) => new Reader(bytes).any();

// Types: each is a function (reader, head, path) → value.
const invalid = (path, message) => { throw new Fault('ValidationError', path, message); };
const wrong = (expected, { family }, path) => invalid(path, `expected ${expected}, got ${family}`);
const scalar = (families, finish) => (reader, head, path) =>
  (families.includes(head.family) ? finish(reader, head) : wrong(families.join(' | '), head, path));
const same = (reader, { value }) => value;
const int = scalar(flaw('bool-for-int') ? ['int', 'bool'] : ['int'], (_, h) => BigInt(h.value));
const optionalInt = scalar(['int', 'null'], same);
const bool = scalar(['bool'], same);
const str = scalar(['str'], (reader, { length }) => reader.text(length));
const bytes = scalar(flaw('str-for-bytes') ? ['bytes', 'str'] : ['bytes'],
  (reader, { length }) => reader.take(length));
const list = (element, size) => (reader, head, path) => {
  const values = []; // grows as elements come: a length that lies costs nothing
  if (head.family !== 'array') wrong('array', head, path);
  if ((size ?? head.length) !== head.length) invalid(path, `expected an array of length ${size}`);
  for (let i = 0; i < head.length; ++i)
    values.push((element[i] ?? element)(reader, reader.head(), `${path}[${i}]`));
  return values;
};
const tuple = (...elements) => list(elements, elements.length);
const oneOf = (...names) => (reader, head, path) => {
  const name = str(reader, head, path);
  return names.includes(name) ? name : invalid(path, `invalid value ${name}`);
};
// Fields in the order of writing. `defaults`: what may be missing; undefined is then left out.
const struct = (fields, defaults = {}, check = () => {}) => (reader, head, path) => {
  if (head.family !== 'object') wrong('object', head, path);
  const found = {};
  for (let i = 0; i < head.length; ++i) {
    const key = reader.head();
    if (key.family !== 'str') wrong('str', key, path);
    const name = reader.take(key.length).toString('latin1'); // names are not checked for UTF-8
    if (!Object.hasOwn(fields, name)) { reader.skip(); continue; }
    const value = fields[name](reader, reader.head(), `${path}.${name}`);
    if (!flaw('first-field-wins') || !Object.hasOwn(found, name)) found[name] = value;
  }
  for (const name of Object.keys(fields).filter((n) => !Object.hasOwn(found, n))) {
    if (!Object.hasOwn(defaults, name)) invalid(path, `missing required field ${name}`);
    if (defaults[name] !== undefined) found[name] = defaults[name];
  }
  check(found.cache_salt, path);
  return found;
};
function checkSalt(salt, path) {
  const length = flaw('salt-in-bytes') ? Buffer.byteLength(salt) : [...salt].length;
  if (/[@/\\\0]/.test(salt) || length > 128) invalid(path, 'bad cache_salt');
}
const KEY = { model_name: str, world_size: int, worker_id: optionalInt, token_ids: list(int),
  start: int, end: int, request_id: str, cache_salt: str };
const RECORD = { req_id: str, new_block_ids: list(int), new_token_ids: list(int) };
const MATCH = { old_st: int, old_ed: int, cur_st: int, cur_ed: int, hash: bytes };
const HINTS = { kv_layout: oneOf('NHD', 'HND'), num_kv_heads: int, tokens_per_block: int,
  head_dim: int, inference_engine_logical_block_size: int };
const noHints = Object.fromEntries(Object.keys(HINTS).map((name) => [name, undefined]));
const TYPES = {
  None: scalar(['null'], same), int, bool, str, bytes, 'int | None': optionalInt,
  IPCCacheEngineKey: struct(KEY, flaw('no-salt-default') ? {} : { cache_salt: '' }, checkSalt),
  'list[int]': list(int), LayoutHints: struct(HINTS, noHints),
  EngineType: oneOf('vllm', 'sglang', 'trtllm', 'mock'),
  'list[BlockAllocationRecord]': list(struct(RECORD)), 'list[CBMatchResult]': list(struct(MATCH)),
  'tuple[bytes, bool]': tuple(bytes, bool), 'list[tuple[int, int]]': list(tuple(int, int)),
};
const ORDERS = {
  IPCCacheEngineKey: KEY, 'list[BlockAllocationRecord]': RECORD, 'list[CBMatchResult]': MATCH };
function known(name) { // a KVCache holds Python pickles: to read those is another afternoon
  if (TYPES[name]) return TYPES[name];
  throw new Unimplemented(`the example does not read ${name}`);
}
export function decode(name, frame) {
  const type = known(name);
  const reader = new Reader(frame);
  const value = type(reader, reader.head(), '$');
  if (reader.at !== frame.length && !flaw('takes-trailing-bytes')) invalid('$', 'trailing bytes');
  return value;
}

// Writing, as hexadecimal text. `codes`: the lead byte for each size of what follows it.
function sized(value, codes) {
  const size = Object.keys(codes).find((s) => value < 1n << BigInt(8 * s));
  return codes[size].toString(16) + value.toString(16).padStart(2 * size, '0');
}
const headed = (length, fix, fixMax, codes) =>
  (length <= fixMax ? (fix | length).toString(16) : sized(BigInt(length), codes));
function integer(value) {
  const bits = [8, 16, 32, 64].find((n) => BigInt.asIntN(n, value) === value);
  if (flaw('never-minimal') && value >= 0n) return sized(value, { 8: 0xcf });
  if (value >= 0n && value < 128n) return value.toString(16).padStart(2, '0');
  if (value >= 0n) return sized(value, { 1: 0xcc, 2: 0xcd, 4: 0xce, 8: 0xcf });
  if (value >= -32n) return (value + 256n).toString(16);
  return sized(BigInt.asUintN(bits, value), { [bits / 8]: 0xd0 + Math.log2(bits / 8) });
}
function hex(value, order) {
  if (value === null) return 'c0';
  if (typeof value === 'boolean') return value ? 'c3' : 'c2';
  if (typeof value === 'bigint') return integer(value);
  if (typeof value === 'string') {
    const text = Buffer.from(value, 'utf8');
    return headed(text.length, 0xa0, 31, { 1: 0xd9, 2: 0xda, 4: 0xdb }) + text.toString('hex');
  }
  if (Buffer.isBuffer(value))
    return sized(BigInt(value.length), { 1: 0xc4, 2: 0xc5, 4: 0xc6 }) + value.toString('hex');
  if (Array.isArray(value))
    return headed(value.length, 0x90, 15, { 2: 0xdc, 4: 0xdd })
      + value.map((item) => hex(item, order)).join('');
  const names = Object.keys(order ?? value);
  if (order && flaw('array-for-map')) return hex(names.map((name) => value[name]));
  return headed(names.length, 0x80, 15, { 2: 0xde, 4: 0xdf })
    + names.map((name) => hex(name) + hex(value[name])).join('');
}
export const write = (value) => Buffer.from(hex(value), 'hex');
export const encode = (name, value) => (known(name), Buffer.from(hex(value, ORDERS[name]), 'hex'));
