"""Cases recorded on an H200: whole modules with the arrays that went in and came out; how one is run and how a file of them is read.

A case is a record {name, group, ptx, entry, grid, block, n, inputs, outputs} whose arrays are given apart: pointers to the inputs, then to
the outputs, then n are the parameters of its entry.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from warplab.interpreter.launch import EngineUse

from ..harness import Array, Machine


def results(
    case: Mapping[str, Any], inputs: Sequence[Array], outputs: Sequence[Array], used: EngineUse | None = None, **options: Any
) -> list[Array]:
    """What the engine leaves in the outputs of a case; `outputs` only tell their shapes, `used` is told what ran."""
    machine = Machine(case["ptx"], verified=False, bytes=32 << 20)
    places = [machine.upload(x) for x in inputs]
    kept = []
    for spec, like in zip(case["outputs"], outputs, strict=True):
        fill = 0 if spec["init"] == "zero" else 0xCD
        kept.append(machine.upload(np.full(like.nbytes, fill, np.uint8)))
    entry = machine.program.kernels[case["entry"]]
    cluster = entry.function.directive(".reqnctapercluster")
    if cluster is not None:
        options["cluster"] = tuple(int(str(x)) for x in (*cluster.values, 1, 1, 1)[:3])
    launch = machine.launch(
        case["grid"], case["block"], [*places, *kept, case["n"]], name=case["entry"], shared=case.get("shared_bytes", 0), **options
    )
    if used is not None:
        used.add(launch.used)
    return [machine.download(a, like.dtype).reshape(like.shape) for a, like in zip(kept, outputs, strict=True)]


class Carried:
    """Records and their arrays in two compressed files; a record names an array by [offset, count, dtype]."""

    def __init__(self, name: str) -> None:
        self.folder = Path(__file__).parents[2] / "data" / name

    def records(self) -> list[dict[str, Any]]:
        """All records, in the order of the file."""
        return [json.loads(line) for line in lzma.decompress((self.folder / "records.xz").read_bytes()).decode().split("\n")]

    @cached_property
    def _bytes(self) -> bytes:
        return lzma.decompress((self.folder / "arrays.xz").read_bytes())

    def array(self, place: Sequence[Any]) -> Array:
        """A carried array."""
        offset, count, dtype = place
        return np.frombuffer(self._bytes, dtype, count, offset)


class Writer:
    """Collects records and arrays, equal arrays once, and writes the files that Carried reads."""

    def __init__(self, name: str) -> None:
        self.folder = Carried(name).folder
        self.raw = bytearray()
        self.known: dict[bytes, int] = {}
        self.lines: list[str] = []

    def keep(self, x: Array) -> list[Any]:
        """Stores an array; gives its place."""
        data = x.tobytes()
        at = self.known.get(data)
        if at is None:
            self.raw.extend(bytes(-len(self.raw) % 16))
            at = self.known[data] = len(self.raw)
            self.raw.extend(data)
        return [at, x.size, x.dtype.name]

    def add(self, record: Mapping[str, Any]) -> None:
        """Stores a record."""
        self.lines.append(json.dumps(record))

    def write(self) -> int:
        """Writes both files; gives their size."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "arrays.xz").write_bytes(lzma.compress(bytes(self.raw), preset=9))
        (self.folder / "records.xz").write_bytes(lzma.compress("\n".join(self.lines).encode(), preset=9))
        return sum(f.stat().st_size for f in self.folder.iterdir())
