"""Random kernels of the shapes that stretches are compiled for: neighbours, bounds, trees, scans and tables, in shared and in global memory, without races.

A step reads the tile `%from`, the array `in` and what the thread has, and writes an element of the tile `%to` that no other thread writes; behind a barrier
the tiles are exchanged.
"""

from __future__ import annotations

import random

import numpy as np

from tests.interpreter.harness import Array, Machine, kernel

ELEMENTS = 256  # of a tile
KINDS = {"b8": 1, "b16": 2, "b32": 4, "b64": 8}
TILE = 8192  # bytes of a tile: room beyond its elements, too


class StretchProgram:
    """One kernel, made from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.labels = 0
        self.block = self.rng.choice((32, 33, 64, 96, 100, 128, 200, 256))
        self.blocks = self.rng.randrange(1, 7)
        self.n = self.rng.choice((self.block, self.block // 2 + 1, 17, ELEMENTS))  # a bound in the parameters
        lines = [line for _ in range(self.rng.randrange(2, 6)) for line in self.step()]
        self.text = kernel("p out, p in, u32 n", "\n".join([HEAD, *lines, TAIL]))

    def pick(self, *of: str) -> str:
        """One of some texts."""
        return self.rng.choice(of)

    def value(self) -> str:
        """A register that holds a value of the thread."""
        return f"%v{self.rng.randrange(4)}"

    def index(self) -> list[str]:
        """Puts an index into %i1 that need not be one of an element."""
        c, m = self.rng.randrange(-40, 41), self.rng.choice((1, 2, 7, 31, 32, 255))
        return [self.pick(
            f"add.s32 %i1, %t, {c};", f"sub.s32 %i1, %n, %t; add.s32 %i1, %i1, {c};", f"xor.b32 %i1, %t, {m};", f"and.b32 %i1, %t, {m};",
            f"mad.lo.s32 %i1, %t, {self.rng.choice((2, 3, -1, 4))}, {c};", f"shr.u32 %i1, %t, {self.rng.randrange(1, 6)};",
            f"sub.s32 %i1, %t, %k; add.s32 %i1, %i1, {self.rng.choice((0, 1))};", f"mov.u32 %i1, {abs(c)};", "add.s32 %i1, %t, %k;",
            f"and.b32 %i1, {self.value()}, {m};", f"mov.u32 %i1, %ctaid.x; add.u32 %i1, %i1, %t; sub.u32 %i1, %i1, {abs(c)};", "mov.u32 %i1, %t;",
        )]  # fmt: skip

    def bounded(self, lines: list[str]) -> list[str]:
        """The same for lanes whose index is one of an element."""
        way = self.rng.randrange(4)
        if way == 0:
            return [f"and.b32 %i1, %i1, {ELEMENTS - 1};", *lines]
        bound = self.pick(f"setp.lt.u32 %p1, %i1, {ELEMENTS};", f"setp.lt.u32 %p1, %i1, %t; and.b32 %i1, %i1, {ELEMENTS - 1};",
                          f"setp.lt.u32 %p0, %i1, {ELEMENTS}; setp.lt.and.u32 %p1, %t, %n, %p0;")  # fmt: skip
        if way == 1:
            return [bound, *(f"@%p1 {line}" for line in lines)]
        self.labels += 1
        return [bound, f"@!%p1 bra J{self.labels};", *lines, f"J{self.labels}:"]

    def load(self) -> list[str]:
        """Reads an element, or two or four neighbours, for lanes that have one."""
        kind = self.rng.choice([*KINDS, "b32", "b32", "v2", "v4"])
        n, to = int(kind[1]) if kind[0] == "v" else 1, self.value()
        size = KINDS.get(kind, 4 * n)
        if self.rng.random() < 0.6:
            place = f"mad.lo.u32 %a, %i1, {size}, %from;"
            at, space = f"[%a+{size * self.rng.choice((0, 0, 1, 2))}]", "shared"
        else:
            place, space = f"mul.wide.u32 %d1, %i1, {size}; add.u64 %d1, %d1, %in;", "global"
            at = f"[%d1+{size * self.rng.choice((0, 0, 1, 4))}]"
        if n > 1:
            registers = ", ".join(f"%w{i}" for i in range(n))
            return [place, f"ld.{space}.{kind}.u32 {{{registers}}}, {at};", *(f"add.u32 {to}, {to}, %w{i};" for i in range(n))]
        if kind == "b64":
            return [place, f"ld.{space}.u64 %d2, {at};", f"cvt.u32.u64 %w0, %d2; xor.b32 {to}, {to}, %w0;"]
        if kind in ("b8", "b16"):
            return [place, f"ld.{space}.{self.pick('u', 's')}{8 * size} %h0, {at};", f"cvt.u32.u16 %w0, %h0; add.u32 {to}, {to}, %w0;"]
        if self.rng.random() < 0.3:
            return [place, f"ld.{space}.f32 %f0, {at};", "add.f32 %f1, %f1, %f0; mul.f32 %f0, %f0, 0f3F000000;", f"mov.b32 {to}, %f0;"]
        return [place, f"ld.{space}.u32 {to if self.rng.random() < 0.5 else '%w0'}, {at};", f"add.u32 {to}, {to}, %w0;"]

    def split(self, lines: list[str]) -> list[str]:
        """One instruction a line."""
        return [f"{one.strip()};" for line in lines for one in line.split(";") if one.strip()]

    def compute(self) -> list[str]:
        """Changes a value."""
        a, b = self.value(), self.value()
        return [self.pick(f"add.u32 {a}, {a}, {b};", f"mad.lo.u32 {a}, {a}, 3, {b};", f"xor.b32 {a}, {a}, {b};", f"max.s32 {a}, {a}, {b};",
                          f"shf.l.wrap.b32 {a}, {a}, {b}, 7;", "fma.rn.f32 %f1, %f1, 0f3F000000, 0f3E800000;", f"selp.u32 {a}, {a}, {b}, %p2;")]  # fmt: skip

    def write(self) -> list[str]:
        """Writes the element of the thread, or some of its bytes, for some of the threads."""
        m, kind = self.rng.choice((0, 0, 1, 31)), self.rng.choice([*KINDS, "b32", "b32"])
        size = KINDS[kind]
        lines = [f"xor.b32 %i2, %t, {m};", f"mad.lo.u32 %a, %i2, {size}, %to;"]
        v = self.value()
        register, conversion = {"b8": ("%h1", f"cvt.u16.u32 %h1, {v};"), "b16": ("%h1", f"cvt.u16.u32 %h1, {v};"), "b32": (v, ""),
                                "b64": ("%d3", f"mov.b64 %d3, {{{v}, %v0}};")}[kind]  # fmt: skip
        lines += [conversion, f"st.shared.{kind} [%a], {register};"]
        way = self.rng.randrange(4)
        if way == 0:
            return lines
        condition = self.pick(
            "setp.lt.u32 %p1, %t, %n;", f"setp.gt.u32 %p1, %t, {self.rng.randrange(64)};", f"and.b32 %i3, {v}, 1; setp.eq.u32 %p1, %i3, 0;"
        )
        if way == 1:
            return [condition, *lines[:-1], f"@%p1 {lines[-1]}"]
        self.labels += 1
        return [condition, f"@!%p1 bra J{self.labels};", *lines, f"J{self.labels}:"]

    def body(self) -> list[str]:
        """Reads, computes, writes; then the tiles are exchanged."""
        lines: list[str] = []
        for _ in range(self.rng.randrange(1, 4)):
            lines += [*self.index(), *self.bounded(self.split(self.load())), *self.compute()]
        return [*lines, *self.write(), "bar.sync 0;", "mov.u32 %a, %from; mov.u32 %from, %to; mov.u32 %to, %a;"]

    def step(self) -> list[str]:
        """Some of it once, or in a loop over k that doubles, halves or counts."""
        if self.rng.random() < 0.5:
            return self.body()
        self.labels += 1
        first, on, last = self.rng.choice((("1", "shl.b32 %k, %k, 1;", "setp.lt.u32 %p3, %k, 64;"), ("64", "shr.u32 %k, %k, 1;", "setp.ne.u32 %p3, %k, 0;"),
                                           ("0", "add.u32 %k, %k, 1;", "setp.lt.u32 %p3, %k, 5;")))  # fmt: skip
        label = f"L{self.labels}"
        return [f"mov.u32 %k, {first};", f"{label}:", *self.body(), on, last, f"@%p3 bra {label};", "mov.u32 %k, 3;"]

    def results(self, **options: object) -> tuple[Array, int]:
        """What it leaves in memory, and its steps."""
        machine = Machine(self.text)
        rng = np.random.default_rng(self.blocks)
        out = machine.upload(np.zeros(8 * self.block * self.blocks, np.uint32))
        given = machine.upload(rng.integers(0, 1 << 32, 4 * ELEMENTS + 64, np.uint32))
        launch = machine.launch(self.blocks, self.block, [out, given, self.n], **options)
        return machine.download(out), launch.steps


HEAD = f""".reg .b32 %v<4>; .reg .b32 %w<4>; .reg .b32 %i<4>; .reg .b64 %d<4>; .reg .pred %p<4>; .reg .f32 %f<2>; .reg .b16 %h<2>;
.reg .b32 %t, %gid, %n, %k, %a, %from, %to; .reg .b64 %out, %in; .shared .align 16 .b8 first[{TILE}]; .shared .align 16 .b8 second[{TILE}];
ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mov.u32 %a, %ctaid.x; mov.u32 %i0, %ntid.x;
mad.lo.u32 %gid, %a, %i0, %t; mov.u32 %from, first; mov.u32 %to, second; mov.u32 %k, 3; setp.gt.u32 %p2, %t, 20;
mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %in; ld.global.u32 %v0, [%d0]; ld.global.u32 %v1, [%d0+1024]; mov.u32 %v2, %gid; mov.u32 %v3, 9;
mov.u32 %w0, 1; mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f40000000; mov.u32 %i1, 0;
mad.lo.u32 %a, %t, 4, 0; Z: add.u32 %i2, %a, %from; st.shared.u32 [%i2], %a; add.u32 %i2, %a, %to; st.shared.u32 [%i2], %v0;
mad.lo.u32 %a, %i0, 4, %a; setp.lt.u32 %p1, %a, {TILE}; @%p1 bra Z; bar.sync 0;
"""
TAIL = """mad.lo.u32 %i0, %gid, 8, 0; mul.wide.u32 %d0, %i0, 4; add.u64 %d0, %out, %d0; st.global.v4.u32 [%d0], {%v0, %v1, %v2, %v3};
st.global.f32 [%d0+16], %f1; ret;"""
