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

VECTORS, MASKS, ROWS = 3, 4, 8  # of a wave; predicates of a vector; rows of a program
ROOM = 24 * VECTORS
LIST = 4  # words of a list of three ways

targets = st.integers(0, ROWS - 1)
rows = st.tuples(st.sampled_from([s.JUMP, s.BRANCH, s.BRANCH_UNIFORM, s.BRANCH_MANY, s.EXIT_SOME, s.BARRIER, s.WARP_SYNC]), targets, targets, targets,
                 st.integers(0, MASKS - 1), st.booleans())  # fmt: skip


@given(
    st.lists(rows, min_size=ROWS - 1, max_size=ROWS - 1),
    st.lists(st.integers(0, 2**32 - 1), min_size=VECTORS * MASKS, max_size=VECTORS * MASKS),
)
@settings(max_examples=200)
def test_a_random_program_of_branches(program: list[tuple[int, int, int, int, int, bool]], predicates: list[int]) -> None:
    S = np.zeros(s.WORDS + ROWS * s.ROW + s.NODES * s.NODE + 3 * VECTORS + ROOM + ROWS * LIST, np.int64)
    S[s.ROWS] = s.WORDS
    S[s.STACK] = S[s.ROWS] + ROWS * s.ROW
    S[s.ALIVE] = S[s.STACK] + s.NODES * s.NODE
    S[s.GONE] = S[s.ALIVE] + VECTORS
    S[s.MASKS] = S[s.GONE] + VECTORS
    S[s.LISTS] = S[s.MASKS] + VECTORS
    S[s.ROOM] = S[s.LISTS] + ROOM
    S[s.EACH], S[s.FRAME], S[s.PER_WAVE], S[s.BLOCKS], S[s.BLOCK_LANES] = VECTORS, MASKS, 1, 1, 32 * VECTORS
    S[S[s.MASKS] : S[s.MASKS] + VECTORS] = 0xFFFFFFFF
    S[s.TICK] = 60  # steps after which it pauses, since most of these programs loop
    for n, (kind, a, b, join, predicate, negated) in enumerate(program):
        S[s.WORDS + n * s.ROW :][: s.TURNS + 1] = kind, a, b, join, predicate, int(negated), s.NOWHERE, 0, 0
        if kind == s.BARRIER:
            S[s.WORDS + n * s.ROW + s.B], S[s.WORDS + n * s.ROW + s.NAMED] = 32 * predicate, s.NAMED_BY_TEXT
        if kind == s.WARP_SYNC:
            S[s.WORDS + n * s.ROW + s.B], S[s.WORDS + n * s.ROW + s.NAMED] = 0xFFFF0000 * negated, min(predicate, s.NAMED_BY_ONE)
        if kind == s.BRANCH_MANY:  # three ways; each lane takes one
            S[s.WORDS + n * s.ROW + s.A], S[s.WORDS + n * s.ROW + s.PREDICATE] = len(S) - LIST * (n + 1), MASKS - 3
            S[len(S) - LIST * (n + 1) :][:LIST] = 3, a, b, join
    S[s.WORDS + (ROWS - 1) * s.ROW + s.KIND] = s.EXIT
    F = np.array(predicates, np.uint32)
    for mask in F.reshape(VECTORS, MASKS):  # the last three exclude each other
        mask[-2] &= ~mask[-3]
        mask[-1] = ~(mask[-3] | mask[-2])
    plain, compiled = S.tolist(), S.copy()
    code = waves(plain, F.tolist())
    assert scheduler()(compiled.ctypes.data, F.ctypes.data) == code
    assert plain == compiled.tolist()
    assert code in (s.DONE, s.PAUSE, s.STUCK)


def test_no_two_words_have_one_name() -> None:
    names = [n.id for n in ast.walk(ast.parse(inspect.getsource(s))) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    assert len(names) == len(set(names))
