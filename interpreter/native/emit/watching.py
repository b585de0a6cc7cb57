"""Accesses of code that is to prove something of its launch (proving/): their lanes claim memory, and look whether shared memory is set.

Memory is claimed in units: words, or as many bytes as the narrowest access moves.  The claim of a unit is 0, or says which thread has accessed it and
whether that wrote, or that several have read it, or that threads have updated it atomically.  A claim that clashes with another one fails as an illegal
access does: the launch is not proved.  Claims lie as their memory does.  Behind shared memory lies a mark for each byte that is set, and behind the marks
the claims of its units, which count until the block comes to its next barrier.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, Literal

import numpy as np

from warplab.isa.types import TYPES

from ...plan import plan as P
from ..trace.symbol import SymbolicArray, lift
from ..uniformity import VARYING
from .accesses import AccessPlace, EmittedAccesses, Offset, parts_of, result_type, space_of
from .memory import CALLED
from .stack import narrow
from .values import Guard
from .watch import CLAIM

INTERVAL_AT = 12  # bits of a claim in shared memory that say who claims
WROTE = 1  # the bit of a claim that says that its thread has written
MANY_OF_BLOCK, MANY = (1 << INTERVAL_AT) - 2, (1 << 32) - 2  # several have read
ALL_LANES = np.uint32(0xFFFFFFFF)


class WatchedAccesses(EmittedAccesses):
    """The part of an Emitter that accesses memory, and looks at it where that is wanted."""

    def ld(self, op: P.Op, guard: Guard) -> None:
        """See EmittedAccesses."""
        self._watch(op, guard, write=False)
        super().ld(op, guard)

    def st(self, op: P.Op, guard: Guard) -> None:
        """See EmittedAccesses: what is not claimed is not stored."""
        self._watch(op, guard, write=True)
        super().st(op, guard)

    def _watch(self, op: P.Op, guard: Guard, *, write: bool) -> None:
        """Looks at an access that is about to happen, if something is to be proved."""
        access, watch = op.meaning.access, self.helpers.watch
        if watch is None or access is None or isinstance(op.sources[0], P.ParameterPlace):
            return
        self.rights, space = watch.rights.get(id(op), 0), space_of(op)
        if space == "shared":
            self._look_at_marks(*self._address(op.sources[0], space), access.type.bytes, access.elements, guard, write=write)
        if id(op) in watch.claiming:
            self._claim(space, op.sources[0], access.type.bytes * access.elements, guard, "store" if write else "load")

    def watch_update(self, op: P.Op, guard: Guard) -> None:
        """Looks at an atomic update that is about to happen, if something is to be proved."""
        watch = self.helpers.watch
        if watch is None or id(op) not in watch.claiming:
            return
        self.rights, size, space = watch.rights.get(id(op), 0), TYPES[str(op.meaning.settled["type"])].bytes, space_of(op)
        if space == "shared":
            self._look_at_marks(*self._address(op.sources[0], space), size, 1, guard, write=False)
        self._claim(space, op.sources[0], size, guard, "update")

    def look_for_missing_lanes(self, op: P.Op, guard: Guard) -> None:
        """What lanes exchange is known if all of them take part, and the last operand, where it names the members, names all."""
        watch, w = self.helpers.watch, self.width
        if watch is None:
            return
        self.refuse(self.code.fresh(f"xor i{w} {self.lanes(guard).partition(' ')[2]}, -1"))
        if id(op) in watch.naming:
            members: Any = self.at(VARYING, self.source(op.sources[-1])[1])
            self._refuse_lanes(lift(self.code, members, np.dtype(np.uint32), w) != ALL_LANES, guard)

    def refuse(self, lanes: str) -> None:
        """See warp.Warp."""
        raise NotImplementedError

    def _refuse_lanes(self, bad: SymbolicArray, guard: Guard) -> None:
        """The access fails where a condition holds for a lane that takes part."""
        code, w = self.code, self.width
        taking = code.emit(f"and <{w} x i1> {bad.value}, {self.mask(guard)}")
        self.refuse(code.emit(f"bitcast <{w} x i1> {taking} to i{w}"))

    # ------------------------------------------------------------ marks

    def _look_at_marks(self, a: SymbolicArray, plus: Offset, bytes: int, elements: int, guard: Guard, *, write: bool) -> None:
        """What is stored is set; what is loaded ought to be."""
        code, set_all = self.code, (1 << 8 * bytes) - 1
        place = self.place("shared", a, bytes * elements, guard, plus)
        where = place._replace(base=f"ptr {self.code.emit(f'getelementptr i8, {place.base}, i64 %shared_part')}")
        dtype = np.dtype(f"u{bytes}")
        if write:
            self._store("shared", where, plus, [lift(code, dtype.type(set_all), dtype, self.width)] * elements, guard)
            return
        for part in self._load("shared", where, plus, dtype, elements, guard):
            self._refuse_lanes(part != dtype.type(set_all), guard)

    def _load(self, space: str, place: AccessPlace, plus: Offset, dtype: np.dtype[Any], elements: int, guard: Guard) -> list[Any]:
        bits = 8 * dtype.itemsize
        where = f"{self.in_place(place, plus, dtype.itemsize * elements, guard)}, {self.lanes(guard)}"
        result = result_type(bits, elements, self.width)
        found = self.code.fresh(f"call {result} @{self.helpers.load(space, bits, elements)}({where}) {CALLED}")
        return list(parts_of(self.code, found, TYPES[f"u{bits}"], elements))

    def _store(self, space: str, place: AccessPlace, plus: Offset, values: list[Any], guard: Guard) -> None:
        bits = 8 * values[0].itemsize
        where = f"{self.in_place(place, plus, values[0].itemsize * len(values), guard)}, {self.lanes(guard)}"
        given = ", ".join(f"{v.type} {v.value}" for v in values)
        self.code.lines.append(f"  call void @{self.helpers.store(space, bits, len(values))}({where}, {given}) {CALLED}")

    # ------------------------------------------------------------ claims

    def _claim(self, space: str, place_of: Any, size: int, guard: Guard, how: Literal["load", "store", "update"]) -> None:
        """Each lane claims the units that it accesses; what several update belongs to nobody."""
        assert self.helpers.watch is not None
        n = size // self.helpers.watch.unit
        place = self._place_of_claims(space, *self._address(place_of, space), CLAIM * n)
        mine, floor, many = self._claimant(space)
        claim = np.dtype(f"u{CLAIM}")
        claims, updated = list[Any](), many - np.uint32(1)
        for old in self._load("claims", place, 0, claim, n, guard):
            strange = (old >= floor) & ((old != updated) if how == "update" else (old & np.uint32(0xFFFFFFFF - WROTE)) != mine)
            self._refuse_lanes(strange & ((old & np.uint32(WROTE)) != np.uint32(0)) if how == "load" else strange, guard)
            read = np.where(strange, many, np.where(old < floor, mine, old))
            claims.append(read if how == "load" else mine | np.uint32(WROTE) if how == "store" else updated)
        self._store("claims", place, 0, claims, guard)
        if how == "update":
            return
        found = self._load("claims", place, 0, claim, n, guard)
        met = functools.reduce(operator.or_, [now != mine for now, mine in zip(found, claims, strict=True)])  # lanes at one unit
        if how == "store":
            self._refuse_lanes(met, guard)
        else:
            self._store("claims", place, 0, [many] * n, (VARYING, met if guard is None else met & self.at(VARYING, guard[1])))

    def _place_of_claims(self, space: str, a: SymbolicArray, plus: Offset, bytes: int) -> AccessPlace:
        """Where the claims of what lanes access lie, so many bytes for each lane; an address that is illegal has some, too, or none."""
        assert self.helpers.watch is not None
        code, once, each = self.code, self.once, CLAIM // self.helpers.watch.unit
        a = self._sum(self.at(VARYING, a.view(f"u{a.itemsize}")), plus)
        if space == "shared":
            before = code.emit(f"mul i64 {self.block()}, {once.emit(f'mul i64 %shared_stride, {each}')}")
            start = code.emit(f"add i64 {once.emit('shl i64 %shared_part, 1')}, {before}")
            base, size = code.emit(f"getelementptr i8, ptr %shared.b, i64 {start}"), once.emit(f"mul i64 %shared_size, {each}")
            address = (narrow(a) if a.itemsize == 8 else a) * np.uint32(each)
        else:
            base, size = "%claims.b", "%claims_size"
            address = narrow((a.astype(np.uint64) - self._in_all("%claims_from", 64)) * np.uint64(each))
        room = once.emit(f"sub i64 {size}, {bytes - 1}")
        limit = once.emit(f"select i1 {once.emit(f'icmp slt i64 {room}, 0')}, i64 0, i64 {room}")
        return AccessPlace(f"ptr {base}", f"ptr null, i64 {limit}", address)

    def _sum(self, a: Any, plus: Offset) -> Any:
        """Addresses, with what is added to all of them."""
        bits = 8 * a.itemsize
        return a + (self._in_all(plus, bits) if isinstance(plus, str) else a.dtype.type(plus & (1 << bits) - 1))

    def _claimant(self, space: str) -> tuple[Any, Any, Any]:
        """What each lane writes into a claim, the least claim that counts, and the one of several that read."""
        code, once, floor, many = self.code, self.once, "1", str(MANY)
        who = self.first_thread()
        if space == "shared":
            floor = once.emit(f"shl i64 %interval, {INTERVAL_AT}")
            many = once.emit(f"or i64 {floor}, {MANY_OF_BLOCK}")
            first = code.emit(f"add i64 {code.emit(f'shl i64 {who}, 1')}, {floor}")
        else:
            block = code.emit(f"add i64 {self.block()}, %first_block")
            before = code.emit(f"add i64 {code.emit(f'mul i64 {block}, %block_lanes')}, %first_claim")
            first = code.emit(f"shl i64 {code.emit(f'add i64 {before}, {who}')}, 1")
        w = self.width
        lanes = lift(code, np.arange(2, 2 * w + 2, 2), np.dtype(np.uint32), w)
        return (self._lower(first) + lanes, *(self._lower(x) for x in (floor, many)))

    def _lower(self, number: str) -> Any:
        """The lower half of a number of 64 bits in all lanes."""
        return self._in_all(self.code.emit(f"trunc i64 {number} to i32"), 32)

    def _in_all(self, number: str, bits: int) -> Any:
        """A number of so many bits in all lanes."""
        dtype = np.dtype(f"u{bits // 8}")
        one = self.code.emit(f"insertelement <1 x i{bits}> poison, i{bits} {number}, i32 0")
        return lift(self.code, SymbolicArray(self.code, one, dtype, 1), dtype, self.width)
