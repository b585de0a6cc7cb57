"""Reads of a group's lanes, whose handles may differ, and their results in the type of the destination."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
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
    """The four channels of each lane as 32 bits, and whether what it read is resident.  A handle that stands for nothing reads zeros."""
    channels, resident = [np.zeros((1, 1), np.uint32)] * CHANNELS, np.ones((1, 1), np.bool_)
    for resource, mask in lanes.resources(handle):
        shape = request.shape if mask is None else mask.shape
        found, here = [NOTHING] * CHANNELS, True
        if resource is not None:
            texture = resource.texture if isinstance(resource, Surface) else resource
            fetched = read(texture, request.each(partial(_chosen, shape=shape, mask=mask)))
            found, here = list(fetched.channels), resource.image.resident
            lanes.texels_read(resource.image, fetched.parts, shape, mask)
        if mask is None:
            return [c.reshape(shape if c.size > 1 else (1, 1)) for c in found], np.full((1, 1), here)
        if channels[0].shape != shape:
            channels, resident = [np.zeros(shape, np.uint32) for _ in range(CHANNELS)], np.ones(shape, np.bool_)
        for channel, values in zip(channels, found, strict=True):
            channel[mask] = values
        resident[mask] = here
    return channels, resident


def _chosen(x: Array, shape: tuple[int, ...], mask: Array | None) -> Array:
    """The lanes that use a handle, one after the other; one element where all have the same."""
    if x.size == 1:
        return x.reshape(1)
    full = np.broadcast_to(x, shape)
    return full.ravel() if mask is None else full[mask]


def typed(channels: Sequence[Array], dtype: str) -> tuple[Array, ...]:
    """The channels in the type of the destination: only halves are converted."""
    if dtype == "f16":
        return tuple(narrowed(c) for c in channels)
    if dtype == "f16x2":
        halves = [narrowed(c) for c in channels]
        return tuple(np.stack(np.broadcast_arrays(*halves[k : k + 2]), axis=-1) for k in (0, 2))
    return tuple(c.view({"u32": np.uint32, "s32": np.int32, "f32": np.float32}[dtype]) for c in channels)
