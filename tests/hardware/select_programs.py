"""Writes tests/data/programs: whole recorded programs in which blocks, warps and lanes depend on one another, as launches over arrays.

PYTHONPATH=tests/importroot python -m tests.hardware.select_programs FOLDER    wants the folder of the whole recording
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.interpreter.harness import Array
from tests.interpreter.recordings.recorded import Writer

NAMES = """its_spinlock scan_lookback message_passing grid_sync cg_tiles cluster_dsmem recursion func_pointers printf_basic named_barriers
wmma_gemm ldmatrix_mma cp_async_pipeline malloc_list libcudacxx_sync bytecode_vm nqueens link_two symbols_init atomics_all warp_ops
sync_votes generic_ptrs struct_params cub_block int64_divmod clang_reduce_O0 assert_fail oob_store"""
POISON = 0xA5
FORMATS = {"u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "u64": "Q", "s64": "q", "f16": "e", "f32": "f", "f64": "d"}


def packed(folder: Path, argument: dict[str, Any]) -> tuple[bytes, list[list[Any]]]:
    """An argument's bytes, and where addresses of buffers go: [at, buffer, offset]."""
    if "struct" in argument:
        s = argument["struct"]
        data, places = bytearray(s["size"]), []
        for at, inner in s["fields"]:
            piece, inside = packed(folder, inner)
            data[at : at + len(piece)] = piece
            places += [[at + where, *rest] for where, *rest in inside]
        return bytes(data), places
    if "buffer" in argument:
        return bytes(8), [[0, argument["buffer"], argument.get("offset", 0)]]
    if "bytes" in argument:
        return first(folder, {"init": argument["bytes"]}).tobytes(), []
    ((kind, value),) = argument.items()
    return struct.pack("<" + FORMATS[kind], value), []


def first(folder: Path, spec: dict[str, Any]) -> Array:
    """What a buffer or symbol holds at first."""
    if spec["init"].startswith("file:"):
        file, key = spec["init"][5:].split("#")
        return np.asarray(np.load(folder / file)[key])
    fill = POISON if spec["init"] == "poison" else 0
    return np.full(int(np.prod(spec["shape"])) * np.dtype(spec["dtype"]).itemsize, fill, np.uint8).view(spec["dtype"])


def main(source: Path) -> None:
    """Writes the selection."""
    writer = Writer("programs")
    for name in NAMES.split():
        folder = source / name
        case = json.loads((folder / "case.json").read_text())
        golden: dict[str, Array] = {}
        for file in ("golden.npz", "golden_strict.npz"):  # the strict one has every product rounded, as PTX says
            if (folder / file).exists():
                golden |= dict(np.load(folder / file))
        launches = []
        for one in case["launches"]:
            if "expect_error" in one:
                continue
            if "memset" not in one:
                arguments = [packed(folder, a) for a in one.pop("args")]
                one["arguments"] = [[data.hex(), places] for data, places in arguments]
            launches.append(one)
        stdout = folder / "stdout.txt"
        writer.add({
            "name": name, "ptx": [(folder / p).read_text() for p in case["ptx"]], "link": case["link"],
            "buffers": {n: writer.keep(first(folder, s)) for n, s in case.get("buffers", {}).items()},
            "symbols": {n: writer.keep(first(folder, s)) for n, s in case.get("symbols", {}).items()},
            "launches": launches, "golden": {n: writer.keep(x) for n, x in golden.items()},
            "ignore": case.get("compare_ignore", {}), "stdout": stdout.read_text() if case.get("stdout") else "",
            "ordered": case.get("stdout") != "lines_unordered", "fails": case.get("expect", {}).get("sync", ""),
        })  # fmt: skip
    print(len(writer.lines), "programs,", writer.write(), "bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
