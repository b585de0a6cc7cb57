"""Calls cuSPARSE, and compares its products with those of dense matrices."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np
from libraries import DeviceArray, Library, close

SPARSE = Library("libcusparse.so.12")
TYPES = {0: np.dtype("f4"), 1: np.dtype("f8"), 4: np.dtype("c8"), 5: np.dtype("c16")}
INDICES = {2: np.dtype("i4"), 3: np.dtype("i8")}
OPERATIONS = {0: lambda a: a, 1: lambda a: a.T, 2: lambda a: a.conj().T}
random = np.random.default_rng(5)
handle = ctypes.c_void_p()
SPARSE.cusparseCreate(ctypes.byref(handle))
kept: list[Any] = []  # arrays that descriptors name


def numbers(dtype: Any, *shape: int) -> Any:
    """Random numbers."""
    x = random.standard_normal(shape)
    return (x + 1j * random.standard_normal(shape)).astype(dtype) if dtype.kind == "c" else x.astype(dtype)


def on_device(x: Any) -> DeviceArray:
    """An array that stays."""
    kept.append(DeviceArray(x))
    return kept[-1]


def made(name: str, *given: Any) -> int:
    """A descriptor."""
    out = ctypes.c_void_p()
    getattr(SPARSE, f"cusparseCreate{name}")(ctypes.byref(out), *given)
    return out.value or 0


def compressed(a: Any, form: str, index: int, base: int, kind: int) -> int:
    """A sparse matrix of a dense one."""
    dtype, lines = INDICES[index], a.T if form == "Csc" else a
    outer, inner = np.nonzero(lines)
    values, indices = on_device(lines[outer, inner]), on_device((inner + base).astype(dtype))
    if form == "Coo":
        return made("Coo", *a.shape, len(inner), on_device((outer + base).astype(dtype)), indices, values, index, base, kind)
    offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(lines, axis=1))]) + base
    return made(form, *a.shape, len(inner), on_device(offsets.astype(dtype)), indices, values, index, index, base, kind)


def products() -> None:
    """With vectors and with matrices."""
    for (kind, dtype), form, index, base, t in itertools.product(TYPES.items(), ("Csr", "Csc", "Coo"), INDICES, (0, 1), OPERATIONS):
        a = numbers(dtype, 6, 4) * (random.random((6, 4)) < 0.4)
        op = OPERATIONS[t](a)
        matrix = compressed(a, form, index, base, kind)
        x, y = numbers(dtype, op.shape[1]), numbers(dtype, op.shape[0])
        dy = on_device(y)
        vectors = [made("DnVec", len(v), d, kind) for v, d in ((x, on_device(x)), (y, dy))]
        alpha, beta, size = np.array([2], dtype), np.array([0.5], dtype), np.zeros(1, "u8")
        SPARSE.cusparseSpMV_bufferSize(handle, t, alpha, matrix, vectors[0], beta, vectors[1], kind, 0, size)
        SPARSE.cusparseSpMV(handle, t, alpha, matrix, vectors[0], beta, vectors[1], kind, 0, on_device(np.zeros(int(size[0]), "u1")))
        close(dy.get(), 2 * op @ x + 0.5 * y, 1e-4)
        b, c = numbers(dtype, op.shape[1], 3), numbers(dtype, op.shape[0], 3)
        by_columns, by_rows = on_device(c), on_device(np.ascontiguousarray(b).ravel())
        matrices = made("DnMat", *b.shape, 3, by_rows, kind, 2), made("DnMat", *c.shape, len(c), by_columns, kind, 1)
        SPARSE.cusparseSpMM(handle, t, 0, alpha, matrix, matrices[0], beta, matrices[1], kind, 0, 0)
        close(by_columns.get(), 2 * op @ b + 0.5 * c, 1e-4)
        SPARSE.cusparseDestroySpMat(matrix)
    SPARSE.cusparseSpMV(handle, 0, alpha, matrix, vectors[0], beta, vectors[1], kind, 0, 0, code=1)


def conversions() -> None:
    """A dense matrix becomes a sparse one, and back."""
    a = numbers(TYPES[0], 5, 7) * (random.random((5, 7)) < 0.5)
    dense = made("DnMat", 5, 7, 5, on_device(a), 0, 1)
    offsets = on_device(np.zeros(6, "i4"))
    sparse = made("Csr", 5, 7, 0, offsets, 0, 0, 2, 2, 0, 0)
    SPARSE.cusparseDenseToSparse_analysis(handle, dense, sparse, 0, 0)
    sizes = np.zeros(3, "i8")
    SPARSE.cusparseSpMatGetSize(sparse, sizes[:1], sizes[1:2], sizes[2:])
    count = np.count_nonzero(a)
    assert sizes.tolist() == [5, 7, count]
    indices, values = on_device(np.zeros(count, "i4")), on_device(np.zeros(count, "f4"))
    SPARSE.cusparseCsrSetPointers(sparse, offsets, indices, values)
    SPARSE.cusparseDenseToSparse_convert(handle, dense, sparse, 0, 0)
    assert (indices.get() == np.nonzero(a)[1]).all() and (values.get() == a[np.nonzero(a)]).all()
    back = on_device(np.ones((5, 7), "f4"))
    SPARSE.cusparseSparseToDense(handle, sparse, made("DnMat", 5, 7, 5, back, 0, 1), 0, 0)
    assert (back.get() == a).all()


products()
conversions()
SPARSE.cusparseDestroy(handle)
print("sparse: right")
