"""Every spelling of the float and conversion families that sm_90 takes, against the H200 recordings of hardware/record_floats.py."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from warplab.isa.notation import resolve
from warplab.isa.types import TYPES

RECORDED = np.load(Path(__file__).parents[1] / "data" / "floats" / "h200.npz")
FORMS = [line.split() for line in str(RECORDED["forms"]).splitlines()]


def destination_bytes(spelling: str) -> int:
    opcode, *words = spelling.split(".")
    found = resolve(opcode, tuple(words))
    assert found is not None, spelling
    kind = found[0].type_of(found[0].operands[0], found[1])
    assert kind is not None
    return 4 if kind is TYPES["pred"] else kind.bytes  # a predicate was stored as a 32-bit 0 or 1


@pytest.mark.parametrize("opcode", sorted({spelling.split(".")[0] for spelling, *_ in FORMS}))
def test_recorded(opcode: str, evaluate: Callable[..., list[int]]) -> None:
    wrong, results, at = [], RECORDED["results"], 0
    for spelling, *inputs in FORMS:
        operands = [RECORDED[f"in_{key}"].tolist() for key in inputs]
        width, lanes = destination_bytes(spelling), len(operands[0])
        expected = results[at : at + width * lanes].view(f"u{width}").tolist()
        at += width * lanes
        if spelling.split(".")[0] == opcode:
            got = [n % (1 << 8 * width) for n in evaluate(spelling, *operands)]
            wrong += [(spelling, *map(hex, row)) for row in zip(*operands, expected, got, strict=True) if row[-1] != row[-2]]
    assert not wrong
    assert at == len(results)
