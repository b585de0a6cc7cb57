"""Conditions are met where they hold, for whichever number of steps they are looked at together; expressions are C's."""

import numpy as np
import pytest

from tests.interpreter.harness import kernel
from warplab.runtime.errors import UsageError
from warplab.runtime.recording import Recording, conditions
from warplab.runtime.recording.conditions import Break, Happens, Hit, hits
from warplab.runtime.recording.expressions import parse_expression

from .test_debug import LOOP, recorded

GUARDED = LOOP.replace(
    "add.u32 %r2, %r2, %r3;", "and.b32 %r4, %r3, 1; setp.eq.u32 %p2, %r4, 0; @%p2 add.u32 %r2, %r2, %r3; @!%p2 xor.b32 %r2, %r2, %r1;"
)


@pytest.fixture(scope="module", params=[LOOP, GUARDED, LOOP.replace("setp.lt.u32 %p1, %r3, %r1;", "setp.lt.u32 %p1, %r3, 90;")])
def rec(request: pytest.FixtureRequest) -> Recording:
    return recorded(kernel("p out", request.param), 96, 96)[0]


@pytest.mark.parametrize(
    "text",
    ["%r2 > 100", "%r3 == 7 && tid.x > 40", "%r2 % 3 == 1 || %r3 >= 60", "(%r2 ^ %r3) & 1 && laneid < 5", "!(%r3 < 80)", "s32(%r2) - 50 < 0", "%p1 && %r3 > 1",
     "out[tid.x] != 0", "%r1 * 2 == %r3 || -%r2 < -900"],
)  # fmt: skip
def test_many_steps_at_once_are_each_step_alone(rec: Recording, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    every = Break(frozenset(range(len(rec.track.instructions))), parse_expression(text))
    together = list(hits(rec, every, 0))
    backwards = list(hits(rec, every, rec.step_count, -1))
    monkeypatch.setattr(conditions, "FEW", 1 << 30)
    assert together == list(hits(rec, every, 0))
    assert backwards == together[::-1]
    assert together or "80" in text or "60" in text


def test_a_condition_is_what_its_registers_say(rec: Recording) -> None:
    every = Break(frozenset(range(len(rec.track.instructions))), parse_expression("%r2 > %r3 && %r1 % 7 == 3"))
    want = []
    for step in range(rec.step_count):
        lanes, _ = rec.columns.taking_part(step)
        own = lanes[rec.columns.lanes_of(rec.columns.execution(step)).active]
        r1, r2, r3 = (rec.held(name, own, step).value.astype(np.int64) for name in ("%r1", "%r2", "%r3"))
        held = own[(r2 > r3) & (r1 % 7 == 3)]
        if held.size:
            want.append(Hit(step, int(held[0]), tuple(held.tolist())))
    assert list(hits(rec, every, 0)) == want


def test_events_are_found_in_both_directions() -> None:
    rec, _ = recorded(kernel("p out", LOOP), 96, 96)
    found = list(hits(rec, Happens("branch"), 0))
    assert found and list(hits(rec, Happens("branch"), rec.step_count, -1)) == found[::-1]
    for hit in found:  # every warp that diverges has lanes on both sides
        left = [rec.next_step(lane, hit.step + 1) for lane in hit.lanes]
        assert len(set(left)) > 1


def test_lanes_that_were_apart_reconverge() -> None:
    """Lanes of a loop with unequal trip counts go on together behind it, those of a warp that stays together do not."""
    for body, places in ((LOOP, 1), (LOOP.replace("setp.lt.u32 %p1, %r3, %r1;", "setp.lt.u32 %p1, %r3, 90;"), 0)):
        rec = recorded(kernel("p out", body), 96, 96)[0]
        found = list(hits(rec, Happens("reconverge"), 0))
        assert len({rec.columns.instruction(h.step).line for h in found}) == places
        assert list(hits(rec, Happens("reconverge"), rec.step_count, -1)) == found[::-1]
        for h in found:
            before = {rec.previous_step(lane, h.step) for lane in h.lanes if lane // 32 == h.lane // 32}
            assert len(before) > 1 and any(e.kind == "reconverge" for e in rec.events_at(h.step))


@pytest.mark.parametrize(
    ("text", "value"),
    [("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 / 2", 3), ("-7 / 2", -3), ("-7 % 3", -1), ("7.0 / 2", 3.5), ("1 << 4 | 1", 17), ("0x10 == 16", 1), ("!0", 1),
     ("~0 & 0xff", 255), ("1 < 2 && 2 < 3 || 0", 1), ("isnan(0.0)", 0), ("abs(-3)", 3), ("5 / 0", 0), ("ntid.x", 96), ("1e3", 1000.0)],
)  # fmt: skip
def test_expressions(text: str, value: float) -> None:
    rec, _ = recorded(kernel("p out", LOOP), 96, 96)
    at = conditions.LanesAt(rec, 0, np.array([0]), ("test", 0))
    assert parse_expression(text).evaluate(at)[0] == value


@pytest.mark.parametrize(
    "text", ["", "1 +", "(", ")", "a b", "frob(1)", "f32(1)", "1..2", "[3]", "%r1 ? 1 : 2", "(" * 100 + "1" + ")" * 100]
)
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(UsageError):
        parse_expression(text)
