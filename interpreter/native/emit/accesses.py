"""Loads and stores of a pass: the address, its check, and the move of the data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE
from warplab.isa.types import ScalarType

from ...plan import plan as P
from ..trace.code import VectorCode
from ..trace.symbol import SymbolicArray, lift
from ..uniformity import UNIFORM, VARYING
from .memory import CALLED, SPACES
from .peers import WAVE, Peers
from .stack import narrow
from .values import Guard

_WINDOW_AT = 32  # the bit of a generic address from which on it says in which window it lies
Offset = int | str  # what is added to the addresses of all lanes: a constant, or the LLVM name of a value as wide as an address


class AccessPlace(NamedTuple):
    """Where an access goes, as arguments of the functions in texts.py."""

    base: str  # of the memory
    limits: str  # what the site of the access remembers of allocations, and where shared memory ends
    address: SymbolicArray  # of each lane

    @property
    def memory(self) -> str:
        """All but the addresses."""
        return f"ptr %ctx, {self.base}, {self.limits}"

    @property
    def addresses(self) -> str:
        """The addresses."""
        return f"{self.address.type} {self.address.value}"


class MemoryWay(NamedTuple):
    """The part of an access by generic addresses that means one memory."""

    space: str
    address: SymbolicArray  # of each lane, in that memory
    plus: Offset
    guard: Guard  # which lanes they are
    some: str | None  # the LLVM name of whether there are any; None: all of them mean it


class EmittedAccesses(Peers):
    """The part of an Emitter that touches memory."""

    rights = 0  # that the access at hand asks of its allocation, beside that to write

    def ld(self, op: P.Op, guard: Guard) -> None:
        """ld."""
        access = op.meaning.access
        assert access is not None
        space, t, n, place = space_of(op), access.type, access.elements, op.sources[0]
        if isinstance(place, P.ParameterPlace):
            self.assign(op.target, UNIFORM, tuple(self.parameter(place, e * t.bytes, t.dtype) for e in range(n)), guard)
            return
        kind, a = self.source(place)
        if guard is None and space == "global" and kind == UNIFORM:
            parts = self._load_one(a, t, n)
        else:
            address, plus = self._address(place, space)
            if access.space.startswith("param") and space == "generic":
                address = self.generic_parameter(address.astype(np.uint64))
            kind, parts = VARYING, self.load_lanes(space, address, plus, t, n, guard)
        self.assign(op.target, kind, parts, guard)

    def load_lanes(self, space: str, a: SymbolicArray, plus: Offset, t: ScalarType, n: int, guard: Guard) -> tuple[Any, ...]:
        """What n elements from an address of each lane on hold; `plus` is added to all addresses."""
        if space == "local":
            assert isinstance(plus, int)
            return tuple(self.from_stack(a + a.dtype.type(plus), t, e, n, guard) for e in range(n))
        bits, code = 8 * t.bytes, self.code
        if space == "generic":
            found = [f"<{self.width} x i{bits}> zeroinitializer"] * n
            for way in self.ways(a, plus, guard):
                found = self._loaded_there(way, t, found)
            return tuple(SymbolicArray(code, v.rpartition(" ")[2], np.dtype(f"u{t.bytes}")).view(t.dtype) for v in found)
        where = self._addressed(space, a, plus, t.bytes * n, guard)
        f = self.helpers.load(space, bits, n)
        return parts_of(code, code.fresh(f"call {result_type(bits, n, self.width)} @{f}({where}, {self.lanes(guard)}) {CALLED}"), t, n)

    def _loaded_there(self, way: MemoryWay, t: ScalarType, before: list[str]) -> list[str]:
        """What lanes hold once those of a memory have loaded their elements, as LLVM writes it; `before`: what they held."""
        vector = before[0].rpartition(" ")[0]

        def piece() -> list[str]:
            found = self.load_lanes(way.space, way.address, way.plus, t, len(before), way.guard)
            bits = [v.view(f"u{t.bytes}").value for v in found]
            if way.some is None:
                return bits
            mask = f"<{self.width} x i1> {self.mask(way.guard)}"
            return [self.code.emit(f"select {mask}, {vector} {v}, {b}") for v, b in zip(bits, before, strict=True)]

        if way.some is None:
            return [f"{vector} {v}" for v in piece()]
        kept = [b.rpartition(" ")[2] for b in before]
        return [f"{vector} {v}" for v in self.code.either(way.some, [piece, lambda: kept], [vector] * len(before))]

    def _load_one(self, a: SymbolicArray, t: ScalarType, n: int) -> tuple[Any, ...]:
        """The same from one address for all."""
        code, bits = self.once, 8 * t.bytes
        a = a.view(f"u{a.itemsize}").astype(np.uint64)
        one = code.emit(f"extractelement {a.type} {a.value}, i32 0")
        arguments = f"ptr %ctx, ptr %host.b, ptr {self._site(code)}, i64 {one}"
        return parts_of(code, code.fresh(f"call {result_type(bits, n, 1)} @{self.helpers.load_one(bits, n)}({arguments}) {CALLED}"), t, n)

    def st(self, op: P.Op, guard: Guard) -> None:
        """st."""
        access = op.meaning.access
        assert access is not None
        self.store_lanes(space_of(op), *self._address(op.sources[0], space_of(op)), access.type, self.source(op.sources[1])[1], guard)

    def store_lanes(self, space: str, a: SymbolicArray, plus: Offset, t: ScalarType, parts: Any, guard: Guard) -> None:
        """Each lane stores elements from its address on."""
        values = []
        for part in parts:
            v = lift(self.code, self.at(VARYING, part), part.dtype, self.width)
            v = v.astype("u1") if v.dtype.kind == "b" else v.view(f"u{v.itemsize}")
            v = v if v.itemsize == t.bytes else v.astype(f"u{t.bytes}")
            values.append(v)
        if space != "generic":
            self._put_bits(space, a, plus, t, values, guard)
            return
        for way in self.ways(a, plus, guard):
            put = partial(self._put_bits, way.space, way.address, way.plus, t, values, way.guard)
            if way.some is None:
                put()
            else:
                self.code.either(way.some, [put, list], [])

    def _put_bits(
        self, space: str, a: SymbolicArray, plus: Offset, t: ScalarType, values: Sequence[SymbolicArray], guard: Guard
    ) -> list[str]:
        if space == "local":
            assert isinstance(plus, int)
            for e, v in enumerate(values):
                self.to_stack(a + a.dtype.type(plus), t, e, len(values), v, guard)
            return []
        where = self._addressed(space, a, plus, t.bytes * len(values), guard)
        name = self.helpers.store(space, 8 * t.bytes, len(values))
        self.code.lines.append(
            f"  call void @{name}({where}, {self.lanes(guard)}, {', '.join(f'{v.type} {v.value}' for v in values)}) {CALLED}"
        )
        return []

    def _address(self, place: Any, space: str) -> tuple[SymbolicArray, Offset]:
        """A register's addresses, and what the instruction adds to them."""
        plus = 0
        if isinstance(place, P.AddressSource):
            plus, place = place.offset, place._replace(offset=0)
        inner = place.base if isinstance(place, P.AddressSource) else place
        if isinstance(inner, P.Pointer) and inner.offset and (inner is place or place.opaque):
            plus += inner.offset
            place = place._replace(base=inner._replace(offset=0)) if inner is not place else inner._replace(offset=0)
        a: SymbolicArray = self.source(place)[1]
        bits = {"global": 64, "shared": 32, "generic": 0 if self.windows else 64}.get(space)
        if a.value in self.sums and 8 * a.itemsize == bits:
            one, a = (v.view(f"u{v.itemsize}") for v in self.sums[a.value])  # the lanes lie to each other as without what is added to all
            total = one + one.dtype.type(plus & (1 << bits) - 1)
            return a, self.once.emit(f"extractelement {total.type} {total.value}, i32 0")
        return a.view(f"u{a.itemsize}"), plus & (1 << 8 * a.itemsize) - 1

    def _site(self, code: VectorCode) -> str:
        return code.emit(f"getelementptr i64, ptr %sites.b, i64 {3 * self.helpers.tables.site(self.rights)}")

    def _addressed(self, space: str, a: SymbolicArray, plus: Offset, size: int, guard: Guard) -> str:
        """The arguments of a load or store that say where: memory, a register's addresses, what is added, and how the addresses lie."""
        return self.in_place(self.place(space, a, size, guard, plus), plus, size, guard)

    def in_place(self, place: AccessPlace, plus: Offset, size: int, guard: Guard) -> str:
        """The same for a place."""
        bits = 8 * place.address.itemsize
        plus = plus & (1 << bits) - 1 if isinstance(plus, int) else plus
        return f"{place.memory}, {place.addresses}, i{bits} {plus}, i32 {self._arrangement(place.address, size, guard)}"

    def _arrangement(self, a: SymbolicArray, size: int, guard: Guard) -> str:
        """How the addresses of elements of a size lie: see KINDS in memory.py."""
        f = self.helpers.kind(8 * a.itemsize, size)
        return self.code.emit(f"call i32 @{f}({a.type} {a.value}, {self.lanes(guard)}) {CALLED}")

    def place(self, space: str, a: SymbolicArray, size: int, guard: Guard, plus: Offset = 0) -> AccessPlace:
        """Where an access of so many bytes of each lane goes; `plus` is added to all addresses later."""
        a = self.at(VARYING, a.view(f"u{a.itemsize}"))
        code, once = self.code, self.once
        if space == "global":
            return AccessPlace("ptr %host.b", f"ptr {self._site(code)}, i64 0", a.astype(np.uint64))
        if space == "cluster":
            assert isinstance(plus, int)
            return AccessPlace("ptr %shared.b", f"ptr {self._wave()}, i64 0", self.shared_of(a, plus, size))
        assert space == "shared", space
        start = code.emit(f"mul i64 {self.block()}, %shared_stride")
        base = code.emit(f"getelementptr i8, ptr %shared.b, i64 {start}")
        room = once.emit(f"sub i64 %shared_size, {size - 1}")
        none = once.emit(f"icmp slt i64 {room}, 0")
        limit = once.emit(f"select i1 {none}, i64 0, i64 {room}")
        limits = f"ptr {self._site(code)}, i64 0" if self.frame.shared_gaps else f"ptr null, i64 {limit}"
        return AccessPlace(f"ptr {base}", limits, narrow(a) if a.itemsize == 8 else a)

    def _wave(self) -> str:
        """What a site would remember of the shared memory of a wave."""
        once, wave = self.once, self.code.scratch("[2 x i64]", "wave")
        for n, word in enumerate((0, WAVE)):
            once.lines.append(f"  store i64 {word}, ptr {once.emit(f'getelementptr i64, ptr {wave}, i64 {n}')}, align 8")
        return wave

    # ------------------------------------------------------------ generic addresses

    @property
    def windows(self) -> dict[str, int]:
        """The memories that generic addresses of this function may mean beside global memory, and where their windows begin."""
        shared = {"cluster" if self.frame.clusters else "shared": SHARED_BASE} if self.frame.has_shared else {}
        return shared | ({"local": LOCAL_BASE} if self.frame.stack else {})

    def ways(self, a: SymbolicArray, plus: Offset, guard: Guard, but: str = "") -> list[MemoryWay]:
        """The memories that generic addresses may mean, one after the other, each with the lanes that mean it; `but`: one that may not be meant."""
        windows = {space: base for space, base in self.windows.items() if space != but}
        if not windows:
            return [MemoryWay("global", a, plus, guard, None)]
        assert isinstance(plus, int)  # see _address
        a = self.at(VARYING, a.view(f"u{a.itemsize}").astype(np.uint64))
        window = ((a + np.uint64(plus)) >> np.uint64(_WINDOW_AT)).astype(np.uint32)
        active = None if guard is None else self.at(VARYING, guard[1])
        out, rest = list[MemoryWay](), active
        for space, base in windows.items():
            here = window == np.uint32(base >> _WINDOW_AT)
            rest = ~here if rest is None else rest & ~here
            into = VARYING, here if active is None else here & active
            out.append(MemoryWay(space, a.astype(np.uint32), plus & 0xFFFFFFFF, into, self._some(into)))
        assert rest is not None
        others = VARYING, rest
        return [*out, MemoryWay("global", a, plus, others, self._some(others))]

    def _some(self, guard: Guard) -> str:
        """Does any lane take part?"""
        return self.code.emit(f"icmp ne {self.lanes(guard)}, 0")


def result_type(bits: int, elements: int, width: int) -> str:
    one = f"<{width} x i{bits}>"
    return one if elements == 1 else "{" + ", ".join([one] * elements) + "}"


def parts_of(code: VectorCode, result: str, t: ScalarType, n: int) -> tuple[Any, ...]:
    values = [result] if n == 1 else [code.emit(f"extractvalue {result_type(8 * t.bytes, n, code.width)} {result}, {e}") for e in range(n)]
    return tuple(SymbolicArray(code, v, np.dtype(f"u{t.bytes}")).view(t.dtype) for v in values)


def reached(space: str) -> tuple[str, ...]:
    """The memories that an access to a space may reach."""
    return ("global", "shared", "local") if space == "generic" else ("shared",) if space == "cluster" else (space,)


def space_of(op: P.Op) -> str:
    """The memory that a load, store or update reaches; parameters of called functions lie on the stack."""
    if op.meaning.access is None:
        return SPACES.get(str(op.meaning.settled.get("ss", "generic")), "")
    match op.sources[0]:
        case P.FramePlace():
            return "local"
        case P.ParameterPlace():
            return "param"
    return SPACES[op.meaning.access.space]


def reads_constants(op: P.Op) -> bool:
    """Does a load reach what nobody writes while a launch runs?"""
    return isinstance(op.sources[0], P.ParameterPlace) or (op.meaning.access is not None and op.meaning.access.space == "const")


def compiled(op: P.Op) -> bool:
    """Is an access one of those that are compiled?"""
    access, place = op.meaning.access, op.sources[0]
    known = isinstance(place, P.ParameterPlace | P.FramePlace) or (access is not None and access.space in SPACES)
    return access is not None and access.type.elements == 1 and known
