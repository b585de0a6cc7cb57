"""cuSPARSE's products of a sparse matrix with a vector and with a matrix; dense matrices from sparse ones, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...handlers.special import HandledCall
from ..algebra import C, N, operated
from ..calls import read_host, wait_for_stream, work_in
from ..memory import Array, vector
from .descriptors import COO, CSC, CUSPARSE, DenseMatrix, DenseVector, SparseMatrix, number_type, sparse_handle


def _scalar(c: HandledCall, name: str) -> Callable[[], Any]:
    """A scalar of the type of the computation."""
    at, kind = c.given[name], number_type(c, "computeType")
    CUSPARSE.check(at != 0)
    if sparse_handle(c).mode == 0:
        value = kind.load(read_host(at, kind.stored))[0]
        return lambda: value
    return lambda: kind.load(vector(at, 1, 1, kind, False))[0]


def product(a: SparseMatrix, operation: int, right: Array) -> Array:
    """op(A) B, for the columns of B."""
    rows, columns, values = a.triples()
    size = a.rows if operation == N else a.columns
    if operation != N:
        rows, columns = columns, rows
    if operation == C:
        values = values.conj()
    out = np.zeros((size, right.shape[1]), np.result_type(values, right))
    np.add.at(out, rows, values[:, None] * right[columns])
    return out


def _put(target: Array, kind: Any, alpha: Any, found: Array, beta: Any) -> None:
    kind.store(target, alpha * found if beta == 0 else alpha * found + beta * kind.load(target))


@CUSPARSE.answers("cusparseSpMV")
def times_vector(c: HandledCall) -> None:
    """y = alpha op(A) x + beta y."""
    g, h = c.given, sparse_handle(c)
    a = CUSPARSE.object(g["matA"], SparseMatrix)
    x, y = (CUSPARSE.object(g[name], DenseVector) for name in ("vecX", "vecY"))
    sizes = (a.rows, a.columns) if g["opA"] == N else (a.columns, a.rows)
    CUSPARSE.check(g["opA"] in (0, 1, 2) and (y.size, x.size) == sizes)
    alpha, beta = _scalar(c, "alpha"), _scalar(c, "beta")

    def work() -> None:
        found = product(a, g["opA"], x.kind.load(x.view())[:, None])[:, 0]
        _put(y.view(), y.kind, alpha(), found, beta())

    work_in(h.stream, work)


@CUSPARSE.answers("cusparseSpMM")
def times_matrix(c: HandledCall) -> None:
    """C = alpha op(A) op(B) + beta C."""
    g, h = c.given, sparse_handle(c)
    a = CUSPARSE.object(g["matA"], SparseMatrix)
    b, out = (CUSPARSE.object(g[name], DenseMatrix) for name in ("matB", "matC"))
    rows, inner = (a.rows, a.columns) if g["opA"] == N else (a.columns, a.rows)
    of_b = (b.rows, b.columns) if g["opB"] == N else (b.columns, b.rows)
    CUSPARSE.check(g["opA"] in (0, 1, 2) and g["opB"] in (0, 1, 2) and (out.rows, out.columns) == (rows, of_b[1]) and inner == of_b[0])
    alpha, beta = _scalar(c, "alpha"), _scalar(c, "beta")

    def work() -> None:
        found = product(a, g["opA"], operated(b.kind.load(b.view()), g["opB"]))
        _put(out.view(), out.kind, alpha(), found, beta())

    work_in(h.stream, work)


@CUSPARSE.answers("cusparseSpMV_preprocess", "cusparseSpMM_preprocess")
def prepare(c: HandledCall) -> None:
    """Products need no preparation."""
    sparse_handle(c)


@CUSPARSE.answers(*(f"cusparse{name}_bufferSize" for name in ("SpMV", "SpMM", "SparseToDense", "DenseToSparse")))
def buffer_size(c: HandledCall) -> None:
    """The memory that a call works in: hardly any, but programs may not allocate none."""
    sparse_handle(c)
    c.out("bufferSize", "u64", 8)


@CUSPARSE.answers("cusparseSparseToDense")
def to_dense(c: HandledCall) -> None:
    """A dense matrix of a sparse one."""
    g, h = c.given, sparse_handle(c)
    a, b = CUSPARSE.object(g["matA"], SparseMatrix), CUSPARSE.object(g["matB"], DenseMatrix)

    def work() -> None:
        out = np.zeros((a.rows, a.columns), a.kind.computed)
        rows, columns, values = a.triples()
        out[rows, columns] = values
        b.kind.store(b.view(), out)

    work_in(h.stream, work)


def _places(a: DenseMatrix, form: str) -> tuple[Array, Array]:
    """The rows and columns of what is not zero, in the order of a form."""
    view = a.kind.load(a.view())
    if form == CSC:
        columns, rows = np.nonzero(view.T)
        return rows, columns
    rows, columns = np.nonzero(view)
    return rows, columns


@CUSPARSE.answers("cusparseDenseToSparse_analysis")
def analyse(c: HandledCall) -> None:
    """Counts what is not zero; the host allocates so much."""
    g, h = c.given, sparse_handle(c)
    a, b = CUSPARSE.object(g["matA"], DenseMatrix), CUSPARSE.object(g["matB"], SparseMatrix)

    def work() -> None:
        rows, columns = _places(a, b.form)
        b.count = len(rows)
        if b.form != COO:
            lines = b.columns if b.form == CSC else b.rows
            counts = np.bincount(columns if b.form == CSC else rows, minlength=lines)
            vector(b.offsets, lines + 1, 1, b.types[0])[...] = np.concatenate([[0], np.cumsum(counts)]) + b.base

    work_in(h.stream, work)
    wait_for_stream(h.stream)


@CUSPARSE.answers("cusparseDenseToSparse_convert")
def convert(c: HandledCall) -> None:
    """Writes what is not zero."""
    g, h = c.given, sparse_handle(c)
    a, b = CUSPARSE.object(g["matA"], DenseMatrix), CUSPARSE.object(g["matB"], SparseMatrix)

    def work() -> None:
        rows, columns = _places(a, b.form)
        if b.form == COO:
            vector(b.offsets, b.count, 1, b.types[0])[...] = rows + b.base
        vector(b.indices, b.count, 1, b.types[1])[...] = (rows if b.form == CSC else columns) + b.base
        b.kind.store(vector(b.values, b.count, 1, b.kind), a.kind.load(a.view())[rows, columns])

    work_in(h.stream, work)
