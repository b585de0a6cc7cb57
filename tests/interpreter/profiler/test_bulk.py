"""Bulk and tensor copies in the profile: bytes, and sectors in L2, as they follow from what is copied."""

from pathlib import Path

import pytest

from warplab.interpreter.profiler import KernelProfile
from warplab.interpreter.profiler.metrics import metrics_of
from warplab.runtime.profiler import profiling
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import from_text

TENSORS = (Path(__file__).parents[2] / "runtime" / "kernels" / "tensor_copy.ptx").read_bytes()
BYTES = b""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
    .shared .align 128 .b8 s[1024]; .shared .align 8 .b64 full;
    .reg .b32 %t, %s, %full; .reg .b64 %x, %y, %state; .reg .pred %p;
    mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0; @%p bra DONE;
    ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %s, s; mov.u32 %full, full; mbarrier.init.shared::cta.b64 [%full], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%full], 1008;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%x], 1008, [%full];
WAIT: mbarrier.try_wait.shared::cta.b64 %p, [%full], %state; @!%p bra WAIT;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%y], [%s], 1008;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
DONE: ret;
}
"""


def profiled(text: bytes, options: str) -> tuple[KernelProfile, dict[str, float]]:
    with profiling() as p:
        outcome = Runner([text], ["k.ptx"], from_text(options, 1), None).run()
    assert not outcome.failure, outcome.failure
    return p.launches[0], {name.removeprefix("warplab__"): value for name, value in metrics_of(p.launches[0]).items()}


@pytest.mark.parametrize("schedule", ["", "--schedule 2"])
def test_a_tensor_is_read_and_written_once(schedule: str) -> None:
    tensors = "--tensormap x=f16[80,64],box=32/64,swizzle=128 --tensormap out:y=f16[80,64],box=32/64"
    p, m = profiled(TENSORS, f"--grid 3 --block 32 {tensors} {schedule}")
    size = 80 * 128  # the last block has 16 rows outside
    assert (m["bulk_copy_bytes_mem_global_op_ld.sum"], m["bulk_copy_bytes_mem_global_op_st.sum"]) == (size, size)
    assert (m["lts__t_sectors_op_read.sum"], m["lts__t_sectors_op_write.sum"]) == (size / 32, size / 32)
    assert m["lts__t_sectors_op_read_lookup_hit.sum"] == 0 and m["dram__bytes.sum"] == 2 * size
    assert not p.total("units", "global") and not p.total("units", "shared"), "the load-store unit has seen none of it"


def test_a_box_read_again_is_found_in_l2() -> None:
    _, m = profiled(
        TENSORS, "--grid 4 --block 32 --tensormap x=f16[32,64],dims=128/64,strides=0,box=32/64 --tensormap out:y=f16[128,64],box=32/64"
    )
    assert m["bulk_copy_bytes_mem_global_op_ld.sum"] == 4 * 4096, "each copy moves its box, though all rows are one"
    assert m["dram__bytes.sum"] == 128 + 128 * 128


def test_bytes_in_one_piece() -> None:
    p, m = profiled(BYTES, "--block 32 --arg x=u32[256]:arange --arg inout:y=u32[256]")
    assert (p.total("bytes", "bulk", "ld"), p.total("units", "bulk", "ld")) == (1008, 32)
    assert (m["bulk_copy_bytes_mem_global_op_red.sum"], p.total("units", "bulk", "red")) == (1008, 32)
