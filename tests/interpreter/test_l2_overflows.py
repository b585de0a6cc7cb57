"""An L2 that has no room for all that a launch asks for: a part of its lines tells what a cache finds that is followed line by line."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from tests.interpreter.test_together import ATOMIC, BLOCKS, LOAD, STORE, Caches, One, gather, row
from warplab.interpreter.observers import backlog, fresh_full
from warplab.interpreter.observers.backlog import Backlog
from warplab.interpreter.observers.joint_l2 import JointCache
from warplab.interpreter.observers.uses import Waiting
from warplab.interpreter.vector.values import plain

WIDE = 32  # bytes: whole sectors


def real(told: list[One], lines: int) -> tuple[int, int]:
    """Sectors that such a cache has to fetch, and those that become dirty, if each access asks for each sector once."""
    held: OrderedDict[int, list[int]] = OrderedDict()  # sectors that are there, and dirty ones, a bit each
    fetched = written = 0
    for way, place, _, _ in told:
        address = plain(place).ravel() >> np.uint64(5)
        for sector in address[np.sort(np.unique(address, return_index=True)[1])].tolist():
            line, bit = sector >> 2, 1 << (sector & 3)
            state = held.setdefault(line, [0, 0])
            held.move_to_end(line)
            fetched += way != STORE and not state[0] & bit
            written += way != LOAD and not state[1] & bit
            state[0] |= bit
            state[1] |= bit * (way != LOAD)
            if len(held) > lines:
                held.popitem(last=False)
    return fetched, written


@pytest.mark.parametrize("ways", [[LOAD], [STORE], [ATOMIC], [LOAD, STORE], [LOAD, LOAD, ATOMIC]])
@pytest.mark.parametrize(("lines", "span", "enough"), [(1 << 10, 1 << 19, 30), (1 << 12, 1 << 20, 13), (1 << 12, 1 << 20, 30)])
@pytest.mark.parametrize("chapter", [1 << 30, 20000])
@pytest.mark.parametrize("apart", [False, True])
def test_it_finds_what_a_real_one_finds(
    ways: list[Any], lines: int, span: int, enough: int, chapter: int, apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(backlog, "LANES", chapter)
    monkeypatch.setattr(fresh_full, "ENOUGH", enough)
    followed, afresh = [], Backlog._afresh

    def noted(self: Backlog, waiting: list[Waiting], *given: Any, **named: Any) -> bool:
        followed.append(afresh(self, waiting, *given, **named))
        return followed[-1]

    monkeypatch.setattr(Backlog, "_afresh", noted)
    rng = np.random.default_rng(len(ways) + lines)
    told: list[One] = []
    for turn in range(60):
        base = (1 << 20) + (turn // 20 * span // 2 if apart else 0)  # walks on
        told.append((ways[turn % len(ways)], gather(rng, base, span, WIDE), None, WIDE))
    c = Caches(BLOCKS, 0)
    c.memory.l1 = c.memory.backlog.l1 = type(c.memory.l1)(BLOCKS, 16, 0)  # which is of no help
    c.memory.l2 = c.memory.backlog.l2 = JointCache(lines)
    found = c.all(told, last=True)
    assert all(followed) and (len(followed) > 2) is (chapter < 1 << 30)
    fetched, written = real(told, lines)
    lost = sum(l2 - hits for (way, *_), (_, l2, hits) in zip(told, found, strict=True) if way != STORE)
    assert lost == pytest.approx(fetched, rel=0.03)
    assert c.memory.written == pytest.approx(written, rel=0.03)


def test_lines_that_come_in_order_again_and_again_are_never_there() -> None:
    told: list[One] = []
    for turn in range(120):
        told.append((LOAD, row((1 << 20) + turn % 40 * BLOCKS * 128 * WIDE, WIDE), None, WIDE))
    c = Caches(BLOCKS, 0)
    c.memory.l1 = c.memory.backlog.l1 = type(c.memory.l1)(BLOCKS, 16, 0)
    c.memory.l2 = c.memory.backlog.l2 = JointCache(30 * BLOCKS * 128 * WIDE // 128)
    c.all(told, last=True)
    assert sum(hits for _, _, hits in c.found) == 0
