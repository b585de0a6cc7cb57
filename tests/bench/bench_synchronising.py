"""Kernels in which every thread synchronises with all others through one word, again and again: the most that racecheck's order can be asked for.

    PYTHONPATH=tests/importroot python -m tests.bench.bench_synchronising [--tool race]

Prints the CPU milliseconds of each launch, quiet and under the tool, and microseconds for each operation of a thread.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from warplab.runtime import Device, LaunchConfig, ObjectCode, Sanitizer, launch, to_device

THREADS = 256
SHAPES = ((16, 1), (16, 2), (16, 4), (64, 4))  # blocks, loops
BODIES = {
    "acq_rel": "atom.acq_rel.gpu.global.add.u32 %v, [%x], 1;",
    "fence.sc": "fence.sc.gpu; red.relaxed.gpu.global.add.u32 [%x], 1;",
    "fence.acq_rel": "fence.acq_rel.gpu; atom.relaxed.gpu.global.add.u32 %v, [%x], 1; fence.acq_rel.gpu;",
}
TEXT = """
.version 8.0
.target sm_70
.address_size 64
.visible .entry count(.param .u64 x, .param .u32 n)
{{
    .reg .b32 %i, %n, %v;
    .reg .b64 %x;
    .reg .pred %p;
    ld.param.u64 %x, [x];
    ld.param.u32 %n, [n];
    mov.u32 %i, 0;
again:
    {body}
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %n;
    @%p bra again;
    ret;
}}
"""


def counted(name: str, blocks: int, loops: int, sanitizer: Sanitizer | None = None) -> float:
    """CPU seconds of a launch."""
    device = Device()
    device.set_current()
    kernel = ObjectCode.from_ptx(TEXT.format(body=BODIES[name])).get_kernel("count")
    x = to_device(np.zeros(1, np.uint32))
    start = time.process_time()
    launch(device.default_stream, LaunchConfig(grid=blocks, block=THREADS), kernel, x, np.uint32(loops), sanitize=sanitizer)
    device.sync()
    took = time.process_time() - start
    assert int(x.copy_to_host()[0]) == blocks * THREADS * loops
    return took


def main() -> None:
    """Measures all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="race")
    tool = parser.parse_args().tool
    for name in BODIES:
        counted(name, 1, 1)  # planned and compiled before
        for blocks, loops in SHAPES:
            quiet = min(counted(name, blocks, loops) for _ in range(3))
            checked = counted(name, blocks, loops, Sanitizer(tool))
            each = checked / (blocks * THREADS * loops)
            print(
                f"{name:14} {blocks:3} blocks x {loops}: quiet {quiet * 1e3:6.1f} ms, {tool} {checked * 1e3:7.1f} ms, {each * 1e6:5.1f} us each"
            )


if __name__ == "__main__":
    main()
