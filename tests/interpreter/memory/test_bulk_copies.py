"""Bulk copies whose sizes differ from block to block, as with a short last tile: each writes into its own block, and no further than it goes."""

import numpy as np
import pytest

from warplab.interpreter.faults import Fault
from warplab.interpreter.observe import Access, Observer
from warplab.interpreter.values import plain

from ..harness import Machine, kernel

WORDS, BLOCKS = 64, 6
# Each block of 32 lanes fills its tile, one lane copies as many words as the block's size says, and all store what lies there.
TAIL = """.reg .b64 %d<6>; .reg .b32 %r<12>; .reg .pred %p<3>; .shared .align 128 .b8 tile[256]; .shared .align 8 .b64 done;
    ld.param.u64 %d1, [out]; ld.param.u64 %d2, [table]; ld.param.u64 %d3, [sizes]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, tile; shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r3; st.shared.u32 [%r4], 7777; st.shared.u32 [%r4+128], 7777;
    mul.wide.u32 %d4, %r2, 4; add.u64 %d3, %d3, %d4; ld.global.u32 %r5, [%d3]; mul.wide.u32 %d4, %r2, 256; add.u64 %d2, %d2, %d4;
    add.u64 %d1, %d1, %d4; setp.ne.u32 %p1, %r1, 0; mov.u32 %r6, done;
    @%p1 bra READY; mbarrier.init.shared.b64 [%r6], 1; fence.proxy.async;
READY: bar.sync 0; @%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r6], %r5;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d2], %r5, [%r6];
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0; @!%p2 bra WAIT;
    ld.shared.u32 %r7, [%r4]; ld.shared.u32 %r8, [%r4+128]; mul.wide.u32 %d4, %r1, 4; add.u64 %d1, %d1, %d4;
    st.global.u32 [%d1], %r7; st.global.u32 [%d1+128], %r8; ret;"""


@pytest.mark.parametrize("schedule", [None, 1])
def test_what_lies_behind_a_shorter_copy_stays(schedule: int | None) -> None:
    sizes = np.array([256, 144, 16, 240, 64, 128], np.uint32)
    table = np.arange(BLOCKS * WORDS, dtype=np.uint32).reshape(BLOCKS, WORDS)
    machine = Machine(kernel("p out, p table, p sizes", TAIL))
    out = machine.upload(np.zeros_like(table))
    machine.launch(BLOCKS, 32, [out, machine.upload(table), machine.upload(sizes)], schedule=schedule)
    wanted = np.where(np.arange(WORDS) * 4 < sizes[:, None], table, 7777)
    assert (machine.download(out).reshape(BLOCKS, WORDS) == wanted).all()


class Passes(Observer):
    """The copied accesses of a launch: one for each array that is moved."""

    def __init__(self) -> None:
        self.elements: list[int] = []

    def access(self, access: Access) -> None:
        if access.copy is not None:
            self.elements.append(plain(access.address).size)


ONE = """.reg .b64 %d<3>; .reg .b32 %r<5>; .shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 done;
    ld.param.u64 %d0, [data]; ld.param.u32 %r0, [size]; mov.u32 %r1, tile; mov.u32 %r2, done; mbarrier.init.shared.b64 [%r2], 1;
    MOVE
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;"""
MOVES = {
    "in": "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], %r0, [%r2];",
    "out": "cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], %r0;",
    "add": "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [%r1], %r0;",
}


def moved(move: str, size: int) -> list[int]:
    """The elements of each access that copies so many bytes."""
    machine, passes = Machine(kernel("p data, u32 size", ONE.replace("MOVE", MOVES[move]))), Passes()
    data = machine.upload(np.zeros(1024, np.uint32))
    machine.launch(1, 1, [data, size], observers=(passes,))
    return passes.elements


@pytest.mark.parametrize("move", MOVES)
def test_a_copy_of_any_size_moves_as_one_array(move: str) -> None:
    few, many = moved(move, 16), moved(move, 4096)
    assert len(few) == len(many)
    assert max(many) == 256 * max(few)


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("size", [4096 + 16, 2**32 - 16])
def test_a_size_beyond_the_tile_is_a_fault(move: str, size: int) -> None:
    with pytest.raises(Fault, match="out of bounds"):
        moved(move, size)
