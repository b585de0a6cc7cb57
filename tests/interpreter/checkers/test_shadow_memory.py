"""Records of several threads: what they stand for is told apart, and takes no more room the longer a loop spins."""

from __future__ import annotations

import numpy as np

from warplab.interpreter.checkers.racecheck.records.shadow_memory import LOW, PIECES, Cells, stamps


def keep(cells: Cells, time: int, thread: int, site: int, unit: int = 2) -> None:
    """One access."""
    cells.keep(np.array([unit]), stamps(time, np.array([thread])), None, np.array([site], np.uint16))


def test_the_last_of_accesses_that_spin_stays() -> None:
    cells = Cells(8)
    for turn in range(1, 1000):
        for thread in (3, 4):
            keep(cells, turn, thread, site=7)
        cells.parts(2, 0)
    keep(cells, 1000, 3, site=8)
    keep(cells, 1000, 9, site=7, unit=5)
    stamp, _, site = cells.parts(2, 0)
    found = list(zip((stamp >> np.uint64(32)).tolist(), (stamp & LOW).tolist(), site.tolist(), strict=True))
    assert {(999, 3, 7), (999, 4, 7), (1000, 3, 8)} <= set(found)
    assert found == sorted(found) and len(found) <= 2 * PIECES
    assert cells.logged <= 2 * PIECES + 4


def test_accesses_of_launches_before_stay() -> None:
    cells = Cells(8)
    for time in range(1, 2 * PIECES + 1):
        keep(cells, time, 3, site=7)
    stamp, _, _ = cells.parts(2, start=PIECES)
    assert (stamp >> np.uint64(32)).tolist() == [*range(1, PIECES), 2 * PIECES]
