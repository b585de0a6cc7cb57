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
generator = ctypes.c_void_p()
RAND.curandCreateGeneratorHost(ctypes.byref(generator), 101)
RAND.curandSetPseudoRandomGeneratorSeed(generator, SEED)
own = np.zeros(5, "u4")
RAND.curandGenerate(generator, own, 5)
assert (own == given(101, "Generate", "u4", 5)[0]).all()
RAND.curandGenerateNormal(generator, own.view("f4"), 5, f(0), f(1), code=105)
RAND.curandCreateGenerator(ctypes.byref(generator), 142, code=103)
print(json.dumps(found))
