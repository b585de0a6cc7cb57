"""`warplab sanitize --tool synccheck`: each kind of wrong barrier, mask and mbarrier, and right programs that look like them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

FRAME = """//@ run {launch} --arg out:out=u32[256]
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p<9>;
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .shared .align 8 .b64 mb[4];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, mb;
    mov.u32 %r3, 32;
    setp.eq.u32 %p1, %r1, 0;
    setp.ge.u32 %p2, %r1, 16;
    ld.param.u64 %d1, [out];
    mad.wide.u32 %d2, %r1, 4, %d1;
{body}
    ret;
}}
"""
INIT = "@%p1 mbarrier.init.shared.b64 [%r2], %r3;\nbar.sync 0;\n"
SUMS = "@%p2 bra END;\nmov.u32 %r4, %r1;\nshfl.sync.down.b32 %r5, %r4, {}, 31, 0xffff;\nadd.u32 %r4, %r4, %r5;\n{}st.global.u32 [%d2], %r4;\nEND:"

FAULTS = {
    "an arrival at nothing": ("mbarrier-uninitialized", "*mbarrier.arrive.shared.b64 %d3, [%r2];"),
    "bytes for nothing": ("mbarrier-uninitialized", "*mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 4;"),
    "a wait for nothing": ("mbarrier-uninitialized", "*mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 1;"),
    "after the end": ("mbarrier-uninitialized", INIT + "mbarrier.inval.shared.b64 [%r2];\nbar.sync 0;\n*mbarrier.arrive.shared.b64 %d3, [%r2];"),
    "more than expected": ("mbarrier-overflow", INIT + "*@%p1 mbarrier.arrive.shared.b64 %d3, [%r2], 33;"),
    "twice in a phase": (
        "mbarrier-overflow", INIT + "@%p1 mbarrier.arrive.expect_tx.shared.b64 %d3, [%r2], 8;\n*mbarrier.arrive.shared.b64 %d3, [%r2];"),
    "no arrivals": ("mbarrier-misuse", "*@%p1 mbarrier.init.shared.b64 [%r2], 0;"),
    "two beginnings": ("mbarrier-misuse", INIT + "*@%p1 mbarrier.init.shared.b64 [%r2], %r3;"),
    "a phase that must not end": ("mbarrier-misuse", INIT + "*@%p1 mbarrier.arrive.noComplete.shared.b64 %d3, [%r2], 32;"),
    "a store over an object": ("mbarrier-misuse", INIT + "*@%p1 st.shared.u32 [%r2+4], %r3;"),
    "a reduction and none": ("barrier-mismatch", "@%p2 bra TWO;\nbarrier.red.popc.u32 %r4, 0, %p1;\nbra MEET;\nTWO:\n*barrier.sync 0;\nMEET:"),
    "two reductions": (
        "barrier-mismatch", "@%p2 bra TWO;\nbarrier.red.popc.u32 %r4, 0, %p1;\nbra MEET;\nTWO:\n*barrier.red.and.pred %p3, 0, %p1;\nMEET:"),
    "two counts": ("barrier-mismatch", "@%p1 bra ONE;\nbar.arrive 1, 64;\n*ONE: @%p1 barrier.sync 1, 96;"),
    "a barrier that lanes go round": ("barrier-divergence", "@%p2 bra ROUND;\n*bar.sync 0;\nROUND: st.global.u32 [%d2], %r1;"),
    "arriving twice": ("cluster-barrier", "barrier.cluster.arrive;\n*barrier.cluster.arrive;\nbarrier.cluster.wait;"),
    "waiting only": ("cluster-barrier", "@%p1 barrier.cluster.arrive;\n*barrier.cluster.wait;"),
    "more bytes than an mbarrier counts": (
        "mbarrier-overflow", INIT + "*@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 1048576;"),
    "arriving aligned in two branches": (
        "barrier-divergence", "@%p2 bra ELSE;\n*barrier.cluster.arrive.aligned;\nbra MEET;\nELSE: barrier.cluster.arrive.aligned;\nMEET: barrier.cluster.wait;"),
    "a copy from a source that is not there": (
        "inactive-source", "@%p2 bra END;\n*shfl.sync.bfly.b32 %r5, %r1, 16, 31, 0xffff;\nst.global.u32 [%d2], %r5;\nEND:"),
    "a source that is not there": ("inactive-source", SUMS.format(8, "").replace("shfl", "*shfl")),
}  # fmt: skip
RIGHT = {
    "phase after phase": INIT + 3 * "mbarrier.arrive.shared.b64 %d3, [%r2];\n",
    "a new object in the old place": INIT + "bar.sync 0;\n@%p1 mbarrier.inval.shared.b64 [%r2];\n@%p1 mbarrier.init.shared.b64 [%r2], %r3;",
    "a store beside an object": INIT + "@%p1 st.shared.u32 [%r2+8], %r3;",
    "lanes that end before a barrier that is not aligned": "@%p2 bra END;\nbarrier.sync 0;\nst.global.u32 [%d2], %r1;\nEND:",
    "lanes that end before a barrier of the whole warp": "@%p2 ret;\nbar.warp.sync 0xffffffff;",
    "lanes that end before a vote of the whole warp": "@%p2 ret;\nvote.sync.ballot.b32 %r4, 1, 0xffffffff;\nst.global.u32 [%d2], %r4;",
    "lanes that end before a barrier of some": "@%p2 ret;\nbar.sync 1, 32;",
    "lanes that end behind the last barrier": "bar.sync 0;\n@%p2 ret;\nst.global.u32 [%d2], %r1;",
    "a reduction and then none": "bar.red.popc.u32 %r4, 0, %p1;\nbar.sync 0;\nbar.red.and.pred %p3, 0, %p1;",
    "a reduction beside a barrier of another number": "bar.red.popc.u32 %r4, 0, %p1;\nbar.sync 1;",
    "arriving in two branches": "@%p2 bra ELSE;\nbarrier.cluster.arrive;\nbra MEET;\nELSE: barrier.cluster.arrive;\nMEET: barrier.cluster.wait;",
    "arriving aligned twice": 2 * "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
    "both halves of a cluster barrier": 2 * "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
    "lanes that a schedule parts in a loop": "mov.u32 %r6, 0;\nbra IN;\nAGAIN: bar.sync 0;\nIN:\n"
    + 8 * "st.global.u32 [%d2], %r6;\n"
    + "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 9;\n@%p3 bra AGAIN;",
    "what no lane uses of a shuffle": SUMS.format(8, "@%p1 "),
}


def found(folder: Path, body: str, *options: str, launch: str = "--block 32") -> tuple[int, list[dict[str, object]]]:
    """The line that is marked in a body, and the findings."""
    text = FRAME.format(launch=launch, body=body)
    line = next((n for n, x in enumerate(text.splitlines(), 1) if x.startswith("*")), 0)
    file = folder / "k.ptx"
    file.write_text(text.replace("\n*", "\n"))
    done = CliRunner().invoke(main, ["sanitize", "--tool", "synccheck", "--json", *options, str(file)])
    return line, json.loads(done.stdout)


@pytest.mark.parametrize("schedule", ["0", "1"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str, schedule: str) -> None:
    kind, body = FAULTS[name]
    launch = "--block 64" if name == "two counts" else "--block 32"
    line, findings = found(tmp_path, body, "--schedule", schedule, launch=launch)
    assert (kind, True) in [(f["kind"], line in (f["line"], f["other_line"])) for f in findings]
    assert {f["kind"] for f in findings} <= {kind, "deadlock"}


@pytest.mark.parametrize("schedule", ["0", "1", "2"])
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_is_left_in_peace(tmp_path: Path, name: str, schedule: str) -> None:
    assert found(tmp_path, RIGHT[name], "--schedule", schedule) == (0, [])


ENDED = {
    "lanes that end before a barrier": "@%p2 bra END;\n*bar.sync 0;\nst.global.u32 [%d2], %r1;\nEND:",
    "lanes that store and end": "@!%p2 bra ON;\nst.global.u32 [%d2], %r1;\nret;\nON:\n*bar.sync 0;",
    "a barrier in a branch, and nothing behind it": "@%p2 bra END;\nst.global.u32 [%d2], %r1;\n*bar.sync 0;\nEND:",
    "lanes that end before all others": "@%p2 ret;\n*bar.sync 0;\nbar.sync 0;",
}


@pytest.mark.parametrize("schedule", ["0", "1"])
@pytest.mark.parametrize("name", ENDED)
def test_threads_that_end_before_a_barrier_are_a_remark_or_an_error(tmp_path: Path, name: str, schedule: str) -> None:
    for options, severity in ((), "info"), (("--strict",), "error"):
        line, (f,) = found(tmp_path, ENDED[name], "--schedule", schedule, *options)
        assert (f["kind"], f["line"], f["severity"], f["count"]) == ("barrier-divergence", line, severity, 16)
        assert f["thread"] == [16, 0, 0] and "PTX waits only for threads that have not exited" in str(f["message"])


def test_a_warp_that_ends_before_a_barrier_is_a_remark(tmp_path: Path) -> None:
    body = "setp.ge.u32 %p3, %r1, 32;\n@%p3 ret;\n*bar.sync 0;"
    line, (f,) = found(tmp_path, body, launch="--block 96")
    assert (f["line"], f["severity"], f["thread"], f["count"]) == (line, "info", [32, 0, 0], 64)
