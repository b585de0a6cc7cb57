"""Calls cuFFT, and compares its results with sums over numpy's exponentials."""

from __future__ import annotations

import ctypes
import itertools
import sys
from typing import Any

import numpy as np
from libraries import DeviceArray, Library, close

FFT = Library(sys.argv[1])
KINDS = {"R2C": (0x2A, "f4", "c8"), "C2R": (0x2C, "c8", "f4"), "C2C": (0x29, "c8", "c8"),
         "D2Z": (0x6A, "f8", "c16"), "Z2D": (0x6C, "c16", "f8"), "Z2Z": (0x69, "c16", "c16")}  # fmt: skip
random = np.random.default_rng(3)


def numbers(dtype: str, *shape: int) -> Any:
    """Random numbers."""
    x = random.standard_normal(shape)
    return (x + 1j * random.standard_normal(shape)).astype(dtype) if dtype.startswith("c") else x.astype(dtype)


def transform(x: Any, rank: int, sign: int) -> Any:
    """The sums that define it, over the last dimensions."""
    out = x.astype(complex)
    for axis in range(x.ndim - rank, x.ndim):
        n = x.shape[axis]
        matrix = np.exp(sign * 2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
        out = np.moveaxis(np.tensordot(out, matrix, axes=(axis, 0)), -1, axis)
    return out


def row_major(x: Any) -> DeviceArray:
    """In the order of C."""
    return DeviceArray(np.ascontiguousarray(x).ravel())


def check(name: str, plan: Any, size: tuple[int, ...], batch: int) -> None:
    """Executes a dense plan, out of place and in place."""
    _, source, target = KINDS[name]
    real_in, real_out = source.startswith("f"), target.startswith("f")
    half = (*size[:-1], size[-1] // 2 + 1)
    if real_out:
        whole = numbers("f8", batch, *size)
        x = transform(whole, len(size), -1)[..., : half[-1]].astype(source)
        wanted = transform(transform(whole, len(size), -1), len(size), 1).real
    else:
        x = numbers(source, batch, *size)
        wanted = transform(x, len(size), -1)
        wanted = wanted[..., : half[-1]] if real_in else wanted
    directions = (-1, 1) if not real_in and not real_out else (None,)
    for direction in directions:
        expected = wanted if direction != 1 else transform(x, len(size), 1)
        d, out = row_major(x), row_major(np.zeros(expected.shape, target))
        getattr(FFT, f"cufftExec{name}")(plan, d, out, *(() if direction is None else (direction,)))
        close(out.get().reshape(expected.shape), expected, 1e-3 if source[-1] in "48" and source != "f8" else 1e-9)
    # in place: rows of real numbers are padded
    padded = np.zeros((batch, *size[:-1], 2 * half[-1]), source if real_in else target) if real_in or real_out else x.copy()
    if real_in:
        padded[..., : size[-1]] = x
    d = row_major(padded if not real_out else x)
    getattr(FFT, f"cufftExec{name}")(plan, d, d, *(() if directions[0] is None else (-1,)))
    found = d.get().view(target)
    found = found.reshape(batch, *size[:-1], -1)[..., : wanted.shape[-1]]
    close(found, wanted, 1e-3 if target[-1] in "48" and target != "f8" else 1e-9)


def dense() -> None:
    """One to three dimensions."""
    for name, size, batch in itertools.product(KINDS, ((12,), (7,), (4, 6), (3, 4, 5)), (1, 3)):
        plan, dims = ctypes.c_int(), np.array(size, "i4")
        if batch == 1:
            more = (1,) if len(size) == 1 else ()
            getattr(FFT, f"cufftPlan{len(size)}d")(ctypes.byref(plan), *size, KINDS[name][0], *more)
        else:
            FFT.cufftPlanMany(ctypes.byref(plan), len(size), dims, 0, 1, 0, 0, 1, 0, KINDS[name][0], batch)
        check(name, plan.value, size, batch)
        FFT.cufftDestroy(plan.value)


def strided() -> None:
    """Columns of a matrix, through a plan that is made in two steps."""
    rows, columns = 8, 5
    x = numbers("c8", rows, columns)
    plan, size, dims = ctypes.c_int(), np.ones(1, "u8"), np.array([rows], "i4")
    FFT.cufftCreate(ctypes.byref(plan))
    FFT.cufftMakePlanMany(plan.value, 1, dims, dims, columns, 1, dims, columns, 1, 0x29, columns, size)
    assert size[0] == 0
    d = row_major(x)
    FFT.cufftExecC2C(plan.value, d, d, -1)
    close(d.get().reshape(rows, columns), transform(x.T, 1, -1).T, 1e-3)
    FFT.cufftExecZ2Z(plan.value, d, d, -1, code=3)
    many, long_dims = ctypes.c_int(), np.array([6], "i8")
    FFT.cufftCreate(ctypes.byref(many))
    FFT.cufftExecC2C(many.value, d, d, -1, code=1)
    FFT.cufftXtMakePlanMany(many.value, 1, long_dims, 0, 1, 6, 5, 0, 1, 6, 5, 2, size, 5)
    z = numbers("c16", 2, 6)
    d = row_major(z)
    FFT.cufftXtExec(many.value, d, d, 1)
    close(d.get().reshape(2, 6), transform(z, 1, 1), 1e-9)


dense()
strided()
plan = ctypes.c_int()
FFT.cufftPlan1d(ctypes.byref(plan), 0, 0x29, 1, code=8)
FFT.cufftDestroy(4711, code=1)
print("fourier: right")
