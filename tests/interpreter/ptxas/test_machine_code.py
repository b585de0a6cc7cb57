"""Machine code against ptxas: how many instructions an H200 executed, and what single rules make of some lines of PTX."""

from __future__ import annotations

import collections
import functools
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interpreter.harness import Machine, kernel
from warplab.assembler.link import link_modules
from warplab.assembler.parse import parse
from warplab.interpreter.memory.arena import Arena
from warplab.interpreter.program import LoadedKernel, LoadedProgram
from warplab.interpreter.ptxas.machine.kinds import kind_of
from warplab.interpreter.ptxas.machine_code import MachineCode, machine_code

DATA = Path(__file__).parents[2] / "data" / "machine_code"
Counts = list[tuple[str, int, int, int]]  # a function, a block of it, turns in a row, how often


@functools.cache
def recorded() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(lzma.decompress((DATA / "recorded.json.xz").read_bytes()))
    return data


@functools.cache
def program(modules: tuple[int, ...]) -> LoadedProgram:
    return LoadedProgram(link_modules([parse(recorded()["modules"][n]) for n in modules], complete=False), Arena(1 << 26))


def loaded(modules: list[int], entry: str) -> LoadedKernel:
    """The kernel, in the module that has it; or in all of them, linked."""
    single = [p for n in modules if entry in (p := program((n,))).kernels]
    return (single[0] if len(modules) == 1 else program(tuple(modules))).kernels[entry]


def executed(code: MachineCode, k: LoadedKernel, counts: Counts) -> int:
    """The machine instructions that a launch executes."""
    functions = {f.name: id(f) for f in k.reached}
    entered: collections.Counter[int] = collections.Counter()
    total = 0
    for name, b, turns, often in counts:
        block = code.number[functions[name], b]
        entered[block] += turns * often
        total += sum(sum(o.slots for o in code.region(block, times)) * n * often for times, n in code.pieces(block, turns))
    idle = [n * max(0, entered[before] - entered[side]) for before, sides in code.idle.items() for side, n in sides]
    return total + sum(idle)


def test_as_many_instructions_are_executed_as_on_an_h200() -> None:
    ratios = []
    for modules, entry, instructions, _, counts in recorded()["launches"]:
        k = loaded(modules, entry)
        ratios.append(executed(machine_code(k), k, counts) / instructions)
    low, middle, high = np.percentile(ratios, [10, 50, 90])
    assert len(ratios) > 300
    assert low >= 0.9 and 0.98 <= middle <= 1.02 and high <= 1.1, (low, middle, high)


FEWER = {"FFMA": 0.66, "DFMA": 0.88, "MUFU.EX2.F16": 0.5}  # of the port's rate: three operands in one register bank; two of one kind


@pytest.mark.parametrize(("opcode", "figures"), json.loads((DATA / "kinds.json").read_text()).items())
def test_latencies_and_rates_are_those_of_an_h200(opcode: str, figures: tuple[float, float]) -> None:
    latency, rate = figures
    kind = kind_of(opcode)
    assert abs(kind.latency - latency) <= 2
    if kind.pipe != "lsu":  # there all schedulers share what is behind it
        assert 4 / kind.port * FEWER.get(opcode, 1) == pytest.approx(rate, rel=0.1)


# What ptxas 13.0 makes of lines of PTX for sm_90, without what begins and ends every kernel.
RULES = [
    ("mul.wide.s32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r3, [%d3]; st.global.u32 [%d3+4], %r3;", "LDC IMAD.WIDE LDG STG"),
    ("mad.wide.u32 %d3, %r1, 4, %d1; ld.global.u32 %r3, [%d3]; st.global.u32 [%d3], %r3;", "LDC LEA LEA.HI.X LDG STG"),
    ("add.s64 %d3, %d2, 16; ld.global.u32 %r3, [%d3]; st.global.u32 [%d3], %r3;", "LDG STG"),
    ("mul.lo.u32 %r3, %r1, %r2; add.u32 %r3, %r3, %r1; st.global.u32 [%d2], %r3;", "IMAD STG"),
    ("add.u32 %r3, %r1, %r2; add.u32 %r3, %r3, 7; st.global.u32 [%d2], %r3;", "IADD3 STG"),
    ("shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2; st.global.u32 [%d2], %r3;", "LEA STG"),
    ("and.b32 %r3, %r1, %r2; xor.b32 %r3, %r3, 5; st.global.u32 [%d2], %r3;", "LOP3 STG"),
    ("and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 st.global.u32 [%d2], %r1;", "LOP3 STG"),
    ("mul.f32 %f1, %f0, %f0; add.f32 %f1, %f1, %f0; st.global.f32 [%d2], %f1;", "FFMA STG"),
    ("ex2.approx.f32 %f1, %f0; st.global.f32 [%d2], %f1;", "FSETP FMUL MUFU.EX2 FMUL STG"),
    ("neg.f32 %f1, %f0; add.f32 %f1, %f1, %f0; st.global.f32 [%d2], %f1;", "FADD STG"),
    ("setp.lt.u32 %p1, %r1, %r2; @%p1 bra L; add.u32 %r1, %r1, %r2; L: st.global.u32 [%d2], %r1;", "ISETP IADD3 STG"),
    ("mul.lo.u32 %r3, %r1, %r2; st.global.u32 [%d2], 5;", "MOV STG"),
]
DIVISIONS = [("div.u32", "10", 14), ("rem.u32", "10", 13), ("div.s32", "10", 18), ("rem.s32", "8", 16),
             ("div.u32", "%r2", 18), ("rem.u32", "%r2", 17), ("div.s32", "%r2", 24), ("rem.s32", "%r2", 22)]  # fmt: skip
HEAD = """.reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>; .reg .pred %p<4>;
    ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; cvt.rn.f32.u32 %f0, %r1; mad.lo.u32 %r4, %r1, 12, %r2; cvt.u64.u32 %d2, %r4;
    bar.sync 0;
"""


@pytest.mark.parametrize(("lines", "opcodes"), RULES)
def test_lines_become_what_ptxas_makes_of_them(lines: str, opcodes: str) -> None:
    code = machine_code(Machine(kernel("p out", HEAD + lines + " ret;")).kernels()["test"])
    made = [o for block in code.blocks for o in block if o.of is not None or o.opcode in ("LDC", "MOV")]
    after = [o.opcode for o in made[next(n for n, o in enumerate(made) if o.opcode == "BAR") + 1 :]]
    plain = ["IADD3" if o == "IMAD.IADD" else "MOV" if o == "IMAD.MOV" else o for o in after]
    assert " ".join(plain) == f"{opcodes} EXIT"


@pytest.mark.parametrize(("opcode", "divisor", "many"), DIVISIONS)
def test_divisions_have_as_many_instructions_as_those_of_ptxas(opcode: str, divisor: str, many: int) -> None:
    lines = f"{opcode} %r3, %r1, {divisor}; st.global.u32 [%d2], %r3; ret;"
    code = machine_code(Machine(kernel("p out", HEAD + lines)).kernels()["test"])
    assert sum(o.of is not None and o.of.opcode in ("div", "rem") for block in code.blocks for o in block) == many


LOOP = """.reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>; .reg .pred %p<4>;
    ld.param.u64 %d1, [out]; ld.param.u32 %r2, [n]; mov.u32 %r1, 0; mov.f32 %f1, 0f00000000; mov.u64 %d2, %d1;
L: ld.global.f32 %f2, [%d2]; add.f32 %f1, %f1, %f2; add.u64 %d2, %d2, 4; add.u32 %r1, %r1, STEP; setp.lt.TYPE %p1, %r1, BOUND; EXTRA @%p1 bra L;
    st.global.f32 [%d1], %f1; ret;
"""


@pytest.mark.parametrize(
    ("step", "bound", "type", "extra", "pieces"),
    [
        ("1", "8", "u32", "", [(8, 1)]),  # all turns
        ("1", "%r2", "s32", "", [(4, 2), (2, 1), (1, 1)]),
        ("1", "%r2", "u32", "", [(4, 2), (2, 1), (1, 1)]),
        ("%r2", "%r2", "s32", "", [(1, 11)]),
        ("1", "%r2", "s32", "bar.sync 0;", [(1, 11)]),
        ("1", "%r2", "s32", "st.global.f32 [%d1], %f1;", [(1, 11)]),
    ],
)
def test_turns_of_loops_become_one(step: str, bound: str, type: str, extra: str, pieces: list[tuple[int, int]]) -> None:
    text = LOOP.replace("STEP", step).replace("BOUND", bound).replace("TYPE", type).replace("EXTRA", extra)
    k = Machine(kernel("p out, u32 n", text)).kernels()["test"]
    code = machine_code(k)
    turns = 8 if pieces == [(8, 1)] else 11
    assert list(code.pieces(code.number[id(k.function), 1], turns)) == pieces


def test_four_turns_add_to_an_address_once() -> None:
    text = LOOP.replace("STEP", "1").replace("BOUND", "%r2").replace("TYPE", "s32").replace("EXTRA", "")
    k = Machine(kernel("p out, u32 n", text)).kernels()["test"]
    code = machine_code(k)
    four = [o.opcode for o in code.region(code.number[id(k.function), 1], 4) if o.opcode != "MOV"]
    assert collections.Counter(o.split(".")[0] for o in four)["LDG"] == 4
    assert four[:4] == ["LDG"] * 4 and four.count("BRA") == 1 and len(four) == 13


def test_devices_before_9_0_read_parameters_where_they_are() -> None:
    k = Machine(kernel("p out", HEAD + "mul.wide.s32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r1; ret;")).kernels()["test"]
    loads = [sum(o.opcode == "LDC" for block in machine_code(k, capability).blocks for o in block) for capability in ((9, 0), (8, 0))]
    assert loads == [2, 1]  # the stack, and a parameter


@pytest.mark.parametrize(("capability", "product", "sum"), [((9, 0), ["IMAD"], 1), ((6, 1), ["XMAD"] * 3, 1), ((3, 5), ["IMAD"], 2)])
def test_older_devices_have_other_instructions(capability: tuple[int, int], product: list[str], sum: int) -> None:
    lines = "mul.lo.u32 %r3, %r1, %r2; add.u32 %r5, %r1, %r2; add.u32 %r5, %r5, %r4; st.global.v2.u32 [%d2], {%r3, %r5}; ret;"
    code = machine_code(Machine(kernel("p out", HEAD + lines)).kernels()["test"], capability)
    made = [o.opcode for block in code.blocks for o in block if o.of is not None]
    after = made[made.index("BAR") + 1 :]
    assert after[: len(product)] == product
    assert len([o for o in after if o.startswith(("IADD", "IMAD.IADD"))]) == sum


def test_every_instruction_has_machine_code() -> None:
    """Of the kernels of the instruction reference: each is made of something, for old devices and new ones."""
    texts = [k["text"] for k in json.loads(lzma.decompress((DATA.parent / "forms.json.xz").read_bytes()))["kernels"]]
    for text in texts[::3]:
        for k in LoadedProgram(link_modules([parse(text)], complete=False), Arena(1 << 24)).kernels.values():
            for capability in ((9, 0), (3, 5)):
                code = machine_code(k, capability)
                assert all(o.opcode for b in range(len(code.blocks)) for o in code.region(b))
