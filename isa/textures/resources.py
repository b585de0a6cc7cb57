"""What a texture or a surface is made of: texels level by level, and how a sampler reads them.

The host makes these values from its arrays, its memory and its descriptors; the instructions of ops/texture.py read them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Texels = NDArray[Any]

POINT, LINEAR = "point", "linear"
WRAP, CLAMP, MIRROR, BORDER = "wrap", "clamp", "mirror", "border"
VARIABLE_BIT = 1 << 61  # set in the handle that a .texref, .samplerref or .surfref variable stands for


@dataclass(frozen=True, slots=True)
class TexelFormat:
    """The format of an array's elements."""

    kind: str  # "u" unsigned, "s" signed, "f" floating point
    bits: int  # of one channel: 8, 16 or 32
    channels: int  # 1, 2 or 4

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of one channel."""
        return np.dtype({"u": "u", "s": "i", "f": "f"}[self.kind] + str(self.bits // 8))

    @property
    def bytes(self) -> int:
        """The size of a texel."""
        return self.bits // 8 * self.channels


def _always() -> str:
    return ""


@dataclass(frozen=True, eq=False)
class Image:
    """The texels that a texture or a surface reads: an array with its levels, or memory seen as texels.

    A level is an array (slices, rows, columns, channels) of the format's dtype: the memory itself, so that what a surface or a store writes
    is what a texture reads.  A slice is a layer, a face, or a plane of the third dimension.
    """

    format: TexelFormat
    width: int  # of the first level, as the host gave it
    height: int  # 0: one dimension
    depth: int  # 0: at most two; else planes, layers, or faces of all cubes
    levels: tuple[Texels, ...]
    layered: bool = False
    cube: bool = False
    linear: bool = False  # device memory without rows: read by integer coordinates alone
    pitched: bool = False  # device memory in rows
    resident: bool = True  # a sparse array without mapped memory is not
    gone: Callable[[], str] = _always  # why the memory cannot be read any more, in words; "" while it can


@dataclass(frozen=True, slots=True)
class Sampler:
    """How coordinates become texels and texels become a value."""

    address: tuple[str, str, str] = (CLAMP, CLAMP, CLAMP)
    filter: str = POINT
    mip_filter: str = POINT
    normalized: bool = False  # coordinates run from 0 to 1
    integer: bool = False  # texels of integers are returned as such, not as numbers up to 1
    srgb: bool = False
    seamless: bool = False  # a cube map is filtered across the edges of its faces
    bias: float = 0.0
    clamp: tuple[float, float] = (0.0, 0.0)  # the least and the largest level
    anisotropy: int = 0
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    blends_evenly: bool = False  # between two levels; anisotropic filtering favours the nearer one otherwise


@dataclass(frozen=True, eq=False)
class Texture:
    """What a texture object or a bound .texref variable stands for."""

    image: Image
    sampler: Sampler


@dataclass(frozen=True, eq=False)
class Surface:
    """What a surface object or a bound .surfref variable stands for: an image of one level."""

    image: Image

    @property
    def texture(self) -> Texture:
        """What tex reads through the handle of a surface: texels without a filter and without a conversion."""
        return Texture(self.image, Sampler(integer=True))


class Resources(Protocol):
    """What the handles of a launch stand for: objects that the host made, and the module's variables."""

    def get(self, handle: int) -> Texture | Surface | None:
        """What a handle stands for; None where it is nothing, or a variable that nothing is bound to."""

    def kind(self, handle: int) -> str:
        """The type of the variable that a handle stands for, as texref; "" where it is not a variable's."""

    def explain(self, handle: int) -> str:
        """Why a handle stands for nothing, in words."""


class NoResources:
    """The handles of a launch without textures and surfaces."""

    def get(self, handle: int) -> None:
        """Nothing."""

    def kind(self, handle: int) -> str:
        """No variable's."""
        return ""

    def explain(self, handle: int) -> str:
        """There is nothing that a handle could stand for."""
        return f"no texture or surface has the handle {handle:#x}"
