"""Nine thousand integer, logic, comparison and video instructions against the H200 recordings of tests/data/integer.

h200.npz: `inputs`, six 32-bit words for each of 768 lanes; `lines`, one chain of instructions a line, zlib-packed; `digests`, the CRC-32
of what the H200 gave, the destinations of a line one after the other as 64-bit words.  %w0..%w5 are the words, %x0..%x2 pairs of them,
%h0..%h2 the lower halves of the first three, %p0 and %p1 the lowest bits of %w5 and %w4.
"""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Bits = NDArray[Any]
RECORDED = np.load(Path(__file__).parents[1] / "data" / "integer" / "h200.npz")
LINES = zlib.decompress(RECORDED["lines"].tobytes()).decode().splitlines()
PARTS = 8


def inputs() -> dict[str, Bits]:
    words = RECORDED["inputs"][:, None]
    registers = {f"%w{k}": words[k] for k in range(6)}
    registers |= {f"%x{k}": words[2 * k] | words[2 * k + 1].astype(np.uint64) << np.uint64(32) for k in range(3)}
    registers |= {f"%h{k}": words[k].astype(np.uint16) for k in range(3)}
    return registers | {"%p0": (words[5] & 1).astype(bool), "%p1": (words[4] & 1).astype(bool)}


def destinations(line: str) -> list[str]:
    """The registers that a chain writes, in the order of their last writing."""
    names: list[str] = []
    for instruction in line.split(";"):
        for name in instruction.split(" ", 1)[1].split(",")[0].split("|"):
            register = name.strip().split(".")[0]
            names = [n for n in names if n != register] + [register]
    return names


@pytest.mark.parametrize("part", range(PARTS))
def test_recorded(execute: Callable[[str, dict[str, Bits]], None], part: int) -> None:
    given = inputs()
    lanes = given["%w0"].shape
    wrong = []
    for line, digest in list(zip(LINES, RECORDED["digests"].tolist(), strict=True))[part::PARTS]:
        registers = dict(given)
        for instruction in line.split(";"):
            execute(instruction, registers)
        results = [np.broadcast_to(registers[name], lanes).astype("<u8") for name in destinations(line)]
        if zlib.crc32(np.concatenate(results).tobytes()) != digest:
            wrong.append(line)
    assert not wrong
