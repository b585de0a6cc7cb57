"""A group's lanes as (warps, 32): what cross-lane meanings see (isa.ports.Warps)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn, Protocol

import numpy as np

from warplab.isa.ports import Lanes, Shortcut, TensorCores

from ..lanes import Geometry
from ..values import Array, plain


class LaneGroup(Lanes, Protocol):
    """The lanes that a view lays out."""

    geometry: Geometry


class WarpView:
    """Spreads arrays of a group into warps, collects results, and passes memory accesses on."""

    def __init__(self, group: LaneGroup) -> None:
        self.group = group
        self.layout = group.geometry.warps
        self.members: Array = self.layout.members
        if group.active is not None:
            self.members = self.members & self.layout.spread(np.broadcast_to(group.active, group.geometry.shape))

    @property
    def active(self) -> Array | None:
        """See ports.Lanes."""
        return None if bool(self.members.all()) else self.members

    def spread(self, value: Any) -> Any:
        """A value of the group, or a tuple of them, as (warps, 32)."""
        if isinstance(value, tuple):
            return tuple(self.spread(v) for v in value)
        if isinstance(value, int):
            return value
        v = plain(value)
        if v.ndim == 3:
            return np.stack([self.layout.spread(v[..., e]) for e in range(v.shape[2])], axis=-1)
        return self.layout.spread(v)

    def collect(self, result: Any) -> Any:
        """A result in the group's shape again."""
        if result is None:
            return None
        if isinstance(result, tuple):
            return tuple(self.collect(v) for v in result)
        if result.ndim == 3:
            return np.stack([self.layout.gather(result[..., e]) for e in range(result.shape[2])], axis=-1)
        return self.layout.gather(result)

    def only(self, lanes: Array) -> AbstractContextManager[None]:
        """See ports.Lanes."""
        return self.group.only(self.layout.gather(np.broadcast_to(lanes, (self.layout.count, 32))))

    def load(self, space: str, address: Array, type: str, count: int = 1) -> tuple[Array, ...]:
        """See ports.Lanes."""
        return tuple(self.layout.spread(v) for v in self.group.load(space, self.layout.gather(address), type, count))

    def store(self, space: str, address: Array, type: str, values: Sequence[Array]) -> None:
        """See ports.Lanes."""
        self.group.store(space, self.layout.gather(address), type, [self.layout.gather(v) for v in values])

    def update(
        self, space: str, address: Array, type: str, change: Callable[..., Array], operands: Sequence[Array], *,
        shortcut: Shortcut | None = None, returns: bool = True,
    ) -> Array:  # fmt: skip
        """See ports.Lanes."""
        gather = self.layout.gather
        found = self.group.update(space, gather(address), type, change, [gather(o) for o in operands], shortcut=shortcut, returns=returns)
        return self.layout.spread(found)

    def special(self, name: str) -> Array:
        """See ports.Lanes."""
        return self.layout.spread(self.group.special(name))

    def convert(self, address: Array, space: str, to_generic: bool) -> Array:
        """See ports.Lanes."""
        return self.group.convert(address, space, to_generic)

    def space_of(self, address: Array, space: str) -> Array:
        """See ports.Lanes."""
        return self.layout.spread(self.group.space_of(self.layout.gather(address), space))

    def replicas(self, address: Array, size: int) -> list[tuple[Array, Array]]:
        """See ports.Lanes."""
        spread = self.layout.spread
        return [(spread(places), spread(here)) for places, here in self.group.replicas(self.layout.gather(address), size)]

    def take_clusters(self) -> tuple[Array, ...]:
        """See ports.Lanes."""
        return tuple(self.layout.spread(v) for v in self.group.take_clusters())

    @property
    def tensor_cores(self) -> TensorCores:
        """See ports.Lanes."""
        return self.group.tensor_cores

    def ctas(self) -> Array:
        """See ports.Lanes."""
        return self.layout.spread(self.group.ctas())

    def refuse(self, kind: str, text: str, lanes: Array) -> NoReturn:
        """See ports.Lanes."""
        self.group.refuse(kind, text, self.layout.gather(np.broadcast_to(lanes, (self.layout.count, 32))))

    def pause(self) -> None:
        """See ports.Lanes."""
        self.group.pause()
