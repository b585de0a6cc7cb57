"""The scheduler as Python and as it was translated for the host: the same words afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from hypothesis import given, settings
from hypothesis import strategies as st

from warplab.interpreter.native.schedule import layout as s
from warplab.interpreter.native.schedule.compiled import scheduler
from warplab.interpreter.native.schedule.scheduler import waves

EACH, BLOCKS = 2, 2  # vectors of a block, blocks of a wave
VECTORS, MASKS, ROWS = EACH * BLOCKS, 36, 10  # of a wave; words of a frame, of which the first are predicates; rows of a program
PREDICATES, NUMBERS = 4, 4  # the first of 32 words of numbers, one for each lane
ROOM = 120 * VECTORS
BEHIND = 12  # words of lists behind the rows: of three ways of a table, of a way out of loops, of a way back

KINDS = [
    s.JUMP,
    s.BRANCH,
    s.BRANCH,
    s.BRANCH_UNIFORM,
    s.BRANCH_MANY,
    s.EXIT_SOME,
    s.EXIT_UNIFORM,
    s.BARRIER,
    s.BARRIER,
    s.WARP_SYNC,
    s.EXIT,
]
targets = st.integers(0, ROWS - 1)
rows = st.tuples(
    st.sampled_from(KINDS), targets, targets, targets, st.integers(0, PREDICATES - 1), st.booleans(), st.integers(0, 2**16 - 1)
)


@given(
    st.lists(rows, min_size=ROWS - 1, max_size=ROWS - 1),
    st.lists(st.integers(0, 2**32 - 1), min_size=VECTORS * PREDICATES, max_size=VECTORS * PREDICATES),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_a_random_program(program: list[tuple[int, int, int, int, int, bool, int]], predicates: list[int], apart: bool) -> None:
    sizes = {"rows": ROWS * s.RowRecord.SIZE + ROWS * BEHIND, **s.sizes(ROWS, BLOCKS, EACH), "lists": ROOM}
    state = s.WaveRecord.with_arrays(lambda n: np.zeros(n, np.int64), None, sizes)
    state.room, state.row_count = state.lists + ROOM, ROWS
    state.each, state.frame, state.per_wave, state.blocks, state.block_lanes, state.apart = EACH, MASKS, BLOCKS, BLOCKS, 32 * EACH, apart
    state.lanes_of.part(EACH)[:] = 0xFFFFFFFF
    state.tick = 80  # steps after which it pauses, since most of these programs loop
    for n, one in enumerate(program):
        write_row(state, n, *one)
    state.rows[ROWS - 1].kind = s.EXIT
    F = np.zeros((VECTORS, MASKS), np.uint32)
    F[:, :PREDICATES] = np.array(predicates, np.uint32).reshape(VECTORS, PREDICATES)
    F[:, 2] &= ~F[:, 1]  # three of them exclude each other: each lane takes one way of a table
    F[:, 3] = ~(F[:, 1] | F[:, 2])
    F[:, NUMBERS:] = F[:, :1] >> np.arange(32, dtype=np.uint32) & 1
    compiled, plain = state.words, s.WaveRecord(state.words.tolist(), F.ravel().tolist())
    rounds = 0
    while True:
        code = waves(plain)
        assert scheduler()(compiled.ctypes.data, F.ctypes.data) == code
        assert plain.words == compiled.tolist() and plain.masks == F.ravel().tolist()
        consistent(plain)
        rounds += 1
        if code != s.NO_PROGRESS or rounds == 3:
            break
    assert code in (s.DONE, s.PAUSE, s.STUCK, s.NO_PROGRESS) or (code == s.DIVERGED and not apart)


def write_row(state: s.WaveRecord, n: int, kind: int, a: int, b: int, join: int, predicate: int, negated: bool, more: int) -> None:
    """One row; `more` is a number from which its further fields are drawn."""
    row: Any = state.rows[n]
    behind = state.rows.at + ROWS * s.RowRecord.SIZE + n * BEHIND
    row.kind, row.to, row.fall, row.join, row.predicate, row.negated, row.first = kind, a, b, join, predicate, negated, s.NOWHERE
    row.whole = bool(a)
    row.ways, row.exits, row.heads = behind, behind + 3, behind + 9
    if more & 1 and kind in (s.JUMP, s.BRANCH, s.BRANCH_UNIFORM, s.BRANCH_MANY):  # a way out of loops
        row.exit_count = 1
        state.words[behind + 3 : behind + 9] = behind + 4, a, (a + 1) % ROWS, 1, behind + 8, join
    if more & 2 and kind in (s.JUMP, s.BRANCH, s.BRANCH_UNIFORM, s.BRANCH_MANY):  # a way back
        row.head_count = 1
        row.heads[0].to, row.heads[0].limit = b if kind != s.JUMP else a, 2
    if kind in (s.BARRIER, s.WARP_SYNC):
        row.guarded, row.guard, row.inverted = (more >> 2) % 3, 1 if (more >> 2) % 3 == 1 else 2, more >> 4 & 1
        row.named, row.operand = more >> 5 & 1, 0
    if kind == s.BARRIER:
        row.constant = 32 * (more >> 6 & 1)
        row.named = s.NAMED_BY_TEXT
        row.numbered, row.number, row.waits = (
            (s.NAMED_BY_LANES, NUMBERS, 1) if more >> 7 & 1 else (s.NAMED_BY_TEXT, predicate, more >> 8 & 3 != 0)
        )
        row.reduced, row.valued, row.value, row.result = (more >> 10 & 3) * (more >> 12 & 1), s.NAMED_BY_LANES, 0, NUMBERS
    if kind == s.WARP_SYNC:
        row.constant, row.parts, row.key = 0xFFFF0000 * negated | 0xF, more >> 6 & 1, (more >> 7 & 3) - 1
    if kind == s.BRANCH_MANY:  # three ways; each lane takes one
        row.way_count, row.predicate = 3, 1
        state.words[behind : behind + 3] = a, b, join


def consistent(state: s.WaveRecord) -> None:
    """Each living lane is in one group or waits at one join, and each join knows its children."""
    nodes = [node for i in range(state.high) if (node := state.nodes[i]).state != s.IS_UNUSED]
    assert len(nodes) == state.used and state.picked_count == 0
    assert sorted(node.at for node in nodes if node.state == s.IS_READY) == sorted(node.at for node in state.ready[: state.ready_count])
    assert not any(state.gone[i] or state.here[i] for i in range(VECTORS))
    groups = [node for node in nodes if node.state != s.IS_JOIN] + [state.running]
    parents = [node.parent for node in nodes] + [state.running.parent] * (state.running.count > 0)
    for node in nodes:
        assert node.children == parents.count(node)
        assert (node.state == s.IS_JOIN) == (node.children > 0)
    seen = [0] * VECTORS
    for group in groups:
        for entry in group.entries[: group.count]:
            vector, mask = entry >> 32 & 0x3FFFFFFF, entry & 0xFFFFFFFF
            assert mask and not seen[vector] & mask and not mask & ~state.alive[vector]
            seen[vector] |= mask
