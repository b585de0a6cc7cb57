"""What the texture and surface handles of a group's lanes stand for."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

import numpy as np

from warplab.isa.textures.resources import Surface, Texture

from ..faults import Fault
from ..launch import Launch
from ..values import Array, Value, plain

Resource = Texture | Surface | None


class HandleUser(Protocol):
    """The lanes that have handles."""

    active: Array | None
    geometry: Any
    wave: Any

    def blame(self, fault: Fault, lanes: Array | None) -> Fault:
        """Names the first of some lanes in a fault."""


def resources(g: HandleUser, handle: Value) -> list[tuple[Resource, Array | None]]:
    """See ports.Lanes."""
    h, active = plain(handle), g.active
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


def is_variable(g: HandleUser, handle: Value, kind: str) -> Array:
    """See ports.Lanes."""
    h = plain(handle)
    different, which = np.unique(h, return_inverse=True)
    known = np.array([g.wave.launch.resources.kind(int(one)) == kind for one in different])
    found: Array = known[which].reshape(h.shape)
    return found


def _resource(g: HandleUser, handle: int, lanes: Array | None) -> Resource:
    launch: Launch = g.wave.launch
    found = launch.resources.get(handle)
    if found is None:
        if handle and not launch.resources.kind(handle):
            _refuse(g, "out-of-bounds", launch.resources.explain(handle), lanes)
    elif gone := found.image.gone():
        _refuse(g, "freed", gone, lanes)
    return found


def _refuse(g: HandleUser, kind: str, why: str, lanes: Array | None) -> NoReturn:
    raise g.blame(Fault(kind, why, "texture"), lanes)
