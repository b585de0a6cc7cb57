"""Multicast addresses: ranges that stand for memory of several devices, which only multimem instructions reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..faults import Fault
from .spaces import AccessingLanes

Array = NDArray[Any]
U64 = np.uint64


class Bound(NamedTuple):
    """A part of a multicast object that memory of one device is bound to."""

    offset: int
    size: int
    address: int  # of that memory


class MulticastRange(NamedTuple):
    """A multicast object as a device sees it: from where on, how many bytes, and what each of its devices has bound, in their order."""

    start: int
    size: int
    devices: Sequence[Sequence[Bound]]


def copies(g: AccessingLanes, ranges: Sequence[MulticastRange], address: Array, size: int) -> list[tuple[Array, Array]]:
    """See isa.ports.Lanes.replicas."""
    shape = g.geometry.shape
    a = np.broadcast_to(address, shape).astype(U64)
    active = np.broadcast_to(np.bool_(True) if g.active is None else g.active, shape)

    def refuse(kind: str, bad: Array, why: str) -> None:
        if bad.any():
            where = int(a[bad][0])
            raise g.blame(
                Fault(kind, f"{kind.replace('-', ' ')}: {size}-byte multimem access at {where:#x}", "global", where, size, why), bad
            )

    refuse("misaligned", active & (a & U64(size - 1) != 0), f"it is not a multiple of {size}")
    out = [(np.zeros(shape, U64), np.zeros(shape, np.bool_))]
    rest = active
    for one in ranges:
        offset = a - U64(one.start)
        inside = active & (a >= U64(one.start)) & (offset < U64(one.size))
        if not inside.any():
            continue
        rest = rest & ~inside
        out += [(np.zeros(shape, U64), np.zeros(shape, np.bool_)) for _ in range(len(one.devices) - len(out))]
        for number, (parts, (places, here)) in enumerate(zip(one.devices, out, strict=False)):
            bare = inside
            for part in parts:
                held = bare & (offset >= U64(part.offset)) & (offset < U64(part.offset + part.size))
                places[held] = offset[held] + U64(part.address - part.offset)
                here |= held
                bare = bare & ~held
            refuse("out-of-bounds", bare, f"device {number} of the multicast object has no memory bound there")
    refuse("out-of-bounds", rest, "it is not a multicast address: multimem instructions reach what a multicast object is mapped to")
    return out
