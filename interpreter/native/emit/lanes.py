"""What meanings that know their lanes ask of compiled code: atomic updates, conversions of addresses, special registers (isa.ports.Lanes)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from warplab.isa.spaces import WINDOW_SIZE, window_of
from warplab.isa.types import TYPES, ScalarType

from ...memory.arena import NAMED
from ...vector.group import PAUSE_TURNS
from ..schedule.layout import WaveRecord
from ..trace.code import Untraceable, VectorCode, scalar_type
from ..trace.symbol import SymbolicArray, lift
from ..uniformity import VARYING
from .accesses import AccessPlace, MemoryWay, reached
from .combining import combining
from .memory import CALLED, INLINED, SPACES
from .values import Guard
from .watching import WatchedAccesses

BESIDE = f"getelementptr i64, ptr %ctx, i64 {WaveRecord.place('beside')}"
STATUS = "load i64, ptr %ctx, align 8"  # zero until something was not plainly legal
# Updates for which the host has an instruction.
ATOMIC: dict[Any, str] = {
    np.add: "add",
    np.bitwise_and: "and",
    np.bitwise_or: "or",
    np.bitwise_xor: "xor",
    np.minimum: "min",
    np.maximum: "max",
}


class CompiledLanes(WatchedAccesses):
    """The part of an Emitter that stands for a group of lanes."""

    loops = 0  # of updates, in this pass
    guard: Guard = None  # of the operation
    refuses = False  # does the operation look at what an update has found, and may take it back?
    _undo: Sequence[str] = ()  # what takes the last update back
    ending: tuple[str, ...] = ()  # what is done when the pass ends, also where it fails
    touched: frozenset[tuple[str, bool]] = frozenset()  # memory that operations with a meaning of their own load (False) or store (True)

    @property
    def active(self) -> SymbolicArray | None:
        """See ports.Lanes."""
        return None if self.guard is None else self.at(VARYING, self.guard[1])

    @contextmanager
    def only(self, lanes: SymbolicArray) -> Iterator[None]:
        """See ports.Lanes."""
        before, mask = self.guard, self.at(VARYING, lanes)
        self.guard = VARYING, mask if self.active is None else mask & self.active
        try:
            yield
        finally:
            self.guard = before

    def load(self, space: str, address: SymbolicArray, type: str, count: int = 1) -> tuple[Any, ...]:
        """See ports.Lanes."""
        found = self.load_lanes(self._touch(space, False), address.view(f"u{address.itemsize}"), 0, TYPES[type], count, self.guard)
        active = self.active  # other lanes have what a gather, or a load of one address, finds for them
        return found if active is None else tuple(np.where(active, v, v.dtype.type(0)) for v in found)

    def store(self, space: str, address: SymbolicArray, type: str, values: Sequence[Any]) -> None:
        """See ports.Lanes."""
        self.store_lanes(self._touch(space, True), address.view(f"u{address.itemsize}"), 0, TYPES[type], values, self.guard)

    def _touch(self, space: str, write: bool) -> str:
        memories = reached(SPACES.get(space, ""))
        if space not in SPACES or self.loops or any((memory, not write) in self.touched for memory in memories):
            raise Untraceable(f"{space} memory, perhaps both read and written")
        self.touched |= {(memory, write) for memory in memories}
        return SPACES[space]

    def later(
        self, work: Callable[..., Any], *, group: str = "", barrier: tuple[str, Any] | None = None, after: str = ""
    ) -> None:  # fmt: skip
        """See ports.CopyingLanes: without a schedule, now."""
        if work(self) is not None:
            raise Untraceable("a copy that reads now and writes later")

    def close_group(self, group: str) -> None:
        """See ports.CopyingLanes."""

    def wait_groups(self, group: str, most: int, *, read: bool = False) -> None:
        """See ports.CopyingLanes: no copy is under way."""

    def pause(self) -> None:
        """See ports.Lanes."""
        p = self.once.emit(f"getelementptr i64, ptr %ctx, i64 {WaveRecord.place('running.turns')}")
        turns = self.once.fresh(f"add i64 {self.once.fresh(f'load i64, ptr {p}, align 8')}, {PAUSE_TURNS}")
        self.once.lines.append(f"  store i64 {turns}, ptr {p}, align 8")

    def pause_where(self, holds: SymbolicArray) -> None:
        """A pause where a condition holds for a lane that executes; it counts once for the group."""
        code, w = self.code, self.width
        asking = code.emit(f"and <{w} x i1> {self.at(VARYING, holds).value}, {self.mask(self.guard)}")
        some = code.fresh(f"icmp ne i{w} {code.fresh(f'bitcast <{w} x i1> {asking} to i{w}')}, 0")
        room = code.scratch("i1", "paused")
        self.once.lines.append(f"  store i1 false, ptr {room}")
        before = code.fresh(f"load i1, ptr {room}")
        turns = code.fresh(f"select i1 {before}, i64 0, i64 {PAUSE_TURNS}")
        turns = code.fresh(f"select i1 {some}, i64 {turns}, i64 0")
        p = self.once.emit(f"getelementptr i64, ptr %ctx, i64 {WaveRecord.place('running.turns')}")
        now = code.fresh(f"add i64 {code.fresh(f'load i64, ptr {p}, align 8')}, {turns}")
        paused = code.fresh(f"or i1 {before}, {some}")
        code.lines += [f"  store i64 {now}, ptr {p}, align 8", f"  store i1 {paused}, ptr {room}"]

    def mbarrier(self, what: str, space: str, address: Any, *amounts: Any) -> None:
        """See ports.Lanes: nobody observes, but its counts are looked at."""
        self.refuses = True

    def settle(self, space: str, address: Any) -> None:
        """See ports.CopyingLanes: no copy is under way."""

    def convert(self, address: Any, space: str, to_generic: bool) -> Any:
        """See ports.Lanes."""
        if to_generic and space in ("param", "param::entry") and address.itemsize == 8:
            return self.generic_parameter(address)
        base = address.dtype.type(window_of(space))
        return (address + base if to_generic else address - base) if base else address

    def space_of(self, address: Any, space: str) -> Any:
        """See ports.Lanes."""
        if space == "global":  # kernel parameters count as global, constants do not
            return ~(self.space_of(address, "shared::cluster") | self.space_of(address, "local") | self.space_of(address, "const"))
        base = window_of(space)
        if not base:
            a = self.at(VARYING, lift(address.code, address, np.dtype(np.uint64), address.lanes))
            kind = list(NAMED).index("const" if space == "const" else "param")
            found = self.code.emit(f"call i{self.width} @{self.helpers.lies_in()}(ptr %ctx, {a.type} {a.value}, i64 {kind}) {CALLED}")
            return SymbolicArray(self.code, self.code.emit(f"bitcast i{self.width} {found} to <{self.width} x i1>"), np.dtype(np.bool_))
        into = address - np.uint64(base)
        inside = into < np.uint64(WINDOW_SIZE)
        if space in ("local", "shared::cluster"):
            return inside
        rank, own = into >> np.uint64(24), self.special("%cluster_ctarank").astype(np.uint64)
        return inside & ((rank == np.uint64(0)) | (rank == own + np.uint64(1)))

    def refuse_where(self, holds: SymbolicArray) -> None:
        """Leaves the vector to numpy, as if nothing had been done, where a condition holds for a lane that executes."""
        code, w = self.code, self.width
        bad = code.emit(f"and <{w} x i1> {self.at(VARYING, holds).value}, {self.mask(self.guard)}")
        some = code.fresh(f"icmp ne i{w} {code.fresh(f'bitcast <{w} x i1> {bad} to i{w}')}, 0")
        refuse, fine = f"refuse.{some[1:]}", f"fine.{some[1:]}"
        code.lines += [f"  br i1 {some}, label %{refuse}, label %{fine}", f"{refuse}:", *self._undo, "  store i64 1, ptr %ctx, align 8",
                       f"  br label %{fine}", f"{fine}:"]  # fmt: skip

    def update(
        self, space: str, address: SymbolicArray, type: str, change: Callable[..., Any], operands: Sequence[Any], *, shortcut: Any = None,
        returns: bool = True,
    ) -> SymbolicArray:  # fmt: skip
        """See ports.Lanes: a loop over the lanes, from the lowest on."""
        t = TYPES[type]
        if t.bytes > 8 or space not in SPACES or self.touched:
            raise Untraceable(f"an update of {type} in {space}")
        code, n, size = self.code, self.loops, t.bytes
        self.loops += 1
        mask, stacked = self.mask(self.guard), None
        ways = [MemoryWay(SPACES[space], address, 0, self.guard, None)]
        if SPACES[space] == "generic":
            ways = self.ways(address, 0, self.guard, but="local" if self.refuses else "")
        ok, place = self._found([way for way in ways if way.space != "local"], size)
        for way in ways:
            if way.space == "local":
                stacked = way, self._update_stack(way, t, change, operands)
                ok = code.emit(f"and i1 {ok}, {code.fresh(f'icmp eq i64 {code.fresh(STATUS)}, 0')}")
                mask = code.emit(f"xor <{self.width} x i1> {mask}, {self.mask(way.guard)}")
        held = [lift(code, o, o.dtype, self.width * t.elements) for o in operands]
        held = [o.astype(np.uint8) if o.dtype.kind == "b" else o for o in held]
        rooms = [code.scratch(v.type, f"{n}.{i}") for i, v in enumerate(held)]
        places = code.scratch(place.address.type, f"{n}.a")
        old, left = code.scratch(f"<{self.width} x i{8 * size}>", f"{n}.old"), code.scratch(f"i{self.width}", f"{n}.m")
        word = f"i{8 * place.address.itemsize}"
        code.lines += [
            f"  store {v.type} {v.value}, ptr {room}, align 64" for v, room in zip(held, rooms, strict=True)
        ] + [
            f"  store {place.addresses}, ptr {places}, align 64", f"  store <{self.width} x i{8 * size}> zeroinitializer, ptr {old}, align 64",
            f"  %m{n} = bitcast <{self.width} x i1> {mask} to i{self.width}", f"  %on{n} = select i1 {ok}, i{self.width} %m{n}, i{self.width} 0",
            f"  store i{self.width} %on{n}, ptr {left}", f"  br label %head{n}", f"head{n}:", f"  %left{n} = load i{self.width}, ptr {left}",
            f"  %none{n} = icmp eq i{self.width} %left{n}, 0", f"  br i1 %none{n}, label %done{n}, label %body{n}", f"body{n}:",
            f"  %k{n} = call i32 @llvm.cttz.i32(i32 %left{n}, i1 true)", f"  %less{n} = sub i32 %left{n}, 1", f"  %rest{n} = and i32 %left{n}, %less{n}",
            f"  store i32 %rest{n}, ptr {left}", f"  %ap{n} = getelementptr {word}, ptr {places}, i32 %k{n}", f"  %at{n} = load {word}, ptr %ap{n}",
            f"  %wide{n} = {'zext i32 %at' + str(n) + ' to i64' if word == 'i32' else 'add i64 %at' + str(n) + ', 0'}",
            f"  %p{n} = getelementptr i8, {place.base}, i64 %wide{n}",
        ]  # fmt: skip
        code.module.declarations["llvm.cttz.i32"] = "declare i32 @llvm.cttz.i32(i32, i1)"
        one = VectorCode(1, code.module, f"u{n}.")
        given = []
        for i, (v, room, o) in enumerate(zip(held, rooms, operands, strict=True)):
            element = scalar_type(v.dtype)
            one.lines += [
                f"  %op{n}.{i} = getelementptr [{t.elements} x {element}], ptr {room}, i32 %k{n}",
                f"  %o{n}.{i} = load <{t.elements} x {element}>, ptr %op{n}.{i}, align {v.itemsize}",
            ]
            x = SymbolicArray(one, f"%o{n}.{i}", v.dtype, t.elements)
            given.append(x.astype(np.bool_) if o.dtype.kind == "b" else x)
        atomic = ATOMIC.get(change) if self.helpers.side_by_side and not space.startswith("shared") else None
        plain, after = f"%old{n}", list[str]()
        if atomic:
            unsigned = atomic in ("min", "max") and t.dtype.kind == "u"
            one.lines += self._atomic("u" * unsigned + atomic, n, size, given[0])
            plain = f"%plain{n}"
            after = [
                f"  br label %changed{n}",
                f"changed{n}:",
                f"  %old{n} = phi <1 x i{8 * size}> [ {plain}, %alone{n} ], [ zeroinitializer, %beside{n} ]",
            ]
        one.lines.append(f"  {plain} = load <1 x i{8 * size}>, ptr %p{n}, align {size}")
        found = SymbolicArray(one, plain, np.dtype(f"u{size}")).view(t.dtype)
        new = lift(one, change(found, *given), t.dtype, t.elements).view(f"u{size}")
        code.lines += [
            *one.lines, f"  store <1 x i{8 * size}> {new.value}, ptr %p{n}, align {size}", *after,
            f"  %rp{n} = getelementptr i{8 * size}, ptr {old}, i32 %k{n}", f"  store <1 x i{8 * size}> %old{n}, ptr %rp{n}",
            f"  br label %head{n}", f"done{n}:",
        ]  # fmt: skip
        f = self.helpers.undo(8 * place.address.itemsize, 8 * size)
        self._undo = [f"  call void @{f}({place.base}, ptr {places}, ptr {old}, i{self.width} %on{n})"]
        found_there = code.fresh(f"load <{self.width} x i{8 * size}>, ptr {old}, align 64")
        if stacked is not None:
            vector = f"<{self.width} x i{8 * size}>"
            found_there = code.emit(
                f"select <{self.width} x i1> {self.mask(stacked[0].guard)}, {vector} {stacked[1]}, {vector} {found_there}"
            )
        return SymbolicArray(code, found_there, np.dtype(f"u{size}")).view(t.dtype)

    def _found(self, ways: Sequence[MemoryWay], size: int) -> tuple[str, AccessPlace]:
        """Whether the lanes may update what their addresses mean, and where all of that lies."""
        code, check, ok = self.code, self.helpers.check, "true"
        places = [self.place(way.space, way.address, size, way.guard) for way in ways]
        for way, place in zip(ways, places, strict=True):
            call = f"call i1 @{check(way.space, 8 * size)}({place.memory}, {place.addresses}, {self.lanes(way.guard)}) {CALLED}"
            checked = partial(_fresh, code, call)
            good = checked() if way.some is None else code.either(way.some, [checked, lambda: ["true"]], ["i1"])
            ok = code.emit(f"and i1 {ok}, {good[0]}")
        base = places[-1].base
        address: Any = places[-1].address
        for way, place in zip(ways[:-1], places[:-1], strict=True):  # as if it lay in the memory of the last way
            away = code.emit(f"sub i64 {code.emit(f'ptrtoint {place.base} to i64')}, {code.emit(f'ptrtoint {base} to i64')}")
            assert way.guard is not None
            address = np.where(way.guard[1], place.address.astype(np.uint64) + self.in_all(away), address)
        return ok, AccessPlace(base, places[-1].limits, address)

    def _update_stack(self, way: MemoryWay, t: ScalarType, change: Callable[..., Any], operands: Sequence[Any]) -> str:
        """Lanes update their own stacks, each by itself; what they had there."""
        assert way.some is not None
        size, code = t.bytes, self.code

        def piece() -> list[str]:
            before = self.from_stack(way.address, t, 0, 1, way.guard)
            given = [lift(code, o, o.dtype, self.width * t.elements) for o in operands]
            after = lift(code, change(before, *given), t.dtype, self.width * t.elements).view(f"u{size}")
            self.to_stack(way.address, t, 0, 1, after, way.guard)
            return [before.view(f"u{size}").value]

        return code.either(way.some, [piece, lambda: ["zeroinitializer"]], [f"<{self.width} x i{8 * size}>"])[0]

    def _atomic(self, instruction: str, n: int, size: int, operand: SymbolicArray) -> list[str]:
        """An update of one lane where other threads run blocks of the launch at the same time: see combining.py."""
        name, self.helpers.texts[f"combine_{instruction}_{8 * size}"] = combining(self.code.module, instruction, 8 * size)
        self.helpers.combines = True
        word = self.once.fresh(f"load i64, ptr {self.once.emit(BESIDE)}, align 8")
        several, table = self.once.emit(f"icmp ne i64 {word}, 0"), self.once.emit(f"inttoptr i64 {word} to ptr")
        self.ending = (f"  call void @end_{name}(ptr {table}) {CALLED}",)
        return [
            f"  br i1 {several}, label %beside{n}, label %alone{n}", f"beside{n}:",
            f"  %x{n} = extractelement <1 x i{8 * size}> {operand.view(f'u{size}').value}, i32 0",
            f"  call void @{name}(ptr {table}, ptr %p{n}, i{8 * size} %x{n}) {INLINED}", f"  br label %changed{n}", f"alone{n}:",
        ]  # fmt: skip


def _fresh(code: VectorCode, text: str) -> list[str]:
    return [code.fresh(text)]
