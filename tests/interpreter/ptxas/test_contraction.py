"""Products and sums become multiply-adds where ptxas makes them, and only there; what they give is rounded once, whoever listens.

tests/data/contraction holds answers of ptxas 13.0 for sm_90.  In programs.txt a line gives the number of sums that it fused in a program.
In graphs.txt it gives for each sum the product that it fused: the sums `01,1f` are product 0 + product 1 and product 1 + something else.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from warplab.assembler.flow import flow
from warplab.assembler.ir import Function, Register
from warplab.assembler.parse import parse
from warplab.assembler.verify import verify
from warplab.interpreter.observe import ObservedLanes, Observer
from warplab.interpreter.plan.plan import Site
from warplab.interpreter.plan.shapes import known
from warplab.interpreter.ptxas.contraction import Contraction, Fmad, contract

from ..harness import Array, Machine, kernel
from ..rational import F32, F64, Format, Number, decode, finish, saturated, summed, times
from ..recordings.recorded import Carried

DATA = Path(__file__).parents[2] / "data" / "contraction"
KEPT = {"f32": "f32", "f64": "f64", "f16x2": "b32", "bf16x2": "b32"}  # types of registers
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def entry(name: str, type_: str, body: str) -> str:
    """A program of the recorded ones: a to f are loaded, OUT(x) stores x."""
    kept = KEPT[type_]
    stored = iter(range(99))
    body = re.sub(r"OUT\(([^)]*)\);?", lambda m: f"st.global.{kept} [%q+{8 * next(stored)}], {m[1]};", body)
    loads = "\n".join(f"ld.global.{kept} %{c}, [%p+{8 * i}];" for i, c in enumerate("abcdef"))
    return f""".visible .entry {name}(.param .u64 P, .param .u64 Q, .param .u32 N) {{
    .reg .{kept} %a, %b, %c, %d, %e, %f, %x<32>;
    .reg .pred %g<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %p, %q, %l<4>; .reg .f32 %s<4>; .reg .f64 %t<4>;
    ld.param.u64 %p, [P]; ld.param.u64 %q, [Q]; ld.param.u32 %r0, [N]; mov.u32 %r1, %tid.x;
    mad.wide.u32 %p, %r1, 48, %p; mad.wide.u32 %q, %r1, 64, %q;
    {loads}
    {body}
    ret;
}}
"""


def contracted(function: Function, fmad: Fmad = "all") -> Contraction:
    """What is contracted in a function."""
    blocks = flow(function)
    return contract(blocks, {id(i): known(i) for b in blocks.depth_first for i in blocks.blocks[b].instructions}, fmad)


def functions(bodies: list[tuple[str, str]]) -> list[Function]:
    """Checked entries, in order."""
    text = HEAD + "".join(entry(f"k{n}", type_, body) for n, (type_, body) in enumerate(bodies))
    m = parse(text)
    assert not [d.render(text) for d in verify(m) if d.severity == "error"]
    return list(m.functions.values())


def test_as_many_sums_are_fused_as_ptxas_fuses() -> None:
    lines = [line.split("\t") for line in (DATA / "programs.txt").read_text().splitlines()]
    found = [len(contracted(f).fused) for f in functions([(type_, body) for _, type_, body in lines])]
    assert [line for line, got in zip(lines, found, strict=True) if got != int(line[0])] == []
    assert sum(found) > 400


def test_each_sum_fuses_the_product_that_ptxas_chooses() -> None:
    lines = [line.split() for line in (DATA / "graphs.txt").read_text().splitlines()]
    bodies = []
    for type_, sums, _ in lines:
        kept = KEPT[type_]
        named = {str(n): f"%x{n}" for n in range(8)} | {"f": "%f"}
        muls = [f"mul.{type_} %x{n},%{c},%x{8 + n};" for n, c in enumerate("abcde")]
        consts = [f"ld.global.{kept} %x{8 + n},[%p+{48 + 8 * n}];" for n in range(5)]
        adds = [f"add.{type_} %x{16 + n},{named[s[0]]},{named[s[1]]};OUT(%x{16 + n});" for n, s in enumerate(sums.split(","))]
        bodies.append((type_, "".join(consts + muls + adds)))
    wrong = []
    for (type_, sums, want), f in zip(lines, functions(bodies), strict=True):
        chosen = {}
        for fused in contracted(f).fused.values():
            d, factor = fused.instruction.operands[:2]
            assert isinstance(d, Register) and isinstance(factor, Register)
            chosen[int(d.name[2:]) - 16] = factor.name[2]
        got = "".join(chosen.get(n, "-") for n in range(len(want)))
        if got != want:
            wrong.append((type_, sums, want, got))
    assert wrong == []


def test_the_choice_of_types() -> None:
    body = "mul.f32 %x0,%a,%b; add.f32 %x1,%x0,%c; cvt.f64.f32 %t0,%a; mul.f64 %t1,%t0,%t0; sub.f64 %t2,%t0,%t1; st.global.f64 [%q],%t2; OUT(%x1);"
    (f,) = functions([("f32", body)])
    assert [len(contracted(f, fmad).fused) for fmad in ("none", "f64", "all")] == [0, 1, 2]


# ---------------------------------------------------------------- what comes out


LOST = 2.0**-60  # what (1 + 2**-30)**2 loses when it is rounded to a double


@pytest.mark.parametrize("observers", [(), (Observer(),)])
def test_a_guarded_sum_of_a_product_that_is_rounded_too(observers: tuple[Observer, ...]) -> None:
    body = """
        .reg .f64 %a, %b, %c, %t, %u, %v, %w; .reg .u64 %q; .reg .u32 %i; .reg .pred %p;
        ld.param.u64 %q, [out]; mov.u32 %i, %tid.x; mad.wide.u32 %q, %i, 24, %q; setp.lt.u32 %p, %i, 40;
        mov.f64 %c, 0dBFF0000000800000;
        ld.param.f64 %a, [x]; ld.param.f64 %b, [x];
        mul.f64 %t, %a, %a; mul.f64 %u, %b, %b; mul.f64 %w, %a, %a;
        mov.f64 %v, %a;
        mov.f64 %a, %c; // the factors are gone
        mov.f64 %b, %c;
        bar.sync 0;
        @!%p add.f64 %v, %t, %c;
        @!%p add.f64 %b, %c, %w;
        sub.f64 %c, %u, %t;
        st.global.f64 [%q], %v; st.global.f64 [%q+8], %c; st.global.f64 [%q+16], %b;"""
    machine = Machine(kernel("p out, f64 x", body))
    out = machine.upload(np.zeros((64, 3)))
    x = 1 + 2.0**-30
    machine.launch(1, 64, [out, np.float64(x)], observers=observers)
    got = machine.download(out, np.float64).reshape(64, 3)
    # u is used once, so that its sum takes it; t is rounded there, and keeps what a product of its own loses in the guarded sum.
    assert (got[:40, 0] == x).all() and (got[40:, 0] == 0).all()
    assert (got[:, 1] == LOST).all()
    assert (got[:40, 2] == -1 - 2.0**-29).all() and (got[40:, 2] == LOST).all()


@pytest.mark.parametrize("ftz", ["", ".ftz"])
@pytest.mark.parametrize("how", ["approx", "full"])
def test_an_approximate_quotient_is_a_product(how: str, ftz: str) -> None:
    """The sum equals a multiply-add of the dividend and the reciprocal, both scaled where the divisor asks for it."""
    body = f"""
        .reg .f32 %a, %b, %c, %d, %s, %t; .reg .u64 %p, %q; .reg .u32 %i; .reg .pred %g;
        ld.param.u64 %q, [out]; ld.param.u64 %p, [in]; mov.u32 %i, %tid.x; mad.wide.u32 %q, %i, 8, %q; mad.wide.u32 %p, %i, 12, %p;
        ld.global.f32 %a, [%p]; ld.global.f32 %b, [%p+4]; ld.global.f32 %c, [%p+8];
        div.{how}{ftz}.f32 %t, %a, %b;
        sub{ftz}.f32 %t, %t, %c;
        st.global.f32 [%q], %t;
        abs.f32 %t, %b; mov.f32 %s, 0f3F800000;
        {"setp.gt.f32 %g, %t, 0f7E800000; @%g mov.f32 %s, 0f3E800000;" if how == "full" else ""}
        {"" if ftz else "setp.lt.f32 %g, %t, 0f00800000; @%g mov.f32 %s, 0f4B800000;"}
        mul.rn{ftz}.f32 %a, %a, %s; mul.rn{ftz}.f32 %b, %b, %s; rcp.approx.ftz.f32 %d, %b; neg.f32 %c, %c; fma.rn{ftz}.f32 %d, %d, %a, %c;
        st.global.f32 [%q+4], %d;"""
    rng = np.random.default_rng(5)
    lanes = 256
    x = (rng.choice([-1, 1], (lanes, 3)) * rng.uniform(0.5, 2, (lanes, 3)) * 2.0 ** rng.integers(-3, 3, (lanes, 3))).astype(np.float32)
    x[:40, 1] *= np.float32(2.0**-124)
    x[40:80, 1] = np.float32(2.0**126) * rng.uniform(1, 2, 40).astype(np.float32)
    x[40:80, 0] = rng.uniform(0.5, 0.9, 40).astype(np.float32)
    x[80:90, 0] *= np.float32(2.0**-130)
    x[:80, 0] *= x[:80, 1]
    x[:80, 2] = x[:80, 0] / x[:80, 1]
    x[90:96] = np.array([[0, 0, 1], [np.inf, 2, 1], [np.nan, 1, 1], [1, 0, 1], [1, np.inf, 0], [0, 5, -0.0]], np.float32)
    results = []
    for fmad in ("none", "all"):
        machine = Machine(kernel("p out, p in", body), fmad=fmad)
        out = machine.upload(np.zeros((lanes, 2), np.float32))
        machine.launch(1, lanes, [out, machine.upload(x)])
        results.append(machine.download(out).reshape(lanes, 2))
    rounded, fused = results
    np.testing.assert_array_equal(fused[:, 0], fused[:, 1])
    assert (rounded[:, 0] != fused[:, 0]).sum() > 30


@pytest.mark.parametrize("type_", ["f16", "bf16", "f16x2", "bf16x2", "f32x2"])
def test_halves_and_pairs(type_: str) -> None:
    """A sum equals the fma that it becomes; a difference either way round that of a negated operand."""
    kept = {"f16": "f16", "bf16": "b16", "f32x2": "b64"}.get(type_, "b32")
    size, sign = {"f16": (2, "0x8000"), "b16": (2, "0x8000"), "b32": (4, "0x80008000"), "b64": (8, "0x8000000080000000")}[kept]
    bits = f"b{8 * size}"
    body = f"""
        .reg .{kept} %a, %b, %c, %m, %n, %t, %u; .reg .u64 %p, %q; .reg .u32 %i;
        ld.param.u64 %q, [out]; ld.param.u64 %p, [in]; mov.u32 %i, %tid.x;
        mad.wide.u32 %q, %i, {6 * size}, %q; mad.wide.u32 %p, %i, {3 * size}, %p;
        ld.global.{bits} %a, [%p]; ld.global.{bits} %b, [%p+{size}]; ld.global.{bits} %c, [%p+{2 * size}];
        xor.{bits} %m, %a, {sign}; xor.{bits} %n, %c, {sign};
        mul.{type_} %t, %a, %b; add.{type_} %t, %t, %c; fma.rn.{type_} %u, %a, %b, %c;
        st.global.{bits} [%q], %t; st.global.{bits} [%q+{size}], %u;
        mul.{type_} %t, %a, %b; sub.{type_} %t, %t, %c; fma.rn.{type_} %u, %a, %b, %n;
        st.global.{bits} [%q+{2 * size}], %t; st.global.{bits} [%q+{3 * size}], %u;
        mul.{type_} %t, %a, %b; sub.{type_} %t, %c, %t; fma.rn.{type_} %u, %m, %b, %c;
        st.global.{bits} [%q+{4 * size}], %t; st.global.{bits} [%q+{5 * size}], %u;"""
    target = "sm_100" if type_ == "f32x2" else "sm_90"
    text = kernel("p out, p in", body, target=target).replace(".version 8.0", ".version 8.6")
    lanes = 64
    x = np.random.default_rng(7).uniform(-2, 2, (lanes, 3, 2)).astype(np.float32)
    raw = x.view(np.uint32)
    if type_.startswith("bf16"):
        raw = (raw >> 16).astype(np.uint16)
    elif type_.startswith("f16"):
        raw = x.astype(np.float16).view(np.uint16)
    given = np.ascontiguousarray(raw if type_.endswith("x2") else raw[:, :, 0])
    differ = []
    for fmad in ("none", "all"):
        machine = Machine(text, target, fmad=fmad)
        out = machine.upload(np.zeros(lanes * 6 * size, np.uint8))
        machine.launch(1, lanes, [out, machine.upload(given)])
        got = machine.download(out, np.dtype(f"u{size}")).reshape(-1, 2)
        differ.append(int((got[:, 0] != got[:, 1]).sum()))
    assert differ[0] > 20 and differ[1] == 0


@pytest.mark.parametrize(("target", "want"), [("sm_90", LOST), ("sm_90, debug", 0)])
def test_modules_for_debugging_are_not_optimised(target: str, want: float) -> None:
    body = ".reg .f64 %a, %t, %u; .reg .u64 %q; ld.param.u64 %q, [out]; ld.param.f64 %a, [x]; mul.f64 %t, %a, %a; mul.rn.f64 %u, %a, %a; sub.f64 %t, %t, %u; st.global.f64 [%q], %t;"
    machine = Machine(kernel("p out, f64 x", body, target=target), verified=False)  # it has no sections for a debugger
    out = machine.upload(np.zeros(1))
    machine.launch(1, 1, [out, np.float64(1 + 2.0**-30)])
    assert machine.download(out, np.float64).tolist() == [want]


def test_instructions_are_told_as_they_are_written() -> None:
    told: list[str] = []

    class Listener(Observer):
        def instruction(self, site: Site, group: ObservedLanes, mask: Array | None) -> None:
            told.append(site.instruction.opcode)

    body = ".reg .f64 %t; ld.param.f64 %t, [x]; mul.f64 %t, %t, %t; add.f64 %t, %t, %t; ret;"
    machine = Machine(kernel("f64 x", body))
    machine.launch(1, 32, [np.float64(1)], observers=(Listener(),))
    assert told == ["ld", "mul", "add", "ret"]


@pytest.mark.parametrize(("fmad", "golden"), [("all", "fused"), ("f64", "rounded"), ("none", "rounded")])
def test_a_layer_norm_equals_what_the_h200_left_with_and_without_contraction(fmad: Fmad, golden: str) -> None:
    carried = Carried("contraction")
    (record,) = carried.records()
    x, g, b, want = (carried.array(record[name]) for name in ("x", "g", "b", golden))
    machine = Machine(record["ptx"], fmad=fmad)
    out = machine.upload(np.zeros_like(want))
    machine.launch(record["rows"], 96, [machine.upload(x), machine.upload(g), machine.upload(b), out, np.int32(384), np.float32(1e-5)])
    np.testing.assert_array_equal(machine.download(out), want.view(np.uint32))


@dataclass(frozen=True)
class Line:
    """One instruction of a random program."""

    op: str  # mul, add, sub, neg, mov, or a rounded mul.rn and add.rn
    d: int
    sources: tuple[int, ...]
    ftz: bool
    sat: bool

    def text(self, type_: str) -> str:
        """As PTX."""
        words = f"{'.ftz' if self.ftz else ''}{'.sat' if self.sat else ''}.{type_}" if self.op != "mov" else f".{type_}"
        return f"{self.op}{words} {', '.join(f'%x{r}' for r in (self.d, *self.sources))};"


REGISTERS = 9


def program(rng: random.Random, single: bool) -> list[Line]:
    """Straight-line code in which registers are used again and again."""
    lines = []
    ftz = single and rng.random() < 0.3
    for _ in range(rng.randint(4, 16)):
        op = rng.choices(["mul", "add", "sub", "neg", "mov", "mul.rn", "add.rn"], [36, 26, 16, 5, 5, 4, 4])[0]
        sources = tuple(rng.randrange(REGISTERS) for _ in range(1 if op in ("neg", "mov") else 2))
        sat = single and op in ("add", "mul") and rng.random() < 0.06
        lines.append(Line(op, rng.randrange(REGISTERS), sources, ftz != (single and rng.random() < 0.05) and op != "mov", sat))
    return lines


@dataclass(eq=False)
class Value:
    """A value of the program in single assignment: its line, and the values that it is made of, each with a sign if it is seen through."""

    line: Line | None
    sources: tuple[Value, ...] = ()
    uses: int = 0

    def origin(self) -> tuple[Value, bool]:
        """The product behind copies and negations, and whether it is negated."""
        if self.line is None or self.line.op not in ("mov", "neg"):
            return self, False
        behind, negated = self.sources[0].origin()
        if self.line.op == "neg" and self.line.ftz and behind.line is not None and not behind.line.ftz:
            return self, False
        return behind, negated != (self.line.op == "neg")


def fused_by_the_rules(values: list[Value], live: set[Value]) -> dict[Value, Value]:
    """Each fused sum with its product: worked out from single assignments, by the rules as they are written down in docs/engine.md."""
    alive: set[Value] = set()
    left = list(live)
    while left:
        v = left.pop()
        if v not in alive:
            alive.add(v)
            left += v.sources
    products = {v for v in values if v in alive and v.line is not None and v.line.op == "mul" and not v.line.sat}
    sums: dict[Value, list[Value]] = {}
    used: dict[Value, int] = dict.fromkeys(products, 0)
    for v in values:
        if v not in alive or v.line is None:
            continue
        behind = [s.origin()[0] for s in v.sources]
        if v.line.op in ("add", "sub"):
            mine = [p for p in behind if p in products]
            for p in mine:
                used[p] += 1
            if len(mine) == 2 and mine[0] is mine[1]:
                products.discard(mine[0])
            products -= {p for p in mine if p.line is not None and p.line.ftz != v.line.ftz}
            sums[v] = mine
        elif v.line.op in ("mul", "mul.rn", "add.rn") or v.origin()[0] is v:
            products -= set(behind)
    products -= {v.origin()[0] for v in live}
    chosen: dict[Value, Value] = {}
    addends: set[Value] = set()
    for least in (1, 99):
        for s, mine in sums.items():
            free = [p for p in mine if p in products and used[p] <= least and p not in addends]
            if free and s not in chosen:
                chosen[s] = min(free, key=lambda p: used[p])
                addends |= set(mine) - {chosen[s]}
    return chosen


def multiplied(factors: list[Number], negated: bool) -> Number:
    """The exact product or its negation; a NaN where there is none."""
    both = None if any(x.nan is not None for x in factors) else times(*factors)
    return Number(False, nan=0) if both is None else Number(both.negative != negated, both.magnitude)


def evaluated(values: list[Value], chosen: dict[Value, Value], inputs: list[int], f: Format) -> dict[Value, int]:
    """The bits of every value in one lane."""
    bits: dict[Value, int] = {}

    def number(v: Value, flush: bool, negated: bool = False) -> Number:
        x = decode(bits[v], f, flush)
        return Number(x.negative != negated, x.magnitude, x.nan)

    for n, v in enumerate(values):
        line = v.line
        if line is None:
            bits[v] = inputs[n]
            continue
        if line.op == "mov":
            bits[v] = bits[v.sources[0]]
            continue
        if line.op == "neg":
            x = number(v.sources[0], line.ftz, True)
            bits[v] = f.nan if x.nan is not None else finish(x, f, "n", line.ftz)
            continue
        product = chosen.get(v)
        terms = []
        for place, s in enumerate(v.sources):
            minus = line.op == "sub" and place == 1
            behind, negated = s.origin()
            if product is not None and behind is product:
                terms.append(multiplied([number(x, line.ftz) for x in product.sources], minus != negated))
                product = None
            else:
                terms.append(number(s, line.ftz, minus))
        if line.op.startswith("mul"):
            terms = [multiplied(terms, False)]
        if any(t.nan is not None for t in terms):
            bits[v] = f.nan
        elif line.op.startswith("mul"):
            bits[v] = finish(terms[0], f, "n", line.ftz)
        else:
            bits[v] = summed(terms, f, "n", line.ftz)
        if line.sat:
            bits[v] = saturated(bits[v], f)
    return bits


LANES = 3


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_random_programs_equal_exact_fractions(type_: str, seed: int) -> None:
    rng = random.Random(f"{type_} {seed}")
    single = type_ == "f32"
    f, unsigned = (F32, np.uint32) if single else (F64, np.uint64)
    lines = program(rng, single)
    held = [Value(None) for _ in range(REGISTERS)]
    values = list(held)
    for line in lines:
        held[line.d] = Value(line, tuple(held[r] for r in line.sources))
        values.append(held[line.d])
    stored = rng.sample(range(REGISTERS), 4)
    chosen = fused_by_the_rules(values, {held[r] for r in stored})
    x = np.array([[rng.choice([-1, 1]) * rng.uniform(0.5, 2) for _ in range(REGISTERS)] for _ in range(LANES)])
    given: Array = (x.astype(np.float32) if single else x).view(unsigned)
    size = unsigned().itemsize
    body = [
        f".reg .{type_} %x<{REGISTERS}>; .reg .u64 %p, %q; .reg .u32 %t;",
        "ld.param.u64 %q, [out]; ld.param.u64 %p, [in]; mov.u32 %t, %tid.x;",
        f"mad.wide.u32 %p, %t, {size * REGISTERS}, %p; mad.wide.u32 %q, %t, {size * 4}, %q;",
        *(f"ld.global.{type_} %x{r}, [%p+{size * r}];" for r in range(REGISTERS)),
        *(line.text(type_) for line in lines),
        *(f"st.global.{type_} [%q+{size * n}], %x{r};" for n, r in enumerate(stored)),
    ]
    text = kernel("p out, p in", "\n".join(body))
    for observers in ((), (Observer(),)):
        machine = Machine(text, fmad="all")
        out, source = machine.upload(np.zeros(LANES * 4, unsigned)), machine.upload(given)
        machine.launch(1, LANES, [out, source], observers=observers)
        got = machine.download(out, unsigned).reshape(LANES, 4).tolist()
        for lane in range(LANES):
            bits = evaluated(values, chosen, given[lane].tolist(), f)
            assert got[lane] == [bits[held[r]] for r in stored], (lane, "\n".join(line.text(type_) for line in lines))
