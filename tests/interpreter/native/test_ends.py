"""Branches by tables (brx.idx), barriers that blocks reach apart and syncs of some lanes, run natively to the end."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.harness import run
from warplab.interpreter.native.handing_over import SuspendedGroups

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
PLACES = ["A", "B", "C", "NEXT", "OUT", "DONE"]  # the last two lie behind the loop


def interpreter(table: list[str], turns: int) -> str:
    """A loop that does, for each lane, what the digits of a hash say."""
    return f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %t, %b, %n, %i, %h, %x, %y; .reg .pred %p;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;
        mad.lo.u32 %t, %b, %n, %t; mul.wide.u32 %a, %t, 8; add.u64 %o, %o, %a;
        mad.lo.u32 %h, %t, 0x9E3779B1, 12345; mov.u32 %i, 0; mov.u32 %x, 1; mov.u32 %y, 0;
        LOOP: mad.lo.u32 %h, %h, 1664525, 1013904223; shr.u32 %y, %h, 13; rem.u32 %y, %y, {len(table) + 2};
        WAYS: .branchtargets {", ".join(table)};
        brx.idx %y, WAYS;
        A: mad.lo.u32 %x, %x, 3, 1; bra NEXT;
        B: xor.b32 %x, %x, %h;
        C: add.u32 %x, %x, %i;
        NEXT: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, {turns}; @%p bra LOOP;
        bra DONE;
        OUT: st.global.u32 [%o+4], %i; mul.lo.u32 %x, %x, 7;
        DONE: st.global.u32 [%o], %x; ret; }}"""


@pytest.fixture(autouse=True)
def natively(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: SuspendedGroups) -> None:
        raise AssertionError("handed over")

    monkeypatch.setattr(SuspendedGroups, "hand_over", refuse)


@given(st.lists(st.sampled_from(PLACES), min_size=1, max_size=7), st.integers(1, 9))
@settings(max_examples=15)
def test_lanes_go_the_ways_of_a_table(table: list[str], turns: int) -> None:
    text = interpreter(table, turns)
    numpy, native = (run(text, 3, 80, 3 * 80 * 8, engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native)


def test_all_lanes_take_the_way_of_one_index() -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %t, %x; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
        mad.wide.u32 %a, %t, 4, %o; ld.global.u32 %x, [%o]; W: .branchtargets A, B, C; bar.sync 0; brx.idx %x, W;
        A: add.u32 %t, %t, 5; B: add.u32 %t, %t, 100; C: st.global.u32 [%a], %t; ret; }}"""
    for index, more in enumerate((105, 100, 0)):
        out = run(text, 1, 64, np.full(64, index, np.uint32), engine="native")
        assert (out == np.arange(64) + more).all()


def test_lanes_that_leave_a_loop_one_after_another() -> None:
    text = interpreter(["A", "B", "C", "A", "B", "C", "A", "B", "OUT"], 200)  # some lanes leave in nearly every turn
    numpy, native = (run(text, 3, 80, 3 * 80 * 8, engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native)


def test_blocks_that_turn_differently_often_pass_their_barriers() -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %t, %b, %n, %i, %x, %s, %u; .reg .pred %p;
        .shared .b32 cells[96]; mov.u32 %s, cells;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;
        mad.lo.u32 %i, %b, %n, %t; mul.wide.u32 %a, %i, 4; add.u64 %o, %o, %a;
        mad.lo.u32 %u, %t, 4, %s; mov.u32 %i, 0; mov.u32 %x, %t; xor.b32 %s, %t, 37; min.u32 %s, %s, 95; mov.u32 %n, cells; mad.lo.u32 %s, %s, 4, %n;
        LOOP: setp.gt.u32 %p, %i, %b; @%p bra DONE;
        st.shared.u32 [%u], %x; bar.sync 0; ld.shared.u32 %x, [%s]; bar.sync 0; mad.lo.u32 %x, %x, 3, %i; add.u32 %i, %i, 1; bra LOOP;
        DONE: st.global.u32 [%o], %x; ret; }}"""
    numpy, native = (run(text, 7, 96, 7 * 96 * 4, engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native)


@pytest.mark.parametrize("operation", ["popc.u32 %x", "and.pred %q", "or.pred %q"])
def test_barriers_reduce_predicates(operation: str) -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %t, %b, %n, %i, %x, %y; .reg .pred %p, %q;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;
        mad.lo.u32 %i, %b, %n, %t; mul.wide.u32 %a, %i, 4; add.u64 %o, %o, %a; mov.u32 %y, 0; mov.u32 %x, 0;
        setp.ge.u32 %p, %t, 70; @%p exit; mov.u32 %i, 0;
        LOOP: setp.gt.u32 %p, %i, %b; @%p bra DONE;
        mul.lo.u32 %x, %t, %i; and.b32 %x, %x, 5; setp.ne.u32 %p, %x, 4; setp.eq.u32 %q, %t, 1000;
        bar.red.{operation}, 0, %p; selp.u32 %n, 1, 0, %q; add.u32 %x, %x, %n; mad.lo.u32 %y, %y, 3, %x;
        add.u32 %i, %i, 1; bra LOOP;
        DONE: st.global.u32 [%o], %y; ret; }}"""
    numpy, native = (run(text, 5, 80, 5 * 80 * 4, engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native)


def test_some_lanes_and_some_warps_wait_for_each_other() -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %t, %b, %n, %m, %x; .reg .pred %p;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %b, %ctaid.x;
        mad.lo.u32 %x, %b, %n, %t; mul.wide.u32 %a, %x, 4; add.u64 %o, %o, %a;
        and.b32 %n, %t, 16; setp.ne.u32 %p, %n, 0; @%p bra HIGH;
        mov.u32 %m, 0xFFFF; bar.warp.sync %m; shfl.sync.down.b32 %x, %x, 1, 31, %m; bra NEXT;
        HIGH: mov.u32 %m, %laneid; shr.u32 %m, %m, 4; shl.b32 %m, %m, 4; shl.b32 %m, 0xFFFF, %m; redux.sync.add.u32 %x, %x, %m;
        NEXT: setp.ge.u32 %p, %t, 64; @%p bra DONE; mov.u32 %n, 64; bar.sync 1, %n; add.u32 %x, %x, 5; bar.sync 2, 64;
        DONE: st.global.u32 [%o], %x; ret; }}"""
    numpy, native = (run(text, 3, 128, 3 * 128 * 4, engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native)


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("end", ["@%p ret;", "@!%p ret;", "@%p exit;"])
def test_all_lanes_end_or_none(end: str, n: int) -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %t, %x; .reg .pred %p; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
        mad.wide.u32 %a, %t, 4, %o; ld.global.u32 %x, [%o]; setp.eq.u32 %p, %x, 0; bar.sync 0; {end} add.u32 %x, %t, 7; st.global.u32 [%a], %x; ret; }}"""
    numpy, native = (run(text, 2, 64, np.full(64, n, np.uint32), engine=engine) for engine in ("numpy", "native"))
    ends = (n == 0) != ("!" in end)
    assert np.array_equal(numpy, native) and (native == (n if ends else np.arange(64) + 7)).all()


def test_warps_that_name_different_barriers_count_each_for_itself() -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %t, %x, %n; .reg .pred %p; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
        mad.wide.u32 %a, %t, 4, %o; mov.u32 %x, 0; shr.u32 %n, %t, 5; add.u32 %n, %n, 1;
        L: bar.sync %n, 32; add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 3; @%p bra L; st.global.u32 [%a], %x; ret; }}"""
    for engine in ("numpy", "native"):
        assert (run(text, 2, 96, np.zeros(96, np.uint32), engine=engine) == 3).all()
