"""What ends a launch early says who did it, where and to what: faults, deadlocks, limits; and that runs repeat themselves."""

import resource
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from warplab.interpreter.faults import Deadlock, Fault, LimitReached

from .harness import Machine, kernel, module, run

HEAD = ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<5>;\nld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\n"
LINE = 10  # of the first instruction of a body behind HEAD, where nothing stands before the kernel


def attempt(body: str, grid: Any = 2, block: Any = (32, 2), before: str = "", **options: Any) -> Machine:
    """Launches a body with a zeroed buffer of 64 words as %d1."""
    machine = Machine(kernel("p out", HEAD + body, before, target=options.pop("target", "sm_90")))
    machine.launch(grid, block, [machine.upload(np.zeros(64, np.uint32), "buffer")], **options)
    return machine


@dataclass
class Bad:
    """A body, and what its fault has to say."""

    name: str
    body: str
    kind: str
    space: str
    address: int | None
    size: int
    thread: tuple[int, int, int]
    lanes: int
    says: str
    before: str = ""
    target: str = "sm_90"
    block: tuple[int, int, int] = (0, 0, 0)


BUFFER = 1 << 16  # where the first allocation lies
CONSTANT = ".const .u32 c = 3;"
SHARED = ".shared .u32 s;"
SHARED_WORD = ".shared .b64 w[128];"
MBARRIER = (
    "setp.eq.u32 %p1, %r1, 7; mov.u32 %r2, %tid.y; mad.lo.u32 %r2, %r2, 32, %r1; shl.b32 %r2, %r2, 3; mov.u32 %r3, w; add.u32 %r2, %r2, %r3;"
    "mbarrier.init.shared.b64 [%r2], 2;"
)
TABLE = "%d2, (), prototype;"
BAD = [
    Bad("store behind", "mad.wide.u32 %d2, %r1, 16, %d1; st.global.u32 [%d2], %r1; ret;", "out-of-bounds", "global", BUFFER + 256, 4,
        (16, 0, 0), 64, "0 bytes after the 256-byte buffer at 0x10000"),
    Bad("load before", "sub.u64 %d2, %d1, 8; ld.global.u64 %d2, [%d2]; ret;", "out-of-bounds", "global", BUFFER - 8, 8, (0, 0, 0), 128,
        "8 bytes before the 256-byte buffer"),
    Bad("across the end", "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d1+248]; ret;", "misaligned", "global", BUFFER + 248, 16, (0, 0, 0),
        128, "not a multiple of 16"),
    Bad("guarded", "setp.eq.u32 %p1, %r1, 9; mov.u32 %r2, %ctaid.x; setp.eq.and.u32 %p1, %r2, 1, %p1; @%p1 ld.global.u32 %r2, [%d1+4096];"
        "ret;", "out-of-bounds", "global", BUFFER + 4096, 4, (9, 0, 0), 2, "3840 bytes after the 256-byte buffer", block=(1, 0, 0)),
    Bad("atomic", "atom.global.add.u32 %r2, [%d1+256], 1; ret;", "out-of-bounds", "global", BUFFER + 256, 4, (0, 0, 0), 128,
        "0 bytes after the 256-byte buffer"),
    Bad("generic", "ld.u32 %r2, [%d1+300]; ret;", "out-of-bounds", "global", BUFFER + 300, 4, (0, 0, 0), 128, "44 bytes after"),
    Bad("null", "mov.u64 %d2, 16; ld.global.u32 %r2, [%d2]; ret;", "null", "global", 16, 4, (0, 0, 0), 128, "null pointer"),
    Bad("misaligned", "mad.wide.u32 %d2, %r1, 2, %d1; ld.global.u32 %r2, [%d2]; ret;", "misaligned", "global", BUFFER + 2, 4, (1, 0, 0),
        64, "not a multiple of 4"),
    Bad("misaligned vector", "st.global.v2.u32 [%d1+4], {%r1, %r1}; ret;", "misaligned", "global", BUFFER + 4, 8, (0, 0, 0), 128,
        "not a multiple of 8"),
    Bad("write to const", "mov.u64 %d2, c; cvta.const.u64 %d2, %d2; st.u32 [%d2], %r1; ret;", "read-only", "global", BUFFER, 4,
        (0, 0, 0), 128, "0 bytes into the 4 bytes of c", CONSTANT),
    Bad("shared", "setp.gt.u32 %p1, %r1, 20; @%p1 st.shared.u32 [s+4], %r1; ret;", "out-of-bounds", "shared", 4, 4, (21, 0, 0), 44,
        "shared memory", SHARED),
    Bad("generic shared", "mov.u64 %d2, s; cvta.shared.u64 %d2, %d2; st.u32 [%d2+8], %r1; ret;", "out-of-bounds", "shared", 8, 4,
        (0, 0, 0), 128, "the block's 4 bytes", SHARED),
    Bad("misaligned shared", "st.shared.u32 [s+2], %r1; ret;", "misaligned", "shared", 2, 4, (0, 0, 0), 128, "not a multiple of 4", SHARED),
    Bad("local", "ld.local.u32 %r2, [400]; ret;", "out-of-bounds", "local", 400, 4, (0, 0, 0), 128, "local memory"),
    Bad("generic local", ".local .b32 l[4]; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; ld.u32 %r2, [%d2+1048576]; ret;", "out-of-bounds",
        "local", None, 4, (0, 0, 0), 128, "the thread's stack ends"),
    Bad("arrivals", MBARRIER + "@%p1 mbarrier.arrive.shared.b64 %d2, [%r2], 3; ret;", "mbarrier-overflow", "", None, 0, (7, 0, 0), 4,
        "an arrival by 3 at an mbarrier that expects 2 more", SHARED_WORD),
    Bad("arrivals of lanes", MBARRIER + "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 8; @%p1 mbarrier.arrive.shared.b64 %d2, [%r2], 2;"
        "@%p1 mbarrier.arrive.shared.b64 %d2, [%r2]; ret;", "mbarrier-overflow", "", None, 0, (7, 0, 0), 4, "an arrival by 1 at", SHARED_WORD),
    Bad("bytes", MBARRIER + "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 0x100000; ret;", "mbarrier-overflow", "", None, 0,
        (7, 0, 0), 4, "would wait for 1048576 bytes", SHARED_WORD),
    Bad("no bytes", MBARRIER + "@%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 0x100000; ret;", "mbarrier-overflow", "", None,
        0, (7, 0, 0), 4, "would wait for -1048576 bytes", SHARED_WORD),
    Bad("no arrivals", "mov.u32 %r2, w; mbarrier.init.shared.b64 [%r2], 0; ret;", "mbarrier-overflow", "", None, 0, (0, 0, 0), 128,
        "mbarrier.init for 0 arrivals", SHARED_WORD),
    Bad("trap", "setp.eq.u32 %p1, %r1, 7; @%p1 trap; ret;", "trap", "", None, 0, (7, 0, 0), 4, "trap"),
    Bad("breakpoint", "setp.eq.u32 %p1, %r1, 7; @%p1 brkpt; ret;", "trap", "", None, 0, (7, 0, 0), 4, "breakpoint"),
    Bad("illegal call", f"mov.u64 %d2, 64; prototype: .callprototype _ (); call {TABLE} ret;", "illegal-instruction", "", None, 0,
        (0, 0, 0), 128, "0x40, which is not a function's address"),
    Bad("unknown call", "call nowhere, (%r1); ret;", "unsupported", "", None, 0, (0, 0, 0), 128, "nowhere",
        ".extern .func nowhere(.reg .u32 a);"),
    Bad("unsupported", ".reg .f32 %e<8>; .reg .b32 %h<2>; mma.sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32 "
        "{%e0,%e1,%e2,%e3,%e4,%e5,%e6,%e7}, {%h0,%h1}, {%h0,%h1}, {%e0,%e1,%e2,%e3,%e4,%e5,%e6,%e7}; ret;", "unsupported", "", None, 0,
        (0, 0, 0), 128, "hardware leaves d undefined"),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=lambda b: b.name.replace(" ", "-"))
def test_fault_says_who_and_where(bad: Bad) -> None:
    with pytest.raises(Fault) as caught:
        attempt(bad.body, before=bad.before, target=bad.target)
    fault = caught.value
    assert (fault.kind, fault.space, fault.size, fault.lanes) == (bad.kind, bad.space, bad.size, bad.lanes)
    assert bad.address is None or fault.address == bad.address
    assert (fault.kernel, fault.block, fault.thread, fault.line) == ("test", bad.block, bad.thread, LINE)
    text = str(fault)
    assert bad.says in text
    assert f"kernel test, block {bad.block}, thread {bad.thread}" in text and f"line {LINE}: {fault.instruction}" in text
    assert fault.instruction.rstrip(";") in bad.body


def test_use_after_free() -> None:
    machine = Machine(kernel("p gone", ".reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [gone]; ld.global.u32 %r, [%d+4]; ret;"))
    a = machine.upload(np.zeros(8, np.uint32))
    machine.arena.free(a)
    with pytest.raises(Fault, match="4 bytes into the freed 32-byte allocation") as caught:
        machine.launch(1, 1, [a])
    assert (caught.value.kind, caught.value.address, caught.value.size) == ("freed", a.start + 4, 4)


def test_free_of_what_malloc_did_not_give() -> None:
    with pytest.raises(Fault, match="did not give") as caught:
        attempt(
            ".param .b64 a; st.param.b64 [a], %d1+8; call free, (a); ret;".replace("%d1+8", "77"),
            before=".extern .func free(.param .b64 a);",
        )
    assert caught.value.kind == "invalid-free"


def test_stack_overflow_names_the_call_and_the_limit() -> None:
    recursive = (
        ".func deeper(.reg .u32 a) {\n.local .b32 x[64];\n.reg .b64 %d;\nmov.u64 %d, x;\nst.local.u32 [%d], a;\ncall deeper, (a);\nret;\n}"
    )
    with pytest.raises(Fault, match="stack overflow") as caught:
        attempt("call deeper, (%r1); ret;", before=recursive, stack_limit=1 << 14)
    fault = caught.value
    assert (fault.kind, fault.space, fault.instruction, fault.line) == ("stack-overflow", "local", "call deeper, (a);", 9)
    assert str(1 << 14) in str(fault)


def test_assertion_has_cuda_s_words() -> None:
    before = """.global .b8 text[6] = {120, 32, 62, 32, 48, 0}; .global .b8 file[5] = {97, 46, 99, 117, 0}; .global .b8 where[2] = {102, 0};
    .extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);"""
    body = """setp.ne.u32 %p1, %r1, 3; @%p1 bra FINE;
    .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 z;
    mov.u64 %d2, text; cvta.global.u64 %d2, %d2; st.param.b64 [m], %d2; mov.u64 %d2, file; cvta.global.u64 %d2, %d2; st.param.b64 [f], %d2;
    mov.u64 %d2, where; cvta.global.u64 %d2, %d2; st.param.b64 [n], %d2; st.param.b32 [l], 77; st.param.b64 [z], 1;
    call __assertfail, (m, f, l, n, z);
    FINE: ret;"""
    with pytest.raises(Fault) as caught:
        attempt(body, grid=(3, 1), block=(4, 1), before=before)
    assert caught.value.kind == "assert"
    assert "a.cu:77: f: block: [0,0,0], thread: [3,0,0] Assertion `x > 0` failed." in str(caught.value)


def test_source_line_of_a_fault() -> None:
    text = kernel("p out", HEAD + ".loc 1 42 0\nld.global.u32 %r2, [%d1+1024]; ret;", '.file 1 "saxpy.cu"')
    machine = Machine(text)
    with pytest.raises(Fault) as caught:
        machine.launch(1, 32, [machine.upload(np.zeros(4, np.uint32))])
    assert caught.value.source == "saxpy.cu:42" and "at saxpy.cu:42   [line " in str(caught.value)


def test_fault_in_a_function_called_by_some_lanes() -> None:
    before = ".func bad(.reg .b64 p)\n{\n.reg .b32 %x;\nld.global.u32 %x, [p];\nret;\n}\n"
    body = "setp.ne.u32 %p1, %r1, 11; @%p1 bra FINE; add.u64 %d2, %d1, 512; call bad, (%d2); FINE: ret;"
    with pytest.raises(Fault) as caught:
        attempt(body, grid=(1, 2), before=before)
    assert (caught.value.thread, caught.value.line, caught.value.lanes) == ((11, 0, 0), 7, 4)


# ---------------------------------------------------------------- deadlocks


def stuck(body: str, grid: Any = 1, block: Any = 64, **options: Any) -> Deadlock:
    """The report of a body that cannot proceed."""
    with pytest.raises(Deadlock) as caught:
        attempt(body, grid, block, **options)
    assert caught.value.kernel == "test" and "deadlock in kernel test" in str(caught.value)
    return caught.value


def test_barrier_that_half_of_the_block_waits_for_elsewhere() -> None:
    report = stuck("setp.lt.u32 %p1, %r1, 32; @%p1 bra A;\nbar.sync 0;\nret;\nA:\nbar.sync 1;\nret;")
    seen = {(w.lanes, w.line, w.instruction) for w in report.waiting}
    assert seen == {(32, LINE + 1, "bar.sync 0;"), (32, LINE + 4, "bar.sync 1;")}
    for w in report.waiting:
        assert "all threads of the block at barrier" in w.wants
        assert "32 have arrived" in w.missing and "31 more" in w.missing
    assert {w.example for w in report.waiting} == {"block (0, 0, 0), thread (0, 0, 0)", "block (0, 0, 0), thread (32, 0, 0)"}


def test_barrier_count_that_never_comes() -> None:
    report = stuck("bar.sync 3, 96; ret;")
    (w,) = report.waiting
    assert (w.lanes, w.line, w.instruction) == (64, LINE, "bar.sync 3, 96;")
    assert "96 threads at barrier 3" in w.wants and "64 have arrived" in w.missing


def test_barriers_that_hold_up_every_wave() -> None:
    assert stuck("bar.sync 3, 96; ret;", grid=100, wave_lanes=1024).waiting[0].lanes == 1024


def test_barrier_in_one_block_of_many() -> None:
    report = stuck("mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 5; @%p1 ret; bar.sync 1, 128; ret;", grid=9)
    (w,) = report.waiting
    assert (w.lanes, w.example) == (64, "block (5, 0, 0), thread (0, 0, 0)")


def test_shuffle_with_a_missing_lane() -> None:
    report = stuck("setp.eq.u32 %p1, %r1, 5; @%p1 bra A;\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nret;\nA: bar.sync 1;\nret;", block=32)
    waits = {w.line: w for w in report.waiting}
    assert waits[LINE + 1].lanes == 31 and "lane 5 of warp 0" in waits[LINE + 1].missing
    assert waits[LINE + 3].lanes == 1 and waits[LINE + 3].example == "block (0, 0, 0), thread (5, 0, 0)"


def test_flag_that_nobody_sets() -> None:
    report = stuck("L: ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L; ret;", grid=4)
    assert sum(w.lanes for w in report.waiting) == 256
    assert all("change of memory" in w.wants and w.line == LINE and "ld.volatile" in w.instruction for w in report.waiting)


@pytest.mark.parametrize("schedule", [None, 0, 1, 2])
@pytest.mark.parametrize("body", [
    "L: ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L; ret;",
    "L: ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra M; add.u32 %r3, %r2, 1; M: setp.eq.u32 %p1, %r2, 0; @%p1 bra L; ret;",
])  # fmt: skip
def test_spinning_lanes_that_part_and_meet(body: str, schedule: int | None) -> None:
    """By the program, in every turn of the loop, or as a seed has it."""
    assert sum(w.lanes for w in stuck(body, schedule=schedule, max_seconds=60.0).waiting) == 64


def test_lock_that_nobody_frees() -> None:
    report = stuck("L: atom.global.cas.b32 %r2, [%d1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L; ret;", block=4)
    (w,) = report.waiting
    assert w.lanes == 3 and "atom.global.cas" in w.instruction and w.line == LINE


def test_exited_threads_do_not_hold_a_barrier_up() -> None:
    body = "setp.lt.u32 %p1, %r1, 40; @%p1 ret; bar.sync 0; mad.wide.u32 %d1, %r1, 4, %d1; st.global.u32 [%d1+-128], %r1; ret;"
    assert attempt(body, block=64).launches == 1


def test_deadlock_shows_the_source_line() -> None:
    text = kernel("p out", HEAD + ".loc 1 7 0\nbar.sync 3, 96;\nret;", '.file 1 "wait.cu"')
    machine = Machine(text)
    with pytest.raises(Deadlock, match=r"wait\.cu:7"):
        machine.launch(1, 64, [machine.upload(np.zeros(4, np.uint32))])


# ---------------------------------------------------------------- limits

FOREVER = "L: ld.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L; ret;"


def test_step_limit() -> None:
    with pytest.raises(LimitReached, match="kernel test reached the limit of 1000 steps, at line 10"):
        attempt(FOREVER, max_steps=1000)


def test_wall_limit() -> None:
    start = time.monotonic()
    with pytest.raises(LimitReached, match=r"limit of 0\.2 s"):
        attempt(FOREVER, max_seconds=0.2)
    assert time.monotonic() - start < 1


def test_counted_loop_outlasts_no_patience() -> None:
    body = """mov.u32 %r3, 0;
    L: add.u32 %r3, %r3, 1; ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; setp.lt.and.u32 %p1, %r3, 20000, %p1;
    @%p1 bra L; st.global.u32 [%d1+4], %r3; ret;"""
    machine = Machine(kernel("p out", HEAD + body))
    a = machine.upload(np.zeros(2, np.uint32))
    machine.launch(1, 1, [a])
    assert machine.download(a).tolist() == [0, 20000]


@pytest.mark.parametrize("block", [32, 1024])
def test_largest_grid_starts_at_once(block: int) -> None:
    body = HEAD + "ld.global.u32 %r2, [%d1]; ret;"
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(LimitReached, match="1000 steps"):
        attempt(body.removeprefix(HEAD), grid=2**31 - 1, block=block, max_steps=1000)
    assert time.monotonic() - start < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


def test_largest_grid_in_all_three_dimensions_counts_blocks_exactly() -> None:
    assert Machine(kernel("p out", HEAD + "ret;")).prepare((2**31 - 1, 65535, 65535), 1, [0]).blocks == (2**31 - 1) * 65535 * 65535


# ---------------------------------------------------------------- runs repeat themselves

RACE = (
    "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1; atom.global.exch.b32 %r4, [%d1], %r3; atom.global.add.u32 %r5, [%d1+4], %r4; ret;"
)


def trail(seed: int | None) -> list[int]:
    """What a racy kernel leaves, which depends on the order of its lanes."""
    machine = Machine(kernel("p out", HEAD + RACE))
    a = machine.upload(np.zeros(64, np.uint32))
    machine.launch(40, 64, [a], schedule=seed, wave_lanes=512)
    return [int(x) for x in machine.download(a)[:2]]


def test_two_runs_are_one() -> None:
    assert trail(None) == trail(None)


def test_seeds_repeat_and_differ() -> None:
    results = {seed: trail(seed) for seed in range(6)}
    assert all(trail(seed) == result for seed, result in results.items())
    assert len({tuple(r) for r in results.values()}) > 1


# ---------------------------------------------------------------- lockstep warps of older devices

REDUCTION = """.shared .b32 v[64];
.reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<3>;
mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, v; add.u32 %r3, %r3, %r2;
add.u32 %r4, %r1, 1; st.volatile.shared.u32 [%r3], %r4;
setp.gt.u32 %p1, %r1, 15; @%p1 bra DONE;
ld.volatile.shared.u32 %r5, [%r3+64]; ld.volatile.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, %r5; st.volatile.shared.u32 [%r3], %r6;
ld.volatile.shared.u32 %r5, [%r3+32]; ld.volatile.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, %r5; st.volatile.shared.u32 [%r3], %r6;
ld.volatile.shared.u32 %r5, [%r3+16]; ld.volatile.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, %r5; st.volatile.shared.u32 [%r3], %r6;
ld.volatile.shared.u32 %r5, [%r3+8]; ld.volatile.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, %r5; st.volatile.shared.u32 [%r3], %r6;
ld.volatile.shared.u32 %r5, [%r3+4]; ld.volatile.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, %r5; st.volatile.shared.u32 [%r3], %r6;
DONE: setp.ne.u32 %p1, %r1, 0; @%p1 ret;
ld.param.u64 %d1, [out]; mov.u32 %r7, %ctaid.x; mad.wide.u32 %d1, %r7, 4, %d1; ld.shared.u32 %r6, [v]; st.global.u32 [%d1], %r6; ret;"""


def test_warp_synchronous_reduction_without_barriers() -> None:
    got = run(kernel("p out", REDUCTION, target="sm_35"), 5, 32, 5, target="sm_35", lockstep=True)
    assert got.tolist() == [32 * 33 // 2] * 5


SPIN = """L: atom.global.cas.b32 %r2, [%d1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;
ld.volatile.global.u32 %r3, [%d1+4]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%d1+4], %r3; membar.gl; atom.global.exch.b32 %r2, [%d1], 0;
ret;"""


def test_spin_lock_within_a_warp_hangs_in_lockstep_with_a_report() -> None:
    report = stuck(SPIN, block=4, target="sm_35", lockstep=True)
    assert any("atom.global.cas" in w.instruction for w in report.waiting)


def test_the_same_lock_is_passed_since_sm_70() -> None:
    machine = Machine(kernel("p out", HEAD + SPIN, target="sm_70"), "sm_70")
    a = machine.upload(np.zeros(2, np.uint32))
    machine.launch(2, 32, [a])
    assert machine.download(a).tolist() == [0, 64]


def test_lockstep_warps_wait_for_one_another_across_branches() -> None:
    body = """.shared .b32 v; .reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<3>;
    mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 bra READ;
    setp.ge.u32 %p2, %r1, 7; @%p2 bra WROTE; st.volatile.shared.u32 [v], 41;
    WROTE: bar.arrive 1, 64; mov.u32 %r8, 1; bra JOIN;
    READ: bar.sync 1, 64; ld.volatile.shared.u32 %r8, [v];
    JOIN: bar.sync 0; mov.u32 %r7, %tid.x; ld.param.u64 %d1, [out]; mad.wide.u32 %d1, %r7, 4, %d1; st.global.u32 [%d1], %r8; ret;"""
    got = run(kernel("p out", body, target="sm_35"), 1, 64, 64, target="sm_35", lockstep=True)
    assert got.tolist() == [1] * 32 + [41] * 32


def test_whole_lockstep_warps_leave_a_join_for_which_others_still_turn() -> None:
    body = """.reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<3>;
    mov.u32 %r1, %tid.x; ld.param.u64 %d1, [out]; setp.ge.u32 %p1, %r1, 32; @%p1 bra JOIN;
    L: ld.volatile.global.u32 %r2, [%d1+256]; setp.eq.u32 %p2, %r2, 0; @%p2 bra L;
    JOIN: st.volatile.global.u32 [%d1+256], 7; mad.wide.u32 %d1, %r1, 4, %d1; st.global.u32 [%d1], 5; ret;"""
    got = run(kernel("p out", body, target="sm_35"), 1, 64, 65, target="sm_35", lockstep=True)
    assert got.tolist() == [5] * 64 + [7]


def test_a_lockstep_warp_arrives_as_a_whole() -> None:
    body = """.reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<3>;
    mov.u32 %r1, %tid.x; mov.u32 %r2, 1; and.b32 %r3, %r1, 31; setp.ge.u32 %p1, %r3, 5; @%p1 bra JOIN; bar.sync 0; mov.u32 %r2, 2;
    JOIN: ld.param.u64 %d1, [out]; mad.wide.u32 %d1, %r1, 4, %d1; st.global.u32 [%d1], %r2; ret;"""
    got = run(kernel("p out", body, target="sm_35"), 1, 64, 64, target="sm_35", lockstep=True)
    assert got.tolist() == ([2] * 5 + [1] * 27) * 2


@pytest.mark.parametrize(
    "moves",
    [
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%w0, %w1}, [%a];",
        "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {%w0, %w1}, [%a];",
        "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%a], {%w0, %w0};",
    ],
)
def test_rows_of_matrices_of_bytes_are_aligned(moves: str) -> None:
    body = f".reg .b32 %t, %a, %w<2>; mov.u32 %t, %tid.x; mov.u32 %a, s; mad.lo.u32 %a, %t, 20, %a; mov.b32 %w0, 0; {moves} ret;"
    machine = Machine(module(f".shared .align 16 .b8 s[1024];\n.visible .entry k() {{\n{body}\n}}\n", "sm_100a", "8.6"), "sm_100a")
    with pytest.raises(Fault, match="misaligned: 16-byte read at 0x14, which is not a multiple of 16") as caught:
        machine.launch(1, 32, [])
    assert caught.value.thread == (1, 0, 0)
