"""Calls cuSOLVER, and checks that its factors and solutions are those of their matrices."""

from __future__ import annotations

import ctypes
import itertools
import sys
from typing import Any

import numpy as np
from libraries import DeviceArray, Library, close

SOLVER = Library(sys.argv[1])
TYPES = {"S": np.dtype("f4"), "D": np.dtype("f8"), "C": np.dtype("c8"), "Z": np.dtype("c16")}
CUDA = {"S": 0, "D": 1, "C": 4, "Z": 5}
OPERATIONS = {0: lambda a: a, 1: lambda a: a.T, 2: lambda a: a.conj().T}
random = np.random.default_rng(11)
handle = ctypes.c_void_p()
SOLVER.cusolverDnCreate(ctypes.byref(handle))


def numbers(dtype: Any, *shape: int) -> Any:
    """Random numbers."""
    x = random.standard_normal(shape)
    return (x + 1j * random.standard_normal(shape)).astype(dtype) if dtype.kind == "c" else x.astype(dtype)


def call(name: str, *given: Any) -> None:
    """A function that answers with *info, which must be zero."""
    info = DeviceArray(np.ones(1, "i4"))
    getattr(SOLVER, f"cusolverDn{name}")(handle, *given, info)
    assert info.get()[0] == 0, name


def size(name: str, *given: Any) -> int:
    """The work space that a function asks for."""
    out = ctypes.c_int()
    getattr(SOLVER, f"cusolverDn{name}_bufferSize")(handle, *given, ctypes.byref(out))
    assert out.value > 0
    return out.value


def check(letter: str, dtype: Any) -> None:
    """All functions of a type."""
    n, m, tolerance = 5, 7, 1e-3 if dtype.char in "fF" else 1e-9
    hermitian = dtype.kind == "c"
    a, b = numbers(dtype, n, n), numbers(dtype, n, 2)
    for t in OPERATIONS:
        da, db, pivots = DeviceArray(a), DeviceArray(b), DeviceArray(np.zeros(n, "i4"))
        size(f"{letter}getrf", n, n, da, n)
        call(f"{letter}getrf", n, n, da, n, DeviceArray(np.zeros(1, dtype)), pivots)
        call(f"{letter}getrs", t, n, 2, da, n, pivots, db, n)
        close(OPERATIONS[t](a) @ db.get(), b, tolerance)
    wide, on_device, on_host = DeviceArray(np.zeros(n, "i8")), np.zeros(1, "u8"), np.ones(1, "u8")
    da, db = DeviceArray(a), DeviceArray(b)
    SOLVER.cusolverDnXgetrf_bufferSize(handle, 0, n, n, CUDA[letter], da, n, CUDA[letter], on_device, on_host)
    call("Xgetrf", 0, n, n, CUDA[letter], da, n, wide, CUDA[letter], 0, int(on_device[0]), 0, int(on_host[0]))
    call("Xgetrs", 0, 0, n, 2, CUDA[letter], da, n, wide, CUDA[letter], db, n)
    close(a @ db.get(), b, tolerance)
    positive = a @ a.conj().T + n * np.eye(n, dtype=dtype)
    for uplo in (0, 1):
        da, db = DeviceArray(positive), DeviceArray(b)
        lwork = size(f"{letter}potrf", uplo, n, da, n)
        call(f"{letter}potrf", uplo, n, da, n, DeviceArray(np.zeros(lwork, dtype)), lwork)
        factor = np.tril(da.get()) if uplo == 0 else np.triu(da.get()).conj().T
        close(factor @ factor.conj().T, positive, 10 * tolerance)
        call(f"{letter}potrs", uplo, n, 2, da, n, db, n)
        close(positive @ db.get(), b, 10 * tolerance)
        call(f"{letter}potri", uplo, n, da, n, 0, 0)
        pick = np.tril if uplo == 0 else np.triu
        close(pick(da.get()), pick(np.linalg.inv(positive)), tolerance)
    info = DeviceArray(np.zeros(1, "i4"))
    getattr(SOLVER, f"cusolverDn{letter}potrf")(handle, 0, n, DeviceArray(-positive), n, 0, 0, info)
    assert info.get()[0] == 1
    tall = numbers(dtype, m, n)
    da, tau = DeviceArray(tall), DeviceArray(np.zeros(n, dtype))
    call(f"{letter}geqrf", m, n, da, m, tau, 0, 0)
    r, q = np.triu(da.get()[:n]), DeviceArray(da.get())
    call(f"{letter}{'ungqr' if hermitian else 'orgqr'}", m, n, n, q, m, tau, 0, 0)
    close(q.get() @ r, tall, tolerance)
    close(q.get().conj().T @ q.get(), np.eye(n), tolerance)
    for side, t in itertools.product((0, 1), (0, 2 if hermitian else 1)):
        c = numbers(dtype, *((m, 3) if side == 0 else (3, m)))
        whole = np.eye(m, dtype=dtype)
        dw, dc = DeviceArray(whole), DeviceArray(c)
        name = f"{letter}{'unmqr' if hermitian else 'ormqr'}"
        call(name, 0, 0, m, m, n, da, m, tau, dw, m, 0, 0)
        call(name, side, t, *c.shape, n, da, m, tau, dc, len(c), 0, 0)
        close(dc.get(), OPERATIONS[t](dw.get()) @ c if side == 0 else c @ OPERATIONS[t](dw.get()), tolerance)
    real = np.dtype(dtype.char.lower())
    symmetric = a + a.conj().T
    for uplo in (0, 1):
        values = DeviceArray(np.zeros(n, real))
        da = DeviceArray(np.tril(symmetric) if uplo == 0 else np.triu(symmetric))
        call(f"{letter}{'heevd' if hermitian else 'syevd'}", 1, uplo, n, da, n, values, 0, 0)
        close(symmetric @ da.get(), da.get() * values.get(), 10 * tolerance)
    for job in "AS":
        few = n if job == "S" else m
        da, s = DeviceArray(tall), DeviceArray(np.zeros(n, real))
        u, v = DeviceArray(np.zeros((m, few), dtype)), DeviceArray(np.zeros((n, n), dtype))
        size(f"{letter}gesvd", m, n)
        call(f"{letter}gesvd", ord(job), ord(job), m, n, da, m, s, u, m, v, n, 0, 0, 0)
        close(u.get()[:, :n] * s.get() @ v.get(), tall, 10 * tolerance)
        close(u.get().conj().T @ u.get(), np.eye(few), tolerance)


for letter, dtype in TYPES.items():
    check(letter, dtype)
SOLVER.cusolverDnSgetrf(handle, 3, 3, 0, 1, 0, 0, 0, code=3)
SOLVER.cusolverDnDestroy(handle)
SOLVER.cusolverDnDestroy(handle, code=1)
print("solver: right")
