"""Kernels whose lanes go ways of their own: each leaves what an H200 left, and its warps come to memory as often as there."""

from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from warplab.interpreter.profiler import Counters
from warplab.interpreter.profiler.metrics import metrics_of
from warplab.isa.profiles import profile

from ..harness import Machine

DATA = Path(__file__).parents[2] / "data" / "warp"
LANES = 4096
# Of each kernel in divergent.cu: the checksum of its results; requests and sectors of loads from global memory, requests of those from local memory.
RECORDED = {
    "quick": (797694808, 4096, 131072, 234746),
    "bvh": (3664470494, 12110, 73968, 11982),
    "regex": (318480208, 1536, 33647, 0),
    "newton": (2098372528, 128, 512, 0),
    "collatz2": (2384414299, 768, 3712, 0),
    "march": (1929526151, 54476, 54476, 0),
    "hash_probe": (3638358695, 21504, 507143, 0),
    "tokens": (240362869, 46974, 226050, 0),
    "gcds": (2603371842, 1922, 4371, 0),
    "astar": (964194870, 10368, 69928, 0),
    "bigloop": (4071088752, 128, 512, 0),
}


@pytest.mark.parametrize("name", RECORDED)
def test_results_and_requests_are_the_devices(name: str) -> None:
    machine, counters = Machine((DATA / "divergent.ptx").read_text()), Counters(profile("sm_90"))
    table = machine.upload(np.random.default_rng(1).integers(0, 1 << 31, 65536).astype(np.int32))
    out = machine.upload(np.zeros(LANES, np.int32))
    machine.launch(LANES // 128, 128, [np.uint32(LANES), table, out], name=name, observers=[counters])
    results, *loads = RECORDED[name]
    assert crc32(machine.download(out).tobytes()) == results
    done = counters.finish()
    assert done is not None
    metrics = metrics_of(done)
    names = ("t_requests_pipe_lsu_mem_global", "t_sectors_pipe_lsu_mem_global", "t_requests_pipe_lsu_mem_local")
    assert [metrics[f"l1tex__{n}_op_ld.sum"] for n in names] == pytest.approx(loads, rel=0.02)
