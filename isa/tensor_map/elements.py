"""The elements of a tensor map: their types as tensormap.replace numbers them, what fills a place outside the tensor, what a load converts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class ElementType:
    """One element type of a tensor map."""

    name: str
    bytes: int

    @property
    def is_float(self) -> bool:
        """May NaN fill what lies outside?"""
        return "f" in self.name


# In the order of tensormap.replace.elemtype (PTX ISA 9.7.10.26.1).
ELEMENT_TYPES = tuple(
    ElementType(name, size)
    for name, size in (
        ("u8", 1), ("u16", 2), ("u32", 4), ("s32", 4), ("u64", 8), ("s64", 8), ("f16", 2), ("f32", 4), ("f32.ftz", 4), ("f64", 8),
        ("bf16", 2), ("tf32", 4), ("tf32.ftz", 4),
    )
)  # fmt: skip
BY_NAME = {t.name: t for t in ELEMENT_TYPES}

NAN_FILL = 0x7FF77FF77FF77FF7  # the 16 bits 0x7ff7, again and again
_CUT = np.uint32(13)  # bits of a float32 that a tf32 lacks
_BELOW = np.uint32((1 << 13) - 1)
_MAGNITUDE, _INFINITY, _NAN = np.uint32(0x7FFFFFFF), np.uint32(0x7F800000), np.uint32(0x7FFFE000)


def rounded_to_tf32(bits: Words) -> Words:
    """float32 to the nearest tf32, ties to even; subnormals too.  Every NaN becomes one."""
    half = (_BELOW >> np.uint32(1)) + (bits >> _CUT & np.uint32(1))
    near = bits + half & ~_BELOW
    return np.where((bits & _MAGNITUDE) > _INFINITY, _NAN, near)
