"""Random race-free PTX programs for the reference and the engine: nested branches, loops, switches, tangles, calls, guards, barriers.

Every choice is one number drawn from `draw`, so that hypothesis can make a failing program small.  Each thread owns a region of `out`,
reads `inp`, and reduces into `acc`, one operation a word, so that no result depends on the order of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .reference import BY_MEMORY, Function, Instruction, Label, Memory, Program, Several, Whole

T = TypeVar("T")
Draw = Callable[[int], int]  # a number below

REGION = 64  # bytes of out that a thread owns: 6 words of %r, 3 doublewords of %d, a word of predicates, 2 of %h, 8 bytes of scratch
INPUTS = 64  # words
RED = ("add", "xor", "or", "and", "min", "max")
DATA, WIDE, PREDICATES = [f"%r{i}" for i in range(6)], [f"%d{i}" for i in range(3)], [f"%p{i}" for i in range(3)]
HALF = ["%h0", "%h1"]
ELEMENTS = ["%v0.x", "%v0.y", "%v1.x", "%v1.y"]
VECTORS = [Whole(ELEMENTS[:2]), Whole(ELEMENTS[2:])]
LOCAL_WORDS = 8
VALUES = (0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 64, 255, 0x80, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE)
TWO = """add.u32 sub.s32 mul.lo.u32 mul.hi.u32 mul.hi.s32 div.u32 div.s32 rem.u32 rem.s32 and.b32 or.b32 xor.b32 min.s32 max.s32 min.u32
max.u32 shl.b32 shr.u32 shr.s32 add.u32 sub.s32 xor.b32""".split()
ONE = """not.b32 neg.s32 abs.s32 clz.b32 popc.b32 brev.b32 cnot.b32 mov.b32 cvt.s32.s8 cvt.u32.u16 cvt.sat.u8.s32""".split()
THREE = """mad.lo.u32 sad.s32 shf.l.wrap.b32 shf.r.clamp.b32 bfe.u32 bfe.s32 prmt.b32 slct.s32.s32""".split()
HALF_TWO = "add.u16 sub.s16 mul.lo.s16 mul.hi.s16 div.s16 min.s16 max.u16 xor.b16".split()
WIDE_TWO = "add.u64 sub.u64 mul.lo.u64 xor.b64 min.s64 max.u64".split()
COMPARISONS = "eq ne lt le gt ge".split()


class Maker:
    """Writes one function."""

    def __init__(self, draw: Draw, function: Function, callees: Sequence[Function], threads: int, prefix: str, ends: bool = True) -> None:
        self.draw, self.function, self.callees, self.threads, self.prefix = draw, function, callees, threads, prefix
        self.ends = ends  # may threads end before the last instruction?
        self.entry = not function.takes
        self.items = function.items
        self.labels = 0
        self.counters = 0  # loop counters in use
        self.ways_out: list[str] = []  # the places behind the loops around, and at the ends of their turns
        self.budget = 40 if self.entry else 14

    # ------------------------------------------------------------ pieces

    def pick(self, choices: Sequence[T]) -> T:
        """One of several."""
        return choices[self.draw(len(choices))]

    def emit(self, op: str, *args: Any, guard: str = "") -> None:
        """Appends an instruction."""
        self.items.append(Instruction(op, args, guard))

    def label(self) -> str:
        """A new name."""
        self.labels += 1
        return f"{self.prefix}{self.labels}"

    def here(self, name: str, text: str = "") -> None:
        """Puts a label."""
        self.items.append(Label(name, text))

    def source(self) -> Any:
        """A 32-bit operand."""
        n = self.draw(10)
        if n < 7:
            return self.pick(DATA)
        return self.pick(VALUES) if n < 9 else self.pick([f"%c{i}" for i in range(max(self.counters, 1))])

    def guard(self, often: int = 4) -> str:
        """A guard now and then."""
        return "" if self.draw(often) else self.pick(["", "!"]) + self.pick(PREDICATES)

    def condition(self) -> str:
        """A predicate that was just computed, perhaps negated."""
        p = self.pick(PREDICATES)
        self.emit(f"setp.{self.pick(COMPARISONS)}.{self.pick(['s32', 'u32'])}", p, self.pick(DATA), self.source())
        return self.pick(["", "!"]) + p

    # ------------------------------------------------------------ straight lines

    def plain(self) -> None:
        """One instruction without control flow, or a few that belong together."""
        kind, guard, d = self.draw(19), self.guard(), self.pick(DATA)
        if kind < 4:
            self.emit(self.pick(TWO), d, self.pick(DATA), self.source(), guard=guard)
        elif kind == 4:
            self.emit(self.pick(ONE), d, self.pick(DATA), guard=guard)
        elif kind == 5:
            op = self.pick(THREE)
            self.emit(op, d, self.pick(DATA), self.pick(DATA) if op[:3] == "bfe" else self.source(), self.pick(DATA), guard=guard)
        elif kind == 6:
            special = self.pick(["%tid.x", "%tid.y", "%ctaid.x", "%ntid.x", "%laneid", "%tid.z", "%nctaid.x"])
            self.emit("mov.b32", d, special, guard=guard)
        elif kind == 7:
            self._compare(guard)
        elif kind == 8:
            self._wide(guard)
        elif kind == 9:
            if self.draw(2):
                self.emit("selp.b32", d, self.source(), self.pick(DATA), self.pick(PREDICATES), guard=guard)
            else:
                op = self.pick(["and.pred", "xor.pred"])
                self.emit(op, self.pick(PREDICATES), self.pick(PREDICATES), self.pick(PREDICATES), guard=guard)
        elif kind == 10:
            self._carry()
        elif kind == 11:
            self._odd(d, guard)
        elif kind == 12:
            self.emit("and.b32", "%s1", self.pick(DATA), INPUTS - 1)
            self.emit("mad.wide.u32", "%a3", "%s1", 4, "%a1")
            self.emit(f"ld.global.{self.pick(['u32', 's32', 'b32', 'u8', 's8', 'u16', 's16'])}", d, Memory("%a3"), guard=guard)
        elif kind == 13:
            self._memory(d, guard)
        elif kind == 14:
            self._half(d, guard)
        elif kind == 15:
            self._several(guard)
        elif kind == 16:
            self._vector(d, guard)
        else:
            n = self.draw(len(RED))
            self.emit(f"red.global.{RED[n]}.{'b32' if n in (1, 2, 3) else 'u32'}", Memory("%a2", 4 * n), self.pick(DATA), guard=guard)

    def _compare(self, guard: str) -> None:
        p = self.pick(PREDICATES)
        target = p if self.draw(3) else f"{p}|{self.pick([q for q in PREDICATES if q != p])}"
        op, kind = self.pick(COMPARISONS), self.pick(["s32", "u32"])
        if self.draw(3):
            self.emit(f"setp.{op}.{kind}", target, self.pick(DATA), self.source(), guard=guard)
        else:
            other = self.pick(["", "!"]) + self.pick(PREDICATES)
            self.emit(f"setp.{op}.{self.pick(['and', 'or', 'xor'])}.{kind}", target, self.pick(DATA), self.source(), other, guard=guard)

    def _wide(self, guard: str) -> None:
        d, kind = self.pick(WIDE), self.draw(5)
        if kind == 0:
            self.emit(self.pick(["mul.wide.u32", "mul.wide.s32"]), d, self.pick(DATA), self.pick(DATA), guard=guard)
        elif kind == 1:
            self.emit(self.pick(["cvt.u64.u32", "cvt.s64.s32"]), d, self.pick(DATA), guard=guard)
        elif kind == 2:
            self.emit("cvt.u32.u64", self.pick(DATA), d, guard=guard)
        elif kind == 3:
            self.emit(self.pick(["shl.b64", "shr.s64"]), d, self.pick(WIDE), self.source(), guard=guard)
        else:
            self.emit(self.pick(WIDE_TWO), d, self.pick(WIDE), self.pick(WIDE), guard=guard)

    def _carry(self) -> None:
        name = self.pick(["add", "sub"])
        self.emit(f"{name}.cc.u32", self.pick(DATA), self.pick(DATA), self.source())
        if self.draw(2):
            self.emit(f"{name}c.cc.u32", self.pick(DATA), self.pick(DATA), self.source())
        self.emit(f"{name}c.u32", self.pick(DATA), self.pick(DATA), self.pick(DATA))

    def _odd(self, d: str, guard: str) -> None:
        if self.draw(2):
            self.emit("lop3.b32", d, self.pick(DATA), self.pick(DATA), self.pick(DATA), self.draw(256), guard=guard)
        else:
            self.emit("bfi.b32", d, self.pick(DATA), self.pick(DATA), self.pick(DATA), self.draw(40), guard=guard)

    def _half(self, d: str, guard: str) -> None:
        """Registers of 16 bits."""
        h, kind = self.pick(HALF), self.draw(6)
        if kind == 0:
            self.emit(self.pick(["cvt.s32.s16", "cvt.u32.u16"]), d, h, guard=guard)
        elif kind == 1:
            self.emit("cvt.u16.u32", h, self.pick(DATA), guard=guard)
        elif kind == 2:
            self.emit(self.pick(["shl.b16", "shr.s16"]), h, self.pick(HALF), self.pick(DATA), guard=guard)
        elif kind == 3:
            self.emit("mul.wide.s16", d, h, self.pick(HALF), guard=guard)
        elif kind == 4:
            self.emit(
                f"setp.{self.pick(COMPARISONS)}.{self.pick(['s16', 'u16'])}", self.pick(PREDICATES), h, self.pick([*HALF, 5]), guard=guard
            )
        else:
            self.emit(self.pick(HALF_TWO), h, self.pick(HALF), self.pick([*HALF, self.draw(1 << 16)]), guard=guard)

    def _several(self, guard: str) -> None:
        """Vectors: pairs and loads and stores of several words."""
        kind, pair = self.draw(4), Several(self.two())
        if kind == 0:
            self.emit("mov.b64", self.pick(WIDE), pair, guard=guard)
        elif kind == 1:
            self.emit("mov.b64", pair, self.pick(WIDE), guard=guard)
        elif kind == 2:
            self.emit("st.global.v2.b32", Memory("%a0", 56), pair, guard=guard)
        else:
            count = self.pick([2, 4])
            self.emit("and.b32", "%s1", self.pick(DATA), INPUTS - count)
            self.emit("mad.wide.u32", "%a3", "%s1", 4, "%a1")
            self.emit(f"ld.global.v{count}.u32", Several(DATA[self.draw(2) :][:count]), Memory("%a3"), guard=guard)

    def _vector(self, d: str, guard: str) -> None:
        """Vector registers, by element and whole."""
        kind = self.draw(6)
        if kind == 0:
            self.emit(self.pick(TWO), self.pick(ELEMENTS), self.pick([*ELEMENTS, d]), self.source(), guard=guard)
        elif kind == 1:
            self.emit(self.pick(TWO), d, self.pick(DATA), self.pick(ELEMENTS), guard=guard)
        elif kind == 2:
            self.emit("mov.v2.b32", self.pick(VECTORS), self.pick([*VECTORS, Several(self.two())]), guard=guard)
        elif kind == 3:
            self.emit("mov.b64", *self.pick([(self.pick(WIDE), self.pick(VECTORS)), (self.pick(VECTORS), self.pick(WIDE))]), guard=guard)
        elif kind == 4:
            self.emit("st.global.v2.b32", Memory("%a0", 56), self.pick(VECTORS), guard=guard)
        else:
            self.emit("ld.global.v2.b32", self.pick(VECTORS), Memory("%a0", 56), guard=guard)

    def two(self) -> tuple[str, str]:
        """Two registers that differ."""
        first = self.pick(DATA)
        return first, self.pick([r for r in DATA if r != first])

    def _memory(self, d: str, guard: str) -> None:
        """Memory of the thread's own: scratch in out, its slot of shared memory, its stack."""
        where = self.draw(3)
        if where == 0:
            place, space = Memory("%a0", 60), "global"
        elif where == 1:
            place, space = Memory("%s0"), "shared"
        else:
            self.emit("and.b32", "%s1", self.pick(DATA), LOCAL_WORDS - 1)
            self.emit("mad.wide.u32", "%a3", "%s1", 4, "%a4")
            place, space = Memory("%a3"), "local"
        width = self.pick(["32", "32", "16", "8"])
        kind = self.draw(5)
        if kind == 0 and space != "local":
            op = self.pick(["add", "exch", "inc", "dec", "min", "cas", "xor"])
            given = (self.source(), self.pick(DATA)) if op == "cas" else (self.pick(DATA),)
            self.emit(f"atom.{space}.{op}.{'b32' if op in ('exch', 'cas', 'xor') else 'u32'}", d, place, *given, guard=guard)
        elif kind < 3:
            self.emit(f"st.{space}.b{width}" if width != "8" else f"st.{space}.u8", place, self.pick(DATA), guard=guard)
        else:
            self.emit(f"ld.{space}.{self.pick(['u', 's'])}{width}", d, place, guard=guard)

    # ------------------------------------------------------------ control flow

    def body(self, depth: int, most: int = 5) -> None:
        """A few statements."""
        for _ in range(1 + self.draw(most)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        """One statement; deep or long programs stay plain."""
        self.budget -= 1
        kind = self.draw(27)
        if self.budget < 0 or depth >= 4 or kind < 10:
            self.plain()
        elif kind < 14:
            self.branch(depth)
        elif kind < 17:
            self.loop(depth)
        elif kind == 17:
            self.switch(depth)
        elif kind == 18:
            self.tangle(depth)
        elif kind == 19 and depth and (self.ends or not self.entry):
            self.emit("exit" if self.entry and self.draw(2) else "ret", guard=self.condition())
        elif kind == 20 and self.callees:
            self.call()
        elif kind == 21 and self.entry and not depth:
            self.meeting()
        elif kind == 22 and self.entry and not depth:
            self.exchange()
        elif kind == 23:
            self.tight()
        elif kind == 24 and self.entry and not depth and self.counters < 3:
            self.rounds()
        elif kind > 24 and self.ways_out:
            self.emit("bra", self.pick(self.ways_out), guard=self.condition())
        else:
            self.plain()

    def branch(self, depth: int) -> None:
        """if, or if and else."""
        other, end = self.label(), self.label()
        self.emit("bra", other, guard=self.condition())
        self.body(depth + 1, 3)
        if self.draw(2):
            self.emit("bra" if self.draw(2) else "bra.uni", end)
            self.here(other)
            self.body(depth + 1, 3)
            self.here(end)
        else:
            self.here(other)

    def loop(self, depth: int) -> None:
        """A loop whose lanes turn differently often, with breaks and continues from below branches, perhaps a second entrance."""
        if self.counters == 3:
            return self.plain()
        counter = f"%c{self.counters}"
        self.counters += 1
        head, tail, end = self.label(), self.label(), self.label()
        self.emit("and.b32", counter, self.pick(DATA), self.pick([1, 3, 7]))
        if self.draw(4) == 0:  # irreducible: some lanes come in by the middle
            self.emit("bra", tail, guard=self.condition())
        self.here(head)
        self.ways_out += [end, tail]
        self.body(depth + 1, 3)
        if self.draw(2):
            self.emit("bra", self.pick([end, tail]), guard=self.condition())
            self.body(depth + 1, 2)
        del self.ways_out[-2:]
        self.here(tail)
        p = PREDICATES[0]
        self.emit("sub.s32", counter, counter, 1)
        self.emit("setp.gt.s32", p, counter, -1 if self.draw(3) == 0 else 0)
        self.emit("bra", head, guard=p)
        self.here(end)
        self.counters -= 1

    def tight(self) -> None:
        """A loop of one block without memory, which lanes leave one after the other."""
        if self.counters == 3:
            return self.plain()
        counter, head = f"%c{self.counters}", self.label()
        self.emit("and.b32", counter, self.pick(DATA), self.pick([1, 7, 15]))
        self.here(head)
        for _ in range(1 + self.draw(4)):
            self.emit(self.pick(TWO), self.pick(DATA), self.pick(DATA), self.source(), guard=self.guard())
        p = self.pick(PREDICATES)
        self.emit("sub.s32", counter, counter, 1)
        self.emit("setp.gt.s32", p, counter, self.draw(3))
        self.emit("bra", head, guard=p)

    def rounds(self) -> None:
        """A loop that all threads turn equally often, in which they meet."""
        counter, head = f"%c{self.counters}", self.label()
        self.counters += 1
        self.emit("mov.b32", counter, 1 + self.draw(2))
        self.here(head)
        self.body(1, 2)
        self.meet()
        self.emit("sub.s32", counter, counter, 1)
        self.emit("setp.gt.s32", PREDICATES[1], counter, 0)
        self.emit("bra", head, guard=PREDICATES[1])
        self.counters -= 1

    def switch(self, depth: int) -> None:
        """brx.idx over a table in which a label may stand twice."""
        cases = [self.label() for _ in range(2 + self.draw(3))]
        end, table = self.label(), self.label()
        targets = Targets([*cases, self.pick([end, *cases])])
        self.emit("rem.u32", "%s1", self.pick(DATA), len(targets.targets))
        self.here(table, f".branchtargets {', '.join(targets.targets)};")
        targets.name = table
        self.emit("brx.idx", "%s1", targets)
        for case in cases:
            self.here(case)
            self.body(depth + 1, 2)
            if self.draw(3):
                self.emit("bra", end)
        self.here(end)

    def tangle(self, depth: int) -> None:
        """Pieces that jump forward over one another."""
        names = [self.label() for _ in range(2 + self.draw(4))]
        for n, name in enumerate(names):
            self.here(name)
            self.plain()
            self.plain()
            if later := names[n + 1 :]:
                self.emit("bra", self.pick(later), guard=self.condition())
                if len(later) > 1 and self.draw(3) == 0:
                    self.emit("bra", self.pick(later[1:]))

    def call(self) -> None:
        """A call, direct or through a pointer, perhaps of some lanes only."""
        callee = self.pick(self.callees)
        arguments = (self.pick(DATA), self.pick(DATA), "%a0", "%a1", "%a2", "%s0")
        if callee.by_memory:
            self.emit("call", self.pick(DATA), callee.name, arguments, BY_MEMORY)
            return
        if self.draw(2):
            self.emit("call", self.pick(DATA), callee.name, arguments, "", guard=self.guard(3))
            return
        other = self.pick([f for f in self.callees if not f.by_memory])
        skip = self.label()
        self.emit("mov.u64", "%a5", callee.name)
        self.emit("mov.u64", "%a5", other.name, guard=self.condition())
        self.here(skip, ".callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _, .reg .b64 _, .reg .b64 _, .reg .b64 _, .reg .b32 _);")
        self.emit("call", self.pick(DATA), "%a5", arguments, skip, guard=self.guard(3))

    def meeting(self) -> None:
        """A meeting of all threads, or of some whole blocks."""
        if self.draw(3):
            return self.meet()
        past = self.label()
        self.emit("mov.b32", "%s1", "%ctaid.x")
        self.emit("setp.eq.u32", PREDICATES[0], "%s1", self.draw(3))
        self.emit("bra", past, guard=PREDICATES[0])
        self.meet()
        self.here(past)

    def exchange(self) -> None:
        """Lanes of a warp that learn from one another: those that hold a condition, whose mask a vote gives, or all."""
        d, a, mask, past = self.pick(DATA), self.pick(DATA), "%s1", self.label()
        some = self.condition() if self.draw(3) else ""
        if some:
            self.emit("vote.sync.ballot.b32", mask, some, -1)
            self.emit("bra", past, guard=some[1:] if some[0] == "!" else f"!{some}")
        kind = self.draw(4)
        if kind == 0:
            self.emit("vote.sync.ballot.b32", d, self.pick(PREDICATES), mask if some else -1)
        elif kind == 1:
            op = self.pick(["add.u32", "add.s32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"])
            self.emit(f"redux.sync.{op}", d, a, mask if some else -1)
        elif kind == 2:
            self.emit("and.b32", "%s2", a, 3)
            self.emit("match.any.sync.b32", d, "%s2", mask if some else -1)
        elif some:  # from the first lane that is here
            self.emit("brev.b32", "%s2", mask)
            self.emit("clz.b32", "%s2", "%s2")
            self.emit("shfl.sync.idx.b32", d, a, "%s2", 31, mask)
        elif not self.ends and self.threads % 32 == 0:
            mode = self.pick(["up", "down", "bfly", "idx"])
            clamp = self.pick([0, 0x10, 0x18, 0x1C]) << 8 | (0 if mode == "up" else 31)
            self.emit(f"shfl.sync.{mode}.b32", f"{d}|{self.pick(PREDICATES)}", a, self.draw(32), clamp, -1)
        if some:
            self.here(past)
        self.emit("mov.b32", "%s2", "shared")  # as it was

    def meet(self) -> None:
        """What all threads that are left come to: an exchange through shared memory, a barrier's count, a vote."""
        kind, d = self.draw(3), self.pick(DATA)
        if kind == 0:
            self.emit("st.shared.b32", Memory("%s0", 4), self.pick(DATA))
            self.emit("bar.sync", 0)
            self.emit("add.u32", "%s1", "%c3", 1 + self.draw(40))
            self.emit("rem.u32", "%s1", "%s1", self.threads)
            self.emit("mad.lo.u32", "%s1", "%s1", 8, "%s2")
            self.emit("ld.shared.b32", d, Memory("%s1", 4))
            self.emit("bar.sync", 0)
        elif kind == 1:
            self.emit("bar.red.popc.u32", d, 0, self.pick(PREDICATES))
        else:
            self.emit("vote.sync.ballot.b32", d, self.pick(PREDICATES), -1)


class Targets:
    """The name of a branch table and what it holds."""

    def __init__(self, targets: list[str]) -> None:
        self.targets = targets
        self.name = ""

    def __str__(self) -> str:
        return self.name


def program(draw: Draw, threads: int) -> Program:
    """A whole program for blocks of so many threads."""
    functions: list[Function] = []
    for n in range(draw(3)):
        takes = ("%r0", "%r1", "%a0", "%a1", "%a2", "%s0")
        f = Function(f"f{n}", takes, "%r5", [], 4 * LOCAL_WORDS, not draw(3))
        maker = Maker(draw, f, list(functions), threads, f"F{n}L")
        start(maker, [r for r in (*DATA, *WIDE) if r not in ("%r0", "%r1")])
        maker.body(0)
        functions.append(f)
        look(maker, 2)
        maker.emit("ret")
    entry = Function("test", (), "", [], 4 * LOCAL_WORDS)
    maker = Maker(draw, entry, functions, threads, "L", draw(2) == 1)
    for register, name in (("%a0", "out"), ("%a1", "inp"), ("%a2", "acc")):
        maker.emit("ld.param.u64", register, f"[{name}]")
    for text in PLACE.split(";"):
        op, *args = text.replace(",", " ").split()
        maker.emit(op, *[int(a) if a.isdigit() else a for a in args])
    start(maker, [*DATA, *WIDE])
    maker.body(0, 9)
    look(maker, LOCAL_WORDS)
    finish(maker)
    return Program([*functions, entry], ("out", "inp", "acc"), 8 * threads)


PLACE = """mov.b32 %c0, %tid.z; mov.b32 %s1, %ntid.y; mov.b32 %s2, %tid.y; mad.lo.u32 %c0, %c0, %s1, %s2; mov.b32 %c1, %ntid.x;
mov.b32 %s2, %tid.x; mad.lo.u32 %c3, %c0, %c1, %s2; mul.lo.u32 %c1, %c1, %s1; mov.b32 %s1, %ntid.z; mul.lo.u32 %c1, %c1, %s1;
mov.b32 %c2, %ctaid.z; mov.b32 %s1, %nctaid.y; mov.b32 %s2, %ctaid.y; mad.lo.u32 %c2, %c2, %s1, %s2;
mov.b32 %s1, %nctaid.x; mov.b32 %s2, %ctaid.x; mad.lo.u32 %c2, %c2, %s1, %s2; mad.lo.u32 %c2, %c2, %c1, %c3;
mad.wide.u32 %a0, %c2, 64, %a0; mov.b32 %s2, shared; mad.lo.u32 %s0, %c3, 8, %s2"""


def start(maker: Maker, registers: Sequence[str]) -> None:
    """Gives every register a first value: some the same for all, some by thread, some by block."""
    for n in range(1 if maker.entry else 3):
        maker.emit("mov.b32", f"%c{n}", n)
    if maker.entry:
        maker.emit("mov.b32", "%c1", 1)
        maker.emit("mov.b32", "%c2", 2)
    maker.emit("mov.u64", "%a4", "local")
    maker.emit("mov.b32", "%s1", 0)
    for n in range(LOCAL_WORDS):
        maker.emit("st.local.b32", Memory("%a4", 4 * n), n if maker.entry else n + 10 * len(maker.prefix) + ord(maker.prefix[1]))
    if maker.entry:
        maker.emit("st.shared.b32", Memory("%s0"), 0)
        maker.emit("st.shared.b32", Memory("%s0", 4), 0)
    for register in registers:
        if register in WIDE:
            maker.emit("cvt.u64.u32", register, "%r1")
            continue
        kind = maker.draw(4)
        if kind == 0:
            maker.emit("mov.b32", register, maker.pick(VALUES))
        elif kind == 1:
            maker.emit("mov.b32", register, maker.pick(["%tid.x", "%laneid", "%ctaid.x"]))
        elif not maker.entry:
            maker.emit("add.u32", register, "%r0", maker.draw(9))
        else:
            maker.emit("add.u32", register, "%c3", maker.draw(64))
            maker.emit("and.b32", "%s1", register, INPUTS - 1)
            maker.emit("mad.wide.u32", "%a3", "%s1", 4, "%a1")
            maker.emit("ld.global.b32", register, Memory("%a3"))
    for h in HALF:
        maker.emit("cvt.u16.u32", h, "%r1")
    for n, v in enumerate(ELEMENTS):
        maker.emit("add.u32", v, "%r0", n)
    for p in PREDICATES:
        maker.emit("setp.lt.u32", p, "%r0", maker.pick(VALUES))


def look(maker: Maker, words: int) -> None:
    """Mixes what the stack holds into a register: calls must not have touched it."""
    for n in range(words):
        maker.emit("ld.local.b32", "%s1", Memory("%a4", 4 * n))
        maker.emit("xor.b32", "%r5", "%r5", "%s1")


def finish(maker: Maker) -> None:
    """Hands every register out."""
    for n, v in enumerate(ELEMENTS):
        maker.emit("mad.lo.u32", f"%r{n}", v, 3, f"%r{n}")
    for n, r in enumerate(DATA):
        maker.emit("st.global.b32", Memory("%a0", 4 * n), r)
    for n, d in enumerate(WIDE):
        maker.emit("st.global.b64", Memory("%a0", 24 + 8 * n), d)
    maker.emit("mov.b32", "%s1", 0)
    for n, p in enumerate(PREDICATES):
        maker.emit("or.b32", "%s1", "%s1", 1 << n, guard=p)
    maker.emit("st.global.b32", Memory("%a0", 48), "%s1")
    for n, h in enumerate(HALF):
        maker.emit("st.global.b16", Memory("%a0", 52 + 2 * n), h)
    maker.emit("ret")
