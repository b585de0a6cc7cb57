"""Regions that compiled code executes warp by warp: the same results, faults and limits as in lockstep."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.interpreter.harness import Machine, kernel, run
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.native.program import NativeProgram

REGISTERS = [f"%r{n}" for n in range(10, 18)]


class Loops:
    """A random program of nested loops, branches, breaks and continues that only read memory."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.labels = self.counters = 0

    def text(self) -> str:
        self.lines = ["mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;",
                      "ld.param.u64 %d1, [table]; ld.param.u64 %d2, [out];", "shl.b32 %r5, %r1, 2; mov.u32 %r6, tile; add.u32 %r6, %r6, %r5;",
                      "st.shared.u32 [%r6], %r4; bar.sync 0; mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d3, %d1; mov.u64 %d4, %d1;"]  # fmt: skip
        self.lines += [f"mad.lo.u32 {r}, %r{self.random.choice((2, 4))}, {self.random.randrange(9)}, {n};" for n, r in enumerate(REGISTERS)]
        for _ in range(3):
            self.loop(2)
        self.lines += [
            "mul.wide.u32 %d5, %r4, 32; add.u64 %d5, %d5, %d2;",
            *[f"st.global.u32 [%d5+{4 * n}], {r};" for n, r in enumerate(REGISTERS)],
        ]
        return kernel("p table, p out", "\n".join([
            f".reg .b32 %r<40>; .reg .b64 %d<8>; .reg .pred %p<4>; .reg .b32 %c<{self.counters + 1}>;", *self.lines, "ret;",
        ]), ".shared .b32 tile[64];")  # fmt: skip

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def condition(self) -> None:
        a, b = self.random.sample(REGISTERS, 2)
        self.lines.append(f"and.b32 %r30, {a}, 7; and.b32 %r31, {b}, {self.random.choice((3, 7))}; setp.lt.u32 %p1, %r30, %r31;")

    def simple(self) -> None:
        d, a, b = (self.random.choice(REGISTERS) for _ in range(3))
        self.lines.append(self.random.choice([
            f"mad.lo.u32 {d}, {a}, 5, {b};", f"xor.b32 {d}, {a}, {b};", f"shr.u32 {d}, {a}, 3;", f"add.u32 {d}, {d}, 1;", f"mov.u32 {d}, 3;",
            f"setp.gt.u32 %p2, {a}, {b}; @%p2 add.u32 {d}, {a}, 7;", f"ld.global.u32 {d}, [%d3]; add.u64 %d3, %d3, 4; and.b64 %d3, %d3, -1;",
            f"and.b32 %r30, {a}, 63; mul.wide.u32 %d6, %r30, 4; add.u64 %d6, %d6, %d1; ld.global.u32 {d}, [%d6+8];",
            f"ld.global.u32 {d}, [%d4]; add.u64 %d4, %d4, 4;", f"and.b32 %r30, {a}, 15; shl.b32 %r30, %r30, 2; mov.u32 %r31, tile; "
            f"add.u32 %r31, %r31, %r30; ld.shared.u32 {d}, [%r31];", f"selp.b32 {d}, {a}, {b}, %p2;",
        ]))  # fmt: skip

    def branch(self, depth: int) -> None:
        other, end = self.label(), self.label()
        self.condition()
        self.lines.append(f"@%p1 bra {other};")
        self.body(depth)
        self.lines += [f"bra {end};", f"{other}:"]
        self.body(depth)
        self.lines.append(f"{end}:")

    def body(self, depth: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            what = self.random.random()
            if depth and what < 0.25:
                self.branch(depth - 1)
            elif depth and what < 0.4:
                self.loop(depth - 1)
            else:
                self.simple()

    def loop(self, depth: int) -> None:
        head, again, end = self.label(), self.label(), self.label()
        self.counters += 1
        i = f"%c{self.counters}"
        self.lines.append(f"mov.u32 {i}, 0;")
        if depth == 2 and self.random.random() < 0.5:  # a region begins with the loop
            self.lines.append(f"st.shared.u32 [%r6], {self.random.choice(REGISTERS)};")
        self.lines.append(f"{head}:")
        self.body(depth)
        for way in (end, again, head):
            if self.random.random() < 0.3:
                self.condition()
                step = f"add.u32 {i}, {i}, 1; setp.lt.u32 %p3, {i}, 6; and.pred %p1, %p1, %p3;" if way == head else ""
                self.lines.append(f"{step} @%p1 bra {way};")
                self.body(0)
        self.lines.append(f"{again}: add.u32 {i}, {i}, 1;")
        if self.random.random() < 0.5:
            self.lines.append(f"setp.lt.u32 %p1, {i}, {self.random.randrange(1, 7)};")
        else:
            self.lines.append(f"and.b32 %r30, {self.random.choice(REGISTERS)}, 7; setp.lt.u32 %p1, {i}, %r30;")
        self.lines += [f"@%p1 bra {head};", f"{end}:"]


class FloatLoops(Loops):
    """The same with single precision, NaNs of all kinds among it, and conditions that are the same for all lanes, mostly; `diverge`: that are not."""

    diverge = False

    def text(self) -> str:
        text = super().text()
        loads = "".join(f"ld.global.f32 %f{n}, [%d3+{4 * n}];" for n in range(6))
        stores = "".join(f"mov.b32 %r30, %f{n}; xor.b32 %r{10 + n}, %r{10 + n}, %r30;" for n in range(6))
        text = text.replace(".reg .pred", ".reg .f32 %f<6>; .reg .pred", 1).replace("bar.sync 0;", "bar.sync 0;", 1)
        text = text.replace("mov.u64 %d4, %d1;", f"mov.u64 %d4, %d1; {loads}", 1)
        return text.replace("mul.wide.u32 %d5, %r4, 32;", f"{stores} mul.wide.u32 %d5, %r4, 32;", 1)

    def condition(self) -> None:
        if self.diverge or self.random.random() < 0.02:
            super().condition()
            return
        self.lines.append(
            f"add.u32 %r30, %r3, %c{self.counters}; and.b32 %r30, %r30, 3; setp.lt.u32 %p1, %r30, {self.random.randrange(4)};"
        )

    def loop(self, depth: int) -> None:
        before = len(self.lines)
        super().loop(depth)
        for n, line in enumerate(self.lines[before:], before):  # turns are the same for all lanes, too
            if not self.diverge and line.startswith("and.b32 %r30, %r1") and line.endswith(", %r30;"):
                self.lines[n] = f"and.b32 %r30, %r3, 7; {line[line.index('setp') :]}"

    def simple(self) -> None:
        d, a, b, c = (f"%f{self.random.randrange(6)}" for _ in range(4))
        r, other = (self.random.choice(REGISTERS) for _ in range(2))
        self.lines.append(self.random.choice([
            f"fma.rn.f32 {d}, {a}, {b}, {c};", f"fma.rn.f32 {d}, {d}, {b}, {c};", f"add.rn.f32 {d}, {d}, {a};", f"mul.rn.ftz.f32 {d}, {a}, {b};",
            f"sub.rn.f32 {d}, {a}, {b};", f"add.rn.sat.f32 {d}, {a}, {b};", f"min.f32 {d}, {a}, {b};", f"max.NaN.f32 {d}, {a}, {b};",
            f"rcp.approx.f32 {d}, {a};", f"neg.f32 {d}, {a};", f"mov.f32 {d}, {a};", f"mov.b32 {r}, {a};", f"mov.b32 {d}, {r};",
            f"mov.b32 %r30, {a}; xor.b32 {r}, {other}, %r30;", f"setp.lt.f32 %p2, {a}, {b}; selp.f32 {d}, {b}, {c}, %p2;", f"mov.f32 {d}, 0fFFC00001;",
            f"setp.nan.f32 %p2, {a}, {b}; @%p2 mov.f32 {d}, {c};", f"@%p2 fma.rn.f32 {d}, {a}, {b}, {d};", f"ld.global.f32 {d}, [%d4]; add.u64 %d4, %d4, 4;",
            f"abs.f32 {d}, {a};", f"copysign.f32 {d}, {a}, {b};", f"cvt.rn.f32.u32 {d}, {r};", f"cvt.rzi.s32.f32 {r}, {a};",
        ]))  # fmt: skip


class DivergingFloatLoops(FloatLoops):
    """Lanes go their own ways."""

    diverge = True


def equal(seed: int, monkeypatch: pytest.MonkeyPatch, kind: type[Loops] = Loops) -> int:
    """Runs a program on both engines; says how many regions it has, of those with floats: how many of the kind that they are meant to be."""
    found: list[int] = []
    made = NativeProgram.__init__

    def counted(self: NativeProgram, *given: object, **named: object) -> None:
        made(self, *given, **named)  # type: ignore[arg-type]
        found.append(sum(region.diverges is getattr(kind, "diverge", region.diverges) for region in self.cut.regions.values()))

    monkeypatch.setattr(NativeProgram, "__init__", counted)
    text = kind(seed).text()
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 1 << 32, 4096, dtype=np.uint32)
    if issubclass(kind, FloatLoops):
        table[::3] = rng.choice(
            np.array([0x7F800001, 0x7FC12345, 0xFFC00000, 0x7FFFFFFF, 0x7F800000, 0xFF800000, 0, 0x80000000, 5], np.uint32), 1366
        )
    results = []
    for engine in ("numpy", "native"):
        machine = Machine(text)
        places = machine.upload(table), machine.upload(np.zeros(3 * 50 * 8, np.uint32))
        machine.launch(3, 50, list(places), engine=engine)
        results.append(machine.download(places[1], np.dtype(np.uint32)))
    assert (results[0] == results[1]).all()
    return sum(found)


@pytest.mark.parametrize("seed", range(12))
def test_random_loops_give_the_results_of_numpy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert equal(seed, monkeypatch) > 0


@pytest.mark.parametrize("kind", [FloatLoops, DivergingFloatLoops])
@pytest.mark.parametrize("seed", [*range(12), 170])  # the optimiser of LLVM ended the process at 170
def test_random_loops_of_floats_give_the_results_of_numpy(seed: int, kind: type[Loops], monkeypatch: pytest.MonkeyPatch) -> None:
    assert equal(seed, monkeypatch, kind) > 0


@pytest.mark.long
@pytest.mark.parametrize("kind", [Loops, FloatLoops, DivergingFloatLoops])
@pytest.mark.parametrize("seed", range(12, 400))
def test_many_random_loops_give_the_results_of_numpy(seed: int, kind: type[Loops], monkeypatch: pytest.MonkeyPatch) -> None:
    equal(seed, monkeypatch, kind)


@pytest.mark.parametrize("again", ["", "add.u32 %n, %t, 1; setp.lt.u32 %p, %n, 40; @%p bra M; add.u32 %r, %r, %n; M:"])
def test_a_counter_that_varies_in_a_region_alone(again: str) -> None:
    """It holds one value for all where the loop begins, behind a store; `again`: it varies elsewhere, too, and has a place for each lane."""
    text = kernel("p out", f""".reg .b64 %o; .reg .b32 %t, %r, %n, %s, %m; .reg .pred %p; .shared .b32 tile[96];
        ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 4, %o; and.b32 %r, %t, 3; mov.u32 %s, 0; {again}
        ld.global.u32 %m, [%o]; mov.u32 %n, 0; st.global.u32 [%o], %s;
        L: ld.global.u32 %r, [%o]; add.u32 %s, %s, 3; add.u32 %s, %s, %r; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %m; @%p bra L;
        st.global.u32 [%o], %s; ret;""")  # fmt: skip
    data = np.arange(96, dtype=np.uint32) % 7
    numpy, native = (run(text, 1, 96, data, engine=engine) for engine in ("numpy", "native"))
    assert (numpy == np.maximum(data, 1) * 3).all() and (native == numpy).all()


SUM = """.reg .u64 %o, %a; .reg .u32 %t, %r, %s, %n; .reg .pred %p;
    ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %s, %t; mov.u32 %n, 0; mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %o;
    L: ld.global.u32 %r, [%a]; add.u32 %s, %s, %r; STEP; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 40; @%p bra L;
    mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %o; st.global.u32 [%a], %s; ret;"""


@pytest.mark.parametrize("step", ["add.u64 %a, %a, 400", "mad.wide.u32 %a, %t, 400, %a", "add.u64 %a, %a, 2"])
def test_a_fault_in_a_region_is_the_first_in_the_order_of_instructions(step: str) -> None:
    """Later warps leave the array in an earlier turn of the loop than the first warp, which compiled code executes first."""
    said = []
    for engine in ("numpy", "native"):
        with pytest.raises(ExecutionError) as e:
            run(kernel("p out", SUM.replace("STEP", step)), 2, 96, np.zeros(1000, np.uint32), engine=engine)
        said.append(str(e.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("turns", ["40", "%r"])
def test_a_loop_without_end_reaches_the_limit_where_numpy_does(turns: str) -> None:
    said = []
    for engine in ("numpy", "native"):
        with pytest.raises(ExecutionError) as e:
            text = SUM.replace("STEP", "mov.u32 %n, 0").replace("%n, 40", f"%n, {turns}").replace("%r, [%a]", "%r, [%o]")
            run(kernel("p out", text), 2, 96, np.full(1000, 9, np.uint32), engine=engine, max_steps=30000)
        said.append(str(e.value))
    assert said[0] == said[1]


def test_long_loops_pause_between_warps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warplab.interpreter.native.emit.region.PAUSE_AFTER", 50)
    text, data = kernel("p out", SUM.replace("STEP", "add.u64 %a, %a, 4")), np.arange(1000, dtype=np.uint32)
    numpy, native = (run(text, 1, 256, data, engine=engine) for engine in ("numpy", "native"))
    assert (numpy == native).all()


NARROW = {
    "a chain of fma": "fma.rn.f32 %f1, %f1, %f2, %f3;",
    "a generator of random numbers": "shl.b32 %r8, %r7, 13; xor.b32 %r7, %r7, %r8; shr.u32 %r8, %r7, 17; xor.b32 %r7, %r7, %r8; mov.b32 %f1, %r7;",
    "numbers that become NaNs": "mul.rn.f32 %f1, %f1, %f1; sub.rn.f32 %f1, %f1, %f3; div.full.f32 %f1, %f1, %f1; mov.b32 %r7, %f1;",
    "an inner loop": "mov.u32 %r9, 0; M: add.f32 %f1, %f1, %f3; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r5; @%p2 bra M;",
    "a loop that loads": "ld.global.f32 %f4, [%d4]; add.f32 %f1, %f1, %f4; add.u64 %d4, %d4, 4;",
}


@pytest.mark.parametrize("what", NARROW)
def test_loops_with_few_registers_take_two_warps_at_once(what: str) -> None:
    text = kernel("p table, p out, u32 n", f"""
        .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .pred %p<4>; .reg .f32 %f<8>;
        ld.param.u64 %d1, [table]; ld.param.u64 %d2, [out]; ld.param.u32 %r5, [n];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %d3, %r4, 4; add.u64 %d4, %d1, %d3;
        add.u64 %d5, %d2, %d3; ld.global.u32 %r7, [%d4]; mov.b32 %f1, %r7; mov.f32 %f2, 0fBF490FDB; mov.f32 %f3, 0f3F9D70A4; mov.u32 %r6, 0;
    L:  {NARROW[what]} add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r5; @%p1 bra L;
        mov.b32 %r10, %f1; xor.b32 %r10, %r10, %r7; st.global.u32 [%d5], %r10; ret;
    """)  # fmt: skip
    left = []
    for engine in ("numpy", "native"):
        machine = Machine(text)
        for block, grid in ((32, 1), (32, 5), (96, 3), (200, 2), (1000, 1)):
            table = machine.upload(np.random.default_rng(3).integers(0, 1 << 32, 1100, np.uint32))
            out = machine.upload(np.zeros(1024, np.uint32))
            machine.launch(grid, block, [table, out, 9], engine=engine)
            left.append(machine.download(out))
    assert np.array_equal(left[:5], left[5:])


CROSSING = """.reg .b64 %o; .reg .b32 %t, %v, %w, %d, %c, %m, %n; .reg .pred %p, %q;
    ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 4, %o; ld.global.u32 %v, [%o]; mov.u32 %c, 31; mov.u32 %m, -1; BEFORE
    st.global.u32 [%o], %t; bra HERE; HERE: BODY st.global.u32 [%o], %v; END: ret;
    ELSE: bar.warp.sync 0xFFFF0000; st.global.u32 [%o], %m; ret;"""
REDUCTION = (
    "mov.u32 %d, 16; L: shfl.sync.down.b32 %w|%q, %v, %d, %c, %m; add.u32 %v, %v, %w; shr.u32 %d, %d, 1; setp.ne.u32 %p, %d, 0; @%p bra L;"
)
ACROSS = {
    "a reduction": REDUCTION,
    "an unrolled reduction": "".join(f"mov.u32 %d, {d}; shfl.sync.bfly.b32 %w|%q, %v, %d, %c, %m; max.u32 %v, %v, %w;" for d in (16, 8, 4, 2, 1)),
    "a scan": "mov.u32 %d, 1; L: shfl.sync.up.b32 %w|%q, %v, %d, 0, %m; @%q add.u32 %v, %v, %w; shl.b32 %d, %d, 1; setp.lt.u32 %p, %d, 32; @%p bra L;",
    "ballots": "mov.u32 %d, 0; L: setp.lt.u32 %q, %t, %d; vote.sync.ballot.b32 %w, %q, %m; bar.warp.sync %m; mad.lo.u32 %v, %v, 3, %w; add.u32 %d, %d, 5; "
    "setp.lt.u32 %p, %d, 70; @%p bra L;",
    "sums": "mov.u32 %d, 0; L: redux.sync.add.u32 %w, %v, %m; xor.b32 %v, %v, %w; add.u32 %d, %d, 1; setp.lt.u32 %p, %d, 4; @%p bra L;",
}  # fmt: skip
GROUPS = {  # and whether all that the mask names are there
    "whole warps": ("", True),
    "lanes behind the end of others": ("setp.gt.u32 %p, %t, 40; @%p exit;", True),
    "lanes that the mask names": ("and.b32 %w, %t, 16; setp.ne.u32 %p, %w, 0; @%p bra ELSE; mov.u32 %m, 0xFFFF;", True),
    "a mask of each lane": ("and.b32 %w, %t, 24; shl.b32 %m, 255, %w;", True),
    "lanes of which some are named": ("mov.u32 %m, 0x00F0;", True),
    "lanes that others wait for": ("and.b32 %w, %t, 16; setp.ne.u32 %p, %w, 0; @%p bra ELSE;", False),
}


@pytest.mark.parametrize("body", ACROSS)
@pytest.mark.parametrize("group", GROUPS)
def test_instructions_across_lanes_in_a_region(body: str, group: str, programs: list[NativeProgram]) -> None:
    before, succeeds = GROUPS[group]
    machine, left = Machine(kernel("p out", CROSSING.replace("BODY", ACROSS[body]).replace("BEFORE", before))), []
    for engine in ("numpy", "native", "native"):  # the second time, code for lanes that pass each other by
        out = machine.upload(np.random.default_rng(3).integers(0, 1 << 32, 96, np.uint32))
        machine.launch(1, 90, [out], engine=engine)
        left.append(machine.download(out))
    assert (left[0] == left[1]).all() and (left[0] == left[2]).all()
    last = programs[-1]
    ran = [bool(last.memories[0].state.rows[row.number].code) for row in last.cut.rows if row.region is not None]
    assert ran == [True] if succeeds else not any(ran)
