"""A kernel that nvcc compiles: one warp allocates and multiplies, four others wait for the mbarrier and read what they reach."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ..harness import Machine

KERNEL = r"""
#include <cuda_fp16.h>
#include <cstdint>

__device__ uint64_t matrix(const void* p) {  // tiles of 8 rows by 16 bytes: along k 128 bytes apart, along rows 256
    return (uint64_t)((uint32_t)__cvta_generic_to_shared(p) >> 4) | 8ull << 16 | 16ull << 32 | 1ull << 46;
}

__device__ int place(int i) { return i / 128 * 128 + i % 16 / 8 * 64 + i / 16 % 8 * 8 + i % 8; }

extern "C" __global__ void product(const __half* a, const __half* b, float* d, int times) {
    __shared__ alignas(128) __half tile_a[128 * 16], tile_b[64 * 16];
    __shared__ uint32_t slot;
    __shared__ alignas(8) uint64_t barrier;
    int t = threadIdx.x, warp = t / 32;
    uint32_t slot_at = __cvta_generic_to_shared(&slot), barrier_at = __cvta_generic_to_shared(&barrier);
    if (warp == 4) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(slot_at) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier_at));
    for (int i = t; i < 128 * 16; i += 160) tile_a[place(i)] = a[i];
    for (int i = t; i < 64 * 16; i += 160) tile_b[place(i)] = b[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    uint32_t tensor = slot;
    if (warp == 4) {
        uint32_t chosen;
        asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(chosen));
        if (chosen) {
            for (int i = 0; i < times; i++)
                asm volatile("{.reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(tensor),
                             "l"(matrix(tile_a)), "l"(matrix(tile_b)), "r"(0x08100010u), "r"(i));
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier_at) : "memory");
        }
        __syncwarp();
    } else {
        for (uint32_t done = 0; !done;)
            asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                         : "=r"(done) : "r"(barrier_at) : "memory");
        asm volatile("tcgen05.fence::after_thread_sync;");
        for (int c = 0; c < 64; c += 4) {
            uint32_t v[4];
            asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(tensor + (warp << 21) + c));
            asm volatile("tcgen05.wait::ld.sync.aligned;");
            for (int j = 0; j < 4; j++) d[(blockIdx.x * 128 + t) * 64 + c + j] = __uint_as_float(v[j]);
        }
    }
    __syncthreads();
    if (warp == 4) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(tensor));
}
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc here")
def test_warps_with_roles_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(KERNEL)
    command = ["nvcc", "-arch=sm_100a", "-ptx", tmp_path / "k.cu", "-o", tmp_path / "k.ptx"]
    subprocess.run(command, check=True, capture_output=True)
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-8, 9, (rows, 16)).astype(np.float16) for rows in (128, 64))
    for schedule in (None, 1, 2):
        machine = Machine((tmp_path / "k.ptx").read_text(), "sm_100a")
        out = machine.upload(np.zeros((3, 128, 64), np.float32))
        machine.launch(3, 160, [machine.upload(a), machine.upload(b), out, 5], schedule=schedule)
        found = machine.download(out, np.float32).reshape(3, 128, 64)
        assert (found == 5 * (a.astype(np.float32) @ b.T.astype(np.float32))).all()
