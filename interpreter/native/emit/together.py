"""Operations whose accesses are checked together, once for all vectors of a group, and which then run from the first to the last for one vector after another.

A first loop over the vectors computes no more than addresses: how far they reach, and how those of each vector lie.  If all of them are legal, and no lane
can see what another one stores there, a second loop does the work: without checks, and with registers that need no memory in between.  It has three
versions: for vectors whose lanes all access neighbours, for those whose halves do, or load from one place (as rows of 16 threads), and for all others.  If
something may not be legal, the function reports that it has done nothing, and passes run the same operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warplab.isa.types import ScalarType

from ...plan import plan as P
from ..frame import Frame
from ..schedule.layout import REGION_FAILED
from ..trace.code import Untraceable
from ..trace.symbol import SymbolicArray
from ..uniformity import UNIFORM, VARYING, Kinds
from .accesses import Offset, parts_of, result_type
from .emitter import Emitter, for_all, inlined, renamed, whole_function
from .memory import CALLED, Helpers, field
from .moving import FOLDED, PARTS, Moving, extremes
from .values import Guard

CACHE_LINE = 64  # bytes
FEW = 8  # accesses whose code is repeated for lanes that lie anyhow
# What is noted of a vector: all its accesses go to neighbours; its halves each to neighbours or to one place; none of its lanes takes the side of the branch.
EASY, PAIRED, SKIPPED = 1, 2, 3
_NAME = re.compile(r"%[\w.]+")
_MARK = "access "  # a line that stands for one
_NONE = str((1 << 63) - 1)  # greater than any address


@dataclass(frozen=True, slots=True)
class BranchSide:
    """The side of a branch that a stretch ends with."""

    ops: Sequence[P.Op]
    guard: P.Guard  # of the branch
    taken: bool  # do the lanes execute it whose guard holds, or the others?


@dataclass(frozen=True, slots=True)
class Move:
    """An access of a stretch."""

    space: str
    base: str  # of the memory
    addresses: int  # the number of those that it goes to; -1: one for all lanes
    plus: Offset  # what is added to them
    bits: int
    elements: int
    site: str = ""
    name: str = ""  # of what it loads
    values: tuple[str, ...] = ()  # which it stores, with their types

    @property
    def writes(self) -> bool:
        """Is it a store?"""
        return bool(self.values)

    @property
    def size(self) -> int:
        """Bytes of each lane."""
        return self.bits // 8 * self.elements


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of each lane, without what is added to all, and the lanes that access them."""

    name: str
    bits: int
    size: int
    lanes: str

    @property
    def type(self) -> str:
        """LLVM's."""
        return f"i{self.bits}"


class TogetherEmitter(Emitter):
    """Writes the function of a stretch."""

    def __init__(self, frame: Frame, kinds: Kinds, helpers: Helpers, name: str) -> None:
        super().__init__(frame, kinds, helpers, name)
        self.moving = Moving(helpers)
        self.moves: list[Move] = []
        self.addresses: list[Addresses] = []
        self.taking = ""  # the lanes that execute the side of a branch, if there is one

    # ------------------------------------------------------------ accesses

    def load_lanes(self, space: str, a: SymbolicArray, plus: Offset, t: ScalarType, n: int, guard: Guard) -> tuple[Any, ...]:
        """See EmittedAccesses."""
        move = self._move(space, a, plus, 8 * t.bytes, n, guard)
        name = self.code.fresh(f"{_MARK}{len(self.moves)}")
        self.moves.append(replace(move, name=name))
        return parts_of(self.code, name, t, n)

    def _put_bits(
        self, space: str, a: SymbolicArray, plus: Offset, t: ScalarType, values: Sequence[SymbolicArray], guard: Guard
    ) -> list[str]:
        move = self._move(space, a, plus, 8 * t.bytes, len(values), guard)
        given = tuple(f"{v.type} {v.value}" for v in values)
        self.code.lines.append(f"  {_MARK}{len(self.moves)}, {', '.join(given)}")
        self.moves.append(replace(move, values=given))
        return []

    def _move(self, space: str, a: SymbolicArray, plus: Offset, bits: int, n: int, guard: Guard) -> Move:
        size = bits // 8 * n
        place = self.place(space, a, size, guard)
        one = Addresses(place.address.value, 8 * place.address.itemsize, size, self.lanes(guard).split()[1])
        if one not in self.addresses:
            self.addresses.append(one)
        if isinstance(plus, int):
            plus = (plus + (1 << one.bits - 1) & (1 << one.bits) - 1) - (1 << one.bits - 1)
        return Move(space, place.base, self.addresses.index(one), plus, bits, n, self._site(self.once) if space == "global" else "")

    def _load_one(self, a: SymbolicArray, t: ScalarType, n: int) -> tuple[Any, ...]:
        found = super()._load_one(a, t, n)
        wide: Any = a.view(f"u{a.itemsize}").astype("u8")
        at = self.once.emit(f"extractelement {wide.type} {wide.value}, i32 0")
        self.moves.append(Move("global", "ptr %host.b", -1, at, 8 * t.bytes, n))
        return found

    # ------------------------------------------------------------ the function

    def together(self, ops: Sequence[P.Op], needed: dict[int, set[int]], side: BranchSide | None = None) -> str:
        """LLVM IR; `needed`: in which kinds each slot must lie in memory behind the stretch."""
        for op in ops:
            self.operation(op)
        skipping = [] if side is None else self._side(side, needed)
        self.put_all(needed, VARYING)
        looks, w = self._looks(), self.width
        if len(self.addresses) > self.frame.noted or any("%room." in line for line in looks):  # a value that is kept on the stack meanwhile
            return f"define i64 @{self.name}(ptr %ctx, ptr %list, i64 %count) {{\n  ret i64 {REGION_FAILED}\n}}"
        once = len(self.once.lines)
        self.put_all(needed, UNIFORM)
        numbers = range(len(self.addresses))
        noted = [x for i in numbers for x in self._noted(i)]
        easy, paired, hard = (_wanted([*noted, *self._spelt(spell)]) for spell in (self._easy, self._paired, self._hard))
        rooms = [f"  {name} = alloca {t}, align 64" for name, t in self.code.rooms.items()]
        rooms += [f"  %sum{i} = alloca [4 x i64], align 8" for i in numbers]
        rooms += [f"  %sums{i} = alloca [{len(PARTS) * FOLDED} x {a.type}], align 64" for i, a in enumerate(self.addresses)]
        rooms += [f"  %range{i} = alloca [2 x i64], align 8" for i in range(len(self.moves))]
        rooms += ["  %segments = alloca i64, align 8"]
        look = ["  br i1 %whole, label %all, label %some", "all:", *for_all(inlined(looks), w), "some:", *inlined(looks)]
        ways = f"i64 {EASY}, label %easy i64 {PAIRED}, label %paired" + f" i64 {SKIPPED}, label %skip" * bool(side)
        work = [f"  %flag.p = getelementptr i8, ptr %frame, i64 {self.frame.notes}", "  %flag = load i64, ptr %flag.p, align 8",
                f"  switch i64 %flag, label %hard [{ways}]",
                "easy:", *for_all(inlined([*easy, "  br label %next"]), w), "paired:", *for_all(inlined([*paired, "  br label %next"]), w, ".pair"),
                "hard:", *(inlined(hard) if len(self.moves) <= FEW else hard), "  br label %next",
                *(["skip:", *renamed(inlined(_wanted(skipping)), {}, ".skip"), "  br label %next"] if side else [])]  # fmt: skip
        steps = [
            *field("region_steps", "%ran"),
            "  %ran.now = load i64, ptr %segments, align 8",
            "  store i64 %ran.now, ptr %ran.p, align 8",
        ]
        return whole_function(self.name, rooms, [
            *self.once.lines[:once], f"  store i64 {int(side is not None)}, ptr %segments, align 8",
            *self._cleared(), "  br label %look", *self._loop("look", "entry", look, "decide"),
            "decide:", *self._decided(), "  br i1 %may, label %work, label %undone",
            "undone:", "  store i64 0, ptr %ctx, align 8", f"  ret i64 {REGION_FAILED}",
            *self._loop("work", "decide", work, "end"), "end:", *self.once.lines[once:], *steps, "  ret i64 -1",
        ])  # fmt: skip

    def _side(self, side: BranchSide, needed: dict[int, set[int]]) -> list[str]:
        """Emits the side of a branch for the lanes that execute it; gives the lines for a vector without any."""
        guard: Any = self.at(VARYING, self.value(side.guard.slot)[1])
        takes = guard if side.guard.negated != side.taken else ~guard
        had, loaded = dict(self.values), dict(self.loaded)
        without = self.code.aside(lambda: self.put_all(needed, VARYING))
        self.values, self.loaded = dict(had), loaded
        without = [*self.code.lines, *without]
        self.taking_part = takes
        self.taking = self.lanes(None).split()[1]
        for op in side.ops:
            self.operation(op)
        self.taking_part = None
        for slot in needed:
            found = self.values.get(slot)
            if found is None or found is had.get(slot) or found is self.loaded.get(slot):
                continue
            if UNIFORM in needed[slot]:
                raise Untraceable("one value for all that only some lanes set")
            self.values.pop(slot)
            if slot in had:
                self.values[slot] = had[slot]
            self.keeping = frozenset([slot])
            self._set(slot, *found, (VARYING, takes))
        return without

    def _loop(self, label: str, before: str, body: Sequence[str], behind: str) -> list[str]:
        """A loop over the vectors, from its label on; `body` ends at %next."""
        w = self.width
        lines = [
            f"  %k = phi i64 [0, %{before}], [%k.next, %next]", "  %entry.p = getelementptr i64, ptr %list, i64 %k",
            "  %e = load i64, ptr %entry.p, align 8", "  %vec = lshr i64 %e, 32", f"  %fo = mul i64 %vec, {self.frame.size}",
            "  %frame = getelementptr i8, ptr %frames.b, i64 %fo", f"  %bits = trunc i64 %e to i{w}",
            f"  %active = bitcast i{w} %bits to <{w} x i1>", f"  %whole = icmp eq i{w} %bits, -1", *body,
            "next:", "  %k.next = add i64 %k, 1", "  %more = icmp ult i64 %k.next, %count", f"  br i1 %more, label %{label}, label %{behind}",
        ]  # fmt: skip
        return [f"{label}:", *renamed(lines, {}, f".{label}")]

    # ------------------------------------------------------------ the first loop

    def _looks(self) -> list[str]:
        """Lines that note how the addresses of a vector lie, and add them to what is known of the group's."""
        block, notes, w = self.block(), self.frame.notes, self.width
        names = {x for a in self.addresses for x in (a.name, a.lanes)} | {block, self.taking}
        lines = _reaching(self.code.lines, names)
        flagged = f"  %flag.p = getelementptr i8, ptr %frame, i64 {notes}"
        if self.taking:
            lines += [flagged, f"  %any = icmp ne i{w} {self.taking}, 0", "  br i1 %any, label %taking, label %skips",
                      "skips:", f"  store i64 {SKIPPED}, ptr %flag.p, align 8", "  br label %next",
                      "taking:", "  store i64 2, ptr %segments, align 8"]  # fmt: skip
        ordered = self._ordered()
        easy = paired = "true"
        for i, a in enumerate(self.addresses):
            vector, reach = f"<{w} x {a.type}> {a.name}", (w - 1) * a.size
            far, fits = f"%apart{i}", "true"
            distance = [f"  %second{i} = extractelement {vector}, i32 {w // 2}", f"  {far} = sub {a.type} %second{i}, %f{i}"]
            if a.bits == 64:
                far, fits = f"%apart{i}.low", f"%fits{i}"
                distance += [f"  {far} = trunc i64 %apart{i} to i32", f"  {far}.w = sext i32 {far} to i64",
                             f"  {fits} = icmp eq i64 %apart{i}, {far}.w"]  # fmt: skip
            else:
                distance.append(f"  {far}.w = sext i32 {far} to i64")
            wide = f"sext i32 %f{i} to i64" if a.bits == 32 else f"add i64 %f{i}, 0"
            lines += [
                f"  %kind{i} = call i32 @{self.helpers.kind(a.bits, a.size)}({vector}, i{w} {a.lanes}) {CALLED}",
                f"  %f{i} = extractelement {vector}, i32 0", f"  %first{i} = {wide}",
                f"  %first{i}.p = getelementptr i8, ptr %frame, i64 {notes + 8 + 16 * i}", f"  store i64 %first{i}, ptr %first{i}.p, align 8",
                f"  %kind{i}.p = getelementptr i8, ptr %frame, i64 {notes + 16 + 16 * i}", f"  store i32 %kind{i}, ptr %kind{i}.p, align 4",
                f"  %near{i} = icmp eq i32 %kind{i}, 0", f"  %full{i} = icmp eq i{w} {a.lanes}, -1", f"  %run{i} = and i1 %near{i}, %full{i}",
                f"  %end{i} = add i64 %first{i}, {reach}", f"  br i1 %run{i}, label %runs{i}, label %other{i}",
                f"runs{i}:", *self._fetched(i),
                f"  call void @{self.moving.extend()}(ptr %sum{i}, i64 %first{i}, i64 %end{i}, i64 %first{i})", f"  br label %order{i}",
                f"other{i}:", *distance, f"  %few{i} = icmp ne i32 %kind{i}, 4", f"  %plain{i} = and i1 %few{i}, %full{i}",
                f"  %near.by{i} = and i1 %plain{i}, {fits}", f"  br i1 %near.by{i}, label %halves{i}, label %each{i}",
                f"halves{i}:", f"  call void @{self.moving.extend_by_halves(a.size)}(ptr %sum{i}, i64 %first{i}, i64 {far}.w, i32 %kind{i})",
                f"  %kinds{i} = lshr i32 {self._pairable(i)}, %kind{i}", f"  %pair{i} = trunc i32 %kinds{i} to i1", f"  br label %order{i}",
                f"each{i}:", f"  call void @{self.moving.spread(a.bits)}({vector}, i{w} {a.lanes}, ptr %sums{i})", f"  br label %order{i}",
                f"order{i}:", f"  %far{i} = phi i32 [{w // 2 * a.size}, %runs{i}], [{far}, %halves{i}], [0, %each{i}]",
                f"  %pairs{i} = phi i1 [true, %runs{i}], [%pair{i}, %halves{i}], [false, %each{i}]",
                f"  %far{i}.p = getelementptr i8, ptr %frame, i64 {notes + 20 + 16 * i}", f"  store i32 %far{i}, ptr %far{i}.p, align 4",
                f"  %easy{i} = and i1 {easy}, %run{i}", f"  %paired{i} = and i1 {paired}, %pairs{i}",
            ]  # fmt: skip
            easy, paired = f"%easy{i}", f"%paired{i}"
            if i in ordered:
                key = [f"  %in{i} = shl i64 {block}, 32"] if a.bits == 32 else []
                key += [f"  %key{i} = add i64 %first{i}, {f'%in{i}' if a.bits == 32 else '0'}"]
                lines += [
                    *key, f"  %last{i}.p = getelementptr i64, ptr %sum{i}, i64 3", f"  %last{i} = load i64, ptr %last{i}.p, align 8",
                    f"  %later{i} = icmp sgt i64 %key{i}, %last{i}", f"  %keeps{i} = and i1 %later{i}, %near{i}",
                    f"  %key{i}.end = add i64 %key{i}, {reach}", f"  %now{i} = select i1 %keeps{i}, i64 %key{i}.end, i64 {_NONE}",
                    f"  store i64 %now{i}, ptr %last{i}.p, align 8",
                ]  # fmt: skip
        flag = [
            *([] if self.taking else [flagged]),
            f"  %flag.pair = select i1 {paired}, i64 {PAIRED}, i64 0",
            f"  %flag = select i1 {easy}, i64 {EASY}, i64 %flag.pair",
            "  store i64 %flag, ptr %flag.p, align 8",
            "  br label %next",
        ]
        return [*lines, *flag]

    def _fetched(self, i: int) -> list[str]:
        """Lines that begin to fetch the lines of the cache that the second loop needs, of neighbours in global memory."""
        self.helpers.module.declarations["llvm.prefetch.p0"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
        lines = []
        for n, move in enumerate(self.moves):
            if move.addresses == i and move.space == "global":
                lines += self._from(f"soon{n}", "first", move)
                for at in range(0, self.width * move.size, CACHE_LINE):
                    lines += [f"  %soon{n}.{at} = getelementptr i8, ptr %soon{n}.p, i64 {at}",
                              f"  call void @llvm.prefetch.p0(ptr %soon{n}.{at}, i32 0, i32 2, i32 1)"]  # fmt: skip
        return lines

    def _cleared(self) -> list[str]:
        """Lines that begin with no addresses."""
        lines = []
        for i, a in enumerate(self.addresses):
            for n, word in enumerate((_NONE, f"-{_NONE}", "0", f"-{_NONE}")):
                lines += [f"  %clear{i}.{n} = getelementptr i64, ptr %sum{i}, i64 {n}", f"  store i64 {word}, ptr %clear{i}.{n}, align 8"]
            for n, word in enumerate(map(str, (*extremes(a.bits), 0))):
                v = f"<{FOLDED} x {a.type}>"
                words = ", ".join([f"{a.type} {word}"] * FOLDED)
                lines += [
                    f"  %clears{i}.{n} = getelementptr {v}, ptr %sums{i}, i64 {n}",
                    f"  store {v} <{words}>, ptr %clears{i}.{n}, align 64",
                ]
        return lines

    # ------------------------------------------------------------ the decision

    def _pairs(self) -> Iterator[tuple[int, int, bool]]:
        """The accesses of which one may store what the other one accesses, in their order; are their addresses the same?"""
        for j, later in enumerate(self.moves):
            for i, move in enumerate(self.moves[:j]):
                if move.space == later.space and (move.writes or (later.writes and move.addresses >= 0)):
                    same = move.addresses == later.addresses and (move.plus, move.bits, move.elements) == (
                        later.plus,
                        later.bits,
                        later.elements,
                    )
                    yield i, j, same

    def _ordered(self) -> set[int]:
        """The addresses of which it matters whether any two lanes have the same one."""
        return {self.moves[i].addresses for i, _, same in self._pairs() if same}

    def _decided(self) -> list[str]:
        """Lines that compute %may: whether all accesses are legal, and none reaches what another one stores in another lane."""
        lines = [f"  call void @{self.moving.gathered(a.bits)}(ptr %sum{i}, ptr %sums{i})" for i, a in enumerate(self.addresses)]
        lines, fine = [*lines, "  %status = load i64, ptr %ctx, align 8", "  %quiet = icmp eq i64 %status, 0"], ["%quiet"]
        for n, move in enumerate(self.moves):
            lines.append(f"  %behind{n}.p = getelementptr i64, ptr %range{n}, i64 1")
            if move.addresses < 0:
                lines += [f"  store i64 {move.plus}, ptr %range{n}, align 8", f"  %behind{n}.x = add i64 {move.plus}, {move.size}",
                          f"  store i64 %behind{n}.x, ptr %behind{n}.p, align 8"]  # fmt: skip
            else:
                place = "i64 %shared_size" if move.space == "shared" else f"ptr %ctx, ptr {move.site}"
                write = f", i64 {int(move.writes)}" if move.space == "global" else ""
                arguments = f"{place}, ptr %sum{move.addresses}, i64 {move.plus}, i64 {move.size}{write}, ptr %range{n}"
                lines.append(f"  %legal{n} = call i1 @{self.moving.legal(move.space)}({arguments})")
                fine.append(f"%legal{n}")
            lines += [f"  %from{n} = load i64, ptr %range{n}, align 8", f"  %behind{n} = load i64, ptr %behind{n}.p, align 8"]
        for i in self._ordered():
            lines += [f"  %last{i}.p = getelementptr i64, ptr %sum{i}, i64 3", f"  %last{i} = load i64, ptr %last{i}.p, align 8",
                      f"  %apart{i} = icmp ne i64 %last{i}, {_NONE}"]  # fmt: skip
            fine.append(f"%apart{i}")
        for i, j, same in self._pairs():
            if not same:
                lines += [f"  %before{i}.{j} = icmp ule i64 %behind{i}, %from{j}", f"  %after{i}.{j} = icmp ule i64 %behind{j}, %from{i}",
                          f"  %clear{i}.{j} = or i1 %before{i}.{j}, %after{i}.{j}"]  # fmt: skip
                fine.append(f"%clear{i}.{j}")
        last = "true"
        for n, x in enumerate(fine):
            lines.append(f"  %fine{n} = and i1 {last}, {x}")
            last = f"%fine{n}"
        return renamed([*lines, f"  %may = and i1 {last}, true"], {"%may": "%may"}, ".d")

    # ------------------------------------------------------------ the second loop

    def _noted(self, i: int) -> list[str]:
        """Lines that load what has been noted of a vector's addresses."""
        notes = self.frame.notes + 16 * i
        return [f"  %first{i}.p = getelementptr i8, ptr %frame, i64 {notes + 8}", f"  %first{i} = load i64, ptr %first{i}.p, align 8",
                f"  %kind{i}.p = getelementptr i8, ptr %frame, i64 {notes + 16}", f"  %kind{i} = load i32, ptr %kind{i}.p, align 4",
                f"  %far{i}.p = getelementptr i8, ptr %frame, i64 {notes + 20}", f"  %far{i} = load i32, ptr %far{i}.p, align 4",
                f"  %far{i}.w = sext i32 %far{i} to i64", f"  %second{i} = add i64 %first{i}, %far{i}.w",
                f"  %same{i} = trunc i32 %kind{i} to i1", f"  %run{i} = xor i1 %same{i}, true"]  # fmt: skip

    def _spelt(self, spell: Callable[[int, Move], list[str]]) -> list[str]:
        """The lines of the operations with their accesses spelt out."""
        lines, left = [], [n for n, move in enumerate(self.moves) if move.addresses >= 0]
        for line in self.code.lines:
            if left and f"{_MARK}{left[0]}" in line:
                n = left.pop(0)
                lines += spell(n, self.moves[n])
            else:
                lines.append(line)
        return lines

    def _easy(self, n: int, move: Move) -> list[str]:
        """An access of all lanes to neighbours."""
        f = self.moving.run(move.writes, move.bits, move.elements)
        given = ", ".join((f"ptr %at{n}.p", *move.values))
        return [*self._from(f"at{n}", "first", move), self._called(f, given, move)]

    def _paired(self, n: int, move: Move) -> list[str]:
        """An access of all lanes, the halves of which each go to neighbours, or to one place."""
        if move.elements > 1:
            return self._easy(n, move)
        f = self.moving.paired(move.writes, move.bits)
        run = () if move.writes else (f"i1 %run{move.addresses}",)
        given = ", ".join((f"ptr %at{n}.p", f"ptr %then{n}.p", *run, *move.values))
        return [*self._from(f"at{n}", "first", move), *self._from(f"then{n}", "second", move), self._called(f, given, move)]

    def _from(self, name: str, lane: str, move: Move) -> list[str]:
        """Lines that compute where the first or second half begins."""
        at = f"  %{name} = add i64 %{lane}{move.addresses}, {move.plus}"
        return [at, f"  %{name}.p = getelementptr i8, {move.base}, i64 %{name}"]

    def _pairable(self, i: int) -> int:
        """A bit for each way in which addresses may lie (see KINDS in memory.py) for their accesses to be spelt so."""
        kinds = 0b1111
        for move in self.moves:
            if move.addresses == i:
                kinds &= 0b0001 if move.elements > 1 else 0b0101 if move.writes or move.bits < 32 else 0b1111
        return kinds

    def _hard(self, n: int, move: Move) -> list[str]:
        """An access of any lanes to any addresses."""
        f, a, w = self.moving.any(move.space, move.writes, move.bits, move.elements), self.addresses[move.addresses], self.width
        i = move.addresses
        where = f"{move.base}, <{w} x {a.type}> {a.name}, {a.type} {move.plus}, i32 %kind{i}, i{w} {a.lanes}"
        return [self._called(f, ", ".join((where, *move.values)), move)]

    def _called(self, f: str, arguments: str, move: Move) -> str:
        if move.writes:
            return f"  call void @{f}({arguments}) {CALLED}"
        return f"  {move.name} = call {result_type(move.bits, move.elements, self.width)} @{f}({arguments}) {CALLED}"


def _reaching(lines: Sequence[str], names: set[str]) -> list[str]:
    """The lines that compute values."""
    out, wanted = [], set(names)
    for line in reversed(lines):
        name, _, text = line.strip().partition(" = ")
        if text and name in wanted:
            wanted.update(_NAME.findall(text))
            out.append(line)
    return out[::-1]


def _wanted(lines: Sequence[str]) -> list[str]:
    """The lines without those whose values nobody needs."""
    out, wanted = [], set[str]()
    for line in reversed(lines):
        name, _, text = line.strip().partition(" = ")
        if not text or name in wanted:
            wanted.update(_NAME.findall(text or line))
            out.append(line)
    return out[::-1]
