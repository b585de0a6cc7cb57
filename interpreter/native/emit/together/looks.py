"""The first loop over the vectors: how their addresses lie, how far they reach, and whether all that they access is legal and apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..emitter import renamed
from ..memory import CALLED
from .moves import Addresses, Move, MovesEmitter
from .moving import FOLDED, extremes

CACHE_LINE = 64  # bytes
# What is noted of a vector: all its accesses go to neighbours; its halves each to neighbours or to one place; none of its lanes takes the side of the branch.
EASY, PAIRED, SKIPPED = 1, 2, 3
NAME = re.compile(r"%[\w.]+")
_NONE = str((1 << 63) - 1)  # greater than any address


class LooksEmitter(MovesEmitter):
    """Writes what is done before the work."""

    def looks(self) -> list[str]:
        """Lines that note how the addresses of a vector lie, and add them to what is known of the group's."""
        block, notes, w = self.block(), self.frame.notes, self.width
        names = {x for a in self.addresses for x in (a.name, a.lanes)} | {block, self.taking}
        lines = _reaching(self.code.lines, names)
        flagged = f"  %flag.p = getelementptr i8, ptr %frame, i64 {notes}"
        if self.taking:
            lines += [flagged, f"  %any = icmp ne i{w} {self.taking}, 0", "  br i1 %any, label %taking, label %skips",
                      "skips:", *([] if self.meets else [f"  store i64 {SKIPPED}, ptr %flag.p, align 8"]), f"  br label %{'both' if self.meets else 'next'}",
                      "taking:", "  store i64 2, ptr %segments, align 8", *(["  br label %both", "both:"] if self.meets else [])]  # fmt: skip
        ordered = self.ordered()
        easy = paired = "true"
        for i, a in enumerate(self.addresses):
            asked = a.of_side and self.meets  # only where some lanes execute the side
            if asked:
                lines += [f"  br label %ask{i}", f"ask{i}:", f"  br i1 %any, label %look{i}, label %past{i}", f"look{i}:"]
            lines += [*self._look(i, a), f"  %easy{i} = and i1 {easy}, %run{i}", f"  %paired{i} = and i1 {paired}, %pairs{i}"]
            if i in ordered:
                lines += self._follows(i, a, block)
            if asked:
                lines += [f"  br label %past{i}", f"past{i}:"]
                lines += [
                    f"  %{x}{i}.now = phi i1 [%{x}{i}, %order{i}], [{had}, %ask{i}]" for x, had in (("easy", easy), ("paired", paired))
                ]
            easy, paired = (f"%{x}{i}{'.now' * asked}" for x in ("easy", "paired"))
        flag = [
            *([] if self.taking else [flagged]),
            f"  %flag.pair = select i1 {paired}, i64 {PAIRED}, i64 0",
            f"  %flag.any = select i1 {easy}, i64 {EASY}, i64 %flag.pair",
        ]
        if self.meets:
            flag += [f"  %flag.none = select i1 {easy}, i64 {SKIPPED}, i64 0", "  %flag = select i1 %any, i64 %flag.any, i64 %flag.none"]
        flag += [f"  store i64 {'%flag' if self.meets else '%flag.any'}, ptr %flag.p, align 8", "  br label %next"]
        return [*lines, *flag]

    def _look(self, i: int, a: Addresses) -> list[str]:
        """Lines that note how one address of each lane lies, and add it to what is known of the group's; they end behind the label %order."""
        notes, w = self.frame.notes, self.width
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
        return [
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
        ]  # fmt: skip

    def _follows(self, i: int, a: Addresses, block: str) -> list[str]:
        """Lines that note whether a vector's addresses are neighbours behind those of the vector before."""
        reach = (self.width - 1) * a.size
        key = [f"  %in{i} = shl i64 {block}, 32"] if a.bits == 32 else []
        key += [f"  %key{i} = add i64 %first{i}, {f'%in{i}' if a.bits == 32 else '0'}"]
        return [
            *key, f"  %last{i}.p = getelementptr i64, ptr %sum{i}, i64 3", f"  %last{i} = load i64, ptr %last{i}.p, align 8",
            f"  %later{i} = icmp sgt i64 %key{i}, %last{i}", f"  %keeps{i} = and i1 %later{i}, %near{i}",
            f"  %key{i}.end = add i64 %key{i}, {reach}", f"  %now{i} = select i1 %keeps{i}, i64 %key{i}.end, i64 {_NONE}",
            f"  store i64 %now{i}, ptr %last{i}.p, align 8",
        ]  # fmt: skip

    def _fetched(self, i: int) -> list[str]:
        """Lines that begin to fetch the lines of the cache that the second loop needs, of neighbours in global memory."""
        self.helpers.module.declarations["llvm.prefetch.p0"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
        lines = []
        for n, move in enumerate(self.moves):
            if move.addresses == i and move.space == "global":
                lines += self.at_lane(f"soon{n}", "first", move)
                for at in range(0, self.width * move.size, CACHE_LINE):
                    lines += [f"  %soon{n}.{at} = getelementptr i8, ptr %soon{n}.p, i64 {at}",
                              f"  call void @llvm.prefetch.p0(ptr %soon{n}.{at}, i32 0, i32 2, i32 1)"]  # fmt: skip
        return lines

    def cleared(self) -> list[str]:
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

    def at_lane(self, name: str, lane: str, move: Move) -> list[str]:
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

    # ------------------------------------------------------------ the decision

    def decided(self) -> list[str]:
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
        for i in self.ordered():
            lines += [f"  %last{i}.p = getelementptr i64, ptr %sum{i}, i64 3", f"  %last{i} = load i64, ptr %last{i}.p, align 8",
                      f"  %apart{i} = icmp ne i64 %last{i}, {_NONE}"]  # fmt: skip
            fine.append(f"%apart{i}")
        for i, j, same in self.pairs():
            if not same:
                lines += [f"  %before{i}.{j} = icmp ule i64 %behind{i}, %from{j}", f"  %after{i}.{j} = icmp ule i64 %behind{j}, %from{i}",
                          f"  %clear{i}.{j} = or i1 %before{i}.{j}, %after{i}.{j}"]  # fmt: skip
                fine.append(f"%clear{i}.{j}")
        last = "true"
        for n, x in enumerate(fine):
            lines.append(f"  %fine{n} = and i1 {last}, {x}")
            last = f"%fine{n}"
        return renamed([*lines, f"  %may = and i1 {last}, true"], {"%may": "%may"}, ".d")


def _reaching(lines: Sequence[str], names: set[str]) -> list[str]:
    """The lines that compute values."""
    out, wanted = [], set(names)
    for line in reversed(lines):
        name, _, text = line.strip().partition(" = ")
        if text and name in wanted:
            wanted.update(NAME.findall(text))
            out.append(line)
    return out[::-1]
