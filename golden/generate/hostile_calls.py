# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Hostile calls: pickles that name, call, build or change what is not theirs."""

import pickle as p

from opcodes import (
    MODULE,
    NEW_WRAPPER,
    PROTO4,
    STOP,
    WRAPPER,
    blob,
    call,
    global_,
    program,
    stack_global,
    text,
    wrapper,
)

# Globals that run something, read something, or lead to one that does.
GLOBALS = [
    ("os", "system"), ("posix", "system"), ("nt", "system"), ("os", "popen"), ("os", "execv"),
    ("os", "remove"), ("subprocess", "Popen"), ("subprocess", "check_output"),
    ("subprocess", "getoutput"), ("pty", "spawn"), ("builtins", "eval"), ("builtins", "exec"),
    ("builtins", "compile"), ("builtins", "getattr"), ("builtins", "setattr"),
    ("builtins", "__import__"), ("builtins", "open"), ("builtins", "globals"),
    ("builtins", "print"), ("builtins", "object"), ("builtins", "bytearray"), ("builtins", "bytes"),
    ("builtins", "type"), ("builtins", "breakpoint"), ("__builtin__", "eval"),
    ("__builtin__", "file"), ("__builtin__", "apply"), ("importlib", "import_module"),
    ("runpy", "run_path"), ("code", "interact"), ("operator", "attrgetter"),
    ("operator", "methodcaller"), ("functools", "partial"), ("functools", "reduce"),
    ("itertools", "starmap"), ("copyreg", "_reconstructor"), ("copy_reg", "_reconstructor"),
    ("copyreg", "__newobj__"), ("_codecs", "decode"), ("codecs", "encode"), ("codecs", "open"),
    ("pickle", "loads"), ("_pickle", "loads"), ("marshal", "loads"), ("types", "FunctionType"),
    ("types", "CodeType"), ("ctypes", "CDLL"), ("ctypes", "string_at"), ("webbrowser", "open"),
    ("timeit", "timeit"), ("cProfile", "run"), ("pdb", "run"), ("doctest", "debug_script"),
    ("asyncio", "run"), ("socket", "socket"), ("torch", "load"), ("torch", "jit"),
    ("torch", "Tensor"), ("torch", "device"), ("torch", "ones"), ("torch", "set_default_dtype"),
    ("torch.hub", "load"), ("torch.storage", "_load_from_bytes"),
    ("torch._utils", "_rebuild_tensor_v2"), ("torch.serialization", "load"), ("numpy", "load"),
    ("numpy.core.multiarray", "_reconstruct"), ("lmcache", "torch_dev"), (MODULE, "pickle.loads"),
    (MODULE, "torch"), (MODULE, "CudaIPCWrapper.Deserialize"), (MODULE, "IPCCacheEngineKey"),
    (MODULE, "get_customized_decoder"), (MODULE, "CustomizedSerdeConfig"),
    ("lmcache.v1.multiprocess", "CudaIPCWrapper"), ("custom_types", "CudaIPCWrapper"),
    (MODULE + ".x", "CudaIPCWrapper"), (MODULE, "cudaipcwrapper"), (MODULE, "CudaIPCWrapper "),
    (MODULE, ""), ("", "CudaIPCWrapper"), ("", ""), ("torch", ""), ("torch", "uint8.x"),
    ("torch", "__class__"), ("torch ", "uint8"), ("torch\0", "uint8"), ("__main__", "x"),
]  # fmt: skip


def globals_():
    for module, name in GLOBALS:
        if (module, name) == ("builtins", "bytes"):
            called = call(
                global_(module, name), p.BININT + b"\xff\xff\xff\x7f"
            )  # two billion zeros
        else:
            called = call(global_(module, name), text("echo hostile"))
        yield f"{module}.{name} called", program(called), "a global that is not on the list"
        yield (
            f"{module}.{name} as dtype",
            wrapper(dtype=stack_global(module, name)),
            "a global that is not on the list",
        )


def calls():
    system = global_("os", "system")
    arguments = text("echo hostile")
    yield (
        "REDUCE after a good wrapper",
        wrapper()[:-1] + p.POP + call(system, arguments) + STOP,
        "a call",
    )
    yield "REDUCE inside a field", wrapper(extra=text("x") + call(system, arguments)), "a call"
    yield (
        "REDUCE before the wrapper",
        PROTO4 + call(system, arguments) + p.POP + wrapper()[2:],
        "a call",
    )
    yield "REDUCE of the wrapper", program(call(WRAPPER, text("x"))), "a call"
    yield "REDUCE of a dtype", wrapper(dtype=call(global_("torch", "uint8"))), "a call"
    yield (
        "REDUCE of a str",
        program(call(text("os.system"), arguments)),
        "a call of what is no function",
    )
    yield (
        "_codecs.encode with rot13",
        wrapper(handle=call(global_("_codecs", "encode"), text("x"), text("rot13"))),
        "either: encode is only for latin1",
    )
    yield (
        "_codecs.encode with utf-8",
        wrapper(handle=call(global_("_codecs", "encode"), text("x"), text("utf-8"))),
        "either: encode is only for latin1",
    )
    yield (
        "_codecs.encode of what is not latin1",
        wrapper(handle=call(global_("_codecs", "encode"), text("🦊"), text("latin1"))),
        "not latin1",
    )
    yield (
        "_codecs.encode of three",
        wrapper(
            handle=call(global_("_codecs", "encode"), text("x"), text("latin1"), text("strict"))
        ),
        "either: three arguments",
    )
    yield (
        "_codecs.encode of bytes",
        wrapper(handle=call(global_("_codecs", "encode"), blob(b"x"), text("latin1"))),
        "not a str",
    )
    yield (
        "_codecs.encode, not called",
        wrapper(handle=global_("_codecs", "encode")),
        "either: a function as a value",
    )
    yield (
        "__builtin__.bytes of an int",
        wrapper(handle=call(global_("__builtin__", "bytes"), p.BININT + b"\xff\xff\xff\x7f")),
        "two billion zeros",
    )
    yield "INST", program(p.MARK, arguments, p.INST, b"os\nsystem\n"), "opcode INST"
    yield (
        "INST of the wrapper",
        program(p.MARK, p.INST, f"{MODULE}\nCudaIPCWrapper\n".encode()),
        "opcode INST",
    )
    yield "OBJ", program(p.MARK, system, arguments, p.OBJ), "opcode OBJ"
    yield "OBJ of the wrapper", program(p.MARK, WRAPPER, p.OBJ), "opcode OBJ"
    yield "EXT1", program(p.EXT1, b"\x01"), "opcode EXT1"
    yield "EXT2", program(p.EXT2, b"\x01\x00"), "opcode EXT2"
    yield "EXT4", program(p.EXT4, b"\x01\x00\x00\x00"), "opcode EXT4"
    yield "PERSID", program(p.PERSID, b"id\n"), "opcode PERSID"
    yield "BINPERSID", program(text("id"), p.BINPERSID), "opcode BINPERSID"
    yield "NEXT_BUFFER", p.PROTO + b"\x05" + p.NEXT_BUFFER + STOP, "opcode NEXT_BUFFER"
    yield (
        "READONLY_BUFFER",
        p.PROTO + b"\x05" + p.BYTEARRAY8 + bytes(8) + p.READONLY_BUFFER + STOP,
        "opcode READONLY_BUFFER",
    )
    yield (
        "NEWOBJ of another class",
        program(global_("subprocess", "Popen"), p.MARK, text("true"), p.TUPLE, p.NEWOBJ),
        "another class",
    )
    yield (
        "NEWOBJ with arguments",
        program(WRAPPER, p.MARK, text("x"), p.TUPLE, p.NEWOBJ),
        "either: arguments to __new__",
    )
    yield (
        "NEWOBJ of a dtype",
        program(global_("torch", "uint8"), p.EMPTY_TUPLE, p.NEWOBJ),
        "a dtype is no class",
    )
    yield (
        "NEWOBJ_EX",
        program(WRAPPER, p.EMPTY_TUPLE, p.EMPTY_DICT, p.NEWOBJ_EX),
        "either: opcode NEWOBJ_EX",
    )


def builds():
    yield (
        "BUILD with __setstate__",
        program(
            NEW_WRAPPER,
            p.EMPTY_DICT,
            text("__setstate__"),
            global_("os", "system"),
            p.SETITEM,
            p.BUILD,
            text("echo hostile"),
            p.BUILD,
        ),
        "an attribute that the next BUILD calls",
    )
    yield (
        "BUILD with __class__",
        wrapper(extra=text("__class__") + global_("builtins", "object")),
        "either: an attribute that is none of ours",
    )
    yield (
        "BUILD with __reduce__",
        wrapper(extra=text("__reduce__") + p.NONE),
        "either: an attribute that is none of ours",
    )
    yield (
        "BUILD with slots state",
        program(
            NEW_WRAPPER,
            p.NONE,
            p.EMPTY_DICT,
            text("to_tensor"),
            p.NONE,
            p.SETITEM,
            p.TUPLE2,
            p.BUILD,
        ),
        "a state that is no dict",
    )
    yield (
        "BUILD of a class",
        program(WRAPPER, p.EMPTY_DICT, text("Deserialize"), p.NONE, p.SETITEM, p.BUILD),
        "would change the class itself",
    )
    yield (
        "BUILD of a dict",
        program(p.EMPTY_DICT, p.EMPTY_DICT, p.BUILD),
        "BUILD of what is no wrapper",
    )
    yield (
        "BUILD of a dtype",
        program(global_("torch", "uint8"), p.EMPTY_DICT, text("x"), p.NONE, p.SETITEM, p.BUILD),
        "would change torch",
    )
    yield (
        "BUILD with an int",
        program(NEW_WRAPPER, p.BININT1, b"\x01", p.BUILD),
        "a state that is no dict",
    )
    yield (
        "keys that are no str",
        program(NEW_WRAPPER, p.EMPTY_DICT, p.BININT1, b"\x01", p.NONE, p.SETITEM, p.BUILD),
        "either: an attribute whose name is an int",
    )
    yield "wrapper in a wrapper", wrapper(handle=NEW_WRAPPER), "either: a wrapper as a handle"
    yield (
        "wrapper holds itself",
        program(
            NEW_WRAPPER,
            p.MEMOIZE,
            p.EMPTY_DICT,
            text("handle"),
            p.BINGET,
            b"\0",
            p.SETITEM,
            p.BUILD,
        ),
        "either: a ring",
    )
    yield (
        "two wrappers, one left",
        PROTO4 + wrapper()[2:-1] + wrapper()[2:],
        "either: two values on the stack at STOP",
    )


def all_calls():
    yield from globals_()
    yield from calls()
    yield from builds()
