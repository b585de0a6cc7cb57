"""What can be called with and without the ABI, as ptxas 13.0 judges it; each verdict was read off it."""

import numpy as np
import pytest

from warplab.assembler import check
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import from_options

SEVERAL = ".func (.reg .u32 a, .reg .u32 b) several(.reg .u32 x) { mov.u32 a, x; mov.u32 b, x; ret; }"
PREDICATE = ".func (.reg .pred q) p(.reg .u32 x) { setp.eq.u32 q, x, 1; ret; }"
MODULE = ".version 8.0\n.target sm_80\n.address_size 64\n"
OLD = ".version 2.3\n.target sm_20\n.address_size 64\n"


def kernel(body: str) -> str:
    return f".visible .entry k() {{ .reg .pred q; .reg .b16 h; .reg .u32 x, y; .reg .u64 t; {body} ret; }}"


CASES = [
    ("ok", MODULE + ".func (.reg .u32 a, .reg .pred b) f(.reg .pred x) { mov.pred b, x; ret; }" + kernel("call (x, q), f, (q);")),
    ("call-argument", MODULE + PREDICATE + kernel("call (q), p, (3);")),
    ("ok", MODULE + PREDICATE + kernel("")),
    ("ok", MODULE + SEVERAL + PREDICATE + kernel("call (q), p, (3);")),
    ("ok", MODULE + SEVERAL + ".func (.reg .u16 b) g(.reg .u16 x) { mov.u16 b, x; ret; }" + kernel("call (h), g, (h);")),
    ("call-target", MODULE + SEVERAL + kernel("mov.u64 t, several;")),
    ("call-target", MODULE + SEVERAL + kernel("P: .callprototype (.reg .u32 a) _ (.reg .u32 x); call (x), t, (y), P;")),
    ("call-target", MODULE + SEVERAL + ".func r(.reg .u32 n) { call r, (n); ret; }" + kernel("call r, (3);")),
    ("ok", MODULE + SEVERAL + ".func r(.reg .u32 n) { call r, (n); ret; }" + kernel("")),
    ("call-argument", MODULE + ".func f(.param .u16 a) { ret; }" + kernel(".param .u16 b; call f, (b);")),
    ("ok", MODULE + ".func f(.param .b16 a) { ret; }" + kernel(".param .u16 b; call f, (b);")),
    ("ok", MODULE + ".func f(.param .u16 a) { ret; } .func g() { .param .u16 b; call f, (b); ret; }" + kernel("")),
    ("ok", OLD + ".local .u32 v;" + kernel("ld.local.u32 x, [v];")),
    ("ok", OLD + ".local .u32 v;" + PREDICATE + kernel("call (q), p, (3);")),
    ("bad-declaration", MODULE + ".local .u32 v;" + kernel("ld.local.u32 x, [v];")),
    ("unresolved", OLD + ".extern .local .u32 v[];" + kernel("ld.local.u32 x, [v];")),
]


@pytest.mark.parametrize(("wanted", "text"), CASES)
def test_verdicts(wanted: str, text: str) -> None:
    assert {d.code for d in check(text) if d.severity == "error"} == ({wanted} - {"ok"})


def outputs(text: str, **options: object) -> np.ndarray:
    """The array that a kernel of one block of 32 threads leaves."""
    runner = Runner([text.encode()], ["t.ptx"], from_options({"block": "32", "args": ["out:x=u32:32"], **options}), None)
    outcome = runner.run()
    assert not outcome.failure, outcome.failure
    after = outcome.buffers["x"].after
    assert after is not None
    return after


@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_predicates_are_handed_over(engine: str) -> None:
    text = f"""{MODULE}.func (.reg .u32 a, .reg .pred b) f(.reg .u32 n, .reg .pred c)
    {{ setp.gt.and.u32 b, n, 7, c; add.u32 a, n, 1; ret; }}
    .visible .entry k(.param .u64 x) {{ .reg .u32 t, r; .reg .pred p, q; .reg .u64 at;
    mov.u32 t, %tid.x; setp.lt.u32 p, t, 20; call (r, q), f, (t, p); @!q mov.u32 r, 0;
    ld.param.u64 at, [x]; mad.wide.u32 at, t, 4, at; st.global.u32 [at], r; ret; }}"""
    n = np.arange(32)
    assert np.array_equal(outputs(text, engine=engine), np.where((n > 7) & (n < 20), n + 1, 0))


@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_local_variables_of_a_module_are_the_threads_own(engine: str) -> None:
    text = f"""{OLD}.local .align 4 .b8 y[16];
    .entry k(.param .u64 x) {{ .reg .u32 t, r; .reg .u64 at, l;
    mov.u32 t, %tid.x; add.u32 r, t, 5; st.local.u32 [y+4], r; mov.u64 l, y; ld.local.u32 r, [l+4];
    ld.param.u64 at, [x]; mad.wide.u32 at, t, 4, at; st.global.u32 [at], r; ret; }}"""
    assert np.array_equal(outputs(text, engine=engine), np.arange(32) + 5)


@pytest.mark.parametrize(
    ("version", "aligned", "legal"), [("6.2", "", True), ("6.3", ".aligned", True), ("6.4", "", False), ("6.5", ".aligned", False)]
)
def test_wmma_on_f16_saturates_before_ptx_6_5(version: str, aligned: str, legal: bool) -> None:
    registers = ", ".join("r" for _ in range(8))
    text = f"""{MODULE.replace("8.0", version).replace("sm_80", "sm_70")}
    .visible .entry k(.param .u64 x) {{ .reg .b32 r, c, t, d<4>; .reg .u64 at;
    mov.u32 t, %tid.x; mov.b32 r, 0x7bff7bff; mov.b32 c, 0;
    wmma.mma.sync{aligned}.row.col.m16n16k16.f16.f16.satfinite {{d0, d1, d2, d3}}, {{{registers}}}, {{{registers}}}, {{c, c, c, c}};
    ld.param.u64 at, [x]; mad.wide.u32 at, t, 4, at; st.global.b32 [at], d0; ret; }}"""
    assert (not [d for d in check(text) if d.severity == "error"]) == legal
    if legal:
        assert set(outputs(text).tolist()) == {0x7BFF7BFF}, "the largest number, not infinity"
