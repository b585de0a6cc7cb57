"""Tensor memory: allocation, loads, stores, copies and shifts against one cell at a time, and what is refused."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from warplab.interpreter.faults import Deadlock, Fault

from ..harness import Machine
from ..harness import run as run_kernel
from .reference_tensor import shared_code
from .tensor_programs import COLUMNS, LANES, SHARED, matrix_descriptor, program, run

PTXAS = pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas here")
EACH = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}


def place(shape: str, thread: int, register: int, second: int, wide: int) -> tuple[int, int]:
    """Lane and column of a register of a thread, from an address on: figures 183 to 187 of PTX ISA 9.7.18.2.3."""
    if shape == "32x32b":
        return thread, register * wide
    if shape == "16x32bx2":
        return thread % 16, register * wide + (second if thread >= 16 else 0)
    row, in_row = divmod(thread, 4)
    if shape == "16x64b":  # two columns: threads 0 and 2 of four have rows below 8, 1 and 3 those from 8 on
        return row + 8 * (in_row % 2), (2 * register + in_row // 2) * wide
    if shape == "16x128b":
        return row + 8 * (register % 2), (register // 2 * 4 + in_row) * wide
    return row + 8 * (register // 2 % 2), (register // 4 * 8 + 2 * in_row + register % 2) * wide


def random_images(ctas: int = 1) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    rng = np.random.default_rng(7)
    return rng.integers(0, 2**32, (ctas, LANES, COLUMNS), dtype=np.uint32), rng.integers(0, 256, (ctas, SHARED), dtype=np.uint8)


MOVES = [
    (shape, number, wide, lane)
    for shape, each in EACH.items()
    for number in (1, 2, 4, 8, 16, 32, 64, 128)
    if number * each <= 128
    for wide in ((1, 2) if number * each * 2 <= 128 else (1,))
    for lane in ((0,) if shape == "32x32b" or number > 2 else (0, 16))
]


@pytest.mark.parametrize(("shape", "number", "wide", "lane"), MOVES)
def test_loads_and_stores(shape: str, number: int, wide: int, lane: int) -> None:
    """Registers go from one place to another: from column 3 to column 256 on."""
    count, second = number * EACH[shape], 100
    registers = ", ".join(f"%v{i}" for i in range(count))
    half = f", {second}" if shape == "16x32bx2" else ""
    body = f"""
    add.u32 %r4, %quarter, {(lane << 16) + 3};
    add.u32 %r5, %quarter, {(lane << 16) + 256};
    tcgen05.ld.sync.aligned.{shape}.x{number}{".pack::16b" if wide == 2 else ""}.b32 {{{registers}}}, [%r4]{half};
    tcgen05.wait::ld.sync.aligned;
    tcgen05.st.sync.aligned.{shape}.x{number}{".unpack::16b" if wide == 2 else ""}.b32 [%r5]{half}, {{{registers}}};
    tcgen05.wait::st.sync.aligned;"""
    tensor, shared = random_images()
    after = run(program(warps=body), tensor, shared)
    wanted = tensor.copy()
    for warp in range(4):
        for thread in range(32):
            for register in range(count):
                row, column = place(shape, thread, register, second, wide)
                row += 32 * warp + lane
                for i in range(wide):
                    word = int(tensor[0, row, column + 3 + i])
                    wanted[0, row, column + 256 + i] = word if wide == 1 else word & 0xFFFF
    assert (after == wanted).all()


COPIES = {
    "128x256b": (128, 8, lambda row: (row,)),
    "4x256b": (4, 8, lambda row: (32 * row,)),
    "128x128b": (128, 4, lambda row: (row,)),
    "64x128b.warpx2::02_13": (64, 4, lambda row: (row, row + 64)),
    "64x128b.warpx2::01_23": (64, 4, lambda row: (row % 32 + row // 32 * 64, row % 32 + row // 32 * 64 + 32)),
    "32x128b.warpx4": (32, 4, lambda row: (row, row + 32, row + 64, row + 96)),
}


@pytest.mark.parametrize("shape", COPIES)
@pytest.mark.parametrize("source", ["", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"])
@pytest.mark.parametrize(("mode", "group"), [(0, 1), (2, 1), (6, 2)])
def test_copies(shape: str, source: str, mode: int, group: int) -> None:
    rows, columns, lanes = COPIES[shape]
    descriptor = matrix_descriptor(0x800, 128, 256, mode) if mode in (0, 6) else matrix_descriptor(0x800, 16, 1024, mode)
    tensor, shared = random_images(group)
    after = run(program(f"tcgen05.cp.cta_group::{group}.{shape}{source} [%w0], %a1;", group=group), tensor, shared, [5, descriptor])
    wanted = tensor.copy()
    width = 6 if "b6" in source else 4 if "b4" in source else 8
    for cta in range(group):
        for row in range(rows):
            cells = [shared_code(shared[cta].tobytes(), descriptor, row, k, 8, width, False) for k in range(4 * columns)]
            words = np.array([c << 2 if width == 4 else c for c in cells], np.uint8).view(np.uint32)
            for lane in lanes(row):
                wanted[cta, lane, 5 : 5 + columns] = words
    assert (after == wanted).all()


@pytest.mark.parametrize("group", [1, 2])
def test_shift(group: int) -> None:
    tensor, shared = random_images(group)
    after = run(program(f"tcgen05.shift.cta_group::{group}.down [%w0];", group=group), tensor, shared, [64 << 16 | 40])
    wanted = tensor.copy()
    for lane in range(64, 95):
        wanted[:, lane, 40:48] = tensor[:, lane + 1, 40:48]
    assert (after == wanted).all()


# ---------------------------------------------------------------- allocation

HEAD = """.version 8.6
.target sm_100a
.address_size 64
.shared .align 4 .b32 slots[8];
.shared .align 8 .b64 done;
.shared .align 16 .b8 image[4096];
.visible .entry test(.param .u64 out)
{
    .reg .b32 %r<40>, %t, %w;
    .reg .b64 %d<8>;
    .reg .pred %p<8>;
    ld.param.u64 %d0, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, slots;
    mov.u32 %r2, done;
    mov.u32 %r3, image;
    shr.u32 %w, %r0, 5;
"""


def alloc(count: int | str = 32, at: str = "%r1", group: int = 1) -> str:
    return f"tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [{at}], {count}; ld.shared.b32 %t, [{at}];"


def dealloc(count: int | str = 32, group: int = 1) -> str:
    return f"tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %t, {count};"


def small(body: str) -> str:
    return HEAD + body + "\n    ret;\n}\n"


def refused(body: str, threads: int = 32, **options: object) -> Fault:
    with pytest.raises(Fault) as caught:
        run_kernel(small(body), 1, threads, 8, target="sm_100a", **options)
    return caught.value


def test_allocations_do_not_overlap() -> None:
    body = (
        "shl.b32 %r3, %w, 2; add.u32 %r1, %r1, %r3; shl.b32 %r4, 32, %w;" + alloc("%r4") + "cvt.u64.u32 %d1, %r3; add.u64 %d1, %d0, %d1;"
        "st.global.b32 [%d1], %t; bar.sync 0;" + dealloc("%r4")
    )
    out = run_kernel(small(body), 1, 128, 4, target="sm_100a")
    places = sorted((int(first), 32 << warp) for warp, first in enumerate(out))
    assert all(a + n <= b for (a, n), (b, _) in itertools.pairwise(places))
    assert places[-1][0] + places[-1][1] <= COLUMNS


@pytest.mark.parametrize(("schedule", "engine"), [(None, "numpy"), (None, "native"), (1, "numpy"), (2, "numpy")])
def test_allocation_waits_for_columns(schedule: int | None, engine: str) -> None:
    """Four warps need all columns, one after the other; each counts while it has them."""
    body = (
        "shl.b32 %r3, %w, 2; add.u32 %r1, %r1, %r3;" + alloc(512) + "setp.ne.u32 %p1, %t, 0; @%p1 trap; ld.global.b32 %r5, [%d0];"
        "add.u32 %r5, %r5, 1; bar.warp.sync 0xffffffff; st.global.b32 [%d0], %r5; bar.warp.sync 0xffffffff;" + dealloc(512)
    )
    out = run_kernel(small(body), 1, 128, 1, target="sm_100a", schedule=schedule, engine=engine)
    assert out.tolist() == [4]


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_columns_that_are_never_free(engine: str) -> None:
    with pytest.raises(Deadlock) as caught:
        run_kernel(small(alloc(512) + alloc(32)), 1, 32, 1, target="sm_100a", engine=engine)
    (waiting,) = caught.value.waiting
    assert waiting.wants == "free columns of tensor memory"
    assert waiting.instruction.startswith("tcgen05.alloc") and waiting.instruction.endswith("32;")


def test_a_pair_allocates_the_same_columns() -> None:
    body = (
        "mov.u32 %r3, %ctaid.x; mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d0, %d1; setp.eq.u32 %p1, %r3, 0;"
        + alloc(64, group=2) + "mov.b32 %r6, %t;" + alloc(32, group=2) + "st.global.b32 [%d1], %t; barrier.cluster.arrive; barrier.cluster.wait;"
        + dealloc(32, 2) + "mov.b32 %t, %r6;" + dealloc(64, 2)
    )  # fmt: skip
    assert run_kernel(small(body), 2, 32, 2, target="sm_100a", cluster=(2, 1, 1)).tolist() == [64, 64]


def test_a_leak_is_reported() -> None:
    fault = refused(alloc(64))
    assert fault.kind == "tensor-memory-leak"
    assert "columns 0 to 63" in fault.message


def test_wrong_counts() -> None:
    assert "32, 64, 128, 256 or 512 columns" in refused("mov.b32 %r5, 48;" + alloc("%r5")).message
    assert "no tcgen05.alloc gave" in refused(alloc(64) + dealloc(32)).message
    assert "no tcgen05.alloc gave" in refused(alloc(64) + dealloc(64) + dealloc(64)).message
    assert "different numbers" in refused("add.u32 %r5, %r0, 32; and.b32 %r5, %r5, 0x60; shl.b32 %r5, 32, %r0;" + alloc("%r5")).message


def test_no_allocation_after_the_permit_is_given_up() -> None:
    permit = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
    assert "given up" in refused(alloc() + permit + dealloc() + alloc()).message


LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r5}, [%t];"


def test_columns_that_are_not_allocated() -> None:
    fault = refused(alloc(32) + "add.u32 %t, %t, 32;" + LOAD)
    assert (fault.kind, fault.space) == ("out-of-bounds", "tensor")
    assert "columns 32 to 32" in fault.message and "columns 0 to 31" in fault.message
    assert "no columns" in refused("mov.b32 %t, 0;" + LOAD).message


def test_a_warp_reaches_its_own_lanes() -> None:
    body = "setp.ge.u32 %p1, %r0, 32; @%p1 bra L;" + alloc() + "L: bar.sync 0; ld.shared.b32 %t, [%r1];" + LOAD
    assert "warp 1 reaches lanes 32 to 63" in refused(body, 64).message
    assert "begins at lane 16" in refused(alloc() + "add.u32 %t, %t, 0x100000;" + LOAD).message
    body = alloc() + "add.u32 %t, %t, 0x80000; tcgen05.st.sync.aligned.16x64b.x1.b32 [%t], {%r0};"
    assert "from lane 0 or 16 on" in refused(body).message


def test_all_lanes_of_a_warp() -> None:
    guarded = alloc() + "setp.lt.u32 %p1, %r0, 8; @%p1 " + LOAD
    assert "all lanes of a warp" in refused(guarded).message
    assert "different addresses" in refused(alloc() + "add.u32 %t, %t, %r0;" + LOAD).message


FIRST = "setp.ne.u32 %p1, %r0, 0; @%p1 bra L;"
MMA = "mov.b64 %d1, {}; mov.b32 %r5, {}; setp.eq.u32 %p2, %r5, 0; tcgen05.mma.cta_group::1.kind::f16 [%t], %d1, %d1, %r5, %p2; L:"
GOOD = matrix_descriptor(0, 128, 256)
SHAPE = 8 << 24 | 1 << 17 | 1 << 4


def test_one_thread_issues() -> None:
    assert "one thread issues" in refused(alloc() + MMA.format(GOOD, SHAPE)).message
    assert "one thread issues" in refused(alloc() + "tcgen05.shift.cta_group::1.down [%t];").message
    commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2];"
    assert "one thread issues" in refused(commit).message


DESCRIPTORS = {
    "are 000, not 001": (GOOD & ~(1 << 46), SHAPE),
    "swizzling mode 3": (GOOD | 3 << 61, SHAPE),
    "the type 7": (GOOD, SHAPE | 7 << 7),
    "M = 64 or 128": (GOOD, SHAPE ^ 24 << 24),
    "no N = 0": (GOOD, SHAPE ^ 1 << 17),
    "says sparse": (GOOD, SHAPE | 4),
    "shared memory from": (matrix_descriptor(0x20000, 128, 256), SHAPE),
    "columns 0 to 63 of tensor memory": (GOOD, SHAPE ^ 9 << 17),
}


@pytest.mark.parametrize("words", DESCRIPTORS)
def test_wrong_descriptors(words: str) -> None:
    matrix, instruction = DESCRIPTORS[words]
    assert words in refused(alloc() + FIRST + MMA.format(matrix, instruction)).message


def test_one_group_in_a_kernel() -> None:
    pair = "mov.b64 %d1, 0; tcgen05.cp.cta_group::2.128x128b [%t], %d1; L:"
    assert "the same .cta_group" in refused(alloc() + FIRST + pair).message
    assert "a pair of CTAs" in refused("mov.b32 %t, 0;" + FIRST + pair).message


def test_multicast_commit_arrives_in_each_cta() -> None:
    body = """
    setp.ne.u32 %p1, %r0, 0; @%p1 bra READY; mbarrier.init.shared.b64 [%r2], 1;
    READY: barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r3, %cluster_ctarank; setp.ne.u32 %p2, %r3, 0; @%p2 bra WAIT; @%p1 bra WAIT;
    mov.b16 %h, 5;
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r2], %h;
    WAIT: barrier.cluster.arrive; barrier.cluster.wait; mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 0; selp.u32 %r4, 1, 0, %p3;
    mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d0, %d1; st.global.b32 [%d1], %r4;"""
    out = run_kernel(small(".reg .b16 %h;" + body), 4, 32, 4, target="sm_100a", cluster=(4, 1, 1))
    assert out.tolist() == [1, 0, 1, 0]


@PTXAS
@pytest.mark.parametrize("body", [alloc() + LOAD + dealloc(), alloc() + FIRST + MMA.format(GOOD, SHAPE)])
def test_ptxas_takes_the_programs(body: str, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(small(body))
    subprocess.run(["ptxas", "-arch=sm_100a", tmp_path / "k.ptx", "-o", tmp_path / "k.o"], check=True, capture_output=True)


def test_a_machine_of_its_own_target() -> None:
    """Two launches have two tensor memories: what the first leaves is not seen by the second."""
    machine = Machine(small(alloc() + LOAD + "st.global.b32 [%d0], %r5; st.global.b32 [%d0], 7; ld.global.b32 %r5, [%d0];"
                            "tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {%r5};" + dealloc()), "sm_100a")  # fmt: skip
    out = machine.upload(np.zeros(1, np.uint32))
    machine.launch(1, 32, [out])
    machine.launch(1, 32, [out])
    assert machine.download(out).tolist() == [7]
