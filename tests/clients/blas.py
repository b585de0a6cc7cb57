"""Calls cuBLAS, and compares its results with formulas of numpy's."""

from __future__ import annotations

import ctypes
import itertools
import sys
from typing import Any

import numpy as np
from libraries import DeviceArray, Library, close

BLAS = Library(sys.argv[1])
random = np.random.default_rng(7)
handle = ctypes.c_void_p()
BLAS.cublasCreate_v2(ctypes.byref(handle))
TYPES = {"S": np.dtype("f4"), "D": np.dtype("f8"), "C": np.dtype("c8"), "Z": np.dtype("c16")}
OPERATIONS = {0: lambda a: a, 1: lambda a: a.T, 2: lambda a: a.conj().T}


def numbers(dtype: Any, *shape: int) -> Any:
    """Random numbers."""
    out = random.standard_normal(shape)
    return (out + 1j * random.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else out.astype(dtype)


def one(dtype: Any, value: complex) -> Any:
    """A scalar in the memory of the host."""
    return np.array([value if np.dtype(dtype).kind == "c" else value.real], dtype)


def vectors() -> None:
    """Level 1."""
    for letter, dtype in TYPES.items():
        x, y = numbers(dtype, 9), numbers(dtype, 9)
        dx, dy = DeviceArray(x), DeviceArray(y)
        alpha = one(dtype, 1.5 - 0.5j)
        getattr(BLAS, f"cublas{letter}axpy_v2")(handle, 3, alpha, dx, 2, dy, -3)
        wanted = y.copy()
        wanted[[6, 3, 0]] += alpha[0] * x[[0, 2, 4]]
        close(dy.get(), wanted)
        getattr(BLAS, f"cublas{letter}scal_v2_64")(handle, 9, alpha, dx, 1)
        close(dx.get(), alpha[0] * x)
        real, prefix = np.dtype(dtype.char.lower()), {"C": "Sc", "Z": "Dz"}.get(letter, letter)
        result, index = np.zeros(1, real), np.zeros(1, "i4")
        getattr(BLAS, f"cublas{prefix}nrm2_v2")(handle, 9, dx, 1, result)
        close(result[0], np.linalg.norm(dx.get()))
        getattr(BLAS, f"cublas{prefix}asum_v2")(handle, 9, dx, 1, result)
        close(result[0], np.abs(dx.get().real).sum() + np.abs(dx.get().imag).sum())
        getattr(BLAS, f"cublasI{letter.lower()}amax_v2")(handle, 9, dx, 1, index)
        assert index[0] == np.argmax(np.abs(dx.get().real) + np.abs(dx.get().imag)) + 1
        result = np.zeros(1, dtype)
        name = {"C": "dotc", "Z": "dotc"}.get(letter, "dot")
        getattr(BLAS, f"cublas{letter}{name}_v2")(handle, 9, dx, 1, dy, 1, result)
        close(result[0], np.vdot(dx.get(), dy.get()))
    x = DeviceArray(np.ones(4, "f4"))
    out, two = DeviceArray(np.zeros(1, "f4")), DeviceArray(np.full(1, 2, "f4"))
    BLAS.cublasSetPointerMode_v2(handle, 1)
    BLAS.cublasSscal_v2(handle, 4, two, x, 1)
    BLAS.cublasSdot_v2(handle, 4, x, 1, x, 1, out)
    BLAS.cublasSetPointerMode_v2(handle, 0)
    assert out.get()[0] == 16


def products() -> None:
    """gemm in all its forms."""
    m, n, k, count = 5, 4, 3, 3
    for (letter, dtype), ta, tb in itertools.product(TYPES.items(), OPERATIONS, OPERATIONS):
        a, b = numbers(dtype, *((m, k) if ta == 0 else (k, m))), numbers(dtype, *((k, n) if tb == 0 else (n, k)))
        c = numbers(dtype, m + 2, n)
        da, db, dc = DeviceArray(a), DeviceArray(b), DeviceArray(c)
        alpha, beta = one(dtype, 0.5 + 1j), one(dtype, -2)
        getattr(BLAS, f"cublas{letter}gemm_v2")(handle, ta, tb, m, n, k, alpha, da, len(a), db, len(b), beta, dc, m + 2)
        wanted = c.copy()
        wanted[:m] = alpha[0] * (OPERATIONS[ta](a) @ OPERATIONS[tb](b)) + beta[0] * c[:m]
        close(dc.get(), wanted)
    a, b, c = numbers("f4", count, k, m), numbers("f4", count, n, k), np.full((count, n, m), np.nan, "f4")
    wanted = np.stack([(x.T @ y.T).T for x, y in zip(a, b, strict=True)])
    alpha, beta = one("f4", 1), one("f4", 0)
    da, db, dc = (DeviceArray(x.ravel()) for x in (a, b, c))
    BLAS.cublasSgemmStridedBatched(handle, 0, 0, m, n, k, alpha, da, m, m * k, db, k, k * n, beta, dc, m, m * n, count)
    close(dc.get(), wanted.ravel())
    lists = [
        DeviceArray(np.array([x.at + 4 * i * size for i in range(count)], "u8")) for x, size in ((da, m * k), (db, k * n), (dc, m * n))
    ]
    BLAS.cublasSgemmBatched(handle, 0, 0, m, n, k, one("f4", 2), lists[0], m, lists[1], k, beta, lists[2], m, count)
    close(dc.get(), 2 * wanted.ravel())
    half = DeviceArray(a[0].ravel().astype("f2")), DeviceArray(b[0].ravel().astype("f2"))
    single = DeviceArray(np.zeros(m * n, "f4"))
    BLAS.cublasGemmEx(handle, 0, 0, m, n, k, alpha, half[0], 2, m, half[1], 2, k, beta, single, 0, m, 68, -1)
    close(single.get(), wanted[0].ravel(), 1e-2)
    bytes_ = random.integers(-128, 128, (4, 4)).astype("i1"), random.integers(-128, 128, (4, 4)).astype("i1")
    whole = DeviceArray(np.zeros((4, 4), "i4"))
    da, db = map(DeviceArray, bytes_)
    BLAS.cublasGemmEx(handle, 0, 0, 4, 4, 4, np.ones(1, "i4"), da, 3, 4, db, 3, 4, np.zeros(1, "i4"), whole, 10, 4, 72, -1)
    assert (whole.get() == bytes_[0].astype(int) @ bytes_[1].astype(int)).all()
    brain = DeviceArray((np.array([1.5, 2.0, -3.0, 4.0], "f4").view("u4") >> 16).astype("u2"))
    out = DeviceArray(np.zeros(1, "u2"))
    BLAS.cublasGemmEx(handle, 0, 0, 1, 1, 2, alpha, brain, 14, 1, brain, 14, 2, beta, out, 14, 1, 68, -1)
    assert (out.get().astype("u4") << 16).view("f4")[0] == 1.5 * 1.5 + 2 * 2


def matrices() -> None:
    """Levels 2 and 3."""
    n, m = 5, 4
    for letter, dtype in TYPES.items():
        alpha, beta = one(dtype, 1.5 + 0.25j), one(dtype, 0.5)
        for t in OPERATIONS:
            a, x, y = numbers(dtype, n, m), numbers(dtype, m if t == 0 else n), numbers(dtype, n if t == 0 else m)
            dy = DeviceArray(y)
            getattr(BLAS, f"cublas{letter}gemv_v2")(handle, t, n, m, alpha, DeviceArray(a), n, DeviceArray(x), 1, beta, dy, 1)
            close(dy.get(), alpha[0] * (OPERATIONS[t](a) @ x) + beta[0] * y)
        for uplo, t, unit, side in itertools.product((0, 1), OPERATIONS, (0, 1), (0, 1)):
            order = n if side == 0 else m
            a, b = numbers(dtype, order, order) + 4 * np.eye(order, dtype=dtype), numbers(dtype, n, m)
            t_ = np.tril(a) if uplo == 0 else np.triu(a)
            if unit:
                t_ = t_ - np.diag(np.diag(t_)) + np.eye(order, dtype=dtype)
            da, db, dc = DeviceArray(a), DeviceArray(b), DeviceArray(np.zeros_like(b))
            getattr(BLAS, f"cublas{letter}trsm_v2")(handle, side, uplo, t, unit, n, m, alpha, da, order, db, n)
            found = db.get()
            product = OPERATIONS[t](t_) @ found if side == 0 else found @ OPERATIONS[t](t_)
            close(product, alpha[0] * b, 1e-2 if dtype.char in "fF" else 1e-6)
            getattr(BLAS, f"cublas{letter}trmm_v2")(handle, side, uplo, t, unit, n, m, one(dtype, 1), da, order, db, n, dc, n)
            close(dc.get(), alpha[0] * b, 1e-2 if dtype.char in "fF" else 1e-6)
        for uplo, hermitian in itertools.product((0, 1), (False, True) if dtype.kind == "c" else (False,)):
            a, b, c = numbers(dtype, n, n), numbers(dtype, n, m), numbers(dtype, n, m)
            half = np.tril(a, -1) if uplo == 0 else np.triu(a, 1)
            diagonal = np.diag(np.diag(a).real if hermitian else np.diag(a))
            whole = half + (half.conj().T if hermitian else half.T) + diagonal
            dc = DeviceArray(c)
            name = f"cublas{letter}{'hemm' if hermitian else 'symm'}_v2"
            getattr(BLAS, name)(handle, 0, uplo, n, m, alpha, DeviceArray(a), n, DeviceArray(b), n, beta, dc, n)
            close(dc.get(), alpha[0] * (whole @ b) + beta[0] * c)
            real = np.dtype(dtype.char.lower()) if hermitian else dtype
            square = numbers(dtype, n, n)
            ds = DeviceArray(square)
            name = f"cublas{letter}{'herk' if hermitian else 'syrk'}_v2"
            getattr(BLAS, name)(handle, uplo, 0, n, m, one(real, 2), DeviceArray(b), n, one(real, 0), ds, n)
            wanted = 2 * (b @ (b.conj().T if hermitian else b.T))
            pick = np.tril if uplo == 0 else np.triu
            close(ds.get(), pick(wanted) + square - pick(square))
        a, b = numbers(dtype, n, m), numbers(dtype, m, n)
        dc = DeviceArray(np.zeros((n, m), dtype))
        getattr(BLAS, f"cublas{letter}geam")(handle, 0, 1, n, m, alpha, DeviceArray(a), n, beta, DeviceArray(b), m, dc, n)
        close(dc.get(), alpha[0] * a + beta[0] * b.T)
        x, y = numbers(dtype, n), numbers(dtype, m)
        da = DeviceArray(a)
        name = f"cublas{letter}{'gerc' if dtype.kind == 'c' else 'ger'}_v2"
        getattr(BLAS, name)(handle, n, m, alpha, DeviceArray(x), 1, DeviceArray(y), 1, da, n)
        close(da.get(), a + alpha[0] * np.outer(x, y.conj()))
        close_to_inverse(letter, dtype)


def close_to_inverse(letter: str, dtype: Any) -> None:
    """Factors, solutions and inverses of two matrices."""
    n, a = 4, [numbers(dtype, 4, 4) for _ in range(2)]
    blocks, inverses = [DeviceArray(x) for x in a], [DeviceArray(np.zeros((n, n), dtype)) for _ in range(2)]
    right = [numbers(dtype, n, 2) for _ in range(2)]
    sides = [DeviceArray(x) for x in right]
    pivots, info = DeviceArray(np.zeros(2 * n, "i4")), DeviceArray(np.ones(2, "i4"))
    lists = [DeviceArray(np.array([x.at for x in xs], "u8")) for xs in (blocks, inverses, sides)]
    getattr(BLAS, f"cublas{letter}getrfBatched")(handle, n, lists[0], n, pivots, info, 2)
    assert not info.get().any()
    getattr(BLAS, f"cublas{letter}getriBatched")(handle, n, lists[0], n, pivots, lists[1], n, info, 2)
    on_host = np.ones(1, "i4")
    getattr(BLAS, f"cublas{letter}getrsBatched")(handle, 0, n, 2, lists[0], n, pivots, lists[2], n, on_host, 2)
    assert on_host[0] == 0
    for x, inverse, b, solution in zip(a, inverses, right, sides, strict=True):
        close(x @ inverse.get(), np.eye(n), 1e-3)
        close(x @ solution.get(), b, 1e-3)


vectors()
products()
matrices()
BLAS.cublasSgemm_v2(handle, 0, 0, 4, 4, 4, np.ones(1, "f4"), 0, 1, 0, 4, np.ones(1, "f4"), 0, 4, code=7)
BLAS.cublasSspmv_v2(handle, 0, code=15)
BLAS.cublasDestroy_v2(handle)
BLAS.cublasDestroy_v2(handle, code=1)
print("blas: right")
