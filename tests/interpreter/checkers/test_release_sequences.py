"""Release sequences: what threads know through them, and that it costs no more the longer they grow."""

from __future__ import annotations

import cProfile
import pstats

import pytest

from tests.bench.bench_synchronising import BODIES, counted
from warplab.interpreter.checkers.racecheck.clocks import AT, Knowledge, Releases, earlier
from warplab.interpreter.checkers.racecheck.memory_order import CLUSTER, CTA, GPU
from warplab.interpreter.checkers.racecheck.release_patterns import ReleasePatterns
from warplab.runtime import Sanitizer


def test_a_reader_knows_what_was_released_up_to_its_position() -> None:
    releases = Releases()
    releases.append(10, {1: 5})
    releases.append(20, {2: 6})
    releases.append(30, {1: 9})
    assert [Knowledge([{releases: at}]).until(1) for at in (9, 10, 29, 30, 31)] == [-1, 5, 5, 9, 9]
    assert [Knowledge([{releases: at}]).until(2) for at in (19, 20)] == [-1, 6]
    assert Knowledge([{releases: 10}, {1: 7}]).until(1) == 7
    assert Knowledge([]).until(1) == -1


def test_releases_hand_on_what_the_releasing_thread_has_acquired() -> None:
    chain = [Releases() for _ in range(5)]
    chain[0].append(1, {7: 3})
    for n in range(1, 5):
        chain[n].append(n + 1, {chain[n - 1]: n})
    assert Knowledge([{chain[-1]: 5}]).until(7) == 3
    assert Knowledge([{chain[-1]: 4}]).until(7) == -1  # read before the last release
    chain[0].append(6, {7: 8})
    assert Knowledge([{chain[-1]: 5}]).until(7) == 3  # the chain has acquired the first release only


def test_two_sequences_that_know_each_other() -> None:
    one, other = Releases(), Releases()
    one.append(1, {1: 1})
    other.append(2, {2: 2, one: 1})
    one.append(3, {other: 2, one: 1})
    other.append(4, {one: 3})
    assert [Knowledge([{other: 4}]).until(who) for who in (1, 2, 3)] == [1, 2, -1]


def test_scopes() -> None:
    near = ReleasePatterns().more(1, CTA, {40: 1}, 1, 12, 4)
    assert (near.site_line, bool(near.for_(1, GPU, 2)), bool(near.for_(0, GPU, 2)), bool(near.for_(0, CTA, 2))) == (12, True, False, False)
    mid = ReleasePatterns().more(1, CLUSTER, {40: 1}, 1, 12, 4)
    assert [bool(mid.for_(block, scope, 2)) for block, scope in ((0, CLUSTER), (0, GPU), (0, CTA), (2, GPU))] == [True, True, False, False]
    wide = ReleasePatterns().more(1, GPU, {40: 1}, 1, 12, 4)
    assert [bool(wide.for_(block, scope, 2)) for block, scope in ((5, GPU), (5, CLUSTER), (1, CTA), (0, CLUSTER))] == [
        True,
        False,
        True,
        True,
    ]
    assert not ReleasePatterns(near.sequence, 0).for_(1, CTA, 2)  # a write before the release


def test_what_was_known_at_a_time() -> None:
    releases = Releases()
    releases.append(3 << AT | 1, {7: 3})
    releases.append(8 << AT | 2, {7: 8})
    clock = earlier({1: 4, 2: 6, releases: 9 << AT | 5}, 5)
    assert (Knowledge([clock]).until(7), clock.get(1), clock.get(2)) == (3, 4, None)


@pytest.mark.parametrize("name", BODIES)
def test_cost_is_linear_in_operations(name: str) -> None:
    def calls(blocks: int, loops: int) -> int:
        profile = cProfile.Profile()
        sanitizer = Sanitizer("race")
        profile.runcall(counted, name, blocks, loops, sanitizer)
        assert not sanitizer.findings
        return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]

    counted(name, 1, 1, Sanitizer("race"))  # imports and plans
    few, more, most = (calls(1, loops) for loops in (4, 8, 16))
    assert most - more < 2.3 * (more - few)
    assert calls(4, 8) < 4.6 * more
