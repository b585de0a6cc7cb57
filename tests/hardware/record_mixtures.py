"""Runs the kernels of tests/data/memory/mixtures.json.xz on a GPU under Nsight Compute and records their counters and what they leave.

    python3 -m tests.hardware.record_mixtures OLD.json.xz NEW.json.xz    wants numpy, ncu, a GPU of compute capability 9.0 and its driver

A kernel is a text with one entry, the shape of its launch, and from what its memory is made (tests/interpreter/mixtures.py).  One is
added by editing this list first; those that differ from OLD are printed.  What timing decides is kept where OLD keeps it: counters in
SOME, and the checksum of what is left.
"""

import csv
import ctypes
import json
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..interpreter.mixtures import BUFFER, IN, METRICS, OUT, SIZE, SOME, TABLE, checksum, kernels, memory, short
from .driver import Driver

LAUNCH = "--launch"  # what ncu starts
CHECKSUM = "checksum "
MEASURED = {"lts__t_sectors_op_write.sum": "lts__t_sectors_srcunit_tex_op_write.sum"}  # less what is written beside the kernel


def left(driver: Driver, k: dict[str, Any], space: int) -> int:
    """The checksum of what one kernel leaves in a block of memory."""
    module, function, image = ctypes.c_void_p(), ctypes.c_void_p(), memory(k)
    driver.call("cuModuleLoadData", ctypes.byref(module), k["text"].encode() + b"\0")
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, k["text"].split(".entry ")[1].split("(")[0].strip().encode())
    driver.call("cuMemcpyHtoD_v2", ctypes.c_uint64(space), image.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(SIZE))
    places = [ctypes.c_uint64(space + at) for at in (TABLE, IN, BUFFER, OUT)]
    arguments = [*places, ctypes.c_uint32(k["zero"]), ctypes.c_uint32(k["trips"])]
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.cast(ctypes.byref(x), ctypes.c_void_p) for x in arguments))
    driver.call("cuLaunchKernel", function, k["grid"], 1, 1, *k["block"], 0, None, pointers, None)
    driver.call("cuCtxSynchronize")
    after = np.empty_like(image)
    driver.call("cuMemcpyDtoH_v2", after.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(space), ctypes.c_size_t(SIZE))
    driver.call("cuModuleUnload", module)
    return checksum(k, image, after)


def launch(path: Path) -> None:
    """Launches all kernels of a file, and prints what each leaves."""
    driver = Driver()
    start = driver.upload(np.zeros(2 * SIZE, np.uint8)).value
    for k in kernels(path):
        print(f"{CHECKSUM}{left(driver, k, -(-start // SIZE) * SIZE)}", flush=True)


def counted(path: Path) -> tuple[list[dict[str, int]], list[int]]:
    """The counters of each kernel of a file, those that are not zero, and the checksums."""
    measured = [MEASURED.get(m, m) for m in METRICS]
    command = "ncu --csv --page raw --print-units base --print-fp --clock-control none --metrics".split()
    command += [",".join(measured), sys.executable, "-m", __spec__.name, LAUNCH, str(path)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = found.stdout.splitlines()
    header = next(n for n, line in enumerate(lines) if line.startswith('"ID"'))
    rows = [row for row in csv.DictReader(lines[header:]) if row["ID"]]  # less the line of units
    each = [{short(m): int(float(row[as_ncu].replace(",", ""))) for m, as_ncu in zip(METRICS, measured, strict=True)} for row in rows]
    return [{name: n for name, n in c.items() if n} for c in each], [int(x[len(CHECKSUM) :]) for x in lines if x.startswith(CHECKSUM)]


def main() -> None:
    if sys.argv[1] == LAUNCH:
        launch(Path(sys.argv[2]))
        return
    old, new = map(Path, sys.argv[1:3])
    every, differ = kernels(old), 0
    for k, counters, digest in zip(every, *counted(old), strict=True):
        known = k.get("counters", counters)
        kept = {name: n for name, n in counters.items() if name not in SOME or name in known}
        if kept != known or digest != k.get("outputs", digest):
            differ += 1
            print(
                k["name"],
                {name: (known.get(name), kept.get(name)) for name in known.keys() | kept.keys() if known.get(name) != kept.get(name)},
            )
        k["counters"] = kept
        if "outputs" in k:
            k["outputs"] = digest
    new.write_bytes(lzma.compress(json.dumps({"kernels": every}, separators=(",", ":")).encode(), preset=9))
    print(f"{len(every)} kernels, of which {differ} differ from {old.name}")


if __name__ == "__main__":
    main()
