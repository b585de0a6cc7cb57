"""Levels 2 and 3 of BLAS, but for general products of matrices: symmetric and triangular matrices, updates, sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...handlers.special import HandledCall
from ..algebra import LEFT, LOWER, UNIT, UPPER, N, operated, put_triangle, shape, solved, symmetric, triangle
from ..calls import work_in
from ..memory import Array, NumberType, addresses, matrix, vector
from .handles import CUBLAS, BlasHandle, handle_of, scalar
from .products import combined
from .typed import typed
from .vectors import real_of

# ---------------------------------------------------------------- a matrix and vectors


def _gemv(c: HandledCall, kind: NumberType, places: Callable[[], Any]) -> None:
    g, h = c.given, handle_of(c)
    CUBLAS.check(min(g["m"], g["n"]) >= 0 and g["lda"] >= max(g["m"], 1) and g["incx"] != 0 and g["incy"] != 0)
    alpha, beta = scalar(h, g["alpha"], kind), scalar(h, g["beta"], kind)
    rows, columns = shape(g["trans"], g["m"], g["n"])

    def work() -> None:
        for a, x, y in places():
            target = vector(y, rows, g["incy"], kind)
            factor, other = alpha(), beta()
            product: Any = np.zeros(rows, kind.stored)
            if factor != 0:
                product = operated(matrix(a, g["m"], g["n"], g["lda"], kind, False), g["trans"]) @ vector(
                    x, columns, g["incx"], kind, False
                )
            target[...] = combined(product, factor, other, target.copy)

    if g["m"] and g["n"]:
        work_in(h.stream, work)


@typed("cublas[S D C Z]gemv_v2")
def gemv(c: HandledCall, kind: NumberType, base: str) -> None:
    """y = alpha op(A) x + beta y."""
    _gemv(c, kind, lambda: [(c.given["A"], c.given["x"], c.given["y"])])


@typed("cublas[S D C Z]gemvStridedBatched")
def gemv_strided(c: HandledCall, kind: NumberType, base: str) -> None:
    """The same for matrices and vectors at equal distances."""
    g, size = c.given, kind.stored.itemsize
    steps = [(name, g[f"stride{name}"] * size) for name in ("A", "x", "y")]
    _gemv(c, kind, lambda: [tuple(g[name] + i * step for name, step in steps) for i in range(g["batchCount"])])


@typed("cublas[S D C Z]gemvBatched")
def gemv_batched(c: HandledCall, kind: NumberType, base: str) -> None:
    """The same for lists of pointers."""
    g = c.given
    _gemv(c, kind, lambda: zip(*(addresses(g[name], g["batchCount"]) for name in ("A", "x", "y")), strict=True))


@typed("cublas[S D C Z]symv_v2", "cublas[C Z]hemv_v2")
def symv(c: HandledCall, kind: NumberType, base: str) -> None:
    """y = alpha A x + beta y."""
    g, h, n = c.given, handle_of(c), c.given["n"]
    alpha, beta = scalar(h, g["alpha"], kind), scalar(h, g["beta"], kind)

    def work() -> None:
        a = symmetric(matrix(g["A"], n, n, g["lda"], kind, False), g["uplo"], base == "hemv")
        y = vector(g["y"], n, g["incy"], kind)
        y[...] = combined(a @ vector(g["x"], n, g["incx"], kind, False), alpha(), beta(), lambda: y)

    if n:
        work_in(h.stream, work)


@typed("cublas[S D]ger_v2", "cublas[C Z][geru gerc]_v2")
def ger(c: HandledCall, kind: NumberType, base: str) -> None:
    """A = alpha x y' + A."""
    g, h = c.given, handle_of(c)
    CUBLAS.check(g["lda"] >= max(g["m"], 1))
    alpha = scalar(h, g["alpha"], kind)

    def work() -> None:
        x, y = vector(g["x"], g["m"], g["incx"], kind, False), vector(g["y"], g["n"], g["incy"], kind, False)
        matrix(g["A"], g["m"], g["n"], g["lda"], kind)[...] += alpha() * np.outer(x, y.conj() if base == "gerc" else y)

    if g["m"] > 0 and g["n"] > 0:
        work_in(h.stream, work)


@typed("cublas[S D C Z]syr_v2", "cublas[C Z]her_v2")
def syr(c: HandledCall, kind: NumberType, base: str) -> None:
    """A = alpha x x' + A, of which one triangle is stored."""
    g, h, n = c.given, handle_of(c), c.given["n"]
    alpha = scalar(h, g["alpha"], real_of(kind) if base == "her" else kind)

    def work() -> None:
        x, a = vector(g["x"], n, g["incx"], kind, False), matrix(g["A"], n, n, g["lda"], kind)
        put_triangle(a, a + alpha() * np.outer(x, x.conj() if base == "her" else x), g["uplo"])

    if n:
        work_in(h.stream, work)


@typed("cublas[S D C Z][trmv trsv]_v2")
def trmv(c: HandledCall, kind: NumberType, base: str) -> None:
    """x = op(A) x, or the solution of op(A) x = b."""
    g, h, n = c.given, handle_of(c), c.given["n"]

    def work() -> None:
        a, x = matrix(g["A"], n, n, g["lda"], kind, False), vector(g["x"], n, g["incx"], kind)
        unit = g["diag"] == UNIT
        x[...] = operated(triangle(a, g["uplo"], unit), g["trans"]) @ x if base == "trmv" else solved(a, x, g["uplo"], g["trans"], unit)

    if n:
        work_in(h.stream, work)


# ---------------------------------------------------------------- matrices


@typed("cublas[S D C Z]symm_v2", "cublas[C Z]hemm_v2")
def symm(c: HandledCall, kind: NumberType, base: str) -> None:
    """C = alpha A B + beta C, or B A."""
    g, h, m, n = c.given, handle_of(c), c.given["m"], c.given["n"]
    alpha, beta = scalar(h, g["alpha"], kind), scalar(h, g["beta"], kind)
    order = m if g["side"] == LEFT else n
    CUBLAS.check(g["lda"] >= max(order, 1) and min(g["ldb"], g["ldc"]) >= max(m, 1))

    def work() -> None:
        a = symmetric(matrix(g["A"], order, order, g["lda"], kind, False), g["uplo"], base == "hemm")
        b, out = matrix(g["B"], m, n, g["ldb"], kind, False), matrix(g["C"], m, n, g["ldc"], kind)
        out[...] = combined(a @ b if g["side"] == LEFT else b @ a, alpha(), beta(), lambda: out)

    if m and n:
        work_in(h.stream, work)


def _update(c: HandledCall, kind: NumberType, scalars: tuple[NumberType, NumberType], hermitian: bool, product: Any, *names: str) -> None:
    """C = a product of A (and B) + beta C, of which one triangle is stored."""
    g, h, n, k = c.given, handle_of(c), c.given["n"], c.given["k"]
    alpha, beta = scalar(h, g["alpha"], scalars[0]), scalar(h, g["beta"], scalars[1])
    rows, columns = shape(g["trans"], n, k)
    CUBLAS.check(min(n, k) >= 0 and all(g[f"ld{x.lower()}"] >= max(rows, 1) for x in names) and g["ldc"] >= max(n, 1))

    def work() -> None:
        found = [operated(matrix(g[x], rows, columns, g[f"ld{x.lower()}"], kind, False), g["trans"]) for x in names]
        out = matrix(g["C"], n, n, g["ldc"], kind)
        new = combined(product(alpha(), *found), 1, beta(), lambda: out)
        if hermitian:
            np.fill_diagonal(new, np.diag(new).real)
        put_triangle(out, new, g["uplo"])

    if n:
        work_in(h.stream, work)


def _transposed(a: Array, hermitian: bool) -> Array:
    return a.conj().T if hermitian else a.T


@typed("cublas[S D C Z]syrk_v2", "cublas[C Z]herk_v2")
def syrk(c: HandledCall, kind: NumberType, base: str) -> None:
    """C = alpha op(A) op(A)' + beta C."""
    hermitian, scalars = base == "herk", real_of(kind) if base == "herk" else kind
    _update(c, kind, (scalars, scalars), hermitian, lambda alpha, a: alpha * (a @ _transposed(a, hermitian)), "A")


@typed("cublas[S D C Z]syr2k_v2", "cublas[C Z]her2k_v2")
def syr2k(c: HandledCall, kind: NumberType, base: str) -> None:
    """C = alpha op(A) op(B)' + (alpha) op(B) op(A)' + beta C."""
    hermitian = base == "her2k"

    def product(alpha: Any, a: Array, b: Array) -> Any:
        return alpha * (a @ _transposed(b, hermitian)) + (np.conj(alpha) if hermitian else alpha) * (b @ _transposed(a, hermitian))

    _update(c, kind, (kind, real_of(kind) if hermitian else kind), hermitian, product, "A", "B")


@typed("cublas[S D C Z]syrkx", "cublas[C Z]herkx")
def syrkx(c: HandledCall, kind: NumberType, base: str) -> None:
    """C = alpha op(A) op(B)' + beta C, which is known to be symmetric."""
    hermitian = base == "herkx"
    scalars = kind, real_of(kind) if hermitian else kind
    _update(c, kind, scalars, hermitian, lambda alpha, a, b: alpha * (a @ _transposed(b, hermitian)), "A", "B")


def _trsm(c: HandledCall, kind: NumberType, places: Callable[[BlasHandle], Any]) -> None:
    g, h, m, n = c.given, handle_of(c), c.given["m"], c.given["n"]
    alpha = scalar(h, g["alpha"], kind)
    order, left = (m, True) if g["side"] == LEFT else (n, False)
    CUBLAS.check(min(m, n) >= 0 and g["lda"] >= max(order, 1) and g["ldb"] >= max(m, 1))
    operation = g["trans"]

    def work() -> None:
        for at, to in places(h):
            a, b = matrix(at, order, order, g["lda"], kind, False), matrix(to, m, n, g["ldb"], kind)
            right = alpha() * b
            if left:
                b[...] = solved(a, right, g["uplo"], operation, g["diag"] == UNIT)
                continue
            # X op(A) = B is op(A)' X' = B'
            upper = LOWER + UPPER - g["uplo"]
            if operation == N:
                b[...] = solved(a.T, right.T, upper, N, g["diag"] == UNIT).T
            else:
                b[...] = solved(a if operation == 1 else a.conj(), right.T, g["uplo"], N, g["diag"] == UNIT).T

    if m and n:
        work_in(h.stream, work)


@typed("cublas[S D C Z]trsm_v2")
def trsm(c: HandledCall, kind: NumberType, base: str) -> None:
    """X of op(A) X = alpha B, or of X op(A) = alpha B, in the place of B."""
    _trsm(c, kind, lambda _: [(c.given["A"], c.given["B"])])


@typed("cublas[S D C Z]trsmBatched")
def trsm_batched(c: HandledCall, kind: NumberType, base: str) -> None:
    """The same for lists of pointers."""
    g = c.given
    _trsm(c, kind, lambda _: zip(addresses(g["A"], g["batchCount"]), addresses(g["B"], g["batchCount"]), strict=True))


@typed("cublas[S D C Z]trmm_v2")
def trmm(c: HandledCall, kind: NumberType, base: str) -> None:
    """C = alpha op(A) B, or alpha B op(A), for a triangular A."""
    g, h, m, n = c.given, handle_of(c), c.given["m"], c.given["n"]
    alpha = scalar(h, g["alpha"], kind)
    order = m if g["side"] == LEFT else n
    CUBLAS.check(min(m, n) >= 0 and g["lda"] >= max(order, 1) and min(g["ldb"], g["ldc"]) >= max(m, 1))

    def work() -> None:
        a = operated(triangle(matrix(g["A"], order, order, g["lda"], kind, False), g["uplo"], g["diag"] == UNIT), g["trans"])
        b = matrix(g["B"], m, n, g["ldb"], kind, False)
        matrix(g["C"], m, n, g["ldc"], kind)[...] = alpha() * (a @ b if g["side"] == LEFT else b @ a)

    if m and n:
        work_in(h.stream, work)


@typed("cublas[S D C Z]geam")
def geam(c: HandledCall, kind: NumberType, base: str) -> None:
    """C = alpha op(A) + beta op(B)."""
    g, h, m, n = c.given, handle_of(c), c.given["m"], c.given["n"]
    alpha, beta = scalar(h, g["alpha"], kind), scalar(h, g["beta"], kind)

    def term(factor: Any, name: str) -> Any:
        operation = g[f"trans{name.lower()}"]
        a = matrix(g[name], *shape(operation, m, n), g[f"ld{name.lower()}"], kind, False)
        return factor * operated(a, operation)

    def work() -> None:
        terms = [term(factor, name) for factor, name in ((alpha(), "A"), (beta(), "B")) if factor != 0]
        matrix(g["C"], m, n, g["ldc"], kind)[...] = sum(terms) if terms else 0

    if m and n:
        work_in(h.stream, work)


@typed("cublas[S D C Z]dgmm")
def dgmm(c: HandledCall, kind: NumberType, base: str) -> None:
    """C = diag(x) A, or A diag(x)."""
    g, h, m, n = c.given, handle_of(c), c.given["m"], c.given["n"]

    def work() -> None:
        a = matrix(g["A"], m, n, g["lda"], kind, False)
        x = vector(g["x"], m if g["mode"] == LEFT else n, g["incx"], kind, False)
        matrix(g["C"], m, n, g["ldc"], kind)[...] = x[:, None] * a if g["mode"] == LEFT else a * x

    if m and n:
        work_in(h.stream, work)
