"""What the texture and surface handles of a group's lanes stand for, and which texels the lanes read: what observers hear of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from warplab.isa.textures.footprints import TexelFootprint
from warplab.isa.textures.resources import Image, Surface, Texture
from warplab.isa.textures.surfaces import BytePlace

from ...faults import Fault
from ...launch import Launch
from ...observe import ObservedLanes, TexelAccess
from ...values import Array, ParameterOffset, Value, plain

Resource = Texture | Surface | None


Handle = Value | ParameterOffset  # a parameter of the kernel may be a handle


def _value(g: ObservedLanes, handle: Handle) -> Array:
    if isinstance(handle, ParameterOffset):
        launch: Launch = g.wave.launch
        return launch.parameter(handle.at, np.dtype(np.uint64))
    return plain(handle)


def resources(g: ObservedLanes, handle: Handle) -> list[tuple[Resource, Array | None]]:
    """See ports.Lanes."""
    h, active = _value(g, handle), g.active
    if h.size == 1:
        return [(_resource(g, int(h[0, 0]), active), None)]
    full = np.broadcast_to(h, g.geometry.shape)
    used = full if active is None else full[np.broadcast_to(active, full.shape)]
    different = np.unique(used)
    if len(different) == 1:
        return [(_resource(g, int(different[0]), active), None)]
    found: list[tuple[Resource, Array | None]] = []
    for one in different:
        lanes = full == one if active is None else (full == one) & active
        found.append((_resource(g, int(one), lanes), lanes))
    return found


def is_variable(g: ObservedLanes, handle: Handle, kind: str) -> Array:
    """See ports.Lanes."""
    h = _value(g, handle)
    different, which = np.unique(h, return_inverse=True)
    known = np.array([g.wave.launch.resources.kind(int(one)) == kind for one in different])
    found: Array = known[which].reshape(h.shape)
    return found


def _resource(g: ObservedLanes, handle: int, lanes: Array | None) -> Resource:
    launch: Launch = g.wave.launch
    found = launch.resources.get(handle)
    if found is None:
        if handle and not launch.resources.kind(handle):
            _refuse(g, "out-of-bounds", launch.resources.explain(handle), lanes)
    elif gone := found.image.gone():
        _refuse(g, "freed", gone, lanes)
    return found


def _refuse(g: ObservedLanes, kind: str, why: str, lanes: Array | None) -> NoReturn:
    raise g.blame(Fault(kind, why, "texture"), lanes)


def announce(g: ObservedLanes, image: Image, texels: Sequence[TexelFootprint], shape: tuple[int, ...], lanes: Array | None) -> None:
    """Tells the observers of texels as ports.Lanes.texels_read gives them."""
    full = g.geometry.shape
    found: list[list[Array]] = [[], [], [], [], []]
    for part in texels:
        missing = np.zeros(1, np.bool_)
        for gap in (part.outside, part.missing):
            missing = missing if gap is None else missing | gap
        arrays = np.broadcast_arrays(part.level, part.slice, part.row, part.column, ~missing)
        for out, array in zip(found, arrays, strict=True):
            flat = array.reshape(-1, array.shape[-1])
            if lanes is not None:
                whole = np.zeros((len(flat), *lanes.shape), array.dtype)
                whole[:, lanes] = flat
            else:
                whole = flat.reshape(-1, *(shape if flat.shape[1] > 1 else (1, 1)))
            out.append(np.broadcast_to(whole, (len(flat), *full)))
    mask = lanes if g.active is None else g.active if lanes is None else g.active & lanes
    texel = image.format.bytes
    event = TexelAccess(g.wave.current, g, "texture", "ld", texel, mask, image, *(np.concatenate(arrays) for arrays in found))
    for o in g.wave.observers:
        o.texels(event)


def announce_surface(g: ObservedLanes, image: Image, kind: str, where: BytePlace, size: int, numbers: Array) -> None:
    """Tells the observers of accesses as ports.Lanes.surface_accessed gives them."""
    full = g.geometry.shape
    several = max(size // image.format.bytes, 1)
    column = where.x // image.format.bytes + np.arange(several)[:, None]
    found = []
    for values in (np.zeros(1, np.int64), where.z, where.y, column, where.inside):
        whole = np.zeros((several, int(np.prod(full))), values.dtype)
        whole[:, numbers] = values
        found.append(whole.reshape(several, *full))
    event = TexelAccess(g.wave.current, g, "surface", kind, size, g.active, image, *found)
    for o in g.wave.observers:
        o.texels(event)
