"""Recursive functions, which numpy executes while compiled code has the wave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import Machine
from warplab.interpreter.checkers.checker import CheckedRun
from warplab.interpreter.checkers.findings import Findings
from warplab.interpreter.checkers.memcheck import Memcheck
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.launch import Launch

HEAD = """.version 8.4\n.target sm_90\n.address_size 64\n.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .u32 tickets; .global .u32 lock; .global .b8 texts[8] = {97, 10, 0, 0, 98, 10, 0, 0};"""
SUM = """.func (.param .b32 r) sum(.param .b32 x) { .reg .b32 %x, %y, %z; .reg .pred %p; ld.param.b32 %x, [x]; mov.b32 %z, 1; setp.eq.u32 %p, %x, 0; @%p bra D;
    sub.u32 %y, %x, 1; { .param .b32 y; .param .b32 s; st.param.b32 [y], %y; call.uni (s), sum, (y); ld.param.b32 %z, [s]; } mad.lo.u32 %z, %z, 3, %x;
    D: st.param.b32 [r], %z; ret; }"""
FUNCTIONS = {
    "a sum": SUM,
    "two calls each": """.func (.reg .b32 r) sum(.reg .b32 x) { .reg .b32 %y, %z; .reg .pred %p; mov.b32 r, x; setp.lt.u32 %p, x, 2; @%p ret;
        sub.u32 %y, x, 1; call (r), sum, (%y); sub.u32 %y, x, 2; call (%z), sum, (%y); add.u32 r, r, %z; ret; }""",
    "a guard": """.func (.reg .b32 r) sum(.reg .b32 x) { .reg .b32 %y; .reg .pred %p; mov.b32 r, 9; setp.gt.u32 %p, x, 1; sub.u32 %y, x, 1; @%p call (r), sum, (%y);
        mad.lo.u32 r, r, 3, x; ret; }""",
    "tickets": """.func (.reg .b32 r) sum(.reg .b32 x) { .reg .b32 %y, %z; .reg .pred %p; atom.global.add.u32 r, [tickets], 1; setp.eq.u32 %p, x, 0; @%p ret;
        shr.u32 %y, x, 1; call (%z), sum, (%y); mad.lo.u32 r, %z, 7, r; ret; }""",
    "prints": """.func (.reg .b32 r) sum(.reg .b32 x) { .reg .b32 %y, %z; .reg .b64 %m; .reg .pred %p; .param .b64 f; .param .b64 a; .param .b32 n;
        and.b32 %y, x, 1; mov.b64 %m, texts; mad.wide.u32 %m, %y, 4, %m; st.param.b64 [f], %m; st.param.b64 [a], 0; call.uni (n), vprintf, (f, a);
        mov.b32 r, 1; setp.lt.u32 %p, x, 3; @%p ret; sub.u32 %y, x, 3; call (%z), sum, (%y); add.u32 r, r, %z; ret; }""",
    "memory of each call": """.func (.reg .b32 r) sum(.reg .b32 x) { .local .align 4 .b32 own[9]; .reg .b32 %y, %z, %w; .reg .pred %p; st.local.u32 [own+8], x; mov.b32 r, 0;
        ld.local.u32 %w, [own+4]; setp.eq.u32 %p, x, 0; @%p bra D; sub.u32 %y, x, 1; call (r), sum, (%y);
        D: ld.local.u32 %z, [own+8]; mad.lo.u32 r, r, 5, %z; add.u32 r, r, %w; st.local.u32 [own+4], r; ret; }""",
    "memory of the caller": """.func (.reg .b32 r) sum(.reg .b32 x) { .reg .b64 %a; .reg .b32 %y; .reg .pred %p; mov.b32 r, 0; setp.eq.u32 %p, x, 0; @%p ret;
        ld.global.u64 %a, [where]; ld.u32 r, [%a]; add.u32 r, r, x; st.u32 [%a], r; sub.u32 %y, x, 1; call (r), sum, (%y); ret; }""",
    "a lock of each lane": """.func (.reg .b32 r) sum(.reg .b32 x) { .reg .b32 %y, %o; .reg .pred %p; mov.b32 r, 1; setp.eq.u32 %p, x, 0; @%p ret;
        L: atom.global.cas.b32 %o, [lock], 0, 1; setp.ne.u32 %p, %o, 0; @%p bra L; ld.volatile.global.u32 r, [tickets]; add.u32 r, r, 1;
        st.volatile.global.u32 [tickets], r; membar.gl; atom.global.exch.b32 %o, [lock], 0; sub.u32 %y, x, 1; call (%y), sum, (%y); add.u32 r, r, %y; ret; }""",
    "a barrier": """.func (.reg .b32 r) sum(.reg .b32 x) { .reg .b32 %y; .reg .pred %p; mov.b32 r, 2; bar.sync 0; setp.eq.u32 %p, x, 99; @%p ret;
        add.u32 %y, x, 98; rem.u32 %y, %y, 99; add.u32 %y, %y, 1; mov.b32 %y, 99; call (r), sum, (%y); add.u32 r, r, 1; ret; }""",
    "a pointer": """.func (.reg .b32 r) sum(.reg .b32 x); .global .u64 functions[1] = {sum}; .func (.reg .b32 r) sum(.reg .b32 x) { .reg .b32 %y; .reg .b64 %f; .reg .pred %p; Q: .callprototype (.reg .b32 r) _ (.reg .b32 x); mov.b32 r, x;
        setp.lt.u32 %p, x, 2; @%p ret; sub.u32 %y, x, 1; ld.global.u64 %f, [functions]; call (r), %f, (%y), Q; mad.lo.u32 r, r, 3, x; ret; }
        """,
    "a pointer to what waits": """.func (.reg .b32 r) sum(.reg .b32 x); .global .u64 functions[1] = {sum}; .func (.reg .b32 r) sum(.reg .b32 x) { .reg .b32 %y; .reg .b64 %f; .reg .pred %p; Q: .callprototype (.reg .b32 r) _ (.reg .b32 x); mov.b32 r, x;
        activemask.b32 %y; bar.warp.sync %y; setp.lt.u32 %p, x, 2; @%p ret; sub.u32 %y, x, 1; ld.global.u64 %f, [functions]; call (r), %f, (%y), Q; add.u32 r, r, x; ret; }
        """,
    "an exit": """.func (.reg .b32 r) sum(.reg .b32 x) { .reg .b32 %y; .reg .pred %p; mov.b32 r, 3; setp.eq.u32 %p, x, 0; @%p exit; setp.gt.u32 %p, x, 4; @%p ret;
        sub.u32 %y, x, 1; call (r), sum, (%y); ret; }""",
}
STAYING = {"a barrier", "a pointer to what waits", "an exit"}  # what numpy goes on with: there lanes may wait, or end


def program(function: str, lanes: str = "setp.ge.u32 %q, %t, 0;") -> str:
    """Lanes of a predicate call a function twice, between code that is compiled; a local variable is theirs throughout."""
    where = ".global .u64 where;" if "where" in function else ""
    tell = "mov.u64 %a, mine; cvta.local.u64 %a, %a; st.global.u64 [where], %a;" if where else ""
    return f"""{HEAD}{where}{function} .visible .entry k(.param .u64 out) {{ .local .align 8 .b32 mine[4]; .reg .u64 %o, %a, %d; .reg .u32 %t, %g, %b, %n, %x, %r, %s, %i, %c;
        .reg .pred %q, %z; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %g, %b, %n, %t; {tell}
        mul.wide.u32 %a, %g, 4; add.u64 %o, %o, %a; st.local.u32 [mine], %g; st.local.u32 [mine+4], 5; mov.u32 %i, 0; mov.u32 %s, %g; mov.u32 %r, 0; {lanes}
        L: rem.u32 %x, %g, 6; @!%q bra SKIP; {CALL if ".param .b32 x" in function else "call (%r), sum, (%x);"}
        SKIP: mad.lo.u32 %s, %s, 31, %r; ld.local.u32 %c, [mine]; add.u32 %s, %s, %c; add.u32 %i, %i, 1; setp.lt.u32 %z, %i, 2; @%z bra L;
        bar.sync 1; ld.local.u32 %c, [mine+4]; add.u32 %s, %s, %c; st.global.u32 [%o], %s; ret; }}"""


CALL = "{ .param .b32 p; .param .b32 s; st.param.b32 [p], %x; call.uni (s), sum, (p); ld.param.b32 %r, [s]; }"
LANES = {"all": "setp.ge.u32 %q, %t, 0;", "some": "rem.u32 %c, %g, 7; setp.lt.u32 %q, %c, 3;", "a block": "setp.eq.u32 %q, %b, 1;"}


def ended(text: str, engine: str, blocks: int = 3, **options: Any) -> tuple[Launch, Sequence[int], list[str], str]:
    """A launch that has run: with what memory holds, what was printed, and why it ended."""
    machine, why = Machine(text), ""
    out = machine.upload(np.zeros(blocks * 80, np.uint32))
    launch = machine.prepare(blocks, 80, [out], engine=engine, **options)
    try:
        execute(launch, ())
    except ExecutionError as e:
        why = str(e)
    return launch, machine.download(out).tolist(), machine.prints.lines, why


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_engines_agree(name: str, lanes: str) -> None:
    text = program(FUNCTIONS[name], LANES[lanes])
    (_, *expected), (native, *found) = ended(text, "numpy"), ended(text, "native")
    assert found == expected and not native.used.failures
    if name not in STAYING:
        assert (native.used.native_blocks, set(native.used.left_to_numpy)) == (3, {"call"})


def test_a_wave_behind_the_first_finds_its_stack_empty() -> None:
    text = program(FUNCTIONS["memory of each call"])
    assert ended(text, "numpy", wave_lanes=160)[1:] == ended(text, "native", wave_lanes=160)[1:]


DEEP = FUNCTIONS["memory of each call"].replace("eq.u32 %p, x, 0", "eq.u32 %p, x, 400")


def test_a_stack_overflows_at_the_same_place() -> None:
    numpy, native = (ended(program(DEEP), engine, stack_limit=1 << 9, max_steps=9999)[1:] for engine in ("numpy", "native"))
    assert numpy == native and "stack overflow" in native[2]


@pytest.mark.parametrize("most", [300, 1500])
def test_a_function_that_calls_itself_for_ever_meets_the_limit(most: int) -> None:
    """Calls that are inlined take other steps, so the line may be another one."""
    numpy, native = (ended(program(DEEP), engine, max_steps=most)[3] for engine in ("numpy", "native"))
    assert numpy.partition(", at line")[0] == native.partition(", at line")[0] == f"kernel k reached the limit of {most} steps"


def test_lanes_that_spin_in_a_function_wait_for_those_outside() -> None:
    """One warp waits in the function until another, which has not begun, stores."""
    function = """.func (.reg .b32 r) sum(.reg .b32 x) { .reg .b32 %y; .reg .pred %p; setp.gt.u32 %p, x, 3; @%p bra W; add.u32 %y, x, 1; call (r), sum, (%y); ret;
        W: ld.volatile.global.u32 r, [tickets]; setp.eq.u32 %p, r, 0; @%p bra W; ret; }"""
    lanes = (
        "setp.lt.u32 %q, %t, 32; @%q bra GO; setp.lt.u32 %z, %t, 64; @%z bra GO; atom.global.add.u32 %c, [tickets], 1; GO: mov.u32 %c, 0;"
    )
    text = program(function, lanes)
    (_, *expected), (_, *found) = ended(text, "numpy"), ended(text, "native")
    assert found == expected and not found[2] and any(found[0])
    endless = program(function, "setp.lt.u32 %q, %t, 32;")
    assert ended(endless, "numpy")[3] == ended(endless, "native")[3] != ""


@pytest.mark.parametrize("name", ["a sum", "prints", "memory of each call", "memory of the caller", "a barrier"])
def test_memcheck_finds_the_same(name: str) -> None:
    """Memory and registers begin with poison, so no call is inlined; one lane stores beside its array."""
    wrong = "setp.eq.u32 %q, %g, 100; @%q st.global.u32 [%o+4096], %g; setp.ge.u32 %q, %t, 0;"
    found = []
    for engine in ("numpy", "native"):
        machine, findings = (
            Machine(program(FUNCTIONS[name], LANES["some"]).replace("bar.sync 1;", f"bar.sync 1; {wrong}"), gap=128),
            Findings(),
        )
        check, why = Memcheck(CheckedRun(findings)), ""
        out = machine.upload(np.zeros(240, np.uint32))
        launch = machine.prepare(3, 80, [out], engine=engine, poison=5)
        try:
            execute(launch, [check])
        except ExecutionError as e:
            why = str(e)
            check.failed(e)
        check.finish()
        found.append((why, list(findings.all), machine.download(out).tolist()))
    assert found[0] == found[1] and found[1][0]


@pytest.mark.parametrize("says", ["setp.eq.u32 %z, %n, 80;", "setp.eq.u32 %z, %n, 81;"])
def test_a_guard_that_is_one_for_all_lanes(says: str) -> None:
    text = program(FUNCTIONS["a guard"]).replace("call (%r), sum, (%x);", f"{says} @%z call (%r), sum, (%x);")
    text = text.replace("setp.gt.u32 %p, x, 1;", "setp.gt.u32 %p, x, 1; mov.u32 %y, %ntid.x; setp.eq.u32 %p, %y, 81;")
    assert ended(text, "numpy")[1:] == ended(text, "native")[1:]
