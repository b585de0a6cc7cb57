"""Runs the cases of tests/data/sweep on a GPU and records what they leave.

    python3 -m tests.hardware.record_sweep FOLDER NEW    wants numpy, a GPU of compute capability 9.0 and its driver; names the cases that differ

The cases are a selection of a sweep over every instruction form that sm_90a takes: 35,000 kernels, made from the rows of isa/ops with
special, near and random operands, and random programs of all of them.  A changed list of cases is recorded by editing records.xz and
arrays.xz first, with outputs of the right size.
"""

from __future__ import annotations

import ctypes
import json
import lzma
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .driver import Array, Driver


class Recorder(Driver):
    """Launches cases of the sweep."""

    def run(self, case: dict[str, Any], inputs: list[Array], outputs: list[Array]) -> list[Array]:
        """One launch of a case's entry; what it leaves in its outputs, which are given for their size."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), case["ptx"].encode() + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(function), module, case["entry"].encode())
        shared = case.get("shared_bytes", 0)
        if shared:
            self.call("cuFuncSetAttribute", function, 8, shared)  # the most dynamic shared memory
        filled = [
            np.full(x.nbytes, 0 if spec["init"] == "zero" else 0xCD, np.uint8) for x, spec in zip(outputs, case["outputs"], strict=True)
        ]
        places = [self.upload(x) for x in (*inputs, *filled)]
        arguments = [*places, ctypes.c_uint32(case["n"])]
        pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.cast(ctypes.byref(x), ctypes.c_void_p) for x in arguments])
        self.call("cuLaunchKernel", function, *case["grid"], *case["block"], shared, None, pointers, None)
        self.call("cuCtxSynchronize")
        for x, place in zip(filled, places[len(inputs) :], strict=True):
            self.call("cuMemcpyDtoH_v2", x.ctypes.data_as(ctypes.c_void_p), place, ctypes.c_size_t(x.nbytes))
        for place in places:
            self.call("cuMemFree_v2", place)
        self.call("cuModuleUnload", module)
        return [x.view(like.dtype) for x, like in zip(filled, outputs, strict=True)]


def main(folder: Path, new: Path) -> None:
    """Records every case of a folder; outputs stand alone in the file, so they are replaced where they lie."""
    raw = bytearray(lzma.decompress((folder / "arrays.xz").read_bytes()))
    driver, known = Recorder(), bytes(raw)
    records = [json.loads(line) for line in lzma.decompress((folder / "records.xz").read_bytes()).decode().split("\n")]
    for case in records:
        inputs = [np.frombuffer(known, dtype, count, at) for at, count, dtype in case["inputs"]]
        outputs = [np.frombuffer(known, dtype, count, at) for at, count, dtype in (x["array"] for x in case["outputs"])]
        for spec, before, after in zip(case["outputs"], outputs, driver.run(case, inputs, outputs), strict=True):
            if not np.array_equal(before, after):
                print("differs:", case["name"], np.count_nonzero(before != after), "of", after.size)
                at = spec["array"][0]
                raw[at : at + after.nbytes] = after.tobytes()
    new.mkdir(parents=True, exist_ok=True)
    (new / "arrays.xz").write_bytes(lzma.compress(bytes(raw), preset=9))
    (new / "records.xz").write_bytes((folder / "records.xz").read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
