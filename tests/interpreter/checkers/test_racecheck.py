"""racecheck: each kind of synchronisation with a program that races without it, and random programs against clocks of single threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from .racing import HEAD, races

WAIT = "L: {poll}\nsetp.eq.u32 %p3, %r20, 0;\n@%p3 bra L;"


def message(publish: str, poll: str, after: str = "") -> str:
    """Of block 0 a thread writes g[0] and raises the flag; one of block 1 waits for the flag and reads g[0]."""
    wait = WAIT.format(poll=poll)
    return f"mov.u32 %r21, 1;\n@!%p2 bra E;\n@!%p1 bra R;\nst.global.u32 [%rd1], %r21;\n{publish}\nbra E;\nR:\n{wait}\n{after}\nld.global.u32 %r22, [%rd1];\nE:"


RELEASE, ACQUIRE = "st.release.gpu.global.u32 [%rd2], %r21;", "ld.acquire.gpu.global.u32 %r20, [%rd2];"
STORE, LOAD = "st.relaxed.gpu.global.u32 [%rd2], %r21;", "ld.relaxed.gpu.global.u32 %r20, [%rd2];"
FENCE = "fence.acq_rel.gpu;"
EXCHANGE = "{between}st.shared.u32 [%r5], %r1;\n{sync}\nld.shared.u32 %r10, [{other}];"

PAIRS = "and.b32 %r11, %r1, 30;\nshl.b32 %r12, 3, %r11;\nand.b32 %r11, %r1, 29;\nshl.b32 %r13, 5, %r11;\nand.b32 %r14, %r1, 31;\nxor.b32 %r14, %r14, 3;\n"
DIAGONAL = PAIRS + "shl.b32 %r14, %r14, 2;\nand.b32 %r15, %r4, -128;\nadd.u32 %r14, %r14, %r15;\nadd.u32 %r14, %r14, %r3;\n"

STAGES = "".join(
    f"cp.async.ca.shared.global [%r5+{at}], [%rd1], 4;\ncp.async.mbarrier.arrive{{noinc}}.shared.b64 [{mbarrier}];\nmbarrier.arrive.shared.b64 %rd5, [{mbarrier}];\n"
    for at, mbarrier in ((0, "%r9"), (256, "%r8"))
)


def stages(noinc: str, arrivals: int, ends: str) -> str:
    """Two stages of a pipeline, each with an mbarrier that tells of its copies."""
    init = f"add.u32 %r8, %r3, 1016;\n@%p2 mbarrier.init.shared.b64 [%r9], {arrivals};\n@%p2 mbarrier.init.shared.b64 [%r8], {arrivals};\nbar.sync 0;\n"
    return init + STAGES.replace("{noinc}", noinc) + ends


def stage_over(mbarrier: str, at: int) -> str:
    """A wait for an mbarrier, and a read of what another thread's copy brought."""
    return f"W{at}: mbarrier.test_wait.parity.shared.b64 %p5, [{mbarrier}], 0;\n@!%p5 bra W{at};\nld.shared.u32 %r10, [%r7+{at}];\n"


# Each thread writes its word, and reads another warp's behind an mbarrier whose instructions order nothing themselves.
RELAXED_PHASE = """@%p2 mbarrier.init.shared.b64 [%r9], 64;
bar.sync 0;
st.shared.u32 [%r5], %r1;
{before}
mbarrier.arrive.relaxed.cta.shared.b64 %rd5, [%r9];
W: mbarrier.test_wait.relaxed.cta.shared.b64 %p5, [%r9], %rd5;
@!%p5 bra W;
{behind}
ld.shared.u32 %r10, [%r7];"""
COPY_OUT = """st.shared.u32 [%r5], %r2;
{fence}
bar.sync 0;
@!%p2 bra E;
{copy} [%rd1], [%r3], 256;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
E:"""
REDUCE = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"

ORDERED = {
    "fences about relaxed uses of an mbarrier": RELAXED_PHASE.format(before="fence.acq_rel.cta;", behind="fence.acq_rel.cta;"),
    "reductions by copies of two blocks": COPY_OUT.format(fence="fence.proxy.async.shared::cta;", copy=REDUCE),
    "two stages of copies": stages("", 64, stage_over("%r9", 0) + stage_over("%r8", 256)),
    "two stages of copies that count": stages(".noinc", 128, stage_over("%r9", 0) + stage_over("%r8", 256)),
    "the later stage first": stages("", 64, stage_over("%r8", 256) + "ld.shared.u32 %r10, [%r7];"),
    "a barrier": EXCHANGE.format(between="", sync="bar.sync 0;", other="%r7"),
    "a warp's barrier": EXCHANGE.format(between="", sync="bar.warp.sync -1;", other="%r6"),
    "a barrier of half a warp": "and.b32 %r11, %r1, 16;\nshl.b32 %r12, 0xffff, %r11;\n"
    + EXCHANGE.format(between="", sync="bar.warp.sync %r12;", other="%r6"),
    "two barriers of pairs": DIAGONAL + EXCHANGE.format(between="", sync="bar.warp.sync %r12;\nbar.warp.sync %r13;", other="%r14"),
    "an older barrier of another pair": DIAGONAL
    + EXCHANGE.format(between="", sync="bar.warp.sync %r12;\nbar.warp.sync %r13;", other="%r6"),
    "release and acquire": message(RELEASE, ACQUIRE),
    "fences": message(f"{FENCE}\n{STORE}", LOAD, FENCE),
    "volatile and membar": message(
        "membar.gl;\nst.volatile.global.u32 [%rd2], %r21;", "ld.volatile.global.u32 %r20, [%rd2];", "membar.gl;"
    ),
    "an atomic operation that releases": message("atom.release.gpu.global.add.u32 %r23, [%rd2], 1;", ACQUIRE),
    "a copy and its wait": "cp.async.ca.shared.global [%r5], [%rd1], 4;\ncp.async.wait_all;\nld.shared.u32 %r10, [%r5];",
    "a copy, its wait and a barrier": "cp.async.ca.shared.global [%r5], [%rd1], 4;\ncp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r10, [%r7];",
    "atomic operations": "atom.global.add.u32 %r10, [%rd1], 1;",
    "a named barrier": "setp.lt.u32 %p4, %r1, 32;\n@%p4 bra P;\nbar.sync 1, 64;\nld.shared.u32 %r10, [%r7];\nbra E;\nP: st.shared.u32 [%r5], %r1;\nbar.arrive 1, 64;\nE:",
    "an mbarrier": "@%p2 mbarrier.init.shared.b64 [%r9], 32;\nbar.sync 0;\nsetp.lt.u32 %p4, %r1, 32;\n@%p4 bra P;\n"
    "W: mbarrier.test_wait.parity.shared.b64 %p5, [%r9], 0;\n@!%p5 bra W;\nld.shared.u32 %r10, [%r7];\nbra E;\n"
    "P: st.shared.u32 [%r5], %r1;\nmbarrier.arrive.shared.b64 %rd5, [%r9];\nE:",
}
RACES = {
    "a barrier behind the copy only": "st.shared.u32 [%r7], %r1;\ncp.async.ca.shared.global [%r5], [%rd1], 4;\nbar.sync 0;\ncp.async.wait_all;",
    "a warp's barrier behind the copy only": "st.shared.u32 [%r6], %r1;\ncp.async.ca.shared.global [%r5], [%rd1], 4;\nbar.warp.sync -1;\ncp.async.wait_all;",
    "a bulk copy before the barrier": COPY_OUT.format(fence="fence.proxy.async;", copy=REDUCE)
    .replace("bar.sync 0;\n", "")
    .replace("E:", "E:\nbar.sync 0;"),
    "a relaxed use of an mbarrier with a fence before": RELAXED_PHASE.format(before="fence.acq_rel.cta;", behind=""),
    "a relaxed use of an mbarrier with a fence behind": RELAXED_PHASE.format(before="", behind="fence.acq_rel.cta;"),
    "a proxy fence for other memory": COPY_OUT.format(fence="fence.proxy.async.global;", copy=REDUCE),
    "copies of two blocks": COPY_OUT.format(fence="fence.proxy.async;", copy="cp.async.bulk.global.shared::cta.bulk_group"),
    "another stage's mbarrier": stages("", 64, stage_over("%r9", 256)),
    "an mbarrier without a barrier behind its init": "@%p2 mbarrier.init.shared.b64 [%r9], 64;\nmbarrier.arrive.shared.b64 %rd5, [%r9];",
    "no barrier": EXCHANGE.format(between="", sync="", other="%r7"),
    "a warp's barrier between warps": EXCHANGE.format(between="", sync="bar.warp.sync -1;", other="%r7"),
    "a mask without the other lane": "shl.b32 %r12, 1, %r1;\n" + EXCHANGE.format(between="", sync="bar.warp.sync %r12;", other="%r6"),
    "a counted barrier behind threads that have ended": "setp.lt.u32 %p4, %r1, 32;\n@%p4 bra R;\nst.shared.u32 [%r5], %r1;\nexit;\n"
    "R: bar.sync 2, 32;\nld.shared.u32 %r10, [%r7];",
    "barriers of pairs without a chain": DIAGONAL + EXCHANGE.format(between="", sync="bar.warp.sync %r12;", other="%r14"),
    "a flag read by its first byte": message(RELEASE, ACQUIRE.replace("u32 %", "u8 %")),
    "no release": message(STORE, ACQUIRE),
    "no acquire": message(RELEASE, LOAD),
    "a release of block scope": message(RELEASE.replace("gpu", "cta"), ACQUIRE),
    "a fence behind the flag": message(f"{STORE}\n{FENCE}", LOAD, FENCE),
    "no fence behind the poll": message(f"{FENCE}\n{STORE}", LOAD),
    "a reduction acquires nothing": message(RELEASE, LOAD, "red.acquire.gpu.global.add.u32 [%rd2], 0;".replace("acquire", "relaxed")),
    "no wait": "cp.async.ca.shared.global [%r5], [%rd1], 4;\nld.shared.u32 %r10, [%r5];",
    "a copy of another thread": "cp.async.ca.shared.global [%r5], [%rd1], 4;\ncp.async.wait_all;\nld.shared.u32 %r10, [%r7];",
    "atomic and plain": "atom.global.add.u32 %r10, [%rd1], 1;\n@%p2 st.global.u32 [%rd1], %r10;",
    "atomics of block scope": "atom.cta.global.add.u32 %r10, [%rd1], 1;",
    "an arrival too early": "setp.lt.u32 %p4, %r1, 32;\n@%p4 bra P;\nbar.sync 1, 64;\nld.shared.u32 %r10, [%r7];\nbra E;\nP: bar.arrive 1, 64;\nst.shared.u32 [%r5], %r1;\nE:",
}


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("schedule", [None, 1, 2])
def test_no_race(name: str, schedule: int | None) -> None:
    assert races(ORDERED[name], grid=2, schedule=schedule) == ()


@pytest.mark.parametrize("name", RACES)
@pytest.mark.parametrize("schedule", [None, 1, 2])
def test_race(name: str, schedule: int | None) -> None:
    found = races(RACES[name], grid=2, schedule=schedule)
    assert found and all(f.tool == "racecheck" and f.kind in ("read-write", "write-write") for f in found)
    assert any(f.severity == "error" for f in found)


def test_one_value_is_a_remark() -> None:
    found = races("mov.u32 %r20, 7;\nst.global.u32 [%rd1], %r20;")
    assert [f.severity for f in found] == ["info"]


def test_one_of_two_blocks_writes_what_both_have_read() -> None:
    (found,) = races("ld.global.u32 %r20, [%rd1];\nbar.sync 0;\n@%p1 st.global.u32 [%rd1], %r1;", block=1, grid=2)
    assert (found.kind, found.severity) == ("read-write", "error")


def test_help_speaks_of_the_barrier_that_reaches_all_pairs() -> None:
    (found,) = races("st.shared.u32 [%r5], %r1;\nld.shared.u32 %r10, [%r5+4];")  # lane 31 reads what the next warp wrote
    assert found.thread == (0, 0, 0)
    assert "bar.sync" in found.help and "warp" not in found.help


@pytest.mark.parametrize(
    ("fence", "ordered"), [("membar.gl", True), ("fence.sc.sys", True), ("fence.sc.cta", False), ("fence.acq_rel.gpu", False)]
)
def test_two_fences_are_ordered_as_they_come(fence: str, ordered: bool) -> None:
    """No flag, and no branch that could change the order: block 0 writes, and goes through its fence before block 1 does."""
    found = races(
        f"@%p1 st.global.u32 [%rd1+4], %r1;\n@%p1 fence.sc.gpu;\n@!%p1 {fence};\n@!%p1 ld.global.u32 %r20, [%rd1+4];", block=1, grid=2
    )
    assert (found == ()) == ordered


def test_a_fence_without_lanes_hands_on_nothing() -> None:
    """The warps of block 0 pass a fence.sc whose guard is false, behind a release that nobody acquires."""
    own = "@{p} st.global.u32 [%rd1+4], %r1;\n@{p} st.release.gpu.global.u32 [%rd2], 1;"
    body = (
        own.format(p="%p1") + "\nsetp.ne.u32 %p4, %r1, %r1;\n@%p4 fence.sc.gpu;\n@!%p1 fence.sc.gpu;\n@!%p1 ld.global.u32 %r20, [%rd1+4];"
    )
    assert [f.line for f in races(body, block=1, grid=2)] == [HEAD.count("\n") + 6]


def test_blocks_of_one_cluster_meet() -> None:
    """Each block counts in the shared memory of its whole cluster, and reads its own after the cluster's barrier."""
    counts = """mapa.shared::cluster.u32 %r11, %r3, 0;
atom.shared::cluster.add.u32 %r12, [%r11], 1;
mapa.shared::cluster.u32 %r11, %r3, 1;
atom.shared::cluster.add.u32 %r12, [%r11], 1;
{}
ld.shared.u32 %r12, [%r3];"""
    meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;"
    assert races(counts.format(meet), grid=4, cluster=2) == ()
    assert races(counts.format("bar.sync 0;"), grid=4, cluster=2) != ()


def test_what_two_blocks_read_while_other_warps_wait_already() -> None:
    """The second warps of both blocks arrive at the cluster's barrier before the first ones read the same word."""
    meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;"
    body = f"""setp.ge.u32 %p4, %r1, 32;
@%p4 bra A;
ld.global.u32 %r20, [%rd1];
A: {meet}
setp.eq.and.u32 %p5, %r1, 0, %p1;
@%p5 st.global.u32 [%rd1], %r1;"""
    late = body.replace("@%p4 bra A;", "@!%p4 bra B;\nst.global.u32 [%rd2], %r1;\nbra A;\nB:")
    for text in (body, late.replace("[%rd2]", "[%rd7]").replace("setp.ge", "mad.wide.u32 %rd7, %r1, 4, %rd2;\nsetp.ge")):
        for schedule in (None, 1, 2):
            assert [f for f in races(text, grid=2, cluster=2, schedule=schedule) if f.space == "global" and f.kind == "read-write"] == []


@pytest.mark.parametrize("schedule", [None, 1, 2])
def test_who_waits_at_a_cluster_barrier_comes_after_those_that_arrive_later(schedule: int | None) -> None:
    ring = "st.shared.u32 [%r5], %r1;\n{0}\nmapa.shared::cluster.u32 %r11, %r5, 0;\nld.shared::cluster.u32 %r12, [%r11];\n{0}"
    meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;"
    assert races(ring.format(meet), grid=4, cluster=2, schedule=schedule) == ()


@pytest.mark.parametrize("schedule", [None, 1, 2, 3])
@pytest.mark.parametrize("between", ["", "bar.warp.sync -1;", "@%p2 ld.relaxed.cluster.global.u32 %r10, [%rd1];"])
def test_counters_of_a_cluster(between: str, schedule: int | None) -> None:
    """Operations of cluster scope exclude each other in one cluster, and race with those of the next."""
    count = f"red.relaxed.cluster.global.add.u32 [%rd1], 1;\n{between}"
    assert races(count, grid=2, cluster=2, schedule=schedule) == ()
    assert {f.kind for f in races(count, grid=4, cluster=2, schedule=schedule)} >= {"write-write"}


@pytest.mark.parametrize(
    ("fence", "ordered"), [("fence.acq_rel.gpu;", True), ("fence.acq_rel.cluster;", True), ("fence.acq_rel.cta;", False), ("", False)]
)
def test_a_relaxed_arrival_needs_a_fence_of_the_cluster(fence: str, ordered: bool) -> None:
    exchange = f"""st.shared.u32 [%r5], %r1;
{fence}
barrier.cluster.arrive.relaxed;
barrier.cluster.wait;
xor.b32 %r10, %r2, 1;
mapa.shared::cluster.u32 %r11, %r5, %r10;
ld.shared::cluster.u32 %r12, [%r11];"""
    assert (races(exchange, grid=2, cluster=2) == ()) == ordered


@pytest.mark.parametrize("schedule", [None, 1, 2, 3])
def test_an_asynchronous_store_does_not_know_what_its_thread_learns_later(schedule: int | None) -> None:
    meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;"
    found = races(
        f"""@%p2 mbarrier.init.shared.b64 [%r9], 1;
bar.sync 0;
@%p2 mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r9], 256;
{meet}
xor.b32 %r10, %r2, 1;
mapa.shared::cluster.u32 %r11, %r5, %r10;
mapa.shared::cluster.u32 %r12, %r9, %r10;
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r11], %r1, [%r12];
ld.shared.u32 %r13, [%r5];
{meet}""",
        grid=2, cluster=2, schedule=schedule,
    )  # fmt: skip
    assert {f.kind for f in found} == {"read-write"}


@pytest.mark.parametrize(
    ("arrive", "wait", "ordered"),
    [("", "", True), (".release.cluster", ".acquire.cluster", True), ("", ".acquire.cluster", True), (".release.cluster", "", True),
     (".release.cta", ".acquire.cluster", False), (".release.cluster", ".acquire.cta", False)],
)  # fmt: skip
def test_an_mbarrier_of_another_block_needs_the_scope_of_the_cluster(arrive: str, wait: str, ordered: bool) -> None:
    meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;"
    found = races(
        f"""@%p2 mbarrier.init.shared.b64 [%r9], 64;
{meet}
mapa.shared::cluster.u32 %r11, %r5, 0;
mapa.shared::cluster.u32 %r12, %r9, 0;
@%p1 bra W;
st.shared::cluster.u32 [%r11], %r1;
mbarrier.arrive{arrive}.shared::cluster.b64 _, [%r12];
bra E;
W: mbarrier.try_wait.parity{wait}.shared::cta.b64 %p5, [%r9], 0;
@!%p5 bra W;
ld.shared.u32 %r13, [%r7];
E: {meet}""",
        grid=2, cluster=2,
    )  # fmt: skip
    assert ("ld.shared.u32 %r13, [%r7];" in {x for f in found for x in (f.instruction, f.other_instruction)}) != ordered
    assert found == () or not ordered


@pytest.mark.parametrize(("scope", "ordered"), [("gpu", True), ("cta", False), ("cluster", False)])
def test_blocks_of_two_launches_are_in_no_narrow_scope(scope: str, ordered: bool) -> None:
    assert (races(f"red.relaxed.{scope}.global.add.u32 [%rd1], 1;", block=1, streams=("a", "b")) == ()) == ordered


@pytest.mark.parametrize("streams", [("", ""), ("a", "b", "a")])
def test_a_launch_has_release_sequences_of_its_own(streams: tuple[str, ...]) -> None:
    assert races("atom.acq_rel.gpu.global.add.u32 %r10, [%rd1], 1;", streams=streams) == ()


def test_words_of_a_finding() -> None:
    (f,) = races(RACES["no barrier"])
    assert (f.space, f.count) == ("shared", 64)
    assert "`s" in f.nearby
    assert "no barrier between" in f.message
    assert "__syncthreads" in f.help


# ---------------------------------------------------------------- random programs

THREADS, PLACES = 64, 4
Step = tuple[str, int, int]
STEPS = st.one_of(
    st.tuples(st.sampled_from(["ld", "st", "atom"]), st.integers(0, PLACES - 1), st.sampled_from([0, 1, 31, 32, 63])),
    st.tuples(st.sampled_from(["bar", "warp"]), st.just(0), st.just(0)),
)


def text_of(steps: list[Step]) -> str:
    """Each step by one thread, or a barrier by all."""
    lines = []
    for what, place, thread in steps:
        if what in ("bar", "warp"):
            lines.append("bar.sync 0;" if what == "bar" else "bar.warp.sync -1;")
            continue
        operation = {
            "ld": f"ld.shared.u32 %r10, [%r3+{4 * place}];",
            "st": f"st.shared.u32 [%r3+{4 * place}], %r1;",
            "atom": f"atom.shared.add.u32 %r10, [%r3+{4 * place}], 1;",
        }[what]
        lines += [f"setp.eq.u32 %p3, %r1, {thread};", f"@%p3 {operation}"]
    return "\n".join(lines)


def reference(steps: list[Step]) -> set[tuple[int, int]]:
    """The pairs of steps that race, by a clock for each thread, one access at a time."""
    clocks = np.zeros((THREADS, THREADS), int)
    done: list[tuple[int, str, int, int, int]] = []
    found = set()
    for n, (what, place, thread) in enumerate(steps):
        if what in ("bar", "warp"):
            size = THREADS if what == "bar" else 32
            clocks += np.eye(THREADS, dtype=int)
            for first in range(0, THREADS, size):
                clocks[first : first + size] = clocks[first : first + size].max(axis=0)
            continue
        for m, other, at, who, time in done:
            conflict = at == place and who != thread and (what, other) not in (("ld", "ld"), ("atom", "atom"))
            if conflict and clocks[thread, who] <= time:
                found.add((m, n))
        done.append((n, what, place, thread, int(clocks[thread, thread])))
    return found


@settings(max_examples=60)
@example([("atom", 0, 0), ("atom", 0, 1), ("ld", 0, 1)])
@example([("atom", 0, 32), ("atom", 0, 0), ("atom", 0, 1), ("warp", 0, 0), ("ld", 0, 31)])
@given(st.lists(STEPS, min_size=2, max_size=9))
def test_random_programs(steps: list[Step]) -> None:
    text = text_of(steps)
    found = races(text, block=THREADS)
    lines = [i for i, line in enumerate((HEAD + text).splitlines(), 1) if "[%r3+" in line]
    accesses = [n for n, step in enumerate(steps) if step[0] not in ("bar", "warp")]
    step_at = dict(zip(lines, accesses, strict=True))
    told = {tuple(sorted((step_at[f.line or 0], step_at[f.other_line or 0]))) for f in found}
    wanted = reference(steps)
    assert told <= wanted  # no false alarm
    assert bool(told) == bool(wanted)  # a later record may stand for an earlier one, but no race is lost
