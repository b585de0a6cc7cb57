"""Where ptxas looks for a product's sums: across loops that it unrolls, branches that it folds, arrays that it keeps in registers.

tests/data/contraction/stretches.txt holds answers of ptxas 13.0 for sm_90: whether it fused all sums of a program.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warplab.assembler.flow import flow
from warplab.assembler.ir import Function
from warplab.assembler.parse import parse
from warplab.assembler.verify import verify
from warplab.interpreter.observe import ObservedLanes, Observer
from warplab.interpreter.plan.plan import Site
from warplab.interpreter.plan.shapes import known
from warplab.interpreter.ptxas.contraction import Contraction, Fmad, contract

from ..harness import Array, Machine, kernel

ANSWERS = Path(__file__).parents[2] / "data" / "contraction" / "stretches.txt"
HEAD = """.version 9.0
.target sm_90
.address_size 64
.const .align 4 .f32 cc = 0f40490fdb; .const .align 4 .f32 ca[8];
.func (.param .b32 r) ext (.param .b32 x) {
    .reg .b32 %a; ld.param.b32 %a, [x]; xor.b32 %a, %a, 77; vote.sync.ballot.b32 %a, 1, %a; st.param.b32 [r], %a; ret;
}
"""


def entry(name: str, body: str) -> str:
    """A program of the recorded ones."""
    return f""".visible .entry {name}(.param .u64 P, .param .u64 Q, .param .u32 N) {{
    .local .align 16 .b8 loc[256];
    .reg .f32 %f<60>; .reg .f64 %d<20>; .reg .b32 %r<40>; .reg .b64 %q<20>; .reg .pred %p<20>; .reg .b16 %h<10>;
    ld.param.u64 %q0, [P]; ld.param.u64 %q1, [Q]; ld.param.u32 %r0, [N]; mov.u32 %r1, %tid.x;
    mad.wide.u32 %q0, %r1, 64, %q0; mad.wide.u32 %q1, %r1, 64, %q1;
    ld.global.f32 %f1, [%q0]; ld.global.f32 %f2, [%q0+4]; ld.global.f32 %f3, [%q0+8]; ld.global.f32 %f6, [%q0+12];
    ld.global.f32 %f7, [%q0+16]; ld.global.u32 %r2, [%q0+20]; ld.global.u32 %r3, [%q0+24];
    {body}
    ret;
}}
"""


def contracted(f: Function) -> Contraction:
    """What is contracted in a function."""
    blocks = flow(f)
    return contract(blocks, {id(i): known(i) for b in blocks.depth_first for i in blocks.blocks[b].instructions}, "all")


def test_sums_are_fused_where_ptxas_fuses_them() -> None:
    lines = [line.split("\t") for line in ANSWERS.read_text().splitlines()]
    text = HEAD + "".join(entry(f"k{n}", body) for n, (_, body) in enumerate(lines))
    m = parse(text)
    assert not [d.render(text) for d in verify(m) if d.severity == "error"]
    wrong = []
    for n, (answer, body) in enumerate(lines):
        f = m.functions[f"k{n}"]
        made = contracted(f)
        sums = [i for b in flow(f).blocks for i in b.instructions if i.opcode in ("add", "sub") and i.modifiers[-1][0] in "fb"]
        got = "fused" if all(id(i) in made.fused for i in sums) else "rounded"
        if got != answer:
            wrong.append((answer, body))
    assert wrong == []


# ---------------------------------------------------------------- what comes out


def left(body: str, values: Array, fmad: Fmad = "all", observers: tuple[Observer, ...] = ()) -> Array:
    """What one lane stores at `out`, of floats that are loaded to %f0, %f1, ..."""
    loads = "".join(f"ld.global.f32 %f{n}, [%p+{4 * n}];" for n in range(len(values)))
    text = f"""
        .reg .f32 %f<20>; .reg .b32 %r<8>; .reg .b64 %p, %q, %l; .reg .pred %c; .local .align 16 .b8 loc[64];
        ld.param.u64 %q, [out]; ld.param.u64 %p, [in]; {loads}
        {body}
    """
    machine = Machine(kernel("p out, p in", text), fmad=fmad)
    out, given = machine.upload(np.zeros(4, np.float32)), machine.upload(values)
    machine.launch(1, 1, [out, given], observers=observers)
    return machine.download(out, np.float32)


X = np.float32(1 + 2.0**-13)
LOST = np.float32(2.0**-26)  # what X * X loses when it is rounded to a single
ROUND = np.float32(X * X)


class Counter(Observer):
    """Counts instructions as they are written."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def instruction(self, site: Site, group: ObservedLanes, mask: Array | None) -> None:
        """See Observer."""
        self.counts[site.instruction.opcode] = self.counts.get(site.instruction.opcode, 0) + 1


def loop(turns: int, body: str) -> str:
    """A loop that ptxas unrolls."""
    return f"mov.u32 %r1, 0; L: {body} add.u32 %r1, %r1, 1; setp.ne.u32 %c, %r1, {turns}; @%c bra L;"


@pytest.mark.parametrize("fmad", ["none", "all"])
def test_a_loop_whose_first_turn_alone_fuses(fmad: Fmad) -> None:
    """%f2 is a product in the first turn and a sum in the others: there the loop is written out, and counted as it is written."""
    counter = Counter()
    got = left(
        f"mul.f32 %f2, %f0, %f0; {loop(4, 'add.f32 %f2, %f2, %f1;')} st.global.f32 [%q], %f2;", np.array([X, -ROUND]), fmad, (counter,)
    )
    first = LOST if fmad == "all" else np.float32(0)
    assert got[0] == ((first - ROUND) - ROUND) - ROUND
    assert [counter.counts[o] for o in ("mul", "add", "setp", "bra", "st")] == [1, 8, 4, 4, 1]


def test_a_product_of_the_last_turn_in_the_next() -> None:
    """Each turn adds the product of the one before; the products of all turns but the last are fused."""
    body = "add.f32 %f3, %f2, %f1; mul.f32 %f2, %f0, %f0;"
    got = left(f"mov.f32 %f2, %f1; {loop(3, body)} st.global.f32 [%q], %f3; st.global.f32 [%q+4], %f2;", np.array([X, -ROUND]))
    assert got[:2].tolist() == [LOST, ROUND]


def test_a_product_that_two_turns_use_at_once() -> None:
    """A number goes through a register on its way from turn to turn, so that a later product is there when it is added."""
    body = "mov.f32 %f4, %f3; mov.f32 %f3, %f2; mul.f32 %f2, %f0, %f0; add.f32 %f5, %f4, %f1; add.f32 %f0, %f0, %f0;"
    start = "mov.f32 %f2, %f1; mov.f32 %f3, %f1;"
    got = left(
        f"{start} {loop(3, body)} st.global.f32 [%q], %f5; st.global.f32 [%q+4], %f2; st.global.f32 [%q+8], %f3;", np.array([X, -ROUND])
    )
    assert got[:3].tolist() == [LOST, 16 * ROUND, 4 * ROUND]


def test_a_product_with_a_constant_is_fused_wherever_its_sums_are() -> None:
    """Behind a loop of which the turns are not known, and within it."""
    c = f"0f{X.view(np.uint32):08X}"
    unknown = "mov.u32 %r2, %tid.x; add.u32 %r2, %r2, 3;"
    body = f"{unknown} mul.f32 %f2, %f0, {c}; mov.u32 %r1, 0; L: add.f32 %f3, %f2, %f1; mov.f32 %f0, %f1; add.u32 %r1, %r1, 1;"
    got = left(f"{body} setp.lt.u32 %c, %r1, %r2; @%c bra L; sub.f32 %f4, %f2, %f1; st.global.f32 [%q], %f3; st.global.f32 [%q+4], %f4;",
               np.array([X, -ROUND]))  # fmt: skip
    assert got[:2].tolist() == [LOST, np.float32(np.float64(X) ** 2 + np.float64(ROUND))]


def test_a_product_by_way_of_a_local_array() -> None:
    body = "mul.f32 %f2, %f0, %f0; mov.u64 %l, loc; st.local.f32 [%l+8], %f2; mov.f32 %f0, 0f00000000; ld.local.f32 %f3, [loc+8];"
    got = left(
        f"{body} add.f32 %f4, %f3, %f1; st.global.f32 [%q], %f4; ld.local.f32 %f5, [loc+8]; st.global.f32 [%q+4], %f5;",
        np.array([X, -ROUND]),
    )
    assert got[:2].tolist() == [0, ROUND]  # the second load needs the product itself
    got = left(f"{body} add.f32 %f4, %f3, %f1; st.global.f32 [%q], %f4;", np.array([X, -ROUND]))
    assert got[0] == LOST


def test_a_pragma_keeps_a_loop() -> None:
    body = f"mul.f32 %f2, %f0, %f0; {loop(4, 'st.global.u32 [%q+4], %r1;')} add.f32 %f3, %f2, %f1; st.global.f32 [%q], %f3;"
    assert left(body, np.array([X, -ROUND]))[0] == LOST
    assert left(body.replace("L: ", 'L: .pragma "nounroll"; '), np.array([X, -ROUND]))[0] == 0
