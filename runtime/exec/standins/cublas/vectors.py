"""Level 1 of BLAS: vectors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...handlers.special import HandledCall
from ..calls import work_in
from ..memory import CUDA_TYPES, I32, LETTERS, Array, NumberType, vector
from .handles import CUBLAS, both, give, handle_of, scalar
from .typed import typed

I64 = NumberType(np.dtype("i8"), np.dtype("i8"))


def real_of(kind: NumberType) -> NumberType:
    """The type of the parts of complex numbers; that of other numbers itself."""
    return {"c8": LETTERS["S"], "c16": LETTERS["D"]}.get(kind.stored.str[1:], kind)


def _loaded(address: int, n: int, stride: int, kind: NumberType) -> Array:
    return kind.load(vector(address, n, stride, kind, False))


def cuda_type(number: int) -> NumberType:
    """A cudaDataType."""
    found = CUDA_TYPES.get(number)
    if found is None:
        raise CUBLAS.refuse(f"numbers of cudaDataType {number}")
    return found


# ---------------------------------------------------------------- results


def norm(x: Array) -> Any:
    """The Euclidean norm; scaled, as squares may overflow."""
    most = np.max(np.abs(x), initial=0.0)
    if not most or not np.isfinite(most):
        return most
    scaled = np.abs(x / most).astype(np.float64)
    return most * np.sqrt(np.sum(scaled * scaled))


def absolute_sum(x: Array) -> Any:
    """The sum of absolute values; of a complex number those of both parts."""
    return np.sum(np.abs(x.real)) + np.sum(np.abs(x.imag)) if np.iscomplexobj(x) else np.sum(np.abs(x))


SUMS = {"nrm2": norm, "asum": absolute_sum}


@typed("cublas[S D][nrm2 asum]_v2", "cublasSc[nrm2 asum]_v2", "cublasDz[nrm2 asum]_v2")
def sums(c: HandledCall, kind: NumberType, base: str) -> None:
    """A norm, or a sum of absolute values."""
    x = {"c": LETTERS["C"], "z": LETTERS["Z"]}.get(base[0], kind)
    _sum(c, SUMS[base.lstrip("cz")], x, kind)


def _sum(c: HandledCall, work: Any, x: NumberType, result: NumberType) -> None:
    g = c.given
    give(handle_of(c), g["result"], result, lambda: work(_loaded(g["x"], g["n"], g["incx"], x)) if g["n"] > 0 and g["incx"] > 0 else 0)


@CUBLAS.answers(*both("cublasNrm2Ex"))
def norm_of_types(c: HandledCall) -> None:
    """A norm."""
    _sum(c, norm, cuda_type(c.given["xType"]), cuda_type(c.given["resultType"]))


@CUBLAS.answers(*both("cublasAsumEx"))
def sum_of_types(c: HandledCall) -> None:
    """A sum of absolute values."""
    _sum(c, absolute_sum, cuda_type(c.given["xType"]), cuda_type(c.given["resultType"]))


def _extreme(name: str, x: NumberType, index: NumberType, pick: Any) -> None:
    @CUBLAS.answers(name)
    def answer(c: HandledCall) -> None:
        g = c.given

        def compute() -> int:
            if g["n"] <= 0 or g["incx"] <= 0:
                return 0
            v = _loaded(g["x"], g["n"], g["incx"], x)
            return int(pick(np.abs(v.real) + np.abs(v.imag) if np.iscomplexobj(v) else np.abs(v))) + 1

        give(handle_of(c), g["result"], index, compute)


for _letter in "sdcz":
    for _base, _pick in (("amax", np.argmax), ("amin", np.argmin)):
        _extreme(f"cublasI{_letter}{_base}_v2", LETTERS[_letter.upper()], I32, _pick)
        _extreme(f"cublasI{_letter}{_base}_v2_64", LETTERS[_letter.upper()], I64, _pick)


def _product(c: HandledCall, x: NumberType, y: NumberType, result: NumberType, conjugates: bool) -> None:
    g = c.given

    def compute() -> Any:
        if g["n"] <= 0:
            return 0
        first, second = _loaded(g["x"], g["n"], g["incx"], x), _loaded(g["y"], g["n"], g["incy"], y)
        return np.vdot(first, second) if conjugates else np.dot(first, second)

    give(handle_of(c), g["result"], result, compute)


@typed("cublas[S D]dot_v2", "cublas[C Z][dotu dotc]_v2")
def dot(c: HandledCall, kind: NumberType, base: str) -> None:
    """The product of two vectors."""
    _product(c, kind, kind, kind, base == "dotc")


def _product_of_types(c: HandledCall, conjugates: bool) -> None:
    x, y, result = (cuda_type(c.given[name]) for name in ("xType", "yType", "resultType"))
    _product(c, x, y, result, conjugates)


CUBLAS.answers(*both("cublasDotEx"))(partial(_product_of_types, conjugates=False))
CUBLAS.answers(*both("cublasDotcEx"))(partial(_product_of_types, conjugates=True))


# ---------------------------------------------------------------- new vectors


def _scale(c: HandledCall, alpha: NumberType, kind: NumberType) -> None:
    g, h = c.given, handle_of(c)
    factor = scalar(h, g["alpha"], alpha)

    def work() -> None:
        x = vector(g["x"], g["n"], g["incx"], kind)
        kind.store(x, kind.load(x) * factor())

    if g["n"] > 0 and g["incx"] > 0:
        work_in(h.stream, work)


@typed("cublas[S D C Cs Z Zd]scal_v2")
def scal(c: HandledCall, kind: NumberType, base: str) -> None:
    """x = alpha x."""
    _scale(c, real_of(kind) if base != "scal" else kind, kind)


@CUBLAS.answers(*both("cublasScalEx"))
def scale_of_types(c: HandledCall) -> None:
    """x = alpha x."""
    _scale(c, cuda_type(c.given["alphaType"]), cuda_type(c.given["xType"]))


def _add(c: HandledCall, alpha: NumberType, x: NumberType, y: NumberType) -> None:
    g, h = c.given, handle_of(c)
    factor = scalar(h, g["alpha"], alpha)

    def work() -> None:
        target = vector(g["y"], g["n"], g["incy"], y)
        y.store(target, y.load(target) + factor() * _loaded(g["x"], g["n"], g["incx"], x))

    if g["n"] > 0:
        work_in(h.stream, work)


@typed("cublas[S D C Z]axpy_v2")
def axpy(c: HandledCall, kind: NumberType, base: str) -> None:
    """y = alpha x + y."""
    _add(c, kind, kind, kind)


@CUBLAS.answers(*both("cublasAxpyEx"))
def add_of_types(c: HandledCall) -> None:
    """y = alpha x + y."""
    _add(c, cuda_type(c.given["alphaType"]), cuda_type(c.given["xType"]), cuda_type(c.given["yType"]))


@typed("cublas[S D C Z][copy swap]_v2")
def copy_or_swap(c: HandledCall, kind: NumberType, base: str) -> None:
    """y = x, or both are exchanged."""
    g, h = c.given, handle_of(c)

    def work() -> None:
        x, y = vector(g["x"], g["n"], g["incx"], kind, base == "swap"), vector(g["y"], g["n"], g["incy"], kind)
        before, y[...] = y.copy(), x.copy()
        if base == "swap":
            x[...] = before

    if g["n"] > 0:
        work_in(h.stream, work)


@typed("cublas[S D C Cs Z Zd]rot_v2")
def rot(c: HandledCall, kind: NumberType, base: str) -> None:
    """Rotates points: x = c x + s y, y = c y - conj(s) x."""
    g, h = c.given, handle_of(c)
    cosine, sine = scalar(h, g["c"], real_of(kind)), scalar(h, g["s"], real_of(kind) if base != "rot" else kind)

    def work() -> None:
        x, y = vector(g["x"], g["n"], g["incx"], kind), vector(g["y"], g["n"], g["incy"], kind)
        new = cosine() * x + sine() * y
        y[...] = cosine() * y - np.conj(sine()) * x
        x[...] = new

    if g["n"] > 0:
        work_in(h.stream, work)
