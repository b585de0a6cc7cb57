"""`--tensormap`: tensors as people write them, and the maps that describe them.

[in:|out:|inout:]NAME=VALUE[,OPTION...]      VALUE as in --arg, or the name of another tensor or buffer, which the map describes too

Lists of numbers, such as box=64/32, are in the order of the array's axes: a map's own order is the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warplab.isa.tensor_map.descriptor import IM2COL, INTERLEAVES, SWIZZLES, TILED, TensorMap, encode
from warplab.isa.tensor_map.elements import BY_NAME, ElementType
from warplab.isa.tensor_map.encoder import wrong

from ...errors import UsageError
from .texels import ResourceText, parse_resource
from .values import BufferValue, parse_value

WAYS = ("in", "out", "inout")
FIRST_CAPABILITY = (9, 0)
MAP_BYTES = 128
PROMOTIONS = ("none", "64", "128", "256")
_IMAGE = ("lower", "upper", "channels", "pixels")


@dataclass(frozen=True, slots=True)
class TensorMapText:
    """One --tensormap."""

    way: str  # "", in, out, inout
    given: ResourceText

    @property
    def name(self) -> str:
        """What takes the map is called so."""
        return self.given.name

    @property
    def shares(self) -> bool:
        """Is the value the name of a buffer that is there already?"""
        return self.given.shares

    def value(self, folder: Path | None) -> BufferValue:
        """The tensor that it brings."""
        value = parse_value(self.given.value, folder, poison=self.way == "out")
        if not isinstance(value, BufferValue):
            raise self.given.flaw(f"{self.given.value} is not an array: write DTYPE[SHAPE][:INIT], @file.npy or the name of a buffer")
        return value

    def words(self, type: str, shape: tuple[int, ...], address: int) -> bytes:
        """The 128 bytes of the map of an array at an address."""
        m = self._map(type, shape, address)
        why = wrong(m)
        if why:
            raise self.given.flaw(why)
        return np.array(encode(m), np.uint64).tobytes()

    def _map(self, type: str, shape: tuple[int, ...], address: int) -> TensorMap:
        r, element = self.given, self._element(type)
        size = element.bytes
        interleave = INTERLEAVES[r.choice("interleave", tuple(map(str, INTERLEAVES)), r.options.get("interleave", "0"))]
        if interleave:
            if shape[-1] * size != interleave:
                raise r.flaw(f"interleave={interleave}: the last axis has {interleave} bytes, not {shape[-1] * size}")
            shape, size = shape[:-1], interleave
        dims = self._numbers("dims", shape)
        dense = np.cumprod([size, *dims[:0:-1]])[1:].tolist()[::-1]
        steps = self._numbers("step", (1,) * len(dims), len(dims))
        image = any(o in r.options for o in _IMAGE)
        corners = len(dims) - 2 if image else 0
        return TensorMap(
            element,
            address + r.number("offset", int, 0),
            dims[::-1],
            self._numbers("strides", dense, len(dims) - 1)[::-1],
            () if image else self._numbers("box", dims, len(dims))[::-1],
            steps[::-1],
            IM2COL if image else TILED,
            self._numbers("lower", (0,) * corners, corners)[::-1],
            self._numbers("upper", (0,) * corners, corners)[::-1],
            r.number("channels", int, dims[-1]) if image else 0,
            r.number("pixels", int, 1) if image else 0,
            interleave,
            SWIZZLES[r.choice("swizzle", tuple(map(str, SWIZZLES[:4])), r.options.get("swizzle", "0"))],
            bool(r.choice("fill", ("zero", "nan"), r.options.get("fill", "zero"))),
            r.choice("l2", PROMOTIONS, r.options.get("l2", "none")),
        )

    def _element(self, type: str) -> ElementType:
        """What the tensor's elements are: as the array says, or another type of that size."""
        bits = type[1:]
        own = {"b": f"u{bits}", "s": "u8" if bits == "8" else f"s{bits}" if bits != "16" else "u16", "i": f"s{bits}"}.get(type[0], type)
        name = self.given.options.get("type", type if type in BY_NAME else own)
        element = BY_NAME.get(name)
        if element is None:
            raise self.given.flaw(f"tensors are not made of {name}; there are {' '.join(BY_NAME)}")
        return element

    def _numbers(self, option: str, default: Sequence[int], count: int | None = None) -> tuple[int, ...]:
        """Numbers with / between them; None: any number of them."""
        found: list[int] = self.given.number(option, lambda text: [int(x, 0) for x in text.split("/") if x], list(default))
        if count is not None and len(found) != count:
            raise self.given.flaw(f"{option}={self.given.options[option]} has {len(found)} numbers; the tensor's axes need {count}")
        return tuple(found)


def parse_tensor_map(text: str) -> TensorMapText:
    """`[in:|out:|inout:]NAME=VALUE[,OPTION...]`."""
    way, colon, rest = text.strip().partition(":")
    if not colon or way not in WAYS:
        way, rest = "", text
    return TensorMapText(way, parse_resource("tensormap", rest))


def tensor_maps(texts: Sequence[str]) -> list[TensorMapText]:
    """Those that bring tensors, then those that describe them once more."""
    found = sorted(map(parse_tensor_map, texts), key=lambda m: m.shares)
    for i, m in enumerate(found):
        if any(other.name == m.name for other in found[:i]):
            raise m.given.flaw("there is one of this name already")
    return found


def unknown_buffer(m: TensorMapText, buffers: dict[str, Any]) -> UsageError:
    """A map of what is not there."""
    return m.given.flaw(f"no buffer is called {m.given.value}; there are {' '.join(buffers) or 'none'}, made by --tensormap or [buffers]")
