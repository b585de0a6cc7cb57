"""Products of matrices: alpha op(A) op(B) + beta C, of one type or of several, once or many times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...handlers.special import HandledCall
from ..algebra import C, N, T, operated, shape
from ..calls import work_in
from ..memory import LETTERS, Array, NumberType, addresses, matrix
from .handles import CUBLAS, both, handle_of, scalar
from .typed import typed
from .vectors import cuda_type

# The types of alpha, beta and the sums, by cublasComputeType_t: halves, integers, single and double precision.
COMPUTED = {64: "H", 65: "H", 68: "S", 69: "S", 70: "D", 71: "D", 72: "I", 73: "I", 74: "S", 75: "S", 77: "S", 78: "S", 79: "D"}


def combined(product: Any, alpha: Any, beta: Any, before: Callable[[], Array]) -> Any:
    """alpha P + beta C; where beta is zero, C may hold anything."""
    out = product if alpha == 1 else alpha * product
    return out if beta == 0 else out + beta * before()


Places = Iterator[tuple[int, int, int]]


class Gemm:
    """One call of the family."""

    def __init__(self, c: HandledCall, types: Sequence[NumberType], scalars: NumberType) -> None:
        self.g, self.h, self.types = c.given, handle_of(c), types
        g = self.g
        CUBLAS.check(min(g["m"], g["n"], g["k"]) >= 0 and all(g[f"trans{x}"] in (N, T, C) for x in "ab"))
        a, b = shape(g["transa"], g["m"], g["k"]), shape(g["transb"], g["k"], g["n"])
        CUBLAS.check(g["lda"] >= max(a[0], 1) and g["ldb"] >= max(b[0], 1) and g["ldc"] >= max(g["m"], 1) and g.get("batchCount", 0) >= 0)
        self.a, self.b = a, b
        self.alpha, self.beta = scalar(self.h, g["alpha"], scalars), scalar(self.h, g["beta"], scalars)

    def run(self, places: Callable[[], Places]) -> None:
        """Multiplies the matrices at some places, in the order of the stream."""
        g = self.g

        def work() -> None:
            for at in places():
                self.multiply(*at)

        if g["m"] and g["n"] and g.get("batchCount", 1):
            work_in(self.h.stream, work)

    def multiply(self, a: int, b: int, c: int) -> None:
        """One product."""
        g, (of_a, of_b, of_c) = self.g, self.types
        out = matrix(c, g["m"], g["n"], g["ldc"], of_c)
        alpha, beta = self.alpha(), self.beta()
        if alpha == 0 or not g["k"]:
            product = np.zeros(out.shape, of_c.computed)
        else:
            first = operated(of_a.load(matrix(a, *self.a, g["lda"], of_a, False)), g["transa"])
            second = operated(of_b.load(matrix(b, *self.b, g["ldb"], of_b, False)), g["transb"])
            product = first @ second
        of_c.store(out, combined(product, alpha, beta, lambda: of_c.load(out)))

    def once(self) -> None:
        """One product."""
        g = self.g
        self.run(lambda: iter([(g["A"], g["B"], g["C"])]))

    def strided(self) -> None:
        """Products whose matrices stand at equal distances."""
        g, sizes = self.g, [t.stored.itemsize for t in self.types]
        steps = [size * g[f"stride{x}"] for size, x in zip(sizes, "ABC", strict=True)]
        self.run(lambda: ((g["A"] + i * steps[0], g["B"] + i * steps[1], g["C"] + i * steps[2]) for i in range(g["batchCount"])))

    def batched(self) -> None:
        """Products whose matrices lists of pointers name."""
        g = self.g
        self.run(lambda: zip(*(addresses(g[x], g["batchCount"]) for x in "ABC"), strict=True))


@typed("cublas[S D C Z]gemm_v2", "cublasHgemm", "cublas[C Z]gemm3m")
def gemm(c: HandledCall, kind: NumberType, base: str) -> None:
    """One product."""
    Gemm(c, (kind,) * 3, kind).once()


@typed("cublas[H S D C Z]gemmStridedBatched", "cublasCgemm3mStridedBatched")
def gemm_strided(c: HandledCall, kind: NumberType, base: str) -> None:
    """Products whose matrices stand at equal distances."""
    Gemm(c, (kind,) * 3, kind).strided()


@typed("cublas[H S D C Z]gemmBatched", "cublasCgemm3mBatched")
def gemm_batched(c: HandledCall, kind: NumberType, base: str) -> None:
    """Products whose matrices lists of pointers name."""
    Gemm(c, (kind,) * 3, kind).batched()


def _types(c: HandledCall) -> list[NumberType]:
    return [cuda_type(c.given[f"{x}type"]) for x in "ABC"]


@typed("cublas[S C]gemmEx", "cublasCgemm3mEx")
def gemm_of_types(c: HandledCall, kind: NumberType, base: str) -> None:
    """One product; the sums are of one type."""
    Gemm(c, _types(c), kind).once()


def _of_types(c: HandledCall) -> Gemm:
    types = _types(c)
    letter = COMPUTED.get(c.given["computeType"])
    if letter is None:
        raise CUBLAS.refuse(f"cublasComputeType_t {c.given['computeType']}")
    if letter == "I":
        return Gemm(c, types, cuda_type(c.given["Ctype"]))
    complex_ = types[2].computed.kind == "c"
    return Gemm(c, types, LETTERS[{"S": "C", "D": "Z"}[letter]] if complex_ else LETTERS[letter])


CUBLAS.answers(*both("cublasGemmEx"))(lambda c: _of_types(c).once())
CUBLAS.answers(*both("cublasGemmStridedBatchedEx"))(lambda c: _of_types(c).strided())
CUBLAS.answers(*both("cublasGemmBatchedEx"))(lambda c: _of_types(c).batched())
