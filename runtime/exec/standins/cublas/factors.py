"""Factors of many small matrices: LU with pivots, solutions, inverses."""

from __future__ import annotations

import numpy as np

from ....device.memory.host import host
from ...handlers.special import HandledCall
from ..algebra import N, factored, solution
from ..calls import work_in
from ..memory import I32, Array, NumberType, addresses, matrix, vector
from .handles import CUBLAS, handle_of
from .typed import typed


def _order(at: int, number: int, n: int) -> Array | None:
    return vector(at + 4 * n * number, n, 1, I32, False) if at else None


@typed("cublas[S D C Z]getrfBatched")
def getrf(c: HandledCall, kind: NumberType, base: str) -> None:
    """Factors of each matrix, in its place."""
    g, h, n = c.given, handle_of(c), c.given["n"]
    CUBLAS.check(n >= 0 and g["lda"] >= max(n, 1) and g["batchSize"] >= 0)

    def work() -> None:
        for i, at in enumerate(addresses(g["A"], g["batchSize"])):
            order, singular = factored(matrix(at, n, n, g["lda"], kind), bool(g["P"]))
            if g["P"]:
                vector(g["P"] + 4 * n * i, n, 1, I32)[...] = order
            vector(g["info"] + 4 * i, 1, 1, I32)[...] = singular

    if n:
        work_in(h.stream, work)


@typed("cublas[S D C Z]getrsBatched")
def getrs(c: HandledCall, kind: NumberType, base: str) -> None:
    """Solutions, in the place of the right sides."""
    g, h, n = c.given, handle_of(c), c.given["n"]

    def work() -> None:
        for i, (a, b) in enumerate(zip(addresses(g["A"], g["batchSize"]), addresses(g["B"], g["batchSize"]), strict=True)):
            target = matrix(b, n, g["nrhs"], g["ldb"], kind)
            target[...] = solution(matrix(a, n, n, g["lda"], kind, False), _order(g["P"], i, n), target, g["trans"])

    if n:
        work_in(h.stream, work)
    host().write(g["info"], np.zeros(4, np.uint8))


@typed("cublas[S D C Z]getriBatched")
def getri(c: HandledCall, kind: NumberType, base: str) -> None:
    """Inverses, of factors."""
    g, h, n = c.given, handle_of(c), c.given["n"]

    def work() -> None:
        for i, (a, b) in enumerate(zip(addresses(g["A"], g["batchSize"]), addresses(g["C"], g["batchSize"]), strict=True)):
            inverse = solution(matrix(a, n, n, g["lda"], kind, False), _order(g["P"], i, n), np.eye(n, dtype=kind.stored), N)
            matrix(b, n, n, g["ldc"], kind)[...] = inverse
            vector(g["info"] + 4 * i, 1, 1, I32)[...] = 0

    if n:
        work_in(h.stream, work)


@typed("cublas[S D C Z]matinvBatched")
def matinv(c: HandledCall, kind: NumberType, base: str) -> None:
    """Inverses."""
    g, h, n = c.given, handle_of(c), c.given["n"]

    def work() -> None:
        for i, (a, b) in enumerate(zip(addresses(g["A"], g["batchSize"]), addresses(g["C"], g["batchSize"]), strict=True)):
            factors = matrix(a, n, n, g["lda"], kind, False).copy()
            order, singular = factored(factors)
            if not singular:
                matrix(b, n, n, g["ldc"], kind)[...] = solution(factors, order, np.eye(n, dtype=kind.stored), N)
            vector(g["info"] + 4 * i, 1, 1, I32)[...] = singular

    if n:
        work_in(h.stream, work)
