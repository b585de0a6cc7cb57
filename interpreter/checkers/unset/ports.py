"""What a meaning that works on memory sees when it is carried out on the shadow: ports of isa.ports.Lanes.

A ShadowPort calculates with the values there are and notes what is written as defined; a CopyingPort moves masks in place of values; an
UpdatingPort looks at what an atomic operation works with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from warplab.isa.ops.mbarrier import advance
from warplab.isa.types import TYPES, ScalarType

from ...memory.access import WaveMemory
from ...plan.plan import Op
from ...values import ParameterOffset, Value
from ...vector.group import Group
from .masks import DEFINED, ZERO, Array, Mask, as_mask, as_value, normal
from .memory import WaveShadow
from .origins import COMPUTED
from .uses import UnsetUses


class Storing(Protocol):
    """Who looks at undefined bits that go to memory."""

    uses: UnsetUses

    def put_in_memory(
        self, g: Group, op: Op, space: str, address: Any, t: ScalarType, masks: Sequence[Mask], sources: Sequence[Array]
    ) -> None:
        """Stores masks."""


class ShadowPort:
    """The lanes of a group, before the shadow of its memory."""

    def __init__(self, g: Group, steps: Storing, op: Op, origin: Array) -> None:
        self.g = g
        self.geometry = g.geometry
        self.steps = steps
        self.op = op
        self.origin = origin  # of the undefined bits among the operands, then of what comes from memory
        self.brings = False  # are results masks?
        self.shadow: WaveShadow = g.wave.shadow

    @property
    def active(self) -> Array | None:
        """See ports.Lanes."""
        return self.g.active

    def only(self, lanes: Array) -> AbstractContextManager[None]:
        """See ports.Lanes."""
        return self.g.only(lanes)

    def load(self, space: str, address: Any, type: str, count: int = 1) -> tuple[Array, ...]:
        """See ports.Lanes; nobody hears of it."""
        if isinstance(address, ParameterOffset):
            return self.g.load(space, address, type, count)
        return WaveMemory.load(self.g.wave.access, self.g, space, address, TYPES[type], count)

    def store(self, space: str, address: Any, type: str, values: Sequence[Array]) -> None:
        """See ports.Lanes."""
        self.shadow.store(self.g, space, address, TYPES[type], [DEFINED] * len(values))

    def update(
        self, space: str, address: Value, type: str, change: Callable[..., Array], operands: Sequence[Array], *,
        shortcut: object = None, returns: bool = True,
    ) -> Array:  # fmt: skip
        """See ports.Lanes."""
        t = TYPES[type]
        self.shadow.store(self.g, space, address, t, [DEFINED] * (2 if t.name == "b128" else 1))
        return np.zeros(self.geometry.shape if t.elements == 1 else (*self.geometry.shape, t.elements), t.dtype)

    def __getattr__(self, name: str) -> Any:
        """What else a meaning may ask of its lanes has nothing to do with the shadow."""
        return getattr(self.g, name)

    def special(self, name: str) -> Array:
        """See ports.Lanes."""
        return self.g.special(name)

    def convert(self, address: Array, space: str, to_generic: bool) -> Array:
        """See ports.Lanes."""
        return self.g.convert(address, space, to_generic)

    def space_of(self, address: Value, space: str) -> Array:
        """See ports.Lanes."""
        return self.g.space_of(address, space)

    def pause(self) -> None:
        """See ports.Lanes."""

    def found(self, space: str, address: Any, t: ScalarType, count: int) -> tuple[Mask, ...]:
        """The masks at an address; their origin is noted."""
        masks = self.shadow.load(self.g, space, address, t, count)
        for n, m in enumerate(masks):
            if m is not DEFINED:
                self.origin = np.maximum(self.origin, self.shadow.source(self.g, self.op.site, space, address, t, n, m))
        return masks


class CopyingPort(ShadowPort):
    """What is loaded and stored are masks."""

    def load(self, space: str, address: Any, type: str, count: int = 1) -> tuple[Array, ...]:
        if isinstance(address, ParameterOffset):
            return tuple(np.zeros_like(v) for v in self.g.load(space, address, type, count))
        self.brings = True
        t = TYPES[type]
        return tuple(as_value(m, t.dtype) for m in self.found(space, address, t, count))

    def store(self, space: str, address: Any, type: str, values: Sequence[Array]) -> None:
        masks = [normal(as_mask(v)) for v in values]
        source = self.origin
        if source is not DEFINED:  # bits that another lane has loaded come from where its own come from
            source = np.where(source != ZERO, source, source.max(keepdims=True))
        self.steps.put_in_memory(self.g, self.op, space, address, TYPES[type], masks, [source] * len(masks))

    def update(
        self, space: str, address: Value, type: str, change: Callable[..., Array], operands: Sequence[Array], *,
        shortcut: object = None, returns: bool = True,
    ) -> Array:  # fmt: skip
        """A reduction of what is copied; or an mbarrier hears of it."""
        t = TYPES[type]
        if change is not advance:
            for masks in ([as_mask(o) for o in operands], self.found(space, address, t, 1)):
                self.steps.uses.atomic(self.g, self.op.site, masks, self.origin)
            return super().update(space, address, type, change, operands, returns=returns)
        return np.zeros(self.geometry.shape if t.elements == 1 else (*self.geometry.shape, t.elements), t.dtype)


class UpdatingPort(ShadowPort):
    """An atomic operation: what it finds and what it is given must be defined; an exchange hands both on."""

    def __init__(self, g: Group, steps: Storing, op: Op, origin: Array, operands: Sequence[Mask], *, exchanges: bool) -> None:
        super().__init__(g, steps, op, origin)
        self.exchanges = exchanges
        self.given = operands

    def update(
        self, space: str, address: Value, type: str, change: Callable[..., Array], operands: Sequence[Array], *,
        shortcut: object = None, returns: bool = True,
    ) -> Array:  # fmt: skip
        t, given = TYPES[type], self.origin
        self.origin = DEFINED
        old = self.found(space, address, t, 1)
        if self.exchanges:
            self.brings = True
            new = [normal(as_mask(operands[0][..., n] if t.name == "b128" else operands[0])) for n in range(len(old))]
            self.steps.put_in_memory(self.g, self.op, space, address, t, new, [given & ~COMPUTED] * len(new))
            if t.name != "b128":
                return as_value(old[0], t.dtype)
            return np.stack(np.broadcast_arrays(*old), axis=-1)
        if self.given:
            self.steps.uses.atomic(self.g, self.op.site, self.given, given)
        if any(m is not DEFINED for m in old):
            self.steps.uses.atomic(self.g, self.op.site, old, self.origin)
        return super().update(space, address, type, change, operands, returns=returns)
