"""Which registers, constants, sums and names ptxas 13.0 takes in a place, instruction by instruction: what its answers to all of them were.

In the data a line with a version, a target and operands stands before those of the instructions that were tried with these operands; each
says where the operand stands (@@) and which of them are legal there.
"""

import itertools
import json
from pathlib import Path

import pytest

from warplab.assembler.verify import check

DATA = Path(__file__).parent / "data" / "places.jsonl"


def places():
    """What stands before the instructions, the operands, and each instruction with the operands that are legal in it."""
    with DATA.open() as file:
        declarations = json.loads(next(file))
        for line in file:
            first, second = json.loads(line)
            if "@@" not in first:
                version, target = first.split()
                before, operands = f".version {version}\n.target {target}\n{declarations}", second.split()
            else:
                yield before, operands, first, second.split()


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.long)])
def test_each_place_takes_what_ptxas_takes(step):
    wrong = {}
    for before, operands, instruction, legal in itertools.islice(places(), 0, None, step):
        text = before + "\n".join(instruction.replace("@@", operand) for operand in operands) + "\nret;\n}\n"
        first = before.count("\n") + 1
        refused = {d.span.line - first for d in check(text, warnings=()) if d.severity == "error"}
        taken = [operand for i, operand in enumerate(operands) if i not in refused]
        if taken != legal:
            wrong[instruction] = set(taken) ^ set(legal)
    assert not wrong


def test_there_are_places_of_all_kinds():
    found = list(places())
    assert len(found) > 300
    assert len({i.split(".")[0].split()[0] for _, _, i, _ in found}) > 60
    assert all(len(legal) < len(operands) for _, operands, _, legal in found)
