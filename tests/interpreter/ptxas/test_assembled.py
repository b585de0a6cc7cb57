"""Machine code of CUDA kernels against what ptxas 13.0 makes of them for sm_90: how much, of which kind, and which loops are written out.

tests/data/machine_code holds both, made by `python -m tools.machine_code --write`.  The rules were adjusted to tuned.cu, and never to blind.cu.
"""

from __future__ import annotations

import collections
import functools
import itertools
import json
import lzma
import re
import shutil
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.interpreter.harness import Machine
from tools.machine_code import TOOLS, Assembled, assembled
from warplab.assembler.flow import flow
from warplab.interpreter.program import LoadedKernel
from warplab.interpreter.ptxas.machine_code import MachineCode, machine_code

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data" / "machine_code" / "assembled.json.xz"
INSIDE = 8  # how much more an instruction counts for each loop around it
RARE = frozenset({"b_divmod"})  # a division of 64 bits is a routine, which stands elsewhere
SHAPED = re.compile(r"LDG|STG|LDS|STS|LDL|STL|ATOM|RED|FFMA|FADD|FMUL|DFMA|DADD|DMUL|MUFU|SHFL|BAR")


@functools.cache
def recorded() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(lzma.decompress(DATA.read_bytes()))
    return data


class Compared(NamedTuple):
    name: str
    ours: int
    theirs: int  # machine instructions, weighted by loops
    same: bool  # as many loads, stores and products, of each kind


def compared(text: str, theirs: dict[str, list[Assembled]]) -> Iterator[Compared]:
    """Each kernel, without loops that are written out."""
    kernels = Machine(text, verified=False).kernels()
    for name, k in kernels.items():
        code, graph = machine_code(k), flow(k.function)
        first = graph.blocks[0].instructions[0].span.line
        ours, theirs_there = 0, 0
        kinds: tuple[collections.Counter[str], collections.Counter[str]] = (collections.Counter(), collections.Counter())
        by_line = collections.defaultdict(list)
        for a in theirs[name]:
            by_line[max(a.line, first)].append(a)
        for b in graph.rpo:
            lines = {i.span.line for i in graph.blocks[b].instructions}
            if not lines or is_written_out(code, k, b):
                continue
            depth = graph.loops[n].depth if (n := graph.loop_of[b]) is not None else 0
            own, others = code.blocks[code.number[id(k.function), b]], [a for line in lines for a in by_line[line]]
            ours += len(own) * INSIDE**depth
            theirs_there += sum(INSIDE**a.depth for a in others)
            kinds[0].update(shape(o.opcode) for o in own if SHAPED.match(o.opcode))
            kinds[1].update(shape(a.opcode) for a in others if SHAPED.match(a.opcode))
        yield Compared(name, ours, theirs_there, kinds[0] == kinds[1])


def shape(opcode: str) -> str:
    found = SHAPED.match(opcode)
    assert found is not None
    return found[0]


def is_written_out(code: MachineCode, k: LoadedKernel, b: int) -> bool:
    return list(code.pieces(code.number[id(k.function), b], 16)) != [(1, 16)]


def kept(source: str) -> dict[str, list[Assembled]]:
    return {name: [Assembled(*a) for a in lines] for name, lines in recorded()[source]["assembled"].items()}


@pytest.mark.parametrize(("source", "low", "high", "within"), [("tuned.cu", 0.85, 1.1, 0.7), ("blind.cu", 0.7, 1.1, 0.65)])
def test_as_many_instructions_as_ptxas(source: str, low: float, high: float, within: float) -> None:
    found = [c for c in compared(recorded()[source]["ptx"], kept(source)) if c.name not in RARE]
    ratios = np.array([c.ours / c.theirs for c in found])
    assert len(found) >= 19
    assert low <= np.percentile(ratios, 10) and np.percentile(ratios, 90) <= high, sorted(zip(ratios, [c.name for c in found], strict=True))
    assert np.mean(np.abs(ratios - 1) < 0.1) >= within
    assert 0.97 <= np.median(ratios) <= 1.03


@pytest.mark.parametrize(("source", "share"), [("tuned.cu", 0.7), ("blind.cu", 0.6)])
def test_as_many_accesses_and_products_as_ptxas(source: str, share: float) -> None:
    found = list(compared(recorded()[source]["ptx"], kept(source)))
    assert np.mean([c.same for c in found]) >= share, [c.name for c in found if not c.same]


@pytest.mark.parametrize("source", ["tuned.cu", "blind.cu"])
def test_loops_are_written_out_as_often(source: str) -> None:
    """Of the loops of one block: how often ptxas repeats their accesses and products, all turns or 4 + 2 + 1 of them, or none."""
    kernels = Machine(recorded()[source]["ptx"], verified=False).kernels()
    right = []
    for name, k in kernels.items():
        code, graph = machine_code(k), flow(k.function)
        often = collections.Counter(a.line for a in kept(source)[name] if SHAPED.match(a.opcode))
        for b in graph.rpo:
            made = [o for o in code.blocks[code.number[id(k.function), b]] if SHAPED.match(o.opcode) and o.of is not None]
            if b not in graph.blocks[b].successors or not made:
                continue
            copies = statistics.median([often[o.of.span.line] for o in made if o.of is not None])
            right.append((copies > 2) == is_written_out(code, k, b))
    assert len(right) >= 5 and np.mean(right) >= 0.85, right


def order_in_common(one: list[int], other: list[int]) -> float:
    """Kendall's tau of two orders of the same numbers: 1 if they are equal, -1 if one is the other backwards."""
    place = {x: n for n, x in enumerate(other)}
    pairs = [(place[a], place[b]) for a, b in itertools.combinations(one, 2)]
    return 2 * sum(a < b for a, b in pairs) / len(pairs) - 1


def test_blocks_are_ordered_as_ptxas_orders_them() -> None:
    ours, written = [], []
    for source in ("tuned.cu", "blind.cu"):
        for name, k in Machine(recorded()[source]["ptx"], verified=False).kernels().items():
            code = machine_code(k)
            lines = [a.line for a in kept(source)[name]]
            for block in range(len(code.blocks)):
                own = [o.of.span.line for o in code.region(block) if o.of is not None and o.what != "branch"]
                once = [line for line in own if own.count(line) == lines.count(line) == 1]
                if len(once) >= 8:
                    there = [line for line in lines if line in once]
                    ours.append(order_in_common(there, once))
                    written.append(order_in_common(there, sorted(once)))
    assert len(ours) > 20
    assert np.mean(ours) > 0.7 and np.mean(ours) > np.mean(written) + 0.1


@pytest.mark.skipif(any(shutil.which(t) is None for t in TOOLS), reason="needs ptxas and nvdisasm")
def test_samples_become_what_ptxas_makes_of_them_today() -> None:
    ratios = []
    for file in sorted((ROOT / "samples").rglob("*.ptx")):
        text = file.read_text()
        if ".target sm_90\n" not in text.replace("\t", " ") or "extern" in text:
            continue
        ratios += [c.ours / c.theirs for c in compared(text, assembled(text)) if c.theirs]
    assert len(ratios) > 10
    assert np.percentile(ratios, 10) >= 0.8 and np.percentile(ratios, 90) <= 1.2
