"""A plan is data: every part of it prints as text and as JSON, and nothing in it is a function or an array but constants."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.interpreter.harness import Machine, kernel
from warplab.assembler.ir import Function, Instruction, Location, Register, Variable
from warplab.interpreter.plan.dump import plan, plan_json
from warplab.interpreter.plan.plan import Branch, Each, Jump, Leave, Op, PlanFunction, Pointer
from warplab.isa.notation import Form
from warplab.runtime.cli import main

ROOT = Path(__file__).parents[3]
PROGRAMS = [*sorted((ROOT / "samples").glob("*.ptx")), *sorted((ROOT / "tests/bench/kernels").glob("*.ptx"))]
IR = (Function, Instruction, Location, Register, Variable, Form)  # what the assembler and the rows of the instruction set say
COUNT = kernel(
    "p out",
    """.reg .b64 %d<4>; .reg .b32 %r<4>; .reg .pred %p; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0;
TURN: add.u32 %r2, %r2, 3; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 7; @%p bra TURN;
    @!%p st.global.u32 [%d1+8], %r2; ret;""",
)


def parts(value: Any) -> Iterator[Any]:
    """Everything that a plan consists of."""
    yield value
    if isinstance(value, IR):
        return
    if dataclasses.is_dataclass(value):
        inner: Any = [getattr(value, f.name) for f in dataclasses.fields(value)]
    elif isinstance(value, Mapping):
        inner = [*value.keys(), *value.values()]
    else:
        inner = value if isinstance(value, tuple | list | frozenset) else ()
    for v in inner:
        yield from parts(v)


def planned(text: str) -> PlanFunction:
    k = next(iter(Machine(text).kernels().values()))
    return k.plan(k.function)


def test_a_plan_names_slots_places_and_meanings() -> None:
    made = planned(COUNT)
    load, place, start = made.segments[0].ops
    assert (load.how, place.how, start.how) == ("parameter", "move", "move") and load.meaning.form.opcode == "ld"
    assert made.constants[start.sources[0] - made.first_constant].item() == 0  # type: ignore[operator]
    turn = made.segments[1]
    counter, step = turn.ops[0].sources
    assert turn.ops[0].target == counter and turn.ops[0].meaning.form.opcode == "add"
    assert made.constants[step - made.first_constant].item() == 3  # type: ignore[operator]
    end = turn.end
    assert isinstance(end, Branch) and (end.taken, end.fall, end.join) == (1, 2, 2) and end.rides and set(end.turns) == {1}
    assert end.guard.slot == turn.ops[2].target and not end.guard.negated
    (store,) = made.segments[2].ops
    assert store.guard is not None and store.guard.negated and store.sources == (Pointer(load.target, 8), (((counter,),)))
    assert isinstance(made.segments[0].end, Jump) and made.segments[2].end == Leave("ret")
    assert made.live_in[1] >> counter & 1 and not made.live_in[-1]  # type: ignore[operator]


def test_a_load_puts_one_element_in_one_slot() -> None:
    text = kernel(
        "p out", ".reg .b64 %d; .reg .f32 %f<2>; ld.param.u64 %d, [out]; ld.global.v2.f32 {%f0, %f1}, [%d]; st.global.f32 [%d], %f1; ret;"
    )
    load = next(op for s in planned(text).segments for op in s.ops if op.how == "load")
    assert load.meaning.access is not None and (load.meaning.access.space, load.meaning.access.elements) == ("global", 2)
    assert isinstance(load.target, Each) and len(load.target.targets) == 2


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_a_plan_is_data_that_prints(path: Path) -> None:
    machine = Machine(path.read_text())
    for k in machine.program.kernels.values():
        for f in dict.fromkeys([k.function, *k.reached]):
            made = k.plan(f)
            constants = {id(c) for c in made.constants}
            for part in parts(made):
                assert (
                    not callable(part)
                    or isinstance(part, Op | type)
                    or dataclasses.is_dataclass(part)
                    or part.__class__.__module__ == "numpy.dtypes"
                )
                assert not isinstance(part, np.ndarray) or id(part) in constants
    shown = json.loads(plan_json(path.read_bytes(), path.name))
    lines = plan(path.read_bytes(), path.name).splitlines()
    assert sum(len(f["segments"]) for f in shown) == sum(line.startswith("  segment ") for line in lines)
    ends = {s["end"]["class"].lower() for f in shown for s in f["segments"]}
    assert ends <= {"jump", "branch", "table", "call", "leave", "barrier", "sync", "clusterwait"}
    for f in shown:
        slots = f["first_constant"] + len(f["constants"])
        for s in f["segments"]:
            assert all(slot < slots for slot in s["reads"])
            assert s["length"] >= len([op for op in s["ops"] if op["class"] == "Op"])


def test_the_command_prints_json_of_the_plan_alone(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(COUNT)
    (shown,) = json.loads(CliRunner().invoke(main, ["dump", str(path), "--stage", "plan", "--json"]).stdout)
    assert shown["function"] == "test" and shown["segments"][1]["end"]["class"] == "Branch"
    assert CliRunner().invoke(main, ["dump", str(path), "--json"]).exit_code == 2
