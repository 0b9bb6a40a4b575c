# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Hostile pickles: assembled from opcodes, each with the reason why it must be refused. They are data.
Nothing here loads one, and nothing may: several would run a command in whoever does."""

import pickle as p

import hostile_sizes
from opcodes import MODULE, NEW_WRAPPER, PROTO4, STOP, WRAPPER, blob, call, global_, stack_global, text, wrapper
from wrappers import raw_wrapper
from wrappers import wrapper as real_wrapper

# A reason that begins so: nothing runs and a wrapper comes out, so a reader may take it.
EITHER = "either: "

# Globals that run something, read something, or lead to one that does.
GLOBALS = [
    ("os", "system"), ("posix", "system"), ("nt", "system"), ("os", "popen"), ("os", "execv"), ("os", "remove"),
    ("subprocess", "Popen"), ("subprocess", "check_output"), ("subprocess", "getoutput"), ("pty", "spawn"),
    ("builtins", "eval"), ("builtins", "exec"), ("builtins", "compile"), ("builtins", "getattr"), ("builtins", "setattr"),
    ("builtins", "__import__"), ("builtins", "open"), ("builtins", "globals"), ("builtins", "print"), ("builtins", "object"),
    ("builtins", "bytearray"), ("builtins", "bytes"), ("builtins", "type"), ("builtins", "breakpoint"), ("__builtin__", "eval"),
    ("__builtin__", "file"), ("__builtin__", "apply"), ("importlib", "import_module"), ("runpy", "run_path"), ("code", "interact"),
    ("operator", "attrgetter"), ("operator", "methodcaller"), ("functools", "partial"), ("functools", "reduce"),
    ("itertools", "starmap"), ("copyreg", "_reconstructor"), ("copy_reg", "_reconstructor"), ("copyreg", "__newobj__"),
    ("_codecs", "decode"), ("codecs", "encode"), ("codecs", "open"), ("pickle", "loads"), ("_pickle", "loads"), ("marshal", "loads"),
    ("types", "FunctionType"), ("types", "CodeType"), ("ctypes", "CDLL"), ("ctypes", "string_at"), ("webbrowser", "open"),
    ("timeit", "timeit"), ("cProfile", "run"), ("pdb", "run"), ("doctest", "debug_script"), ("asyncio", "run"), ("socket", "socket"),
    ("torch", "load"), ("torch", "jit"), ("torch", "Tensor"), ("torch", "device"), ("torch", "ones"), ("torch", "set_default_dtype"),
    ("torch.hub", "load"), ("torch.storage", "_load_from_bytes"), ("torch._utils", "_rebuild_tensor_v2"), ("torch.serialization", "load"),
    ("numpy", "load"), ("numpy.core.multiarray", "_reconstruct"), ("lmcache", "torch_dev"), (MODULE, "pickle.loads"), (MODULE, "torch"),
    (MODULE, "CudaIPCWrapper.Deserialize"), (MODULE, "IPCCacheEngineKey"), (MODULE, "get_customized_decoder"), (MODULE, "CustomizedSerdeConfig"),
    ("lmcache.v1.multiprocess", "CudaIPCWrapper"), ("custom_types", "CudaIPCWrapper"), (MODULE + ".x", "CudaIPCWrapper"),
    (MODULE, "cudaipcwrapper"), (MODULE, "CudaIPCWrapper "), (MODULE, ""), ("", "CudaIPCWrapper"), ("", ""), ("torch", ""), ("torch", "uint8.x"),
    ("torch", "__class__"), ("torch ", "uint8"), ("torch\0", "uint8"), ("__main__", "x"),
]  # fmt: skip


def globals_():
    for module, name in GLOBALS:
        if (module, name) == ("builtins", "bytes"):
            called = call(global_(module, name), p.BININT + b"\xff\xff\xff\x7f")  # two billion zeros
        else:
            called = call(global_(module, name), text("echo hostile"))
        yield f"{module}.{name} called", PROTO4 + called + STOP, "a global that is not on the list"
        yield f"{module}.{name} as dtype", wrapper(dtype=stack_global(module, name)), "a global that is not on the list"


def calls():
    system = global_("os", "system")
    arguments = text("echo hostile")
    yield "REDUCE after a good wrapper", wrapper()[:-1] + p.POP + call(system, arguments) + STOP, "a call"
    yield "REDUCE inside a field", wrapper(extra=text("x") + call(system, arguments)), "a call"
    yield "REDUCE before the wrapper", PROTO4 + call(system, arguments) + p.POP + wrapper()[2:], "a call"
    yield "REDUCE of the wrapper", PROTO4 + call(WRAPPER, text("x")) + STOP, "a call"
    yield "REDUCE of a dtype", wrapper(dtype=call(global_("torch", "uint8"))), "a call"
    yield "REDUCE of a str", PROTO4 + call(text("os.system"), arguments) + STOP, "a call of what is no function"
    yield "_codecs.encode with rot13", wrapper(handle=call(global_("_codecs", "encode"), text("x"), text("rot13"))), "either: encode is only for latin1"
    yield "_codecs.encode with utf-8", wrapper(handle=call(global_("_codecs", "encode"), text("x"), text("utf-8"))), "either: encode is only for latin1"
    yield "_codecs.encode of what is not latin1", wrapper(handle=call(global_("_codecs", "encode"), text("🦊"), text("latin1"))), "not latin1"
    yield "_codecs.encode of three", wrapper(handle=call(global_("_codecs", "encode"), text("x"), text("latin1"), text("strict"))), "either: three arguments"
    yield "_codecs.encode of bytes", wrapper(handle=call(global_("_codecs", "encode"), blob(b"x"), text("latin1"))), "not a str"
    yield "_codecs.encode, not called", wrapper(handle=global_("_codecs", "encode")), "either: a function as a value"
    yield "__builtin__.bytes of an int", wrapper(handle=call(global_("__builtin__", "bytes"), p.BININT + b"\xff\xff\xff\x7f")), "two billion zeros"
    yield "INST", PROTO4 + p.MARK + arguments + p.INST + b"os\nsystem\n" + STOP, "opcode INST"
    yield "INST of the wrapper", PROTO4 + p.MARK + p.INST + f"{MODULE}\nCudaIPCWrapper\n".encode() + STOP, "opcode INST"
    yield "OBJ", PROTO4 + p.MARK + system + arguments + p.OBJ + STOP, "opcode OBJ"
    yield "OBJ of the wrapper", PROTO4 + p.MARK + WRAPPER + p.OBJ + STOP, "opcode OBJ"
    yield "EXT1", PROTO4 + p.EXT1 + b"\x01" + STOP, "opcode EXT1"
    yield "EXT2", PROTO4 + p.EXT2 + b"\x01\x00" + STOP, "opcode EXT2"
    yield "EXT4", PROTO4 + p.EXT4 + b"\x01\x00\x00\x00" + STOP, "opcode EXT4"
    yield "PERSID", PROTO4 + p.PERSID + b"id\n" + STOP, "opcode PERSID"
    yield "BINPERSID", PROTO4 + text("id") + p.BINPERSID + STOP, "opcode BINPERSID"
    yield "NEXT_BUFFER", p.PROTO + b"\x05" + p.NEXT_BUFFER + STOP, "opcode NEXT_BUFFER"
    yield "READONLY_BUFFER", p.PROTO + b"\x05" + p.BYTEARRAY8 + bytes(8) + p.READONLY_BUFFER + STOP, "opcode READONLY_BUFFER"
    yield "NEWOBJ of another class", PROTO4 + global_("subprocess", "Popen") + p.MARK + text("true") + p.TUPLE + p.NEWOBJ + STOP, "another class"
    yield "NEWOBJ with arguments", PROTO4 + WRAPPER + p.MARK + text("x") + p.TUPLE + p.NEWOBJ + STOP, "either: arguments to __new__"
    yield "NEWOBJ of a dtype", PROTO4 + global_("torch", "uint8") + p.EMPTY_TUPLE + p.NEWOBJ + STOP, "a dtype is no class"
    yield "NEWOBJ_EX", PROTO4 + WRAPPER + p.EMPTY_TUPLE + p.EMPTY_DICT + p.NEWOBJ_EX + STOP, "either: opcode NEWOBJ_EX"


def builds():
    yield "BUILD with __setstate__", PROTO4 + NEW_WRAPPER + p.EMPTY_DICT + text("__setstate__") + global_("os", "system") + p.SETITEM + p.BUILD + text("echo hostile") + p.BUILD + STOP, "an attribute that the next BUILD calls"
    yield "BUILD with __class__", wrapper(extra=text("__class__") + global_("builtins", "object")), "either: an attribute that is none of ours"
    yield "BUILD with __reduce__", wrapper(extra=text("__reduce__") + p.NONE), "either: an attribute that is none of ours"
    yield "BUILD with slots state", PROTO4 + NEW_WRAPPER + p.NONE + p.EMPTY_DICT + text("to_tensor") + p.NONE + p.SETITEM + p.TUPLE2 + p.BUILD + STOP, "a state that is no dict"
    yield "BUILD of a class", PROTO4 + WRAPPER + p.EMPTY_DICT + text("Deserialize") + p.NONE + p.SETITEM + p.BUILD + STOP, "would change the class itself"
    yield "BUILD of a dict", PROTO4 + p.EMPTY_DICT + p.EMPTY_DICT + p.BUILD + STOP, "BUILD of what is no wrapper"
    yield "BUILD of a dtype", PROTO4 + global_("torch", "uint8") + p.EMPTY_DICT + text("x") + p.NONE + p.SETITEM + p.BUILD + STOP, "would change torch"
    yield "BUILD with an int", PROTO4 + NEW_WRAPPER + p.BININT1 + b"\x01" + p.BUILD + STOP, "a state that is no dict"
    yield "keys that are no str", PROTO4 + NEW_WRAPPER + p.EMPTY_DICT + p.BININT1 + b"\x01" + p.NONE + p.SETITEM + p.BUILD + STOP, "either: an attribute whose name is an int"
    yield "wrapper in a wrapper", wrapper(handle=NEW_WRAPPER), "either: a wrapper as a handle"
    yield "wrapper holds itself", PROTO4 + NEW_WRAPPER + p.MEMOIZE + p.EMPTY_DICT + text("handle") + p.BINGET + b"\0" + p.SETITEM + p.BUILD + STOP, "either: a ring"
    yield "two wrappers, one left", PROTO4 + wrapper()[2:-1] + wrapper()[2:], "either: two values on the stack at STOP"


def stacks():
    underflow = "the stack is empty"
    for name in ("POP", "DUP", "TUPLE1", "TUPLE2", "TUPLE3", "SETITEM", "APPEND", "BUILD", "REDUCE", "NEWOBJ", "STACK_GLOBAL", "MEMOIZE", "BINPERSID", "STOP"):
        yield f"{name} on an empty stack", PROTO4 + getattr(p, name) + STOP, underflow
    for name in ("TUPLE", "LIST", "DICT", "SETITEMS", "APPENDS", "POP_MARK", "ADDITEMS", "FROZENSET", "OBJ"):
        yield f"{name} without MARK", PROTO4 + p.NONE + p.NONE + getattr(p, name) + STOP, "no MARK"
    for name in ("TUPLE1", "TUPLE2", "REDUCE", "BUILD", "SETITEM", "STACK_GLOBAL", "NEWOBJ", "APPEND"):
        yield f"{name} across a MARK", PROTO4 + text("a") + text("b") + p.MARK + getattr(p, name) + STOP, "a MARK among the operands"
    yield "STOP on a MARK", PROTO4 + p.MARK + STOP, "a MARK as the value"
    yield "STOP inside a MARK", PROTO4 + wrapper()[2:-1] + p.MARK + STOP, "either: a MARK left at STOP"
    yield "SETITEMS of three", PROTO4 + NEW_WRAPPER + p.EMPTY_DICT + p.MARK + text("handle") + p.NONE + text("dtype") + p.SETITEMS + p.BUILD + STOP, "a key without a value"
    yield "SETITEMS on a tuple", PROTO4 + p.EMPTY_TUPLE + p.MARK + text("a") + p.NONE + p.SETITEMS + STOP, "not a dict"
    yield "STACK_GLOBAL of ints", PROTO4 + p.BININT1 + b"\1" + p.BININT1 + b"\2" + p.STACK_GLOBAL + STOP, "names that are no str"
    yield "STACK_GLOBAL from a memo", PROTO4 + text("os") + p.MEMOIZE + p.POP + text("system") + p.MEMOIZE + p.POP + p.BINGET + b"\0" + p.BINGET + b"\1" + p.STACK_GLOBAL + text("echo hostile") + p.TUPLE1 + p.REDUCE + STOP, "a hidden global"
    yield "module name with newline", PROTO4 + stack_global(f"{MODULE}\nCudaIPCWrapper", "x") + STOP, "a global that is not on the list"
    yield "only None", p.NONE + STOP, "not a wrapper"
    yield "only the class", PROTO4 + WRAPPER + STOP, "not a wrapper"
    yield "a dict", PROTO4 + p.EMPTY_DICT + STOP, "not a wrapper"
    yield "a list of wrappers", PROTO4 + p.EMPTY_LIST + wrapper()[2:-1] + p.APPEND + STOP, "not a wrapper"
    yield "DUP of a wrapper", PROTO4 + wrapper()[2:-1] + p.DUP + STOP, "either: two values on the stack at STOP"
    yield "global across lines", PROTO4 + p.GLOBAL + f"{MODULE}\nCudaIPC\nWrapper".encode() + STOP, "a global that is not on the list"


def memos():
    yield "GET of nothing", PROTO4 + p.GET + b"7\n" + STOP, "an empty memo"
    yield "BINGET of nothing", PROTO4 + p.BINGET + b"\x07" + STOP, "an empty memo"
    yield "LONG_BINGET of 2^32-1", PROTO4 + p.LONG_BINGET + b"\xff" * 4 + STOP, "an empty memo"
    yield "LONG_BINPUT at 2^32-1", PROTO4 + p.NONE + p.LONG_BINPUT + b"\xff" * 4 + STOP, "would make a memo of billions"
    yield "LONG_BINPUT at 2^28", PROTO4 + p.NONE + p.LONG_BINPUT + b"\0\0\0\x10" + STOP, "would make a memo of millions"
    yield "PUT at a huge number", PROTO4 + p.NONE + p.PUT + b"99999999999999999999\n" + STOP, "no memo that large"
    yield "PUT at -1", PROTO4 + p.NONE + p.PUT + b"-1\n" + STOP, "a negative place"
    yield "PUT at x", PROTO4 + p.NONE + p.PUT + b"x\n" + STOP, "not a number"
    yield "GET of nothing inside a field", wrapper(handle=p.BINGET + b"\x09"), "an empty memo"


def whole_bytes():
    """Bytes that are no pickle, and good pickles cut short."""
    for byte in range(256):
        if bytes([byte]) != b".":
            yield f"only byte {byte:02x}", bytes([byte]), "ends before STOP"
    yield "nothing", b"", "ends before STOP"
    yield "only STOP", STOP, "the stack is empty"
    known = {getattr(p, name) for name in p.__all__ if isinstance(getattr(p, name), bytes)} | {p.PROTO, p.STOP}
    for byte in range(256):
        if bytes([byte]) not in known:
            yield f"unknown opcode {byte:02x}", PROTO4 + p.NONE + bytes([byte]) + STOP, "no such opcode"
    for protocol in (6, 7, 127, 255):
        yield f"protocol {protocol}", p.PROTO + bytes([protocol]) + wrapper()[2:], "no such protocol"
    for name, obj, protocol in (("", real_wrapper(shape=(2, 8)), 4), ("raw ", raw_wrapper(shape=(2, 8)), 4), ("", real_wrapper(shape=(2, 8)), 2)):
        good = p.dumps(obj, protocol)
        for offset in range(1, len(good), 2 if protocol == 2 else 7):
            yield f"{name}protocol {protocol} cut at {offset}", good[:offset], "ends before STOP"


def rows():
    seen = set()
    for family in (globals_, calls, builds, stacks, memos, hostile_sizes.all_sizes, whole_bytes):
        for name, data, reason in family():
            if data not in seen:
                seen.add(data)
                verdict = "either" if reason.startswith(EITHER) else "refuse"
                yield {"name": name, "hex": data.hex(), verdict: reason.removeprefix(EITHER)}
