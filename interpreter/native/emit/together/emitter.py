"""Operations whose accesses are checked together, once for all vectors of a group, and which then run from the first to the last for one vector after another.

A first loop over the vectors computes no more than addresses: how far they reach, and how those of each vector lie.  If all of them are legal, and no lane
can see what another one stores there, a second loop does the work: without checks, and with registers that need no memory in between.  It has three
versions: for vectors whose lanes all access neighbours, for those whose halves do, or load from one place (as rows of 16 threads), and for all others; with a
side of a branch, one more for vectors of which no lane executes it.  If something may not be legal, the function reports that it has done nothing, and passes
run the same operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....plan import plan as P
from ...schedule.layout import REGION_FAILED
from ...uniformity import UNIFORM, VARYING
from ..accesses import result_type
from ..emitter import for_all, inlined, renamed, whole_function
from ..memory import CALLED, field
from .looks import EASY, NAME, PAIRED, SKIPPED, LooksEmitter
from .moves import MARK, BranchSide, Move
from .moving import FOLDED, PARTS

FEW = 8  # accesses whose code is repeated for lanes that lie anyhow


class TogetherEmitter(LooksEmitter):
    """Writes the function of a stretch."""

    def together(self, ops: Sequence[P.Op], needed: dict[int, set[int]], side: BranchSide | None = None) -> str:
        """LLVM IR; `needed`: in which kinds each slot must lie in memory behind the stretch."""
        for op in ops:
            self.operation(op)
        if side is not None:
            self.take_side(side, needed)
            for op in side.behind:
                self.operation(op)
        self.put_all(needed, VARYING)
        looks, w = self.looks(), self.width
        if len(self.addresses) > self.frame.noted or any("%room." in line for line in looks):  # a value that is kept on the stack meanwhile
            return f"define i64 @{self.name}(ptr %ctx, ptr %list, i64 %count) {{\n  ret i64 {REGION_FAILED}\n}}"
        once = len(self.once.lines)
        self.put_all(needed, UNIFORM)
        numbers = range(len(self.addresses))
        noted = [x for i in numbers for x in self._noted(i)]
        easy, paired, hard = (_wanted([*noted, *self._spelt(spell)]) for spell in (self._easy, self._paired, self._hard))
        skip = inlined([*_wanted([*noted, *self._without_side()]), "  br label %next"]) if side else []
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
                *(["skip:", *(for_all(skip, w, ".skip") if self.meets else renamed(skip, {}, ".skip"))] if side else [])]  # fmt: skip
        steps = [
            *field("region_steps", "%ran"),
            "  %ran.now = load i64, ptr %segments, align 8",
            "  store i64 %ran.now, ptr %ran.p, align 8",
        ]
        return whole_function(self.name, rooms, [
            *self.once.lines[:once], f"  store i64 {int(side is not None)}, ptr %segments, align 8",
            *self.cleared(), "  br label %look", *self._loop("look", "entry", look, "decide"),
            "decide:", *self.decided(), "  br i1 %may, label %work, label %undone",
            "undone:", "  store i64 0, ptr %ctx, align 8", f"  ret i64 {REGION_FAILED}",
            *self._loop("work", "decide", work, "end"), "end:", *self.once.lines[once:], *steps, "  ret i64 -1",
        ])  # fmt: skip

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
            if left and f"{MARK}{left[0]}" in line:
                n = left.pop(0)
                lines += spell(n, self.moves[n])
            else:
                lines.append(line)
        return lines

    def _easy(self, n: int, move: Move) -> list[str]:
        """An access of all lanes to neighbours."""
        f = self.moving.run(move.writes, move.bits, move.elements)
        given = ", ".join((f"ptr %at{n}.p", *move.values))
        return [*self.at_lane(f"at{n}", "first", move), self._called(f, given, move)]

    def _paired(self, n: int, move: Move) -> list[str]:
        """An access of all lanes, the halves of which each go to neighbours, or to one place."""
        if move.elements > 1:
            return self._easy(n, move)
        f = self.moving.paired(move.writes, move.bits)
        run = () if move.writes else (f"i1 %run{move.addresses}",)
        given = ", ".join((f"ptr %at{n}.p", f"ptr %then{n}.p", *run, *move.values))
        return [*self.at_lane(f"at{n}", "first", move), *self.at_lane(f"then{n}", "second", move), self._called(f, given, move)]

    def _hard(self, n: int, move: Move) -> list[str]:
        """An access of any lanes to any addresses."""
        f, a, w = self.moving.any(move.space, move.writes, move.bits, move.elements), self.addresses[move.addresses], self.width
        i = move.addresses
        where = f"{move.base}, <{w} x {a.type}> {a.name}, {a.type} {move.narrow}, i32 %kind{i}, i{w} {a.lanes}"
        return [self._called(f, ", ".join((where, *move.values)), move)]

    def _called(self, f: str, arguments: str, move: Move) -> str:
        if move.writes:
            return f"  call void @{f}({arguments}) {CALLED}"
        return f"  {move.name} = call {result_type(move.bits, move.elements, self.width)} @{f}({arguments}) {CALLED}"

    def _without_side(self) -> list[str]:
        """The lines for a vector of which no lane executes the side of the branch: what the side computes stays as it was before."""
        kept = dict[str, str]()
        lines = []
        for line in self._spelt(lambda n, move: [] if self.addresses[move.addresses].of_side else self._easy(n, move)):
            line = NAME.sub(lambda name: kept.get(name[0], name[0]), line)
            merged = self.merge.fullmatch(line)
            if merged is None:
                lines.append(line)
            else:
                kept[merged[1]] = merged[3]
        return lines


def _wanted(lines: Sequence[str]) -> list[str]:
    """The lines without those whose values nobody needs."""
    out, wanted = [], set[str]()
    for line in reversed(lines):
        name, _, text = line.strip().partition(" = ")
        if not text or name in wanted:
            wanted.update(NAME.findall(text or line))
            out.append(line)
    return out[::-1]
