"""What lowering works out by short ways of its own, held against flow.py's: where lanes meet, what is live; shapes against their instructions."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplab.assembler import parse
from warplab.assembler.flow import Flow, flow
from warplab.interpreter.plan.reconvergence import has_loops, loop_meetings, straight_meetings
from warplab.interpreter.plan.roles import carries_pointer, is_stop, needs_lanes, uses
from warplab.interpreter.plan.shapes import known
from warplab.interpreter.plan.slots import lives

ROOT = Path(__file__).parents[3]
SAMPLES = sorted((ROOT / "samples").rglob("*.ptx"))
BRANCHES = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u32 n)
{
    .reg .pred %p<4>; .reg .b32 %r<4>;
    ld.param.u32 %r1, [n];
    setp.eq.u32 %p1, %r1, 0;  setp.eq.u32 %p2, %r1, 1;  setp.eq.u32 %p3, %r1, 2;
    @%p1 bra A;
    @%p2 bra B;
    add.u32 %r1, %r1, 1;
    @%p3 ret;
    bra C;
A:  @%p3 bra C;
    add.u32 %r2, %r1, 2;
B:  add.u32 %r1, %r1, 3;
    @!%p3 exit;
C:  mov.u32 %r3, %r1;
    ret;
}
"""


def flows(text: str) -> list[Flow]:
    return [flow(f) for f in parse(text).functions.values() if f.body is not None]


@pytest.mark.parametrize("text", [BRANCHES, *[pytest.param(p.read_text(), id=p.stem) for p in SAMPLES]])
def test_short_ways_agree_with_the_flow(text: str) -> None:
    for f in flows(text):
        instructions = {id(i): known(i) for b in f.depth_first for i in f.blocks[b].instructions}
        live_in, live_out = lives(f, instructions)
        for b in f.depth_first:
            assert (live_in[b], live_out[b]) == (f.live_in[b], f.live_out[b])
        met = loop_meetings(f, lockstep=True).of if has_loops(f) else straight_meetings(f)
        assert [met[b] for b in f.depth_first] == [f.ipdom[b] for b in f.depth_first]
        assert has_loops(f) == bool(f.loops) or f.irreducible


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_shapes_say_what_is_true_of_their_instructions(path: Path) -> None:
    for f in flows(path.read_text()):
        for b in f.blocks:
            for i in b.instructions:
                k = known(i)
                read, written, kills = uses(i)
                assert k.read == [r.index for r in read] and k.written == [r.index for r in written]
                assert (k.facts.kills, k.facts.is_stop, k.facts.needs_lanes) == (kills, is_stop(i), needs_lanes(i))
                assert (k.facts.hands_on is not None) == (i.guard is None and carries_pointer(i))
