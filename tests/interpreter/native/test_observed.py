"""Launches that are observed run natively where no observer needs every event, and say the same as on numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.interpreter.harness import Machine, kernel
from warplab.interpreter.checkers.checker import CheckedRun
from warplab.interpreter.checkers.findings import Finding, Findings
from warplab.interpreter.checkers.memcheck import Memcheck
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.observe import Access, Observer

THREADS = 64
VARIABLES = ".shared .align 4 .b8 a[20]; .shared .align 8 .b8 b[104]; .shared .align 1 .b8 c[7]; .shared .align 16 .b8 d[256];"
HEAD = """.reg .b32 %r<8>; .reg .b64 %d<8>; .local .align 4 .b8 l[20]; .local .align 8 .b8 m[40];
ld.param.u64 %d1, [at]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 8; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
ld.global.u64 %d4, [%d1]; mov.u64 %d6, 7; cvt.u32.u64 %r2, %d4; mov.u32 %r3, a; mov.u32 %r3, b; mov.u32 %r3, c; mov.u32 %r3, d;
st.shared.u8 [d], %r1; st.local.u8 [l], %r1; st.local.u8 [m], %r1; cvta.shared.u64 %d5, %d4;
"""
TAIL = "st.global.u64 [%d2], %d6; ret;"
ACCESSES = [
    "ld.shared.u8 %d6, [%r2];", "ld.shared.u32 %d6, [%r2];", "ld.shared.u64 %d6, [%r2+8];", "ld.shared.v2.u32 {%r4, %r5}, [%r2]; cvt.u64.u32 %d6, %r5;",
    "st.shared.u16 [%r2], %r1;", "st.shared.v4.u32 [%r2+-16], {%r1, %r1, %r1, %r1};", "atom.shared.add.u32 %r4, [%r2], 1; cvt.u64.u32 %d6, %r4;",
    "ld.u32 %d6, [%d5];", "st.u64 [%d5+8], %d4;", "atom.add.u32 %r4, [%d5], 1; cvt.u64.u32 %d6, %r4;",
    "ld.u32 %d6, [%d5]; mapa.u64 %d5, %d5, 0;", "mapa.u64 %d5, %d5, 0; st.u64 [%d5+8], %d4;", "mapa.u64 %d5, %d5, 0; red.add.u32 [%d5], 1;",
    "mapa.u64 %d5, %d5, 0; cvt.u32.u64 %r2, %d5; ld.shared::cluster.u16 %d6, [%r2];",
    "ld.local.u8 %d6, [%r2];", "st.local.u32 [%r2], %r1; ld.local.u32 %d6, [%r2];", "st.local.u64 [%r2], %d4;",
]  # fmt: skip


def outcome(machine: Machine, engine: str, places: Sequence[int]) -> tuple[str, list[Finding], bytes, int]:
    """How a launch ends in words, what memcheck finds, what is left in memory, and how many blocks ran natively."""
    findings = Findings()
    check = Memcheck(CheckedRun(findings))
    arena, (at, out) = machine.arena, list(machine.arena.living())
    arena.bytes[at.start : at.end], arena.bytes[out.start : out.end] = np.array(places, np.int64).view(np.uint8), 0
    machine.launches = 0  # of which poison depends
    launch, end = machine.prepare(1, THREADS, [at, out], engine=engine, poison=3), ""
    try:
        execute(launch, [check])
    except ExecutionError as e:
        end = str(e)
        check.failed(e)
    check.finish()
    left = machine.download(out).tobytes()
    return end, list(findings.all), left, launch.used.native_blocks


@pytest.mark.parametrize("access", ACCESSES, ids=lambda a: a.partition(";")[0])
def test_accesses_beside_variables_are_found_alike(access: str) -> None:
    rng = np.random.default_rng(1)
    machine = Machine(kernel("p at, p out", HEAD + access + TAIL, VARIABLES), gap=128)
    machine.arena.allocate(8 * THREADS, "at")
    machine.arena.allocate(8 * THREADS, "out")
    ends = set[bool]()
    legal = list[int]()
    for place in range(0, 800, 8):
        if not outcome(machine, "native", [place] * THREADS)[0]:
            legal.append(place)
    for n in range(24):
        places = rng.choice(legal[: 1 + n] if n % 2 else legal, THREADS)
        if n % 3 == 0:
            places[rng.integers(THREADS)] += rng.integers(-300, 300)
        numpy, native = (outcome(machine, engine, [int(p) for p in places]) for engine in ("numpy", "native"))
        assert numpy[:2] == native[:2] and (numpy[0] or numpy[2] == native[2]), places
        assert native[3] == 1
        ends.add(bool(native[0]))
    assert ends == {False, True}


HEAP = """.extern .func (.param .b64 r) malloc (.param .b64 a); .extern .func free (.param .b64 p);"""
KEEPS_ONE = """.reg .b64 %d<4>; .reg .b32 %r1; .reg .pred %p1; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5;
{ .param .b64 a; .param .b64 r; st.param.b64 [a], 24; call.uni (r), malloc, (a); ld.param.b64 %d2, [r]; }
st.u32 [%d2], %r1; @%p1 bra KEEP; { .param .b64 p; st.param.b64 [p], %d2; call.uni free, (p); } KEEP: ret;"""


def test_what_kernels_allocate_is_followed() -> None:
    found = []
    for engine in ("numpy", "native"):
        findings = Findings()
        check = Memcheck(CheckedRun(findings))
        launch = Machine(kernel("p out", KEEPS_ONE, HEAP)).launch(2, 32, [0], [check], engine=engine)
        check.finish()
        found.append((launch.used.native_blocks, [(f.kind, f.block, f.thread, f.count) for f in findings.all]))
    assert found[0] == (0, [("leak", (0, 0, 0), (5, 0, 0), 2)]) and found[1] == (2, found[0][1])


class Counts(Observer):
    """Counts accesses."""

    def __init__(self) -> None:
        self.accesses = 0

    def access(self, access: Access) -> None:
        """See Observer."""
        self.accesses += 1


def test_an_observer_that_needs_all_events_gets_them() -> None:
    counts = Counts()
    machine = Machine(kernel("p out", ".reg .b64 %d1; ld.param.u64 %d1, [out]; st.global.u32 [%d1], 1; ret;"))
    out = machine.upload(np.zeros(1, np.uint32))
    findings = Findings()
    assert not machine.launch(1, 32, [out], [Memcheck(CheckedRun(findings)), counts], engine="native").used.native_blocks
    assert counts.accesses == 1
