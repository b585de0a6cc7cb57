"""Calls cuRAND, and prints what its generators give: a sum of the bits, and some numbers."""

from __future__ import annotations

import ctypes
import json
import zlib

import numpy as np
from libraries import DeviceArray, Library

RAND = Library("libcurand.so.10")
SEED = 5


def given(kind: int, what: str, dtype: str, n: int, *more: object, parts: tuple[int, ...] = (), offset: int = 0) -> list[np.ndarray]:
    """What a generator gives in several calls."""
    generator, out = ctypes.c_void_p(), []
    RAND.curandCreateGenerator(ctypes.byref(generator), kind)
    RAND.curandSetPseudoRandomGeneratorSeed(generator, SEED)
    if offset:
        RAND.curandSetGeneratorOffset(generator, offset)
    for size in (*parts, n):
        to = DeviceArray(np.zeros(size, dtype))
        getattr(RAND, f"curand{what}")(generator, to, size, *more)
        out.append(to.get())
    RAND.curandDestroyGenerator(generator)
    return out


found = {}
f, d = ctypes.c_float, ctypes.c_double
for kind in (101, 121, 161):
    for what, dtype, more in (
        ("Generate", "u4", ()), ("GenerateUniform", "f4", ()), ("GenerateUniformDouble", "f8", ()),
        ("GenerateNormal", "f4", (f(1), f(2))), ("GenerateNormalDouble", "f8", (d(1), d(2))),
    ):  # fmt: skip
        (numbers,) = given(kind, what, dtype, 200000, *more)
        found[f"{kind} {what}"] = [zlib.crc32(numbers.tobytes()), *map(float, numbers[[0, 1, 2, 4096, 99999]])]
        found[f"{kind} {what} moments"] = [float(numbers.mean()), float(numbers.std())]
    whole, pieces = given(kind, "Generate", "u4", 9000)[0], given(kind, "Generate", "u4", 990, parts=(10, 3000, 5000))
    assert (np.concatenate(pieces) == whole).all()
    assert (given(kind, "Generate", "u4", 4000, offset=5000)[0] == whole[5000:]).all()
    (logs,) = given(kind, "GenerateLogNormal", "f4", 20000, f(0), f(0.5))
    (counts,) = given(kind, "GeneratePoisson", "u4", 20000, d(3.5))
    found[f"{kind} others"] = [float(np.log(logs).std()), float(counts.mean()), float(counts.var())]

# Points of quasirandom sequences, from a place on.
generator, vectors = ctypes.c_void_p(), ctypes.c_void_p()
for kind, bits, which in ((201, 32, 101), (203, 64, 103)):
    RAND.curandCreateGenerator(ctypes.byref(generator), kind)
    for dimensions, place in ((1, 0), (7, 12345), (20000, 3)):
        for what, dtype, more in (
            ("Generate" if bits == 32 else "GenerateLongLong", f"u{bits // 8}", ()), ("GenerateUniform", "f4", ()),
            ("GenerateUniformDouble", "f8", ()), ("GenerateNormal", "f4", (f(1), f(2))), ("GenerateNormalDouble", "f8", (d(1), d(2))),
        ):  # fmt: skip
            RAND.curandSetQuasiRandomGeneratorDimensions(generator, dimensions)
            RAND.curandSetGeneratorOffset(generator, place)
            parts = [DeviceArray(np.zeros(dimensions * count, dtype)) for count in (2, 5)]
            for to in parts:
                getattr(RAND, f"curand{what}")(generator, to, to.get().size, *more)
            numbers = np.concatenate([to.get() for to in parts])
            found[f"{kind} {what} {dimensions}"] = [zlib.crc32(numbers.tobytes()), *map(float, numbers[[0, 1, -3, -1]])]
    RAND.curandGenerate(generator, DeviceArray(np.zeros(8, "u4")), 8, code=103 if bits == 64 else 105)
    RAND.curandSetPseudoRandomGeneratorSeed(generator, SEED, code=103)
    RAND.curandSetQuasiRandomGeneratorDimensions(generator, 20001, code=104)
    getattr(RAND, f"curandGetDirectionVectors{bits}")(ctypes.byref(vectors), which)
    found[f"directions {bits}"] = [zlib.crc32(ctypes.string_at(vectors.value or 0, 20000 * bits * bits // 8))]
    getattr(RAND, f"curandGetDirectionVectors{bits}")(ctypes.byref(vectors), which + 1, code=103)
RAND.curandCreateGeneratorHost(ctypes.byref(generator), 101)
RAND.curandSetPseudoRandomGeneratorSeed(generator, SEED)
own = np.zeros(5, "u4")
RAND.curandGenerate(generator, own, 5)
assert (own == given(101, "Generate", "u4", 5)[0]).all()
RAND.curandGenerateNormal(generator, own.view("f4"), 5, f(0), f(1), code=105)
RAND.curandCreateGenerator(ctypes.byref(generator), 142, code=103)
print(json.dumps(found))
