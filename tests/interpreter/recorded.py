"""Cases recorded on an H200: whole modules with the arrays that went in and came out; how one is run and how a file of them is read.

A case is a record {name, group, ptx, entry, grid, block, n, inputs, outputs} whose arrays are given apart: pointers to the inputs, then to
the outputs, then n are the parameters of its entry.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .harness import Array, Machine

FOLDER = Path(__file__).parents[1] / "data/conformance"


def results(case: Mapping[str, Any], inputs: Sequence[Array], outputs: Sequence[Array], **options: Any) -> list[Array]:
    """What the engine leaves in the outputs of a case; `outputs` only tell their shapes."""
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
    machine.launch(
        case["grid"], case["block"], [*places, *kept, case["n"]], name=case["entry"], shared=case.get("shared_bytes", 0), **options
    )
    return [machine.download(a, like.dtype).reshape(like.shape) for a, like in zip(kept, outputs, strict=True)]


@cache
def _bytes() -> bytes:
    return lzma.decompress((FOLDER / "arrays.xz").read_bytes())


def cases() -> list[dict[str, Any]]:
    """The carried cases; an array is named by [offset, count, dtype]."""
    return [json.loads(line) for line in lzma.decompress((FOLDER / "cases.jsonl.xz").read_bytes()).decode().splitlines()]


def array(place: Sequence[Any]) -> Array:
    """A carried array."""
    offset, count, dtype = place
    return np.frombuffer(_bytes(), dtype, count, offset)
