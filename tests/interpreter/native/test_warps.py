"""Instructions across a warp that only some of its lanes execute, and reductions of negated predicates, natively."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.harness import run
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.native.fallback import Fallback
from warplab.interpreter.native.handing_over import SuspendedGroups
from warplab.interpreter.native.program import NativeProgram
from warplab.isa.ops import warp as isa

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
ACROSS = {
    "shfl": "shfl.sync.idx.b32 %r|%f, %v, %s, 31, %m;",
    "shfl down": "shfl.sync.down.b32 %r|%f, %v, 3, 31, %m;",
    "any": "vote.sync.any.pred %f, %p, %m;",
    "all": "vote.sync.all.pred %f, !%p, %m;",
    "ballot": "vote.sync.ballot.b32 %r, %p, %m;",
    "match any": "match.any.sync.b32 %r, %v, %m;",
    "match all": "match.all.sync.b32 %r|%f, %v, %m;",
    "sum": "redux.sync.add.u32 %r, %v, %m;",
    "least": "redux.sync.min.s32 %r, %v, %m;",
    "elect": "elect.sync %r|%f, %m;",
    "active": "activemask.b32 %r;",
}


def program(across: str, guard: str, members: str) -> str:
    """Some lanes execute an instruction across the warp; the others keep what they had."""
    return f"""{HEAD}.visible .entry k(.param .u64 out) {{
        .reg .b64 %o, %a; .reg .b32 %t, %b, %n, %i, %v, %s, %m, %r, %w, %k; .reg .pred %p, %f, %g;
        ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %b, %n, %t;
        mul.lo.u32 %v, %i, 0x9E3779B1; shr.u32 %v, %v, 30; mul.lo.u32 %s, %i, 7; and.b32 %w, %i, 4; setp.ne.u32 %p, %w, 0;
        mov.u32 %r, 77; setp.eq.u32 %f, %t, 5;
        {guard} setp.ne.u32 %g, %k, 0; vote.sync.ballot.b32 %m, %g, 0xFFFFFFFF; {members}
        @%g {across} @!%g add.u32 %r, %r, 1;
        selp.u32 %w, 256, 0, %f; xor.b32 %r, %r, %w; mul.wide.u32 %a, %i, 4; add.u64 %a, %o, %a; st.global.u32 [%a], %r; ret; }}"""


GUARDS = {
    "alternate": "and.b32 %k, %i, 1;",
    "some": "shr.u32 %k, %v, 1;",
    "whole warps": "and.b32 %k, %t, 32;",
    "all": "mov.u32 %k, 1;",
    "none": "mov.u32 %k, 0;",
}
MEMBERS = {
    "those": "", "all": "mov.u32 %m, 0xFFFFFFFF;", "all by text": "mov.u32 %m, -1;", "tiles": "and.b32 %w, %t, 24; shl.b32 %m, 255, %w;",
    "halves": "and.b32 %w, %t, 1; shl.b32 %m, 0x55555555, %w;", "itself": "and.b32 %w, %t, 31; shl.b32 %m, 1, %w;",
    "some of the tile": "and.b32 %w, %t, 28; shl.b32 %w, 15, %w; and.b32 %m, %m, %w;",
}  # fmt: skip


@given(st.sampled_from(sorted(ACROSS)), st.sampled_from(sorted(GUARDS)), st.sampled_from(sorted(MEMBERS)), st.sampled_from([64, 96]))
@settings(max_examples=40)
def test_some_lanes_of_a_warp_work_together(across: str, guard: str, members: str, threads: int) -> None:
    text = program(ACROSS[across], GUARDS[guard], MEMBERS[members])
    numpy, native = (run(text, 2, threads, 2 * threads * 4, engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native)


def compiled_whole(text: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Does compiled code leave nothing to numpy?"""
    left: list[object] = []
    leave = Fallback.run_row, SuspendedGroups.hand_over
    monkeypatch.setattr(Fallback, "run_row", lambda *a: (left.append(a), leave[0](*a))[1])
    monkeypatch.setattr(SuspendedGroups, "hand_over", lambda *a: (left.append(a), leave[1](*a))[1])
    run(text, 2, threads, 2 * threads * 4, engine="native")
    return not left


@pytest.mark.parametrize("across", ["shfl", "any", "match all", "sum", "elect"])
def test_a_guard_leaves_nothing_to_numpy(across: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled_whole(program(ACROSS[across], GUARDS["alternate"], ""), 64, monkeypatch)


@pytest.mark.parametrize("across", [*ACROSS])
def test_tiles_of_a_warp_work_at_the_same_time(across: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = program(ACROSS[across], GUARDS["all"], MEMBERS["tiles"])
    assert np.array_equal(*(run(text, 2, 64, 512, engine=engine) for engine in ("numpy", "native")))
    assert compiled_whole(text, 64, monkeypatch)


@pytest.mark.parametrize("operation", ["popc.u32 %r", "and.pred %f", "or.pred %f"])
def test_barriers_reduce_negated_predicates(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = program("mov.u32 %r, %r;", GUARDS["alternate"], f"bar.red.{operation}, 0, !%p;")
    assert np.array_equal(*(run(text, 2, 70, 560, engine=engine) for engine in ("numpy", "native")))
    assert compiled_whole(text, 70, monkeypatch)


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guarded_transposition_has_the_bits_of_numpy(guard: str) -> None:
    text = program("movmatrix.sync.aligned.m8n8.trans.b16 %r, %v;", GUARDS[guard], "")
    assert np.array_equal(*(run(text, 2, 64, 512, engine=engine) for engine in ("numpy", "native")))


@pytest.mark.parametrize("clamp", [0, 31, 5, 0x1800, 0x181F, 0x1C1F, 0x101F])
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("threads", [64, 48])
def test_shuffles_at_one_distance_for_all_lanes(mode: str, clamp: int, threads: int) -> None:
    across = f"""mov.u32 %s, 0; L: shfl.sync.{mode}.b32 %r|%f, %v, %s, {clamp}, -1; mad.lo.u32 %v, %v, 3, %r; @%f add.u32 %v, %v, 1;
        add.u32 %s, %s, 1; setp.lt.u32 %f, %s, 40; @%f bra L; mov.u32 %r, %v; mov.b32 %w, %w;"""
    text = program("mov.b32 %w, %w;", GUARDS["all"], across)
    assert np.array_equal(*(run(text, 2, threads, 2 * threads * 4, engine=engine) for engine in ("numpy", "native")))


@pytest.mark.parametrize(
    "index", ["and.b32 %s, %i, 96;", "shr.u32 %s, %i, 5;", "sub.u32 %s, %t, 20;", "and.b32 %s, %i, 16;", "shr.u32 %s, %t, 4;"]
)
@pytest.mark.parametrize("before", ["", "setp.lt.u32 %f, %t, 16; @%f exit;"])
@pytest.mark.parametrize("threads", [64, 48])
def test_lanes_read_one_lane_or_several(index: str, before: str, threads: int) -> None:
    """Some indices differ in lanes only that have ended, or do not exist."""
    across = f"{index} mov.u32 %v, %i; {before} shfl.sync.idx.b32 %r|%f, %v, %s, 31, -1;"
    text = program("mov.b32 %w, %w;", GUARDS["all"], across).replace("@%g mov.b32", "mov.b32")
    numpy, native = (run(text, 2, threads, 2 * threads * 4, engine=engine) for engine in ("numpy", "native"))
    assert numpy.any() and np.array_equal(numpy, native)


@pytest.mark.parametrize(
    ("distance", "known"),
    [
        ("mov.u32 %s, 4;", True),
        ("mov.u32 %s, 5; @%g bra A; mov.u32 %s, 4; bra B; A: mov.u32 %s, 4; B:", True),
        ("mov.u32 %s, 4; mov.u32 %k, 0; L: add.u32 %k, %k, 1; setp.lt.u32 %g, %k, 3; @%g bra L;", True),
        ("@%g bra A; mov.u32 %s, 4; bra B; A: mov.u32 %s, 8; B:", False),
        ("mov.u32 %s, 4; @%g mov.u32 %s, 8;", False),
        ("mov.u32 %s, 4; mov.u32 %k, 0; L: add.u32 %s, %s, 1; add.u32 %k, %k, 1; setp.lt.u32 %g, %k, 3; @%g bra L;", False),
    ],
)
def test_distances_that_registers_hold_are_known_to_the_compiler(distance: str, known: bool, programs: list[NativeProgram]) -> None:
    text = program("shfl.sync.down.b32 %r, %v, %s, 31, -1;", "and.b32 %k, %i, 1;", f"mov.u32 %k, 1; {distance}")
    text = text.replace("@%g shfl", "shfl")
    assert np.array_equal(*(run(text, 2, 64, 512, engine=engine) for engine in ("numpy", "native")))
    plan = programs[0].cut.plan
    (shuffle,) = [op for s in plan.segments for op in s.ops if op.meaning.form.meaning is isa.shfl]
    assert (isinstance(shuffle.sources[1], int) and shuffle.sources[1] >= plan.first_constant) == known


def test_numpy_goes_on_with_a_distance_that_the_compiler_knows() -> None:
    """The fault is found by numpy, which executes the shuffle before it again."""
    across = "mov.u32 %s, 4; shfl.sync.down.b32 %r, %v, %s, 31, -1; mov.u64 %a, 4; ld.global.u32 %k, [%a]; add.u32 %r, %r, %k;"
    said = []
    for engine in ("numpy", "native"):
        with pytest.raises(ExecutionError) as e:
            run(program("mov.b32 %w, %w;", GUARDS["all"], across), 2, 64, 512, engine=engine)
        said.append(str(e.value))
    assert said[0] == said[1]
