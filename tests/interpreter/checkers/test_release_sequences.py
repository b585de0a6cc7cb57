"""Release sequences: what threads know through them, and that it costs no more the longer they grow."""

from __future__ import annotations

import cProfile
import pstats
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.bench_synchronising import BODIES, counted
from warplab.interpreter.checkers.racecheck.order.barriers import ClusterPhases
from warplab.interpreter.checkers.racecheck.order.memory_order import CLUSTER, CTA, GPU, SYS
from warplab.interpreter.checkers.racecheck.order.release_sequences import ReleaseSequences
from warplab.interpreter.checkers.racecheck.order.release_tables import NOTHING, CausalPast
from warplab.interpreter.checkers.racecheck.records.shadow_memory import BLOCK, LEVEL_AT, WARP
from warplab.interpreter.launch import Launch
from warplab.runtime import Sanitizer

THREADS, BLOCKS = 40, 4  # a warp and a quarter


def sequences(cluster: int = 1) -> ReleaseSequences:
    """Those of a launch that does not run."""
    return ReleaseSequences(cast(Launch, SimpleNamespace(threads=THREADS, blocks=BLOCKS, cluster_size=cluster)), 0)


def release(s: ReleaseSequences, thread: int | range, at: int, after: int = NOTHING, scope: int = SYS) -> int:
    """Threads release what they did up to a time, behind a release of the same sequence; the last one's number."""
    who = np.atleast_1d(np.array(thread, np.int64))
    none = np.zeros(who.size, np.int64)
    return s.release(CausalPast(who, np.full(who.size, at), none, none, s.newest_of(who)), after, scope)


def until(s: ReleaseSequences, thread: int, who: int) -> int:
    """Up to when a thread knows another one, or a warp or a block by name."""
    have = tuple(s.newest_of(np.array([thread]))[:, 0].tolist())
    return s.known(have).until_one(who) if max(have) >= 0 else NOTHING


def acquire(s: ReleaseSequences, thread: int | range, up_to: int, scope: int = SYS) -> None:
    """Threads acquire a sequence up to a release."""
    s.acquire(np.atleast_1d(np.array(thread)), up_to, scope)


def test_a_reader_knows_what_was_released_up_to_its_position() -> None:
    s = sequences()
    first = release(s, 1, 5)
    second = release(s, 2, 6, first)
    third = release(s, 1, 9, second)
    for reader, position in ((50, first), (51, second), (52, third)):
        acquire(s, reader, position)
    assert [until(s, reader, 1) for reader in (50, 51, 52, 53)] == [5, 5, 9, NOTHING]
    assert [until(s, reader, 2) for reader in (50, 51, 52)] == [NOTHING, 6, 6]
    acquire(s, 50, third)
    assert until(s, 50, 1) == 9


def test_releases_hand_on_what_the_releasing_thread_had_acquired() -> None:
    s = sequences()
    release(s, 7, 3)
    for n in range(5):
        acquire(s, 60 + n, s.releases.count - 1)
        release(s, 60 + n, n + 4)
    release(s, 7, 90, 0)  # behind what the chain has read
    acquire(s, 100, 5)
    assert [until(s, 100, who) for who in (7, 60, 64, 65)] == [3, 4, 8, NOTHING]


def test_where_nobody_releases_the_last_release_stays() -> None:
    s = sequences()
    assert release(s, range(0), 1) == NOTHING
    first = release(s, 1, 2)
    release(s, 2, 3)
    assert release(s, range(0), 4, first) == first


def test_two_sequences_that_know_each_other() -> None:
    s = sequences()
    one, other = release(s, 1, 1), release(s, 2, 2)
    acquire(s, 3, other)
    one = release(s, 3, 4, one)
    acquire(s, 4, one)
    other = release(s, 4, 5, other)
    acquire(s, 5, other)
    assert [until(s, 5, who) for who in (1, 2, 3, 4, 5)] == [1, 2, 4, 5, NOTHING]


@pytest.mark.parametrize(
    ("scope", "reads"), [(CTA, {(0, CTA), (0, GPU)}), (CLUSTER, {(0, CTA), (0, GPU), (1, CLUSTER), (1, GPU)}), (GPU, {*"all"})]
)
def test_scopes(scope: int, reads: set[Any]) -> None:
    s = sequences(cluster=2)
    last = release(s, 1, 5, scope=scope)
    for block, by in ((0, CTA), (0, GPU), (1, CTA), (1, CLUSTER), (1, GPU), (2, CLUSTER), (2, GPU)):
        thread = block * THREADS + 4 * by
        acquire(s, thread, last, by)
        wide = scope == GPU and not (block == 1 and by == CTA) and not (block == 2 and by == CLUSTER)
        assert (until(s, thread, 1) == 5) is (wide or (block, by) in reads)


def test_warps_and_blocks_are_known_by_their_threads() -> None:
    s = sequences()
    last = release(s, range(32), 5)
    acquire(s, 100, last)
    assert [until(s, 100, key) for key in (WARP << LEVEL_AT, BLOCK << LEVEL_AT)] == [5, NOTHING]
    acquire(s, 101, release(s, range(32, 40), 4, last))
    assert [until(s, 101, key) for key in (WARP << LEVEL_AT | 1, BLOCK << LEVEL_AT)] == [4, 4]


def test_barriers_hand_on_to_all() -> None:
    s = sequences()
    acquire(s, 3, release(s, 90, 5))
    s.warp_barrier(np.array([0]))
    assert [until(s, thread, 90) for thread in (0, 31, 32)] == [5, 5, NOTHING]
    s.block_barrier(np.array([0]))
    assert [until(s, thread, 90) for thread in (3, 39, 40)] == [5, 5, NOTHING]


def test_phases_of_a_cluster_that_are_over_are_forgotten() -> None:
    phases, who = ClusterPhases(), np.arange(4)
    for n in range(1, 100):
        for cluster in (0, 1):
            assert phases.arrive(cluster, n, 10 * n) == []
            assert phases.wait(cluster, n, who) == 10 * n
            assert [w.tolist() for w in phases.arrive(cluster, n, 10 * n + 1)] == [[0, 1, 2, 3]]
        assert phases.wait(0, n - 1, who) == (10 * n - 9 if n > 1 else NOTHING)  # late, though all have arrived
    assert len(phases.waiting) <= 4 and len(phases.released) == 4


STEPS = st.tuples(st.sampled_from("release begin acquire barrier warp".split()), st.sampled_from([0, 1, 32, 40, 41, 80]), st.integers(0, 2))


@settings(max_examples=300)
@given(st.lists(STEPS, min_size=3, max_size=40))
def test_the_same_as_clocks(steps: list[tuple[str, int, int]]) -> None:
    """A clock for each thread and each release, copied whole, is the reference."""
    s, count = sequences(), THREADS * BLOCKS
    clock = np.full((count, count), NOTHING)
    places, at = [NOTHING] * 3, list[np.ndarray]()  # the last release of each place, and the clock of each release
    for now, (what, thread, place) in enumerate(steps, 1):
        if what in ("release", "begin"):
            before = places[place] if what == "release" else NOTHING
            places[place] = release(s, thread, now, before)
            own = clock[thread].copy()
            own[thread] = now
            at.append(np.maximum(own, at[before]) if before >= 0 else own)
        elif what == "acquire" and places[place] >= 0:
            acquire(s, thread, places[place], GPU)
            clock[thread] = np.maximum(clock[thread], at[places[place]])
        elif what == "barrier":
            s.block_barrier(np.array([thread // THREADS]))
            first = thread // THREADS * THREADS
            clock[first : first + THREADS] = clock[first : first + THREADS].max(axis=0)
        elif what == "warp":
            s.warp_barrier(np.array([thread // THREADS * 2 + thread % THREADS // 32]))
            first = thread // THREADS * THREADS + thread % THREADS // 32 * 32
            end = min(first + 32, (thread // THREADS + 1) * THREADS)
            clock[first:end] = clock[first:end].max(axis=0)
    for thread in (0, 1, 32, 33, 40, 41, 80):
        for who in (0, 1, 32, 40, 41, 80):
            if who != thread:
                assert until(s, thread, who) == clock[thread, who]


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
    assert calls(4, 8) < 1.3 * more  # lanes are not looked at one by one
