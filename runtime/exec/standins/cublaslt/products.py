"""cuBLASLt's products: D = f(alpha op(A) op(B) + beta C + bias), once or many times."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ...handlers.abi import write
from ...handlers.special import HandledCall
from ..algebra import C, N, T, operated
from ..calls import StandInError, read_host, work_in
from ..cublas.products import COMPUTED
from ..memory import CUDA_TYPES, Array, NumberType, matrix, vector
from . import descriptors as of
from .handles import LIBRARY, LightHandle

BY_COLUMNS, BY_ROWS = 0, 1  # orders
RELU, ADDS_BIAS, GELU = 2, 4, 32  # bits of an epilogue
RESULT = struct.Struct("<8QQif4i")  # an algorithm, the workspace that it needs, a code, waves, room
PASSIVE = {of.FILL, of.MULTIPROCESSORS, of.FAST_SUMS}  # attributes that change no result
MEANT = {of.COMPUTE, of.SCALE, of.POINTER_MODE, of.OF_A, of.OF_B, of.EPILOGUE, of.BIAS, of.BIAS_STEP, of.BIAS_TYPE}


class Matrices:
    """The matrices of one place of a call: the same layout at each step."""

    def __init__(self, layout: of.MatrixLayout) -> None:
        kind = CUDA_TYPES.get(layout.number(of.TYPE))
        if kind is None or layout.number(of.ORDER) not in (BY_COLUMNS, BY_ROWS):
            raise LIBRARY.refuse(f"layout of type {layout.number(of.TYPE)} in order {layout.number(of.ORDER)}")
        self.kind: NumberType = kind
        self.by_rows = layout.number(of.ORDER) == BY_ROWS
        self.rows, self.columns, self.distance = (layout.number(a) for a in (of.ROWS, of.COLUMNS, of.DISTANCE))
        self.count, self.step = layout.number(of.COUNT, 1), layout.number(of.STEP) * kind.stored.itemsize
        LIBRARY.check(self.distance >= max(self.columns if self.by_rows else self.rows, 1))

    def at(self, address: int, n: int, writes: bool = False) -> Array:
        """The matrix of a step, which begins at this address at the first."""
        rows, columns = (self.columns, self.rows) if self.by_rows else (self.rows, self.columns)
        found = matrix(address + n * self.step, rows, columns, self.distance, self.kind, writes)
        return found.T if self.by_rows else found


class LightProduct:
    """A product as descriptors describe it."""

    def __init__(self, c: HandledCall, description: str) -> None:
        d = LIBRARY.object(c.given[description], of.ProductDescriptor)
        self.a, self.b, self.c, self.d = (Matrices(LIBRARY.object(c.given[f"{x}desc"], of.MatrixLayout)) for x in "ABCD")
        self.of_a, self.of_b = d.number(of.OF_A), d.number(of.OF_B)
        scalars = CUDA_TYPES.get(d.number(of.SCALE))
        strange = [a for a, raw in d.attributes.items() if a not in MEANT | PASSIVE and any(raw)]
        self.epilogue = d.number(of.EPILOGUE, of.PLAIN)
        if strange or scalars is None or d.number(of.COMPUTE) not in COMPUTED or d.number(of.POINTER_MODE) > 1:
            raise LIBRARY.refuse(f"product with attributes {strange} and pointer mode {d.number(of.POINTER_MODE)}")
        if self.epilogue & ~(of.PLAIN | RELU | ADDS_BIAS | GELU):
            raise LIBRARY.refuse(f"epilogue {self.epilogue}")
        self.scalars: NumberType = scalars
        self.on_device = d.number(of.POINTER_MODE) == 1
        self.bias, self.bias_step = d.number(of.BIAS), d.number(of.BIAS_STEP)
        self.bias_kind = CUDA_TYPES.get(d.number(of.BIAS_TYPE, of.UNKNOWN), self.d.kind)
        LIBRARY.check({self.of_a, self.of_b} <= {N, T, C} and len({x.count for x in (self.a, self.b, self.c, self.d)}) == 1)
        (m, k), (inner, n) = self._shape(self.a, self.of_a), self._shape(self.b, self.of_b)
        LIBRARY.check(k == inner and (m, n) == (self.d.rows, self.d.columns) == (self.c.rows, self.c.columns))

    @staticmethod
    def _shape(x: Matrices, operation: int) -> tuple[int, int]:
        return (x.rows, x.columns) if operation == N else (x.columns, x.rows)

    def scalar(self, address: int) -> Callable[[], Any]:
        """alpha or beta: the host's is read now, the device's when the work is done."""
        kind = self.scalars
        if self.on_device:
            return lambda: kind.load(vector(address, 1, 1, kind, False))[0]
        value = kind.load(read_host(address, kind.stored))[0]
        return lambda: value

    def finished(self, out: Any, n: int) -> Any:
        """What the epilogue makes of a product."""
        if self.epilogue & ADDS_BIAS:
            at = self.bias + n * self.bias_step * self.bias_kind.stored.itemsize
            out = out + self.bias_kind.load(vector(at, self.d.rows, 1, self.bias_kind, False))[:, None]
        if self.epilogue & RELU:
            out = np.maximum(out, 0)
        if self.epilogue & GELU:
            out = 0.5 * out * (1 + np.tanh(np.sqrt(2 / np.pi) * (out + 0.044715 * out**3)))
        return out


@LIBRARY.answers("cublasLtMatmul")
def multiply(c: HandledCall) -> None:
    """The products."""
    g = c.given
    LIBRARY.object(g["lightHandle"], LightHandle)
    p = LightProduct(c, "computeDesc")
    alpha, beta = p.scalar(g["alpha"]), p.scalar(g["beta"])

    def work() -> None:
        for n in range(p.d.count):
            first = operated(p.a.kind.load(p.a.at(g["A"], n)), p.of_a)
            out = alpha() * (first @ operated(p.b.kind.load(p.b.at(g["B"], n)), p.of_b))
            if (scale := beta()) != 0:
                out = out + scale * p.c.kind.load(p.c.at(g["C"], n))
            p.d.kind.store(p.d.at(g["D"], n, True), p.finished(out, n))

    if p.d.rows and p.d.columns:
        work_in(g["stream"], work)


def _result(code: int) -> bytes:
    return RESULT.pack(1, *(0,) * 7, 0, code, 1.0, *(0,) * 4)


@LIBRARY.answers("cublasLtMatmulAlgoGetHeuristic")
def algorithms(c: HandledCall) -> None:
    """The algorithm for a product: there is one."""
    g = c.given
    LIBRARY.check(g["requestedAlgoCount"] > 0 and bool(g["heuristicResultsArray"]))
    write(g["returnAlgoCount"], struct.pack("<i", 0))
    LightProduct(c, "operationDesc")
    write(g["heuristicResultsArray"], _result(0))
    write(g["returnAlgoCount"], struct.pack("<i", 1))


@LIBRARY.answers("cublasLtMatmulAlgoCheck")
def check(c: HandledCall) -> None:
    """Does the algorithm fit a product?"""
    try:
        LightProduct(c, "operationDesc")
    except StandInError as e:
        write(c.given["result"], _result(e.code))
        raise
    write(c.given["result"], _result(0))
