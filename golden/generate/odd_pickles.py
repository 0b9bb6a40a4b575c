# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Odd pickles: harmless objects of the right class that no real client sends. The real server
reads them at decoding and fails later, if at all; a reader of a fixed shape refuses them.
Either is right, as long as nothing runs and nothing crashes."""

import pickle

import real
from wrappers import raw_wrapper, torch_handle, wrapper

SMALL = {"shape": (2, 8), "stride": (8, 1)}


def _with(obj, **attributes):
    for name, value in attributes.items():
        setattr(obj, name, value)
    return obj


def _without(obj, name):
    delattr(obj, name)
    return obj


def objects():
    yield "no attributes", real.Wrapper.__new__(real.Wrapper)
    for name in ("handle", "dtype", "shape", "stride", "storage_offset", "device_uuid"):
        yield f"without {name}", _without(wrapper(**SMALL), name)
    yield "raw without _nbytes", _without(raw_wrapper(**SMALL), "_nbytes")
    yield "one attribute more", _with(wrapper(**SMALL), extra=1)
    yield "shape is a list", _with(wrapper(**SMALL), shape=[2, 8])
    yield "shape of bools", _with(wrapper(**SMALL), shape=(True, False))
    yield "shape of floats", _with(wrapper(**SMALL), shape=(2.0, 8.0))
    yield "shape is None", _with(wrapper(**SMALL), shape=None)
    yield "shape of another rank", _with(wrapper(**SMALL), shape=(2, 8, 1))
    yield "dtype is a str", _with(wrapper(**SMALL), dtype="bfloat16")
    yield "uuid is bytes", _with(wrapper(**SMALL), device_uuid=b"GPU")
    yield "uuid is None", _with(wrapper(**SMALL), device_uuid=None)
    yield "handle is a list", _with(wrapper(**SMALL), handle=list(torch_handle()))
    yield "handle of seven", _with(wrapper(**SMALL), handle=torch_handle()[:7])
    yield "handle of nine", _with(wrapper(**SMALL), handle=(*torch_handle(), 1))
    yield "handle is None", _with(wrapper(**SMALL), handle=None)
    yield "handle of a str", _with(wrapper(**SMALL), handle=(0, "handle", *torch_handle()[2:]))
    yield "event sync is an int", _with(wrapper(**SMALL), handle=(*torch_handle()[:7], 1))
    yield "int of 2^64", _with(wrapper(**SMALL), storage_offset=2**64)
    yield "int of 2000 bits", _with(wrapper(**SMALL), storage_offset=2**2000)
    yield (
        "raw handle is a bytearray",
        _with(raw_wrapper(**SMALL), _ipc_handle_reserved=bytearray(64)),
    )
    yield "rank 40", wrapper(shape=(1,) * 40)


def rows():
    for name, obj in objects():
        for protocol in (2, 4):
            data = pickle.dumps(obj, protocol)
            real.Wrapper.Deserialize(data)  # the real class does read it
            yield {
                "name": f"{name}, protocol {protocol}",
                "hex": data.hex(),
                "either": "right class, wrong contents",
            }
    for protocol in (0, 1):
        data = pickle.dumps(wrapper(**SMALL), protocol)
        real.Wrapper.Deserialize(data)
        yield {
            "name": f"protocol {protocol}",
            "hex": data.hex(),
            "either": "a protocol that no client uses",
        }
    data = pickle.dumps(wrapper(**SMALL))
    yield {
        "name": "a tail after STOP",
        "hex": (data + b"tail").hex(),
        "either": "pickle.loads ignores what follows STOP",
    }
