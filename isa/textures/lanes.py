"""Reads of a group's lanes, whose handles may differ, and their results in the type of the destination."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from ..ports import Lanes
from .fetch import CHANNELS, NOTHING, Fetched
from .positions import Array
from .request import Request
from .resources import Surface, Texture
from .values import narrowed

Read: TypeAlias = Callable[[Texture, Request], Fetched]


def by_lanes(lanes: Lanes, handle: Array, request: Request, read: Read) -> tuple[list[Array], Array]:
    """The four channels of each lane as 32 bits, and whether what it read is resident.  A handle that stands for no texture reads zeros."""
    channels, resident = [np.zeros((1, 1), np.uint32)] * CHANNELS, np.ones((1, 1), np.bool_)
    for resource, mask in lanes.resources(handle):
        if mask is None:
            shape = request.shape
            found, here = _read(resource, request.each(lambda x: _flat(x, shape)), read)  # noqa: B023  called at once
            return [c.reshape(shape if c.size > 1 else (1, 1)) for c in found], np.full((1, 1), here)
        if channels[0].shape != mask.shape:
            channels, resident = [np.zeros(mask.shape, np.uint32) for _ in range(CHANNELS)], np.ones(mask.shape, np.bool_)
        found, here = _read(resource, request.each(lambda x: _chosen(x, mask)), read)  # noqa: B023
        for channel, values in zip(channels, found, strict=True):
            channel[mask] = values
        resident[mask] = here
    return channels, resident


def _read(resource: Texture | Surface | None, request: Request, read: Read) -> tuple[Sequence[Array], bool]:
    if not isinstance(resource, Texture):
        return [NOTHING] * CHANNELS, True
    return read(resource, request).channels, resource.image.resident


def _flat(x: Array, shape: tuple[int, ...]) -> Array:
    return x.reshape(1) if x.size == 1 else np.broadcast_to(x, shape).ravel()


def _chosen(x: Array, mask: Array) -> Array:
    return x.reshape(1) if x.size == 1 else np.broadcast_to(x, mask.shape)[mask]


def typed(channels: Sequence[Array], dtype: str) -> tuple[Array, ...]:
    """The channels in the type of the destination: only halves are converted."""
    if dtype == "f16":
        return tuple(narrowed(c) for c in channels)
    if dtype == "f16x2":
        halves = [narrowed(c) for c in channels]
        return tuple(np.stack(np.broadcast_arrays(*halves[k : k + 2]), axis=-1) for k in (0, 2))
    return tuple(c.view({"u32": np.uint32, "s32": np.int32, "f32": np.float32}[dtype]) for c in channels)
