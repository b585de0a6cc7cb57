"""One segment of a region: its operations on the region's local variables.

An address that grows by the same amount in all lanes is a base of each lane and one offset for all, so that a step of a loop adds one number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from warplab.isa.types import ScalarType

from ...plan import plan as P
from ..frame import Frame
from ..trace.code import Untraceable, VectorCode
from ..trace.rules import hardware_nan
from ..trace.symbol import SymbolicArray
from ..trace.ufuncs import select
from ..uniformity import UNIFORM, VARYING, Kinds, kind_in
from .accesses import Offset, parts_of, result_type
from .emitter import Emitter
from .memory import CALLED, Helpers
from .values import Guard
from .windows import windowed


class Variables(Protocol):
    """The local variables of a region."""

    frame: Frame
    helpers: Helpers
    diverges: bool  # do lanes?
    raws: frozenset[int]  # the registers that are also kept with any NaNs
    bases: dict[int, set[int]]  # the registers that are kept as a base and an offset

    def variable(self, slot: int, kind: int) -> tuple[str, str]:
        """The variable of a register that is of a kind, and its type; of a base."""

    def raw(self, slot: int, kind: int) -> str:
        """The variable of the same numbers as a register's, with any NaNs."""

    def plain(self, slot: int) -> str:
        """Where lanes diverge, such numbers alone are kept: the variable of the lanes in which they are the register's bits."""

    def offset(self, slot: int) -> tuple[str, str]:
        """The variable of what has been added to a base in all lanes, and its type."""

    def arrangement(self, slot: int, size: int) -> str:
        """The variable of how a base lies for elements of a size."""

    def window(self, slot: int) -> str:
        """The variable of the window of the next load from a base."""


def bases_of(ops: Sequence[P.Op]) -> dict[int, set[int]]:
    """The registers that grow, kept as a base of each lane and one offset for all; with the sizes of what is loaded from there."""
    bases: dict[int, set[int]] = {op.target: set() for op in ops if isinstance(op.target, int) and step_of(op) is not None}
    for op in ops:
        if op.how == "load" and op.meaning.access is not None:
            slot = address_slot(op.sources[0])
            if slot in bases:
                bases[slot].add(op.meaning.access.type.bytes * op.meaning.access.elements)
    return bases


def raws_of(ops: Sequence[P.Op], dtypes: Mapping[int, np.dtype[Any]]) -> frozenset[int]:
    """The registers of floats that are computed with: a loop goes on with any NaNs there, and only what leaves it has the hardware's one."""
    computed = [op.target for op in ops if op.how == "pure" and isinstance(op.target, int) and op.meaning.form.facts.flops]
    return frozenset(slot for slot in computed if dtypes[slot].kind == "f" and dtypes[slot].itemsize < 8)


def step_of(op: P.Op) -> tuple[int, P.Source] | None:
    """What an operation adds to the address in its target's register: a constant, and an operand; None where it does something else."""
    if op.how == "pointer" and op.guard is None and len(op.sources) == 2:
        for own, other in (op.sources, op.sources[::-1]):
            if isinstance(own, P.Pointer) and own.slot == op.target:
                return own.offset, other
    return None


def address_slot(place: Any) -> int | None:
    """The register that an address is taken from as it is."""
    if isinstance(place, P.AddressSource) and place.opaque and isinstance(place.base, P.Pointer):
        return place.base.slot
    return place.slot if isinstance(place, P.Pointer) else None


class RegionSegment(Emitter):
    """Emits the operations of one segment of a region."""

    def __init__(self, region: Variables, kinds: Kinds, name: str) -> None:
        super().__init__(region.frame, kinds, region.helpers, name)
        self.region = region
        self.offsets: dict[int, SymbolicArray] = {}  # what has been added to each base so far
        self.plains: dict[str, str] = {}  # of values with any NaNs: the masks of the lanes that have their bits
        self.based: dict[str, int] = {}  # the registers of bases, by their LLVM names
        self.once, self.code = VectorCode(1, self.module, f"s{name}."), VectorCode(self.width, self.module, f"v{name}.")

    def _loaded(self, slot: int) -> tuple[int, SymbolicArray]:
        if slot in self.frame.constants:
            return super()._loaded(slot)
        kind = kind_in(self.kinds, slot)
        name, t = self.region.variable(slot, kind)
        code, dtype = self.code_of(kind), self.frame.dtypes[slot]
        found = SymbolicArray(code, code.emit(f"load {t}, ptr {name}, align 64"), dtype)
        if slot not in self.region.raws or (self.region.diverges and kind == UNIFORM):
            return kind, found
        if not self.region.diverges:
            found.raw = SymbolicArray(code, code.emit(f"load {t}, ptr {self.region.raw(slot, kind)}, align 64"), dtype)
            return kind, found
        lanes = code.emit(f"load i{self.width}, ptr {self.region.plain(slot)}, align 4")
        mask = SymbolicArray(code, code.emit(f"bitcast i{self.width} {lanes} to <{self.width} x i1>"), "?")
        exact = select(mask, found, hardware_nan(code, found))
        exact.raw, self.plains[exact.value] = found, lanes
        return kind, exact

    # ------------------------------------------------------------ bases and offsets

    def value(self, slot: int) -> tuple[int, Any]:
        """See Values; the sum of a base and its offset."""
        if not self._is_based(slot):
            return super().value(slot)
        _, base = self._loaded(slot)
        return VARYING, base + self.at(VARYING, self._offset(slot))

    def _is_based(self, slot: int) -> bool:
        return slot in self.region.bases and slot not in self.values and kind_in(self.kinds, slot) == VARYING

    def _offset(self, slot: int) -> SymbolicArray:
        if slot not in self.offsets:
            name, t = self.region.offset(slot)
            self.offsets[slot] = SymbolicArray(self.once, self.once.emit(f"load {t}, ptr {name}, align 8"), self.frame.dtypes[slot])
        return self.offsets[slot]

    def offset_stored(self, slot: int) -> str:
        """The line that stores what has been added."""
        name, t = self.region.offset(slot)
        return f"  store {t} {self.offsets[slot].value}, ptr {name}, align 8"

    def _hand_on(self, op: P.Op, guard: Any) -> None:
        step = step_of(op)
        if step is not None and isinstance(op.target, int) and self._is_based(op.target):
            kind, by = self.source(step[1])
            if kind == UNIFORM:
                offset = self._offset(op.target)
                self.offsets[op.target] = offset + by.view(offset.dtype) + offset.dtype.type(step[0] & (1 << 8 * offset.itemsize) - 1)
                return
        super()._hand_on(op, guard)

    def _address(self, place: Any, space: str) -> tuple[SymbolicArray, Offset]:
        slot = address_slot(place)
        if slot is None or not self._is_based(slot) or space == "local" or (space == "generic" and self.frame.stack):
            return super()._address(place, space)
        offset = self._offset(slot)
        plus = offset + offset.dtype.type(place.offset & (1 << 8 * offset.itemsize) - 1)
        base = self._loaded(slot)[1].view(f"u{offset.itemsize}")
        self.based[base.value] = slot
        return base, self.once.emit(f"extractelement {plus.type} {plus.value}, i32 0")

    def _arrangement(self, a: SymbolicArray, size: int, guard: Guard) -> str:
        slot = self.based.get(a.value)
        if slot is None or a.itemsize != self.frame.dtypes[slot].itemsize:
            return super()._arrangement(a, size, guard)
        return self.code.emit(f"load i32, ptr {self.region.arrangement(slot, size)}, align 4")

    def load_lanes(self, space: str, a: SymbolicArray, plus: Offset, t: ScalarType, n: int, guard: Guard) -> tuple[Any, ...]:
        """See EmittedAccesses; from a base by a window."""
        slot, code = self.based.get(a.value), self.code
        if slot is None or guard is not None or n > 1 or space not in ("global", "shared") or a.itemsize != (4 if space == "shared" else 8):
            return super().load_lanes(space, a, plus, t, n, guard)
        where = f"ptr {self.region.window(slot)}, {self._addressed(space, a, plus, t.bytes, guard)}, {self.lanes(guard)}"
        f = windowed(self.helpers, space, 8 * t.bytes)
        return parts_of(code, code.fresh(f"call {result_type(8 * t.bytes, 1, self.width)} @{f}({where}) {CALLED}"), t, 1)

    def kept(self, slot: int, kind: int) -> SymbolicArray:
        """A register as a variable of a kind holds it."""
        dtype, (_, value) = self.frame.dtypes[slot], self.value(slot)
        if not isinstance(value, SymbolicArray) or value.itemsize != dtype.itemsize or (value.dtype.kind == "b") != (dtype.kind == "b"):
            raise Untraceable("a value of another size, or factors, that outlive their segment")
        v: SymbolicArray = self.at(kind, value)
        return v if v.dtype == dtype else v.view(dtype)
