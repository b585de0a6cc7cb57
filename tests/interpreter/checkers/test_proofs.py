"""Observed launches of which compiled code proves that no checker would find anything: the findings are those of numpy, and so is what follows."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

pytest.importorskip("llvmlite")


from warplab.interpreter.checkers.checker import CheckedRun
from warplab.interpreter.checkers.findings import Finding, Findings
from warplab.interpreter.checkers.racecheck.checker import Racecheck
from warplab.interpreter.native.proving.choice import ProofChoice
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import HostStep, LaunchSpec, RunSpec

from ..harness import Machine, kernel

SEEDS = range(64)
BUFFERS = (("g", "u32[512]"), ("h", "u32[512]"), ("n", "u32[512]:noinit"))
HEAD = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 g, .param .u64 h, .param .u64 n)
{
    .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .b16 %h<4>; .reg .pred %p<8>;
    .shared .align 16 .b8 s[1024]; .shared .align 4 .b8 t[512];
    ld.param.u64 %rd1, [g]; ld.param.u64 %rd2, [h]; ld.param.u64 %rd3, [n];
    mov.u32 %r20, %tid.x; mov.u32 %r21, %tid.y; mov.u32 %r22, %ntid.x; mad.lo.u32 %r1, %r21, %r22, %r20;
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.y; mul.lo.u32 %r3, %r3, %r22; mad.lo.u32 %r4, %r2, %r3, %r1;
    mov.u64 %rd10, %rd2; mul.wide.u32 %rd4, %r4, 4; add.u64 %rd5, %rd1, %rd4; add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4;
    and.b64 %rd6, %rd1, -8; and.b64 %rd7, %rd2, -16; mov.u64 %rd8, 5;
    mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r7, %r5, %r6; xor.b32 %r8, %r6, 128; add.u32 %r8, %r8, %r5; mov.u32 %r9, t; add.u32 %r10, %r9, %r6;
    mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, -1; setp.lt.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r1, 0; and.b32 %r15, %r7, -16; mov.u16 %h1, 3;
    shl.b32 %r18, %r1, 1; and.b32 %r18, %r18, -4; add.u32 %r18, %r18, %r5; setp.eq.u32 %p4, %r1, 31; setp.gt.u32 %p5, %r1, 20;
    add.u32 %r19, %r9, %r1; cvt.u64.u32 %rd11, %r4; add.u64 %rd11, %rd11, %rd3; sub.u64 %rd11, %rd11, %rd4; add.u64 %rd12, %rd11, %rd11; sub.u64 %rd12, %rd12, %rd3; add.u64 %rd12, %rd12, %rd4;
"""
CALM = [
    "st.shared.u32 [%r7], %r1;", "st.shared.u32 [%r10], %r1;", "ld.shared.u32 %r11, [%r7];", "bar.sync 0;", "bar.sync 0;", "ld.global.u32 %r11, [%rd1];",
    "st.global.u32 [%rd2], %r11;", "ld.global.u32 %r12, [%rd2];", "shfl.sync.down.b32 %r11, %r11, 1, 31, -1;", "shfl.sync.bfly.b32 %r12, %r11, 2, 31, %r13;",
    "@%p1 st.shared.u32 [%r7], %r12;", "@%p1 bra L{n}; add.u32 %r12, %r12, %r11; L{n}:", "st.global.u32 [%rd3], %r12;",
    "bar.sync 0; ld.shared.v2.u32 {{%r11, %r12}}, [s]; bar.sync 0;", "ld.global.v4.u32 {{%r11, %r12, %r16, %r17}}, [%rd7]; bar.sync 0;",
    "bar.sync 0; ld.shared.u32 %r11, [%r8]; bar.sync 0;", "@%p1 bra L{n}; st.shared.u32 [%r10], %r2; L{n}:", "vote.sync.ballot.b32 %r12, %p1, -1;",
    "bar.sync 0; @!%p2 bra L{n}; ld.shared.u32 %r11, [s+64]; st.global.u32 [%rd2], %r11; L{n}:", "add.u32 %r11, %r11, %r12;", "st.shared.u8 [%r10], %r1;",
    "mov.u32 %r14, 0; M{n}: st.shared.u32 [%r7], %r14; bar.sync 0; add.u32 %r14, %r14, 1; setp.lt.u32 %p3, %r14, 3; @%p3 bra M{n};",
    "mov.u32 %r14, 0; M{n}: ld.global.u32 %r16, [%rd5]; add.u32 %r12, %r12, %r16; add.u64 %rd5, %rd5, 4; add.u32 %r14, %r14, 1; "
    "setp.lt.u32 %p3, %r14, 3; @%p3 bra M{n};", "ld.global.u64 %rd9, [%rd6];", "st.global.u16 [%rd2+2], %h1;",
    "bar.sync 0; atom.shared.add.u32 %r12, [%r18], 1; bar.sync 0;", "bar.sync 0; red.shared.max.u32 [s+8], %r1; bar.sync 0;",
    "bar.sync 0; st.shared.u8 [%r19], %r1; ld.shared.u8 %r11, [%r19]; bar.sync 0;", "st.global.u8 [%rd11+1024], %r1; ld.global.u8 %r12, [%rd11+1024];",
    "st.global.u16 [%rd12+1024], %h1;", "membar.gl;", "fence.acq_rel.cta;", "bar.sync 0; atom.acq_rel.cta.shared.add.u32 %r12, [s+4], 1; bar.sync 0;",
]  # fmt: skip
WILD = [
    "st.shared.u32 [%r8], %r1;", "ld.shared.u32 %r11, [%r8];", "st.global.u32 [%rd2+4], %r11;", "ld.global.u32 %r11, [%rd2+4];", "st.shared.u32 [s], %r1;",
    "ld.global.u32 %r11, [%rd3];", "@%p1 bar.sync 0;", "atom.shared.add.u32 %r12, [s], 1;", "@%p1 shfl.sync.down.b32 %r11, %r11, 1, 31, -1;", "@%p2 ret;",
    "st.global.u8 [%rd3], %r12;", "ld.shared.u32 %r11, [s+1024];", "st.global.u32 [%rd1], %r1;", "ld.global.u32 %r11, [%rd1+2048];",
    "shfl.sync.down.b32 %r11, %r11, 1, 31, 65535;", "setp.gt.u32 %p3, %r11, 4;", "red.global.add.u32 [%rd2], 1;",
    "red.global.add.u32 [%rd10], %r1;", "atom.global.exch.b32 %r12, [%rd10+4], %r1;", "atom.acq_rel.gpu.global.add.u32 %r12, [%rd10], 1;",
    "red.relaxed.cta.global.add.u32 [%rd10+8], 1;", "red.global.add.u64 [%rd10], %rd8;", "atom.shared.cas.b32 %r12, [%r18], 3, %r1;", "st.global.u64 [%rd6], %rd8;",
    "st.shared.v4.u32 [%r15], {{%r1, %r1, %r1, %r1}};", "st.global.v2.u32 [%rd7], {{%r1, %r1}};", "ld.shared.u8 %r11, [%r10+1];", "ld.global.u32 %r11, [%rd5+-4];",
    "st.global.u32 [%rd5+8], %r1;", "mov.u32 %r11, %clock;", "fence.proxy.alias;", "ld.global.nc.u32 %r11, [%rd2];", "@%p2 st.global.u32 [%rd2+-4], %r1;",
    "ld.global.u32 %r11, [%rd10];", "@%p4 st.global.u32 [%rd10], %r1;", "@%p2 st.global.u32 [%rd10], %r1;", "ld.shared.u32 %r11, [s+124];",
    "ld.shared.v4.u32 {{%r11, %r12, %r16, %r17}}, [s+112];", "ld.global.v2.u32 {{%r11, %r12}}, [%rd10+120];", "@%p5 ld.shared.u32 %r11, [%r18];",
    "st.shared.u8 [%r19+1], %r1;", "ld.global.u8 %r12, [%rd11+1025];", "st.global.u8 [%rd12+1024], %r1;",
]  # fmt: skip


def program(seed: int) -> tuple[str, float]:
    """Some random instructions, and how many of them, on average, race with something."""
    random = Random(seed)
    wild = random.choice((0.0, 0.0, 0.1, 0.3))
    lines = [random.choice(WILD if random.random() < wild else CALM).format(n=n) for n in range(random.randrange(3, 12))]
    text = HEAD + "\n".join(["    st.shared.u32 [%r7], %r1; st.shared.u32 [%r10], %r1;", *lines, "    ret;", "}"]) + "\n"
    return text, wild


def outcome(text: str, seed: int, engine: str) -> tuple[str, tuple[Finding, ...], list[bytes]]:
    """How some launches of random shapes end, perhaps with one array twice, or unordered; what is found, and what the buffers hold."""
    random = Random(seed)
    arguments = random.choice((("g", "h", "n"), ("g", "h", "n"), ("g", "g", "n"), ("n", "h", "h"), ("h", "n", "g")))
    shape = (random.choice((1, 3, 3, 6)), 1, 1), random.choice(((64, 1, 1), (64, 1, 1), (32, 1, 1), (50, 1, 1), (16, 4, 1), (8, 16, 1)))
    streams = random.choice((("", ""), ("", ""), ("", "a"), ("a", "b"), ("", "", "")))
    steps: list[LaunchSpec | HostStep] = [LaunchSpec("k", *shape, arguments, stream=s) for s in streams]
    if random.random() < 0.2:
        steps[1:1] = [HostStep("memset", "h", value=7)]
    tools = random.choice(("all", "all", "all", "racecheck", "initcheck", "synccheck memcheck"))
    return outcome_of(text, RunSpec(tuple(steps), buffers=BUFFERS, sanitize=tools, engine=engine, timeout=20.0))


def outcome_of(text: str, spec: RunSpec) -> tuple[str, tuple[Finding, ...], list[bytes]]:
    """How it ends; what is found, and what the buffers hold."""
    runner = Runner([text.encode()], ["k.ptx"], spec, None)
    try:
        found = runner.run()
        left = [] if found.failure else [np.ascontiguousarray(b.after).tobytes() for b in found.buffers.values() if b.after is not None]
        return found.failure, found.findings, left
    finally:
        runner.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_findings_are_those_of_numpy(seed: int) -> None:
    text, _ = program(seed)
    assert outcome(text, seed, "native") == outcome(text, seed, "numpy"), text


@pytest.fixture(name="proved")
def _proved(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each launch on trial: was it proved?"""
    said = list[bool]()

    def proves(*given: object, before: object = ProofChoice.proves) -> bool:
        said.append(before(*given))  # type: ignore[operator]
        return said[-1]

    monkeypatch.setattr(ProofChoice, "proves", proves)
    return said


def test_much_is_proved_and_much_is_not(proved: list[bool]) -> None:
    for seed in SEEDS[:32]:
        outcome(program(seed)[0], seed, "native")
    assert 8 <= proved.count(True) <= len(proved) - 8, proved


BYTES = """.version 8.6
.target sm_90
.address_size 64
// Each thread stores an element of x, and adds 1 to one of y, which it finds so many bytes ahead.
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 ahead)
{{
    .reg .b32 %t, %n, %b; .reg .b16 %v; .reg .b64 %x, %y, %at, %ahead;
    ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u64 %ahead, [ahead];
    mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %t, %b, %n, %t;
    cvt.u16.u32 %v, %t; mul.wide.u32 %at, %t, {stride}; add.u64 %x, %x, %at; add.u64 %y, %y, %at; add.u64 %at, %y, %ahead;
    st.global.{type} [%x], %v;
    ld.global.{type} %v, [%at];
    add.u16 %v, %v, 1;
    st.global.{type} [%y], %v;
    ret;
}}
"""


@pytest.mark.parametrize(
    ("type", "stride", "ahead", "then", "proves", "finds"),
    [("u8", 1, 0, 0, True, set()), ("u16", 2, 0, 0, True, set()), ("u8", 3, 0, 1, True, {"initcheck"}), ("u8", 1, 1, 0, False, {"racecheck"}),
     ("u16", 2, 100, 0, False, {"racecheck"}), ("u16", 4, 6, 0, True, set()), ("u8", 1, 150, 0, True, set()), ("u8", 1, 0, 1, True, {"initcheck", "racecheck"})],
)  # fmt: skip
def test_threads_that_store_neighbouring_bytes(
    proved: list[bool], type: str, stride: int, ahead: int, then: int, proves: bool, finds: set[str]
) -> None:
    """What they do not store stays unset, as a second launch finds; the blocks do not end at words."""
    text = BYTES.format(type=type, stride=stride)
    steps = LaunchSpec("k", (3, 1, 1), (50, 1, 1), ("x", "y", str(ahead))), LaunchSpec("k", (3, 1, 1), (50, 1, 1), ("y", "x", str(then)))
    buffers = ("x", "u8[651]:noinit"), ("y", "u8[651]")
    native, numpy = (outcome_of(text, RunSpec(steps, buffers=buffers, sanitize="all", engine=e, timeout=20.0)) for e in ("native", "numpy"))
    assert native == numpy
    assert {f.tool for f in native[1]} == finds
    assert proved[0] is proves


def test_a_large_kernel_is_proved(proved: list[bool]) -> None:
    """Its lanes are computed as whole vectors, though strips of them would do without proofs."""
    lines = "mad.lo.u32 %r11, %r11, %r11, %r1; xor.b32 %r11, %r11, %r4;\n" * 1000
    text = HEAD + f"ld.global.u32 %r11, [%rd1];\n{lines}bar.sync 0;\n{lines}st.global.u32 [%rd2], %r11; ret; }}\n"
    spec = (LaunchSpec("k", (2, 1, 1), (64, 1, 1), ("g", "h", "n")),)
    native, numpy = (outcome_of(text, RunSpec(spec, buffers=BUFFERS, sanitize="all", engine=e, timeout=60.0)) for e in ("native", "numpy"))
    assert native == numpy
    assert proved[0]


@pytest.mark.parametrize(("stored", "order", "may"), [("%v", "acq_rel", True), ("%one", "acq_rel", False), ("%v", "relaxed", False)])
def test_a_proof_tells_whether_another_order_may_show_more(proved: list[bool], stored: str, order: str, may: bool) -> None:
    """It may if threads learn from an operation that acquires which other ones came before."""
    machine = Machine(kernel("p x, p y", f"""
        .reg .b32 %t, %n, %b, %v, %one; .reg .b64 %x, %y, %at;
        ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %one, 1;
        mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %t, %b, %n, %t; mul.wide.u32 %at, %t, 4; add.u64 %y, %y, %at;
        atom.{order}.gpu.global.add.u32 %v, [%x], %one;
        st.global.u32 [%y], {stored};
        ret;"""))  # fmt: skip
    racecheck = Racecheck(CheckedRun(Findings(), in_order=True))
    machine.launch(2, 64, [machine.upload(np.zeros(n, np.uint32)) for n in (1, 128)], [racecheck], engine="native")
    assert proved == [True]
    assert racecheck.depends_on_order is may
