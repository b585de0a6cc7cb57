"""Linear algebra on arrays: operations, triangles, factors and what they solve, in the words of BLAS and LAPACK."""

from __future__ import annotations

import numpy as np

from .memory import Array

N, T, C = 0, 1, 2  # operations
LOWER, UPPER = 0, 1
LEFT = 0
UNIT = 1


def operated(a: Array, operation: int) -> Array:
    """op(A)."""
    return a if operation == N else a.T if operation == T else a.conj().T


def shape(operation: int, rows: int, columns: int) -> tuple[int, int]:
    """The shape of A, where op(A) has this one."""
    return (rows, columns) if operation == N else (columns, rows)


def triangle(a: Array, uplo: int, unit: bool = False) -> Array:
    """The triangle of a matrix that a call names, with zeros beside it."""
    out: Array = np.tril(a) if uplo == LOWER else np.triu(a)
    if unit:
        np.fill_diagonal(out, 1)
    return out


def symmetric(a: Array, uplo: int, hermitian: bool) -> Array:
    """The whole of a matrix of which one triangle is given."""
    half = triangle(a, uplo)
    strict = half - np.diag(np.diag(half))
    out: Array = half + (strict.conj().T if hermitian else strict.T)
    if hermitian and np.iscomplexobj(out):
        np.fill_diagonal(out, np.diag(half).real)
    return out


def put_triangle(target: Array, values: Array, uplo: int) -> None:
    """Writes one triangle."""
    rows, columns = np.tril_indices(len(target)) if uplo == LOWER else np.triu_indices(len(target))
    target[rows, columns] = values[rows, columns]


def solved(a: Array, b: Array, uplo: int, operation: int, unit: bool) -> Array:
    """X of op(A) X = B, for a triangular A, by substitution."""
    t = operated(triangle(a, uplo, unit), operation)
    lower = (uplo == LOWER) == (operation == N)
    x = b.astype(b.dtype, copy=True)
    n = len(t)
    for i in range(n) if lower else range(n - 1, -1, -1):
        known = slice(0, i) if lower else slice(i + 1, n)
        if known.start < known.stop:
            x[i] -= t[i, known] @ x[known]
        if not unit:
            x[i] /= t[i, i]
    return x


def factored(a: Array, pivots: bool = True) -> tuple[Array, int]:
    """Makes L U of P A in the place of A; (the rows that were exchanged, from 1 on; 0, or the first zero on the diagonal)."""
    rows, columns = a.shape
    order = np.arange(1, min(rows, columns) + 1)
    singular = 0
    for k in range(min(rows, columns)):
        if pivots:
            column = a[k:, k]
            best = k + int(np.argmax(np.abs(column.real) + np.abs(column.imag)))
            order[k] = best + 1
            if best != k:
                a[[k, best]] = a[[best, k]]
        if a[k, k] == 0:
            singular = singular or k + 1
            continue
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return order, singular


def exchanged(b: Array, order: Array, back: bool = False) -> None:
    """Exchanges rows as a factorization did."""
    steps = list(enumerate(int(p) - 1 for p in order))
    for k, p in reversed(steps) if back else steps:
        if p != k:
            b[[k, p]] = b[[p, k]]


def solution(a: Array, order: Array | None, b: Array, operation: int) -> Array:
    """X of op(A) X = B, of the factors of A."""
    x = b.copy()
    if operation == N:
        if order is not None:
            exchanged(x, order)
        return solved(a, solved(a, x, LOWER, N, True), UPPER, N, False)
    x = solved(a, solved(a, x, UPPER, operation, False), LOWER, operation, True)
    if order is not None:
        exchanged(x, order, back=True)
    return x
