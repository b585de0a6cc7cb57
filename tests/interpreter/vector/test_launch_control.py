"""clusterlaunchcontrol: blocks that run take over clusters that have not started, and every tile of the work is done once."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from warplab.interpreter.faults import Fault
from warplab.interpreter.profiler.counters import Counters
from warplab.isa.profiles import profile

from ..harness import Machine

# Each cluster works on the tile of its own first block, then on those of the clusters that its first thread takes over, until none is left.
PERSISTENT = """.version 8.6
.target sm_100a
.address_size 64
.shared .align 16 .b8 answer[16];
.shared .align 8 .b64 done;
.visible .entry tiles(.param .u64 times, .param .u64 worker)
{
    .reg .b32   %r<16>, %x, %y, %z, %w, %phase, %tile, %me, %rank, %size;
    .reg .b64   %d<6>;
    .reg .b128  %a;
    .reg .pred  %first, %waits, %given;
    ld.param.u64    %d0, [times];
    ld.param.u64    %d1, [worker];
    mov.u32         %r0, %tid.x;
    mov.u32         %rank, %cluster_ctarank;
    mov.u32         %size, %cluster_nctarank;
    mov.u32         %x, %ctaid.x;
    mov.u32         %y, %ctaid.y;
    mov.u32         %z, %ctaid.z;
    sub.u32         %x, %x, %rank;
    mov.u32         %r2, %nctaid.x;
    mov.u32         %r3, %nctaid.y;
    mov.u32         %phase, 0;
    mov.u32         %r4, answer;
    mov.u32         %r5, done;
    mad.lo.u32      %me, %z, %r3, %y;
    mad.lo.u32      %me, %me, %r2, %x;
    setp.ne.u32     %first, %r0, 0;
    @%first bra     READY;
    mbarrier.init.shared.b64 [%r5], 1;
READY:
    barrier.cluster.arrive;
    barrier.cluster.wait;
NEXT:
    mad.lo.u32      %tile, %z, %r3, %y;
    mad.lo.u32      %tile, %tile, %r2, %x;
    add.u32         %tile, %tile, %rank;
    @%first bra     WAIT;
    mul.wide.u32    %d2, %tile, 4;
    add.u64         %d3, %d0, %d2;
    atom.global.add.u32 %r6, [%d3], 1;
    add.u64         %d3, %d1, %d2;
    st.global.u32   [%d3], %me;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 16;
    setp.ne.u32     %waits, %rank, 0;
    @%waits bra     WAIT;
    TRY
WAIT:
    mbarrier.try_wait.parity.shared.b64 %waits, [%r5], %phase;
    @!%waits bra    WAIT;
    xor.b32         %phase, %phase, 1;
    ld.shared.b128  %a, [%r4];
    barrier.cluster.arrive;
    barrier.cluster.wait;
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %given, %a;
    @!%given bra    DONE;
    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%x, %y, %z, %w}, %a;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %a;
    bra             NEXT;
DONE:
    ret;
}
"""
TRY = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{}.b128 [%r4], [%r5];"
ALONE = PERSISTENT.replace("TRY", TRY.format(""))
SHARED = PERSISTENT.replace("TRY", TRY.format(".multicast::cluster::all"))


@pytest.mark.parametrize("lanes", [32, 64, 256, 1 << 20])
@pytest.mark.parametrize("schedule", [None, 1, 2])
def test_every_tile_is_done_once(lanes: int, schedule: int | None) -> None:
    grid = (5, 4, 2)
    machine = Machine(ALONE, "sm_100a")
    times, worker = (machine.upload(np.zeros(40, np.uint32)) for _ in range(2))
    launch = machine.launch(grid, 32, [times, worker], wave_lanes=lanes, schedule=schedule)
    assert (machine.download(times) == 1).all()
    workers, started = set(machine.download(worker).tolist()), set(range(min(lanes // 32, 40)))
    # Blocks that were taken over never ran; a schedule lets others start while one waits.
    assert workers == started if schedule is None else started <= workers
    assert launch.next_block == launch.blocks == 40


@pytest.mark.parametrize("schedule", [None, 3])
def test_a_cluster_takes_over_whole_clusters(schedule: int | None) -> None:
    machine = Machine(SHARED, "sm_100a")
    times, worker = (machine.upload(np.zeros(48, np.uint32)) for _ in range(2))
    machine.launch((12, 4), 32, [times, worker], wave_lanes=128, cluster=(4, 1, 1), schedule=schedule)
    assert (machine.download(times) == 1).all()
    # One cluster of four blocks fits in and does it all, unless the schedule lets another start while it waits.
    workers = set(machine.download(worker).tolist())
    assert workers == {0} if schedule is None else workers < set(range(0, 48, 4))


def test_the_profile_counts_the_threads_that_ran() -> None:
    machine = Machine(ALONE, "sm_100a")
    times, worker = (machine.upload(np.zeros(40, np.uint32)) for _ in range(2))
    counters = Counters(profile("sm_90"))
    machine.launch((5, 4, 2), 32, [times, worker], [counters], wave_lanes=64)
    found = counters.finish()
    assert found is not None
    assert found.idle_threads == 2 * 31


def test_a_further_question_finds_nothing_either() -> None:
    body = ALONE.replace("@!%given bra    DONE;", "@%given bra NEXT; @%first bra DONE; st.shared.v4.u32 [%r4], {7, 7, 7, 7};"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 16;" + TRY.format("") +
        "AGAIN: mbarrier.try_wait.parity.shared.b64 %waits, [%r5], %phase; @!%waits bra AGAIN; ld.shared.b128 %a, [%r4];"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %given, %a; selp.u32 %me, 1, 0, %given; st.global.u32 [%d1], %me;"
        "bra DONE;")  # fmt: skip
    machine = Machine(body, "sm_100a")
    times, worker = (machine.upload(np.full(1, 9, np.uint32)) for _ in range(2))
    machine.launch(1, 32, [times, worker])
    assert machine.download(worker).tolist() == [0]


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas here")
@pytest.mark.parametrize("text", [ALONE, SHARED])
def test_ptxas_takes_the_program(text: str, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(text)
    subprocess.run(["ptxas", "-arch=sm_100a", tmp_path / "k.ptx", "-o", tmp_path / "k.o"], check=True, capture_output=True)


FAULTS = [("[answer+8], [done]", "misaligned"), ("[answer+4096], [done]", "out-of-bounds"), ("[answer], [done+4]", "misaligned")]


@pytest.mark.parametrize(("operands", "kind"), FAULTS)
def test_an_answer_needs_16_aligned_bytes_of_shared_memory(operands: str, kind: str) -> None:
    head = ".version 8.6\n.target sm_100a\n.address_size 64\n.shared .align 16 .b8 answer[16]; .shared .align 8 .b64 done;\n"
    ask = TRY.format("").replace("[%r4], [%r5]", operands)
    machine = Machine(f"{head}.visible .entry k() {{ .reg .b64 %d; mbarrier.init.shared.b64 [done], 1; {ask} ret; }}", "sm_100a")
    with pytest.raises(Fault) as caught:
        machine.launch(1, 1, [])
    assert (caught.value.kind, caught.value.space) == (kind, "shared") and "try_cancel" in caught.value.instruction
