"""What a meaning that works on memory sees in place of its group: ports of isa.ports.Lanes that care for the shadow of memory.

Through most of them it works on memory, too, and they note what is written as defined, or look at what an atomic operation works with.
A CopyingPort alone has masks in place of values: a copy is made twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from warplab.isa.ops.mbarrier import advance
from warplab.isa.ports import Shortcut
from warplab.isa.types import TYPES, ScalarType

from ...plan.plan import Op
from ...values import ParameterOffset, Value
from ...vector.group import Group
from .masks import DEFINED, ZERO, Array, Mask, as_mask, as_value, normal
from .memory import WaveShadow
from .uses import UnsetUses


class Storing(Protocol):
    """Who looks at undefined bits that go to memory."""

    uses: UnsetUses

    def put_in_memory(
        self, g: Group, op: Op, space: str, address: Any, t: ScalarType, masks: Sequence[Mask], sources: Sequence[Array]
    ) -> None:
        """Stores masks."""


class ShadowPort:
    """The lanes of a group, before the shadow of its memory; for all else the group itself."""

    def __init__(self, g: Group, accesses: Storing, op: Op, origin: Array) -> None:
        self.g = g
        self.accesses = accesses
        self.op = op
        self.origin = origin  # of the undefined bits among the operands, then of what comes from memory
        self.shadow: WaveShadow = g.wave.shadow

    def __getattr__(self, name: str) -> Any:
        """See ports.Lanes."""
        return getattr(self.g, name)

    def of(self, g: Any) -> Any:
        """The same for other lanes."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, g=g)
        return other

    def later(self, work: Callable[[Any], Any], **when: Any) -> None:
        """See ports.CopyingLanes."""
        self.g.later(lambda lanes: work(self.of(lanes)), **when)

    def rows(self) -> Any:
        """See ports.CopyingLanes."""
        return self.of(self.g.rows())

    def among(self, chosen: Array | None, columns: int) -> Any:
        """See ports.Rows."""
        rows: Any = self.g
        return self.of(rows.among(chosen, columns))

    def found(self, space: str, address: Any, t: ScalarType, count: int) -> tuple[Mask, ...]:
        """The masks at an address; their origin is noted."""
        masks = self.shadow.load(self.g, space, address, t, count)
        for n, m in enumerate(masks):
            if m is not DEFINED:
                self.origin = np.maximum(self.origin, self.shadow.source(self.g, self.op.site, space, address, t, n, m))
        return masks


class DefiningPort(ShadowPort):
    """What is stored is defined."""

    def store(self, space: str, address: Any, type: str, values: Sequence[Array]) -> None:
        """See ports.Lanes."""
        self.shadow.store(self.g, space, address, TYPES[type], [DEFINED] * len(values))
        self.g.store(space, address, type, values)

    def update(
        self, space: str, address: Value, type: str, change: Callable[..., Array], operands: Sequence[Array], *,
        shortcut: Shortcut | None = None, returns: bool = True,
    ) -> Array:  # fmt: skip
        """See ports.Lanes."""
        self.shadow.store(self.g, space, address, TYPES[type], [DEFINED] * halves(TYPES[type]))
        return self.g.update(space, address, type, change, operands, shortcut=shortcut, returns=returns)


class UpdatingPort(DefiningPort):
    """An atomic operation: what it finds and what it is given must be defined."""

    def __init__(self, g: Group, accesses: Storing, op: Op, origin: Array, operands: Sequence[Mask]) -> None:
        super().__init__(g, accesses, op, origin)
        self.operands = operands

    def update(
        self, space: str, address: Value, type: str, change: Callable[..., Array], operands: Sequence[Array], *,
        shortcut: Shortcut | None = None, returns: bool = True,
    ) -> Array:  # fmt: skip
        if self.operands:
            self.accesses.uses.atomic(self.g, self.op.site, self.operands, self.origin)
        self.origin = DEFINED
        old = self.found(space, address, TYPES[type], 1)
        self.accesses.uses.atomic(self.g, self.op.site, old, self.origin)
        return super().update(space, address, type, change, operands, shortcut=shortcut, returns=returns)


class ExchangingPort(ShadowPort):
    """An exchange hands on what it finds and what it is given."""

    def __init__(self, g: Group, accesses: Storing, op: Op, origin: Array, operand: Sequence[Mask]) -> None:
        super().__init__(g, accesses, op, origin)
        self.operand = operand
        self.old: tuple[Mask, ...] = ()

    def update(
        self, space: str, address: Value, type: str, change: Callable[..., Array], operands: Sequence[Array], *,
        shortcut: Shortcut | None = None, returns: bool = True,
    ) -> Array:  # fmt: skip
        """See ports.Lanes."""
        given, self.origin = self.origin, DEFINED
        self.old = self.found(space, address, TYPES[type], 1)
        masks = self.operand[: len(self.old)]
        self.accesses.put_in_memory(self.g, self.op, space, address, TYPES[type], masks, [given] * len(masks))
        return self.g.update(space, address, type, change, operands, shortcut=shortcut, returns=returns)


class CopyingPort(ShadowPort):
    """What is loaded and stored are masks, beside what happens to the values."""

    brings = False  # was anything loaded?

    def load(self, space: str, address: Any, type: str, count: int = 1) -> tuple[Array, ...]:
        """See ports.Lanes."""
        if isinstance(address, ParameterOffset):
            return tuple(np.zeros_like(v) for v in self.g.load(space, address, type, count))
        self.brings = True
        t = TYPES[type]
        return tuple(as_value(m, t.dtype) for m in self.found(space, address, t, count))

    def store(self, space: str, address: Any, type: str, values: Sequence[Array]) -> None:
        """See ports.Lanes."""
        masks = [normal(as_mask(v)) for v in values]
        source = self.origin
        if source is not DEFINED:  # bits that another lane has loaded come from where its own come from
            source = np.where(source != ZERO, source, source.max(keepdims=True))
        self.accesses.put_in_memory(self.g, self.op, space, address, TYPES[type], masks, [source] * len(masks))

    def update(
        self, space: str, address: Value, type: str, change: Callable[..., Array], operands: Sequence[Array], *,
        shortcut: Shortcut | None = None, returns: bool = True,
    ) -> Array:  # fmt: skip
        """A reduction of what is copied; or an mbarrier hears of it."""
        t, shape = TYPES[type], self.g.geometry.shape
        if change is not advance:
            for masks in ([as_mask(o) for o in operands], self.found(space, address, t, 1)):
                self.accesses.uses.atomic(self.g, self.op.site, masks, self.origin)
            self.shadow.store(self.g, space, address, t, [DEFINED] * halves(t))
        return np.zeros(shape if t.elements == 1 else (*shape, t.elements), t.dtype)

    def mbarrier(self, what: str, space: str, address: Any, *amounts: Array) -> None:
        """See ports.Lanes: the group itself has said so."""

    def refuse(self, kind: str, text: str, lanes: Array, space: str = "tensor") -> None:
        """See ports.Lanes; what is wrong with an mbarrier the group itself sees, which alone knows its word."""
        if kind != "mbarrier-overflow":
            self.g.refuse(kind, text, lanes, space)

    def later(self, work: Callable[[Any], Any], **when: Any) -> None:
        """See ports.CopyingLanes: masks are copied at once."""
        write = work(self)
        if write is not None:
            write()

    def close_group(self, group: str) -> None:
        """See ports.CopyingLanes: the group itself has closed it."""

    def wait_groups(self, group: str, most: int, *, read: bool = False) -> None:
        """See ports.CopyingLanes: the group itself waits."""

    def settle(self, space: str, address: Array) -> None:
        """See ports.CopyingLanes: the group itself has looked."""

    def pause(self) -> None:
        """See ports.Lanes: the group itself has paused."""


def halves(t: ScalarType) -> int:
    """How many numbers hold one element in memory."""
    return 2 if t.name == "b128" else 1
