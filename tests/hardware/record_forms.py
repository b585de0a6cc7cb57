"""Runs the kernels of tests/data/forms.json.xz on a GPU and records what they leave.

    python3 -m tests.hardware.record_forms OLD.json.xz NEW.json.xz    wants numpy, a GPU of compute capability 9.0 and its driver

A kernel is a text with one entry `k` over operands, results and scratch memory, how many rows of results it has, and what its operands are
made from (tests/interpreter/recordings/operands.py).  One is added by editing this list first; those that differ from OLD are printed.
"""

import ctypes
import json
import lzma
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..interpreter.recordings.operands import LANES, POISON, checksum, operands
from .driver import Driver

SCRATCH = 1024  # words


def left(driver: Driver, k: dict[str, Any]) -> int:
    """The checksum of what one kernel leaves."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    driver.call("cuModuleLoadData", ctypes.byref(module), k["text"].encode() + b"\0")
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
    given, out = operands(k["number"], k["mode"]), np.full(k["rows"] * LANES, POISON)
    places = [driver.upload(x) for x in (given, out, given.ravel()[:SCRATCH].copy())]
    pointers = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in places))
    driver.call("cuLaunchKernel", function, 1, 1, 1, LANES, 1, 1, 0, None, pointers, None)
    driver.call("cuCtxSynchronize")
    driver.call("cuMemcpyDtoH_v2", out.ctypes.data_as(ctypes.c_void_p), places[1], ctypes.c_size_t(out.nbytes))
    for place in places:
        driver.call("cuMemFree_v2", place)
    driver.call("cuModuleUnload", module)
    return checksum(out.reshape(-1, LANES))


def main() -> None:
    old, new = map(Path, sys.argv[1:3])
    kernels, driver, differ = json.loads(lzma.decompress(old.read_bytes()))["kernels"], Driver(), 0
    for k in kernels:
        if "fault" in k:  # it would spoil the context of all others
            continue
        digest = left(driver, k)
        if digest != k.get("digest"):
            differ += 1
            print(k["name"])
        k["digest"] = digest
    new.write_bytes(lzma.compress(json.dumps({"kernels": kernels}, separators=(",", ":")).encode(), preset=9))
    print(f"{len(kernels)} kernels, of which {differ} differ from {old.name}")


if __name__ == "__main__":
    main()
