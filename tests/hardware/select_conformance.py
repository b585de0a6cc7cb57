"""Chooses some of the recorded conformance cases, trims their arrays and writes tests/data/conformance.

    PYTHONPATH=tests/importroot python -m tests.hardware.select_conformance FOLDER    wants the folder of the whole recording

A case is trimmed where fewer lanes leave the results of those that stay as recorded: lanes spread over the whole input where each works
alone, else whole blocks from its start.  Where neither holds the case is carried whole if it is small.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.interpreter.harness import Array
from tests.interpreter.recordings.recorded import Writer, results

CASES = 300
LEAST = 4  # of a group
LANES = 120
LARGEST = 12 << 10  # bytes of a case that cannot be trimmed
DEPENDS_ON_CONTRACTION = {"dot_double"}  # the assembler fuses a product and a sum that PTX leaves apart

Arrays = tuple[list[Array], list[Array]]


def shares(sizes: dict[str, int]) -> dict[str, int]:
    """How many cases of each group: by the square root of its size."""
    weight = {g: n**0.5 for g, n in sizes.items()}
    return {g: min(sizes[g], max(LEAST, round(CASES * w / sum(weight.values())))) for g, w in weight.items()}


def subset(arrays: Arrays, n: int, lanes: Array) -> Arrays | None:
    """The arrays of some lanes; None where an array has not so many elements for each."""
    ins, outs = arrays
    if any(x.size % n or not x.size for x in (*ins, *outs)):
        return None
    return tuple([np.ascontiguousarray(x.reshape(n, -1)[lanes]).ravel() for x in xs] for xs in arrays)  # type: ignore[return-value]


def ways(case: dict[str, Any]) -> Iterator[tuple[int, Array]]:
    """(blocks, lanes) to try."""
    n, block = case["n"], int(np.prod(case["block"]))
    if n > LANES:
        yield -(-LANES // block), np.unique(np.linspace(0, n - 1, LANES).astype(np.int64))
    for k in (1, 2, 4):
        if n > k * block:
            yield k, np.arange(k * block)


def trim(case: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays] | None:
    """A smaller case with the recorded results, or the case itself; None if it is too big."""
    for blocks, lanes in ways(case):
        less = subset(arrays, case["n"], lanes)
        if less is None:
            continue
        smaller = case | {"n": int(lanes.size), "grid": [blocks, 1, 1]}
        try:
            got = results(smaller, *less)
        except Exception:  # whatever goes wrong with fewer lanes: they can't be had alone
            continue
        if all(np.array_equal(g, w) for g, w in zip(got, less[1], strict=True)):
            return smaller, less
    return (case, arrays) if sum(x.nbytes for xs in arrays for x in xs) <= LARGEST else None


def main(source: Path) -> None:
    """Writes the selection."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in (source / "index.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["name"] not in DEPENDS_ON_CONTRACTION:
            groups.setdefault(record["group"], []).append(record)
    wanted = shares({g: len(rs) for g, rs in groups.items()})
    writer = Writer("conformance")
    for group, records in groups.items():
        stored = np.load(source / f"{group}.npz")
        every = {key: stored[key].ravel() for key in stored.files}
        taken = 0
        order = np.unique(np.linspace(0, len(records) - 1, wanted[group]).round().astype(int)).tolist()
        for i in [*order, *(i for i in range(len(records)) if i not in order)]:
            if taken == wanted[group]:
                break
            case = records[i]
            arrays = ([every[x["key"]] for x in case["inputs"]], [every[x["key"]] for x in case["outputs"]])
            found = trim(case, arrays)
            if found is None:
                continue
            taken += 1
            case, (ins, outs) = found
            case["inputs"] = [writer.keep(x) for x in ins]
            case["outputs"] = [{"array": writer.keep(x), "init": o["init"]} for x, o in zip(outs, case["outputs"], strict=True)]
            writer.add(case)
        print(f"{group:16} {taken:4} of {len(records)}", flush=True)
    size = writer.write()
    print(len(writer.lines), "cases,", size, "bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
