"""The scheduler as Python and as it was translated for the host: the same words afterwards."""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from hypothesis import given, settings
from hypothesis import strategies as st

from warplab.interpreter.native.schedule import words as s
from warplab.interpreter.native.schedule.compiled import scheduler
from warplab.interpreter.native.schedule.scheduler import waves

EACH, BLOCKS = 2, 2  # vectors of a block, blocks of a wave
VECTORS, MASKS, ROWS = EACH * BLOCKS, 36, 10  # of a wave; words of a frame, of which the first are predicates; rows of a program
PREDICATES, NUMBERS = 4, 4  # the first of 32 words of numbers, one for each lane
ROOM = 120 * VECTORS
BEHIND = 12  # words of lists behind the rows: of three ways of a table, of a way out of loops, of a way back

KINDS = [s.JUMP, s.BRANCH, s.BRANCH, s.BRANCH_UNIFORM, s.BRANCH_MANY, s.EXIT_SOME, s.BARRIER, s.BARRIER, s.WARP_SYNC, s.EXIT]
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
    sizes = {s.ROWS: ROWS * s.ROW, s.LISTS: 0, s.NODES_AT: s.NODE * 200, s.READY_AT: 200, s.BLOCKED_AT: 200, s.SPINNING_AT: 200, s.PICKED_AT: 800,
             s.UNMET: ROWS + 1, s.WANTED: s.BARRIERS * BLOCKS, s.REDUCES: s.BARRIERS, s.ARRIVED: s.BARRIERS * VECTORS, s.HOLDS: s.BARRIERS * VECTORS,
             s.ALIVE: VECTORS, s.GONE: VECTORS, s.HERE: VECTORS, s.MASKS: EACH}  # fmt: skip
    places = np.cumsum([s.WORDS, *sizes.values()])
    S = np.zeros(places[-1] + ROWS * BEHIND + ROOM, np.int64)
    S[list(sizes)] = places[:-1]
    S[s.LISTS], S[s.ROOM], S[s.ROW_COUNT] = len(S) - ROOM, len(S), ROWS
    S[s.EACH], S[s.FRAME], S[s.PER_WAVE], S[s.BLOCKS], S[s.BLOCK_LANES], S[s.APART] = EACH, MASKS, BLOCKS, BLOCKS, 32 * EACH, apart
    S[S[s.MASKS] : S[s.MASKS] + EACH] = 0xFFFFFFFF
    S[s.TICK] = 80  # steps after which it pauses, since most of these programs loop
    for n, one in enumerate(program):
        write_row(S, n, *one, places[-1] + n * BEHIND)
    S[s.WORDS + (ROWS - 1) * s.ROW + s.KIND] = s.EXIT
    F = np.zeros((VECTORS, MASKS), np.uint32)
    F[:, :PREDICATES] = np.array(predicates, np.uint32).reshape(VECTORS, PREDICATES)
    F[:, 2] &= ~F[:, 1]  # three of them exclude each other: each lane takes one way of a table
    F[:, 3] = ~(F[:, 1] | F[:, 2])
    F[:, NUMBERS:] = F[:, :1] >> np.arange(32, dtype=np.uint32) & 1
    F = F.ravel()
    plain, numbers, compiled = S.tolist(), F.tolist(), S.copy()
    rounds = 0
    while True:
        code = waves(plain, numbers)
        assert scheduler()(compiled.ctypes.data, F.ctypes.data) == code
        assert [int(x) for x in plain] == compiled.tolist() and numbers == F.tolist()
        consistent(plain)
        rounds += 1
        if code != s.CALM or rounds == 3:
            break
    assert code in (s.DONE, s.PAUSE, s.STUCK, s.CALM) or (code == s.PARTED and not apart)


def write_row(S: np.ndarray, n: int, kind: int, a: int, b: int, join: int, predicate: int, negated: bool, more: int, behind: int) -> None:
    """One row; `more` is a number from which its further words are drawn."""
    row = S[s.WORDS + n * s.ROW :][: s.ROW]
    row[[s.KIND, s.A, s.B, s.JOIN, s.PREDICATE, s.NEGATED, s.FIRST]] = kind, a, b, join, predicate, int(negated), s.NOWHERE
    if more & 1 and kind in (s.JUMP, s.BRANCH, s.BRANCH_UNIFORM, s.BRANCH_MANY):  # a way out of loops
        row[s.EXITS] = behind + 4
        S[behind + 4 : behind + 9] = 1, a, (a + 1) % ROWS, 1, join
    if more & 2 and kind in (s.JUMP, s.BRANCH, s.BRANCH_UNIFORM, s.BRANCH_MANY):  # a way back
        row[s.TURNS] = behind + 9
        S[behind + 9 : behind + 12] = 1, b if kind != s.JUMP else a, 2
    if kind in (s.BARRIER, s.WARP_SYNC):
        row[[s.GUARDED, s.GUARD, s.INVERTED]] = (more >> 2) % 3, 1 if (more >> 2) % 3 == 1 else 2, more >> 4 & 1
        row[[s.NAMED, s.B, s.PREDICATE]] = more >> 5 & 1, 0, 0
    if kind == s.BARRIER:
        row[s.B] = 32 * (more >> 6 & 1)
        row[s.NAMED] = s.NAMED_BY_TEXT
        row[[s.NUMBERED, s.NUMBER, s.WAITS]] = (
            (s.NAMED_BY_LANES, NUMBERS, 1) if more >> 7 & 1 else (s.NAMED_BY_TEXT, predicate, more >> 8 & 3 != 0)
        )
        row[[s.REDUCED, s.VALUED, s.VALUE, s.RESULT]] = (more >> 10 & 3) * (more >> 12 & 1), s.NAMED_BY_LANES, 0, NUMBERS
    if kind == s.WARP_SYNC:
        row[s.B], row[s.PARTS], row[s.KEY] = 0xFFFF0000 * negated | 0xF, more >> 6 & 1, (more >> 7 & 3) - 1
    if kind == s.BRANCH_MANY:  # three ways; each lane takes one
        row[s.A], row[s.PREDICATE] = behind, 1
        S[behind : behind + 4] = 3, a, b, join


def consistent(S: list[int]) -> None:
    """Each living lane is in one group or waits at one join, and each join knows its children."""
    nodes = {at: S[at : at + s.NODE] for at in range(S[s.NODES_AT], S[s.NODES_AT] + S[s.HIGH] * s.NODE, s.NODE) if S[at] != s.IS_UNUSED}
    assert len(nodes) == S[s.USED] and S[s.PICKED] == 0
    assert sorted(at for at, node in nodes.items() if node[0] == s.IS_READY) == sorted(S[S[s.READY_AT] :][: S[s.READY]])
    assert not any(S[S[where] + i] for where in (s.GONE, s.HERE) for i in range(VECTORS))
    parents = [node[s.NODE_PARENT] for node in nodes.values()] + ([S[s.PARENT]] if S[s.COUNT] else [])
    lists = [(node[s.NODE_LIST], node[s.NODE_COUNT]) for node in nodes.values() if node[0] != s.IS_JOIN] + [(S[s.LIST], S[s.COUNT])]
    for at, node in nodes.items():
        assert node[s.CHILDREN] == parents.count(at)
        assert (node[0] == s.IS_JOIN) == (node[s.CHILDREN] > 0)
    seen = [0] * VECTORS
    for at, count in lists:
        for entry in S[at : at + count]:
            vector, mask = entry >> 32 & 0x3FFFFFFF, entry & 0xFFFFFFFF
            assert mask and not seen[vector] & mask and not mask & ~S[S[s.ALIVE] + vector]
            seen[vector] |= mask


def test_no_two_words_have_one_name() -> None:
    names = [n.id for n in ast.walk(ast.parse(inspect.getsource(s))) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    assert len(names) == len(set(names))
