"""Calls cuBLASLt, and compares its products with numpy's."""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import Any

import numpy as np
from libraries import DeviceArray, Library, close

LT = Library(sys.argv[1])
F16, F32, F64, C32, BF16 = 2, 0, 1, 4, 14  # cudaDataType
COMPUTE = {F32: 68, F64: 70, F16: 68, C32: 68}
POINTER_MODE, TRANSA, TRANSB, EPILOGUE, BIAS, A_SCALE = 2, 3, 4, 7, 8, 17
ORDER, COUNT, STEP = 1, 5, 6
RELU, BIAS_ADDED, GELU = 2, 4, 32
random = np.random.default_rng(3)
handle = ctypes.c_void_p()
LT.cublasLtCreate(ctypes.byref(handle))


def made(create: str, set_: str, *given: int, **attributes: Any) -> ctypes.c_void_p:
    """A descriptor; its attributes are called _NUMBER, and are (form, value)."""
    out = ctypes.c_void_p()
    getattr(LT, create)(ctypes.byref(out), *given)
    for name, (form, value) in attributes.items():
        raw = struct.pack(form, value)
        getattr(LT, set_)(out, int(name[1:]), raw, len(raw))
    return out


def layout(kind: int, rows: int, columns: int, distance: int, **attributes: Any) -> ctypes.c_void_p:
    """The layout of a matrix."""
    return made("cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutSetAttribute", kind, rows, columns, distance, **attributes)


def product(compute: int, scale: int, **attributes: Any) -> ctypes.c_void_p:
    """The description of a product."""
    return made("cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute", compute, scale, **attributes)


def multiply(d: Any, alpha: Any, a: Any, la: Any, b: Any, lb: Any, beta: Any, c: Any, lc: Any, code: int = 0) -> None:
    """D = alpha A B + beta C, in place."""
    LT.cublasLtMatmul(handle, d, alpha, a, la, b, lb, beta, c, lc, c, lc, None, None, 0, None, code=code)


def types_and_operations() -> None:
    """Real, complex and half numbers, transposed or not, in both orders."""
    for kind, dtype, tolerance in ((F32, "f4", 1e-5), (F64, "f8", 1e-12), (F16, "f2", 2e-2), (C32, "c8", 1e-5)):
        scale = F32 if kind == F16 else kind
        alpha, beta = (np.array([x], "f4" if kind == F16 else dtype) for x in (1.5, 0.5))
        a, b, c = (random.standard_normal(s).astype(dtype) for s in ((5, 3), (5, 4), (3, 4)))
        da, db, dc = DeviceArray(a), DeviceArray(b), DeviceArray(c)
        d = product(COMPUTE[kind], scale, _3=("i", 1))
        multiply(d, alpha, da, layout(kind, 5, 3, 5), db, layout(kind, 5, 4, 5), beta, dc, layout(kind, 3, 4, 3))
        close(dc.get(), 1.5 * (a.T @ b) + 0.5 * c, tolerance)
    rows = np.arange(6, dtype="f4").reshape(2, 3)
    one, zero = np.ones(1, "f4"), np.zeros(1, "f4")
    da, db, dc = DeviceArray(rows.ravel()), DeviceArray(np.eye(3, dtype="f4")), DeviceArray(np.full(6, np.nan, "f4"))
    by_rows = layout(F32, 2, 3, 3, _1=("i", 1))
    multiply(product(68, F32), one, da, by_rows, db, layout(F32, 3, 3, 3), zero, dc, by_rows)
    close(dc.get(), rows.ravel())


def batches() -> None:
    """Several products, with alpha and beta on the device."""
    a, b = random.standard_normal((2, 2, 3)).astype("f4"), random.standard_normal((2, 3, 2)).astype("f4")
    flat = [np.concatenate([m.ravel(order="F") for m in x]) for x in (a, b)]
    da, db, dc = DeviceArray(flat[0]), DeviceArray(flat[1]), DeviceArray(np.zeros(8, "f4"))
    alpha, beta = DeviceArray(np.array([2], "f4")), DeviceArray(np.array([0], "f4"))
    several = [layout(F32, *s, s[0], _5=("i", 2), _6=("q", s[0] * s[1])) for s in ((2, 3), (3, 2), (2, 2))]
    multiply(product(68, F32, _2=("i", 1)), alpha, da, several[0], db, several[1], beta, dc, several[2])
    close(dc.get(), np.concatenate([(2 * x @ y).ravel(order="F") for x, y in zip(a, b, strict=True)]))


def epilogues() -> None:
    """A bias for each row; what is below zero; GELU."""
    a, b, bias = (random.standard_normal(s).astype("f4") for s in ((4, 3), (3, 5), (4,)))
    da, db, dbias = DeviceArray(a), DeviceArray(b), DeviceArray(bias)
    one, zero = np.ones(1, "f4"), np.zeros(1, "f4")
    sum_ = a @ b + bias[:, None]
    gelu = 0.5 * sum_ * (1 + np.tanh(0.7978845608 * (sum_ + 0.044715 * sum_**3)))
    for epilogue, wanted in (
        (BIAS_ADDED, sum_),
        (RELU | BIAS_ADDED, np.maximum(sum_, 0)),
        (GELU | BIAS_ADDED, gelu),
        (RELU, np.maximum(a @ b, 0)),
    ):
        dc = DeviceArray(np.zeros((4, 5), "f4"))
        d = product(68, F32, _7=("i", epilogue), _8=("Q", dbias.at))
        multiply(d, one, da, layout(F32, 4, 3, 4), db, layout(F32, 3, 5, 3), zero, dc, layout(F32, 4, 5, 4))
        close(dc.get(), wanted)


def questions() -> None:
    """The algorithm for a product, attributes, and what is wrong."""
    d, a, b, c = product(68, F32), layout(F32, 4, 3, 4), layout(F32, 3, 5, 3), layout(F32, 4, 5, 4)
    preference = made("cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute", _1=("Q", 1 << 20))
    results, count = ctypes.create_string_buffer(96 * 4), ctypes.c_int()
    LT.cublasLtMatmulAlgoGetHeuristic(handle, d, a, b, c, c, preference, 4, results, ctypes.byref(count))
    assert count.value == 1 and struct.unpack_from("Qi", results, 64) == (0, 0)
    LT.cublasLtMatmulAlgoCheck(handle, d, a, b, c, c, results, results)
    LT.cublasLtMatmulAlgoGetHeuristic(handle, d, b, a, c, c, preference, 4, results, ctypes.byref(count), code=7)
    value, written = ctypes.c_uint64(), ctypes.c_size_t()
    LT.cublasLtMatrixLayoutGetAttribute(a, 2, ctypes.byref(value), 8, ctypes.byref(written))
    assert (value.value, written.value) == (4, 8)
    scaled = product(68, F32, _17=("Q", 4096))
    multiply(scaled, np.ones(1, "f4"), DeviceArray(np.zeros(12, "f4")), a, DeviceArray(np.zeros(15, "f4")), b, np.zeros(1, "f4"), DeviceArray(np.zeros(20, "f4")), c, code=15)  # fmt: skip
    for x in (d, scaled):
        LT.cublasLtMatmulDescDestroy(x)
    LT.cublasLtMatmulDescDestroy(d, code=1)
    LT.cublasLtMatmulPreferenceDestroy(preference)


types_and_operations()
batches()
epilogues()
questions()
LT.cublasLtDestroy(handle)
print("light products: right")
