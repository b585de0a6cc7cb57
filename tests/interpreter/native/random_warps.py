"""Random kernels whose warps exchange values: in unrolled chains and in loops, under masks that are constant, uniform, or made by ballots, in branches and
loops in which lanes part, and behind the end of some lanes.
"""

from __future__ import annotations

import random
from typing import Any, TypeVar

import numpy as np

from tests.interpreter.harness import Array, Machine, kernel
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import ExecutionError

T = TypeVar("T")
ALL = "0xFFFFFFFF"
VALUES = 5  # registers of a thread
WORDS = 8  # that it leaves


class WarpProgram:
    """One kernel, made from a seed."""

    def __init__(self, seed: int, careless: float = 0.02) -> None:
        self.rng, self.careless = random.Random(seed), careless  # how often a mask names lanes that may be elsewhere
        self.labels = self.loops = 0
        self.block, self.blocks = self.pick(32, 33, 48, 64, 96, 100, 128), self.pick(1, 2, 3, 5)
        body = self.steps(0, ALL)
        registers = f".reg .b32 %k<{self.loops + 2}>; .reg .b32 %m<{self.labels + 1}>;"
        stores = [f"st.global.u32 [%o+{4 * n}], %v{n};" for n in range(VALUES)]
        self.text = kernel(
            "p out, p in, u32 whole, u32 far", "\n".join([HEAD, registers, *body, *stores, "st.global.f32 [%o+28], %f0;", "ret;"])
        )

    def pick(self, *of: T) -> T:
        """One of some."""
        return self.rng.choice(of)

    def label(self) -> int:
        """The number of a label that is new."""
        self.labels += 1
        return self.labels

    def value(self) -> str:
        """A register of the thread."""
        return f"%v{self.rng.randrange(VALUES)}"

    def condition(self) -> str:
        """Sets %p0; most of the time lanes disagree."""
        v = self.value()
        return self.pick(
            f"setp.lt.u32 %p0, %lane, {self.pick(1, 5, 16, 31)};", f"and.b32 %x, {v}, {self.pick(1, 6)}; setp.ne.u32 %p0, %x, 0;",
            f"setp.gt.s32 %p0, {v}, {self.value()};", "setp.lt.u32 %p0, %t, 40;", "mov.u32 %x, %ctaid.x; setp.eq.u32 %p0, %x, 1;", "setp.ge.u32 %p0, %lane, %near;",
        )  # fmt: skip

    def mask(self, members: str) -> tuple[list[str], str]:
        """Lines, and an operand that names lanes: those that are meant to be here."""
        if self.rng.random() < self.careless:
            members = ALL
        if members != ALL:
            return [], members
        way = self.rng.randrange(6)
        if way == 0:
            return ["mov.u32 %full, -1;"], "%full"
        if way == 1:  # either side of a branch sets it
            n = self.label()
            return [self.condition(), f"mov.u32 %y, -1; @%p0 bra J{n};", f"mov.u32 %y, {self.pick('-1', '0xFFFFFFFF')};", f"J{n}:"], "%y"
        return [], self.pick(ALL, "-1", "%full", "%whole")

    def across(self, members: str) -> list[str]:
        """One instruction across lanes."""
        lines, mask = self.mask(members)
        a, to = self.value(), self.value()
        if self.rng.random() < 0.5:
            return [*lines, *self.shuffle(a, mask), f"add.u32 {to}, {to}, %w; @%p1 xor.b32 {to}, {to}, 5;"]
        what = self.pick(
            f"vote.sync.ballot.b32 %w, %p0, {mask};", f"vote.sync.any.pred %p1, %p0, {mask}; selp.u32 %w, 3, 8, %p1;",
            f"vote.sync.all.pred %p1, !%p0, {mask}; selp.u32 %w, 3, 8, %p1;", f"redux.sync.add.u32 %w, {a}, {mask};",
            f"redux.sync.min.s32 %w, {a}, {mask};", f"and.b32 %w, {a}, 3; match.any.sync.b32 %w, %w, {mask};", f"elect.sync %w|%p1, {mask};",
            f"match.all.sync.b32 %w|%p1, {a}, {mask};", f"bar.warp.sync {mask}; mov.u32 %w, 7;", "activemask.b32 %w;",
        )  # fmt: skip
        guard = "@%p2 " if self.rng.random() < 0.1 and not what.startswith("and") else ""
        return [*lines, self.condition(), f"setp.gt.u32 %p2, %t, 3; {guard}{what}", f"mad.lo.u32 {to}, {to}, 3, %w;"]

    def shuffle(self, a: str, mask: str) -> list[str]:
        """A shuffle into %w and %p1: from a distance that is said, lies in a register, is one for all, or each lane's own."""
        mode = self.pick("up", "down", "bfly", "idx")
        size = self.pick(32, 32, 32, 16, 8, 2)
        clamp = (32 - size) << 8 | (0 if mode == "up" else 31)
        d = str(self.pick(0, 1, 2, 3, 4, 8, 16, 17, 31))
        by = self.pick(d, "%z", "%near", "%far", "%x", f"%k{self.rng.randrange(self.loops + 1)}", a)
        first = {"%z": f"mov.u32 %z, {d};", "%x": self.condition() + f" mov.u32 %x, {d}; @%p0 mov.u32 %x, 1;"}.get(by, "")
        clamps = self.pick(str(clamp), "%c")
        return [first, f"mov.u32 %c, {clamp};", f"shfl.sync.{mode}.b32 %w|%p1, {a}, {by}, {clamps}, {mask};"]

    def chain(self, members: str) -> list[str]:
        """A reduction or scan, unrolled."""
        lines, mask = self.mask(members)
        mode, v = self.pick("down", "up", "bfly"), self.value()
        clamp = "0" if mode == "up" else "31"
        use = self.pick("add.u32 V, V, %w;", "add.u32 %w, V, %w; setp.ge.u32 %p0, %lane, D; selp.b32 V, %w, V, %p0;", "@%p1 max.u32 V, V, %w;",
                        "mov.b32 %f1, %w; add.f32 %f0, %f0, %f1; mov.b32 %w, %f0; add.u32 V, V, %w;")  # fmt: skip
        distances = self.pick((16, 8, 4, 2, 1), (1, 2, 4, 8, 16), (4, 2), (1, 3, 5))
        out = [
            f"mov.u32 %z, {d}; shfl.sync.{mode}.b32 %w|%p1, {v}, %z, {clamp}, {mask}; {use.replace('V', v).replace('D', str(d))}"
            for d in distances
        ]
        return [*lines, *out]

    def leaders(self, members: str) -> list[str]:
        """All lanes read, in turn, each of those for which a condition holds: warps take as many turns as they have of these."""
        n, v, to = self.label(), self.value(), self.value()
        part = [f"@%p0 add.u32 {to}, {to}, 1;", f"@%p0 bra I{n}; xor.b32 {to}, {to}, %w; I{n}:"][self.rng.randrange(2)]
        return [
            self.condition(), f"vote.sync.ballot.b32 %m{n}, %p0, {members}; setp.eq.u32 %p3, %m{n}, 0; @%p3 bra J{n};",
            f"L{n}: sub.u32 %x, 0, %m{n}; and.b32 %x, %x, %m{n}; bfind.u32 %x, %x; shfl.sync.idx.b32 %w, {v}, %x, 31, {members};",
            f"mad.lo.u32 {to}, {to}, 7, %w; {part}", f"sub.u32 %x, %m{n}, 1; and.b32 %m{n}, %m{n}, %x; setp.ne.u32 %p3, %m{n}, 0; @%p3 bra L{n};", f"J{n}:",
        ]  # fmt: skip

    def compute(self) -> list[str]:
        """Changes a value."""
        a, b = self.value(), self.value()
        return [self.pick(
            f"mad.lo.u32 {a}, {a}, 5, {b};", f"xor.b32 {a}, {a}, {b};", f"shr.u32 {a}, {a}, 3;", f"@%p2 add.u32 {a}, {a}, {b};", f"mov.u32 {a}, 3;",
            f"and.b32 %x, {a}, 63; mul.wide.u32 %d, %x, 4; add.u64 %d, %d, %in; ld.global.u32 {b}, [%d];", "mul.f32 %f0, %f0, 0f3F000000;",
        )]  # fmt: skip

    def loop(self, depth: int, members: str) -> list[str]:
        """A loop, whose turns are the same for all lanes, or else a ballot tells who takes another one."""
        n, k = self.label(), f"%k{self.loops}"
        self.loops += 1
        if self.rng.random() < 0.7:
            first, on, last = self.pick(("1", "shl.b32 K, K, 1;", "setp.lt.u32 %p3, K, 32;"), ("16", "shr.u32 K, K, 1;", "setp.ne.u32 %p3, K, 0;"),
                                        ("0", "add.u32 K, K, 1;", "setp.lt.u32 %p3, K, 5;"), ("2", "add.u32 K, K, 3;", "setp.lt.u32 %p3, K, %far;"))  # fmt: skip
            body = self.steps(depth + 1, members)
            return [f"mov.u32 {k}, {first};", f"L{n}:", *body, on.replace("K", k), last.replace("K", k), f"@%p3 bra L{n};"]
        body, own = self.steps(depth + 1, f"%m{n}"), f"%m{n}"
        again = [
            self.condition(),
            f"add.u32 {k}, {k}, 1; setp.lt.and.u32 %p3, {k}, 4, %p0; vote.sync.ballot.b32 {own}, %p3, {own}; @%p3 bra L{n};",
        ]
        return [f"mov.u32 {k}, 0; mov.u32 {own}, {members};", f"L{n}:", *body, *again]

    def branch(self, depth: int, members: str) -> list[str]:
        """An `if`, with a ballot before it."""
        n = self.label()
        body = self.steps(depth + 1, f"%m{n}")
        return [self.condition(), f"vote.sync.ballot.b32 %m{n}, %p0, {members}; @!%p0 bra J{n};", *body, f"J{n}:"]

    def steps(self, depth: int, members: str) -> list[str]:
        """Some of it; a few stores make that it is not all one piece."""
        lines: list[str] = []
        for _ in range(self.rng.randrange(1, 5)):
            way = self.rng.random()
            if way < 0.15 and depth < 3:
                lines += self.loop(depth, members)
            elif way < 0.25 and depth < 3:
                lines += self.branch(depth, members)
            elif way < 0.3 and depth == 0:
                lines += [self.condition(), self.pick("@%p0 exit;", "@!%p0 ret;")]
            elif way < 0.34:
                lines += self.leaders(members)
            elif way < 0.38:
                lines += [f"st.global.u32 [%o+20], {self.value()};"]
            elif way < 0.52:
                lines += self.chain(members)
            elif way < 0.8:
                lines += self.across(members)
            else:
                lines += self.compute()
        return lines

    def results(self, **options: Any) -> tuple[Array | str, int]:
        """What it leaves in memory, or how it ends, and its steps."""
        machine = Machine(self.text)
        out = machine.upload(np.zeros(WORDS * self.block * self.blocks, np.uint32))
        given = machine.upload(np.random.default_rng(self.blocks).integers(0, 1 << 32, 256, np.uint32))
        launch = machine.prepare(self.blocks, self.block, [out, given, 0xFFFFFFFF, 9], max_seconds=30, **options)
        try:
            execute(launch)
        except ExecutionError as e:
            return str(e).splitlines()[0], 0
        return machine.download(out), launch.steps


HEAD = f""".reg .b32 %v<{VALUES}>; .reg .b32 %t, %lane, %near, %far, %full, %whole, %x, %y, %z, %w, %c; .reg .b64 %d, %o, %in; .reg .pred %p<4>; .reg .f32 %f<2>;
ld.param.u64 %o, [out]; ld.param.u64 %in, [in]; ld.param.u32 %whole, [whole]; ld.param.u32 %far, [far]; mov.u32 %t, %tid.x; and.b32 %lane, %t, 31;
mov.u32 %x, %ctaid.x; mov.u32 %y, %ntid.x; mad.lo.u32 %x, %x, %y, %t; mul.wide.u32 %d, %x, {4 * WORDS}; add.u64 %o, %o, %d; mov.u32 %full, -1;
and.b32 %y, %x, 127; mul.wide.u32 %d, %y, 4; add.u64 %d, %in, %d; ld.global.u32 %v0, [%d]; ld.global.u32 %v1, [%d+128]; mov.u32 %v2, %x; mov.u32 %v3, 9;
mul.lo.u32 %v4, %x, 0x9E3779B1; mov.u32 %near, 2; setp.gt.u32 %p2, %t, 20; mov.u32 %w, 1; mov.u32 %z, 0; mov.u32 %c, 31; mov.b32 %f0, %v0;
setp.lt.u32 %p0, %t, 9; setp.lt.u32 %p1, %t, 17; mov.u32 %x, 1; mov.u32 %y, -1;
"""
