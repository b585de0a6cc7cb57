"""Scalar and packed types: the names PTX gives them, their width, and the numpy dtype that carries one element of a lane.

Formats that numpy lacks (bf16, tf32, fp8 and narrower) travel as their bits in an unsigned dtype.  A packed type whose elements
are at least a byte wide travels as an array with one axis more (`...x2`, `...x4`); narrower ones stay in their container.

>>> TYPES["f16x2"].bits, TYPES["f16x2"].elements, TYPES["f16x2"].dtype.name
(32, 2, 'float16')
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["u", "s", "b", "f", "p", "o"]  # unsigned, signed, untyped bits, float, predicate, opaque handle


@dataclass(frozen=True, slots=True)
class ScalarType:
    """One fundamental or alternate type of PTX ISA 5.2."""

    name: str
    bits: int
    kind: Kind
    dtype: np.dtype[np.generic]
    elements: int = 1

    @property
    def bytes(self) -> int:
        """The size in memory; a predicate has none."""
        return self.bits // 8

    @property
    def is_integer(self) -> bool:
        return self.kind in "usb"

    def __str__(self) -> str:
        return self.name


def _rows() -> list[ScalarType]:
    def row(name: str, bits: int, kind: Kind, dtype: str, elements: int = 1) -> ScalarType:
        return ScalarType(name, bits, kind, np.dtype(dtype), elements)

    rows = [row("pred", 1, "p", "bool")]
    rows += [row(f"u{n}", n, "u", f"uint{n}") for n in (8, 16, 32, 64)]
    rows += [row(f"s{n}", n, "s", f"int{n}") for n in (8, 16, 32, 64)]
    rows += [row(f"b{n}", n, "b", f"uint{n}") for n in (8, 16, 32, 64)]
    rows += [row("b128", 128, "b", "uint64", 2)]  # the low and the high half
    rows += [row(f"f{n}", n, "f", f"float{n}") for n in (16, 32, 64)]
    rows += [row("bf16", 16, "f", "uint16"), row("tf32", 32, "f", "uint32")]
    rows += [row("f16x2", 32, "f", "float16", 2), row("bf16x2", 32, "f", "uint16", 2), row("f32x2", 64, "f", "float32", 2)]
    rows += [row("u16x2", 32, "u", "uint16", 2), row("s16x2", 32, "s", "int16", 2)]
    rows += [row("u8x4", 32, "u", "uint8", 4), row("s8x4", 32, "s", "int8", 4)]
    for name in ("e4m3", "e5m2", "e2m3", "e3m2", "ue8m0", "ue4m3"):
        rows += [row(name, 8, "f", "uint8"), row(f"{name}x2", 16, "f", "uint8", 2), row(f"{name}x4", 32, "f", "uint8", 4)]
    rows += [row("e2m1", 4, "f", "uint8"), row("e2m1x2", 8, "f", "uint8"), row("e2m1x4", 16, "f", "uint16")]
    rows += [row("u4", 4, "u", "uint8"), row("s4", 4, "s", "int8"), row("b1", 1, "b", "uint8"), row("u2", 2, "u", "uint8")]
    rows += [row("b4x16", 64, "b", "uint64"), row("b6x16_p32", 96, "b", "uint64", 2), row("b6p2x16", 128, "b", "uint64", 2)]
    rows += [row(name, 64, "o", "uint64") for name in ("texref", "samplerref", "surfref")]
    return rows


TYPES: dict[str, ScalarType] = {t.name: t for t in _rows()}
