"""Calls inlined: when they are, and what lanes that return early, recursion and pointers make of it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interpreter.harness import Machine
from warplab.assembler.ir import Function
from warplab.interpreter.faults import Fault
from warplab.interpreter.launch import EngineUse
from warplab.interpreter.plan.inline import inlined
from warplab.interpreter.plan.plan import Call, PlanFunction

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
LEAF = """.func (.reg .u32 y) leaf(.reg .u32 x) { .reg .u32 %n; .reg .pred %p;
    mov.u32 %n, 0; mov.u32 y, 0;
    L: add.u32 y, y, %n; setp.gt.u32 %p, %n, x; @%p ret; add.u32 %n, %n, 3; bra.uni L; }"""
TWICE = """.func (.param .b32 y) twice(.param .b32 x) { .reg .u32 %a, %b; .reg .pred %p;
    ld.param.b32 %a, [x]; call (%b), leaf, (%a); setp.lt.u32 %p, %a, 5; @%p bra OUT; call (%b), leaf, (%b); OUT: st.param.b32 [y], %b; ret; }"""
USE = "{ .param .b32 i; .param .b32 o; st.param.b32 [i], %t; call (o), twice, (i); ld.param.b32 %r, [o]; }"
RECURSIVE = ".func (.reg .u32 y) leaf(.reg .u32 x) { .reg .u32 %n; .reg .pred %p; setp.eq.u32 %p, x, 0; mov.u32 y, 0; @%p ret; sub.u32 %n, x, 1; call (y), leaf, (%n); add.u32 y, y, 1; ret; }"
POINTER = "P: .callprototype (.reg .u32 y) _ (.reg .u32 x); mov.u64 %f, leaf; call (%r), %f, (%t), P;"


def kernel(functions: str, use: str) -> str:
    """A kernel that stores what some code leaves in %r."""
    return f"""{HEAD}{functions} .visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a, %f; .reg .u32 %t, %r; .reg .pred %q;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %o, %o, %a;
        mov.u32 %r, 7; setp.gt.u32 %q, %t, 20; {use} st.global.u32 [%o], %r; ret; }}"""


def planned(text: str) -> tuple[PlanFunction, PlanFunction]:
    """The plan of a kernel, and what it becomes."""
    machine = Machine(text)
    launch = machine.prepare(1, 32, [machine.upload(np.zeros(64, np.uint32))])
    loaded = launch.kernel

    def plan_of(f: Function) -> PlanFunction | None:
        f = loaded.resolve(f)
        return None if f.body is None else loaded.plan(f)

    plan = loaded.plan(loaded.function)
    return plan, inlined(plan, plan_of)


@pytest.mark.parametrize("use", [USE, f"@%q bra NO; {USE} NO:", "call (%r), leaf, (%t);", "@%q call (%r), leaf, (%t);"])
def test_engines_agree_on_calls_that_are_inlined(use: str) -> None:
    text = kernel(LEAF + TWICE, use)
    plan, made = planned(text)
    assert made is not plan
    assert not any(isinstance(s.end, Call) for s in made.segments)
    out = []
    for engine in ("numpy", "native"):
        machine = Machine(text)
        a = machine.upload(np.zeros(96, np.uint32))
        machine.launch(2, 48, [a], engine=engine)
        out.append(machine.download(a).tolist())
    assert out[0] == out[1]


def test_a_recursive_call_stays() -> None:
    _, made = planned(kernel(RECURSIVE, "call (%r), leaf, (%t);"))
    assert [s.end.callee.name for s in made.segments if isinstance(s.end, Call) and s.end.callee] == ["leaf"]


TICKETS = """.global .u32 tickets;
    .func (.reg .u32 y) first(.reg .u32 x) { atom.global.add.u32 y, [tickets], 1; add.u32 y, y, x; ret; }
    .func (.reg .u32 y) second(.reg .u32 x) { .reg .u32 %v; .reg .pred %p; setp.lt.u32 %p, x, 9; mov.u32 y, 5; @%p ret; atom.global.add.u32 %v, [tickets], 100; mul.lo.u32 y, %v, 3; ret; }
    .func (.reg .u32 y) third(.reg .u32 x) { .local .b8 m[8]; .reg .u64 %a; mov.u64 %a, m; cvta.local.u64 %a, %a; st.u32 [%a], x; cvt.u32.u64 y, %a; ret; }
    .func (.reg .u32 y) again(.reg .u32 x) { .local .b8 m[24]; .reg .u64 %f; .reg .u32 %n; .reg .pred %p; Q: .callprototype (.reg .u32 y) _ (.reg .u32 x);
        mov.u32 y, 0; setp.lt.u32 %p, x, 3; @%p ret; sub.u32 %n, x, 3; mov.u64 %f, again; call (y), %f, (%n), Q; atom.global.add.u32 %n, [tickets], 1000; add.u32 y, y, %n; ret; }
    .func (.reg .u32 y) two(.reg .u32 x, .reg .u32 z) { add.u32 y, x, z; ret; }
    .global .u64 functions[5] = {first, second, third, again, two};"""
CHOOSE = """.reg .u64 %p; .reg .u32 %i; P: .callprototype (.reg .u32 y) _ (.reg .u32 x);
    rem.u32 %i, %t, {functions}; mov.u64 %p, functions; mad.wide.u32 %p, %i, 8, %p; ld.global.u64 %f, [%p]; {guard}call (%r), %f, (%t), P;"""


@pytest.mark.parametrize("guard", ["", "@%q "])
@pytest.mark.parametrize("functions", [1, 2, 3, 4])
def test_engines_agree_on_calls_through_pointers(functions: int, guard: str) -> None:
    text = kernel(TICKETS, CHOOSE.format(functions=functions, guard=guard))
    out, used = [], EngineUse()
    for engine in ("numpy", "native"):
        machine = Machine(text)
        a = machine.upload(np.zeros(192, np.uint32))
        used = machine.launch(3, 64, [a], engine=engine).used
        out.append(machine.download(a).tolist())
    assert out[0] == out[1]
    assert bool(used.left_to_numpy) == (functions == 4)  # recursion stays a call
    assert used.native_blocks == 3


def test_a_call_through_a_pointer_to_no_function_is_the_same_fault() -> None:
    text = kernel(TICKETS, CHOOSE.format(functions=2, guard="").replace("call (", "setp.eq.u32 %q, %t, 40; @%q add.u64 %f, %f, 1; call ("))
    found = []
    for engine in ("numpy", "native"):
        machine = Machine(text)
        with pytest.raises(Fault) as caught:
            machine.launch(2, 64, [machine.upload(np.zeros(128, np.uint32))], engine=engine)
        found.append(str(caught.value))
    assert found[0] == found[1] and "not a function's address" in found[0]


def test_calls_of_what_the_device_runtime_provides_stay() -> None:
    extern = ".extern .func (.param .b64 r) malloc(.param .b64 n);"
    use = "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 16; call (r), malloc, (n); ld.param.b64 %a, [r]; cvt.u32.u64 %r, %a; call (%r), leaf, (%r); }"
    _, made = planned(kernel(LEAF + extern, use))
    assert [s.end.callee.name for s in made.segments if isinstance(s.end, Call) and s.end.callee] == ["malloc"]


ALIGNED = """.func (.reg .u32 y) leaf(.reg .u32 x) { .local .align 256 .b8 m[8]; .reg .u64 %a; .reg .u32 %v;
    mov.u64 %a, m; cvta.local.u64 %a, %a; st.u32 [%a], x; ld.u32 %v, [%a]; cvt.u32.u64 y, %a; and.b32 y, y, 255; sub.u32 y, y, %v; add.u32 y, y, x; ret; }"""
OTHER = ".func (.reg .u32 y) other(.reg .u32 x) { .local .b8 n[20]; .reg .u64 %a; mov.u64 %a, n; st.local.u32 [%a], x; call (y), leaf, (x); ret; }"


@pytest.mark.parametrize("call", ["call (%r), other, (%t);", POINTER.replace("leaf", "other")])
@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_the_frame_of_a_callee_is_aligned_as_its_variables_are(call: str, engine: str) -> None:
    machine = Machine(kernel(ALIGNED + OTHER, f".local .b8 own[4]; .reg .u64 %m; mov.u64 %m, own; st.local.u32 [%m], %t; {call}"))
    a = machine.upload(np.full(32, 9, np.uint32))
    machine.launch(1, 32, [a], engine=engine)
    assert not machine.download(a).any()
