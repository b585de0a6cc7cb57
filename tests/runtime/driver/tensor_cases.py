"""Tensor copies recorded on an H200: descriptor parameters, buffers, a module, its launches, and a checksum of what came out or the error.

`maps` are arguments of cuTensorMapEncode*, enumerators by the ends of their names; `buffers` say how many bytes and how they are filled.
"""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conftest import Host

Bytes = NDArray[np.uint8]
WORDS = {"f16": "u2", "bf16": "u2", "u8": "u1", "u16": "u2", "f32": "u4", "u32": "u4", "s32": "u4", "f64": "u8", "u64": "u8", "s64": "u8"}
GOLDEN, MIX_A, MIX_B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# Each third of some floats is one of these: zeros, subnormals, infinities, NaNs, ties of a conversion.
SPECIAL = {
    "f16": "0000 8000 0001 8001 03ff 83ff 0400 3c00 bc00 7bff 7c00 fc00 7c01 7e00 fe55 7fff",
    "bf16": "0000 8000 0001 8001 007f 807f 0080 3f80 bf80 7f7f 7f80 ff80 7f81 7fc0 ffd5 7fff",
    "f32": "00000000 80000000 00000001 80000001 007fffff 807fffff 00800000 3f801000 3f800fff 3f803000 7f7fffff 7f800000 ff800000 7f800001 "
           "7fc01234 ffffffff",
    "f64": "0 8000000000000000 1 8000000000000001 fffffffffffff 10000000000000 3ff0000000000000 bff0000000000000 7fefffffffffffff "
           "7ff0000000000000 fff0000000000000 7ff0000000000001 7ff8000000001234 ffffffffffffffff 4000000000000001 3ff0000010000000",
}  # fmt: skip
FORMATS = {"f16": (15, 10, 16), "bf16": (127, 7, 16), "f32": (127, 23, 32), "f64": (1023, 52, 64)}  # bias, bits of the fraction, bits


def checksum(data: Bytes) -> int:
    """What is carried of a result."""
    return zlib.crc32(data.tobytes())


def random_words(seed: int, count: int) -> NDArray[np.uint64]:
    """splitmix64."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * MIX_A
        z = (z ^ (z >> np.uint64(27))) * MIX_B
        return z ^ (z >> np.uint64(31))


def as_words(values: NDArray[Any], kind: str) -> Bytes:
    """Numbers that a type holds exactly, as its bytes."""
    if kind == "bf16":
        words = (values.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype("u2")
    else:
        words = values.astype(f"f{WORDS[kind][1]}" if kind[0] == "f" else f"i{WORDS[kind][1]}")
    return words.view(np.uint8)


def contents(size: int, fill: Sequence[Any]) -> Bytes:
    """The bytes that a buffer starts with."""
    kind, *rest = fill
    if kind == "byte":
        return np.full(size, rest[0], np.uint8)
    if kind == "bits":
        return random_words(rest[0], -(-size // 8)).view(np.uint8)[:size].copy()
    if kind == "words":
        return np.array(rest[0], np.uint32).view(np.uint8)
    seed, type = rest[:2]
    count = size // np.dtype(WORDS[type]).itemsize
    if kind == "index":
        return as_words(np.arange(count) + seed, type)
    w = random_words(seed, count)
    if kind == "small":
        low, high = rest[2:]
        return as_words((w >> np.uint64(33)).astype(np.int64) % (high - low + 1) + low, type)
    assert kind == "floats", kind
    bias, fraction, bits = FORMATS[type]
    exponent = ((w >> np.uint64(54)) % np.uint64(13) + np.uint64(bias - 6)) << np.uint64(fraction)
    moderate = (w & np.uint64((1 << fraction) - 1)) | exponent | ((w >> np.uint64(63)) << np.uint64(bits - 1))
    special = np.array([int(x, 16) for x in SPECIAL[type].split()], np.uint64)
    chosen = special[(w >> np.uint64(40)) % np.uint64(special.size)]
    return np.where(w % np.uint64(3) == 0, chosen, moderate).astype(WORDS[type]).view(np.uint8)


class CallFailed(Exception):
    """A call of the driver, and CUDA's name of the error."""


class TensorCase:
    """One case on a device."""

    def __init__(self, host: Host, case: Mapping[str, Any]) -> None:
        self.host, self.case = host, case
        self.buffers: dict[str, int] = {}
        self.maps: dict[str, bytes] = {}

    def call(self, name: str, *args: object) -> Any:
        """A call that may fail."""
        code, *results = getattr(self.host.cu, name)(*args)
        if code != 0:
            raise CallFailed(name, code.name)
        return results[0] if results else None

    def encode(self, m: Mapping[str, Any]) -> bytes:
        """The 128 bytes of a map."""
        cu = self.host.cu

        def word(enum: str, head: str, key: str) -> object:
            return getattr(getattr(cu, enum), f"CU_TENSOR_MAP_{head}_{m.get(key, 'NONE')}")

        at = m["address"]
        address = self.buffers[at["buffer"]] + at.get("offset", 0) if "buffer" in at else at["value"]
        head = [word("CUtensorMapDataType", "DATA_TYPE", "type"), m["rank"], address, m["dims"], m["strides"]]
        if m["mode"] != "tiled":
            head += [m["lower"], m["upper"], m["channels"], m["pixels"]]
        tail = [
            word("CUtensorMapSwizzle", "SWIZZLE", "swizzle"), word("CUtensorMapL2promotion", "L2_PROMOTION", "l2"),
            word("CUtensorMapFloatOOBfill", "FLOAT_OOB_FILL", "oob"),
        ]  # fmt: skip
        interleave = word("CUtensorMapInterleave", "INTERLEAVE", "interleave")
        if m["mode"] == "tiled":
            made = self.call("cuTensorMapEncodeTiled", *head, m["box"], m["steps"], interleave, *tail)
        elif m["mode"] == "im2col":
            made = self.call("cuTensorMapEncodeIm2col", *head, m["steps"], interleave, *tail)
        else:
            wide = word("CUtensorMapIm2ColWideMode", "IM2COL_WIDE_MODE", "wide")
            made = self.call("cuTensorMapEncodeIm2colWide", *head, m["steps"], interleave, wide, *tail)
        return np.array([int(x) for x in made.opaque], np.uint64).tobytes()

    def argument(self, a: Mapping[str, Any]) -> object:
        """What a parameter gets, as a ctypes object."""
        if "map" in a:
            return (ctypes.c_uint8 * 128).from_buffer_copy(self.maps[a["map"]])
        if "buffer" in a:
            return ctypes.c_uint64(self.buffers[a["buffer"]] + a.get("offset", 0))
        ((kind, value),) = a.items()
        return {"u16": ctypes.c_uint16, "s16": ctypes.c_int16, "u32": ctypes.c_uint32, "s32": ctypes.c_int32, "u64": ctypes.c_uint64}[kind](
            value
        )

    def run(self, text: str) -> dict[str, int]:
        """Checksums of the results."""
        case = self.case
        buffers = case.get("buffers", {})
        for name, spec in buffers.items():
            if "map" not in spec:
                self.buffers[name] = self.host.upload(contents(spec["bytes"], spec["fill"]))
        for name, m in case.get("maps", {}).items():
            self.maps[name] = self.encode(m)
        for name, spec in buffers.items():
            if "map" in spec:
                self.buffers[name] = self.host.upload(np.frombuffer(self.maps[spec["map"]], np.uint8))
        if not text:
            return {}
        module = self.call("cuModuleLoadData", text.encode())
        for name, spec in case.get("symbols", {}).items():
            code, where, _ = self.host.cu.cuModuleGetGlobal(module, name.encode())
            assert code == 0
            self.call("cuMemcpyHtoD", where, np.frombuffer(self.maps[spec["map"]], np.uint8), 128)
        for step in case.get("launches", ()):
            self.launch(module, step)
        return {
            name: checksum(self.host.download(self.buffers[name], np.empty(buffers[name]["bytes"], np.uint8)))
            for name in case.get("outputs", ())
        }

    def launch(self, module: object, step: Mapping[str, Any]) -> None:
        """One launch, to its end."""
        f = self.call("cuModuleGetFunction", module, step["entry"].encode())
        if step["shared"] > 48 << 10:
            attribute = self.host.cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.call("cuFuncSetAttribute", f, attribute, step["shared"])
        given = [self.argument(a) for a in step["args"]]
        pointers = (ctypes.c_void_p * len(given))(*[ctypes.addressof(x) for x in given])  # type: ignore[arg-type]
        self.call("cuLaunchKernel", f, *step["grid"], *step["block"], step["shared"], 0, ctypes.addressof(pointers), 0)
        self.call("cuCtxSynchronize")
