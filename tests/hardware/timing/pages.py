"""Records how long small launches take after much or little memory was used: `python3 -m tests.hardware.timing.pages OUT.json`, with ncu on the PATH.

Before each launch, a memset writes `used` bytes of device memory.  A launch loads or stores one word a lane, `apart` bytes from lane to lane, in `steps` that
depend on each other.  Caches are flushed by ncu.
"""

from __future__ import annotations

import csv
import ctypes
import io
import json
import statistics
import subprocess
import sys
from pathlib import Path

from ..driver import Driver

TIMES = 3
CYCLES = "sm__cycles_elapsed.max"
USED = [1 << n for n in (16, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)]
KERNELS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry nothing(.param .u64 at, .param .u64 apart, .param .u32 steps) { ret; }
.visible .entry stores(.param .u64 at, .param .u64 apart, .param .u32 steps)
{
.reg .b32 %r<4>; .reg .b64 %d<6>;
ld.param.u64 %d0, [at]; ld.param.u64 %d1, [apart];
mov.u32 %r0, %tid.x; cvt.u64.u32 %d2, %r0; mad.lo.u64 %d0, %d2, %d1, %d0;
st.global.u32 [%d0], 0;
ret;
}
.visible .entry loads(.param .u64 at, .param .u64 apart, .param .u32 steps)
{
.reg .b32 %r<6>; .reg .b64 %d<6>; .reg .pred %p;
ld.param.u64 %d0, [at]; ld.param.u64 %d1, [apart]; ld.param.u32 %r1, [steps];
mov.u32 %r0, %tid.x; cvt.u64.u32 %d2, %r0; mad.lo.u64 %d0, %d2, %d1, %d0; shl.b64 %d3, %d1, 5;
mov.u32 %r2, 0;
.pragma "nounroll";
TURN:
ld.volatile.global.u32 %r3, [%d0];
cvt.u64.u32 %d4, %r3; add.u64 %d0, %d0, %d4; add.u64 %d0, %d0, %d3;
add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r1; @%p bra TURN;
st.global.u32 [%d0], %r3;
ret;
}
"""


def launches() -> list[tuple[str, int, int, int, int]]:
    """(kernel, bytes used before, blocks, bytes from lane to lane, steps)."""
    out = [("nothing", used, blocks, 4, 1) for used in (1 << 16, 1 << 30) for blocks in (1, 132)]
    out += [(kernel, used, 1, 4, 1) for kernel in ("stores", "loads") for used in USED]
    out += [("loads", used, 132, 4, 1) for used in (1 << 16, 1 << 30)]
    out += [
        ("loads", used, 1, apart, steps)
        for used in (1 << 16, 1 << 30)
        for apart, steps in ((4, 2), (4, 4), (1 << 16, 1), (1 << 21, 1), (1 << 24, 1), (1 << 21, 2))
    ]
    return out


def launch_all() -> None:
    """Makes every launch; runs under ncu."""
    d = Driver()
    size = 1 << 31
    pointer, small = ctypes.c_uint64(), ctypes.c_uint64()
    d.call("cuMemAlloc_v2", ctypes.byref(small), ctypes.c_size_t(1 << 16))
    d.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
    d.call("cuMemsetD8_v2", pointer, ctypes.c_ubyte(0), ctypes.c_size_t(size))
    d.call("cuMemsetD8_v2", small, ctypes.c_ubyte(0), ctypes.c_size_t(1 << 16))
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    d.call("cuModuleLoadData", ctypes.byref(module), KERNELS.encode() + b"\0")
    for kernel, used, blocks, apart, steps in launches():
        d.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        at = small if used == 1 << 16 and apart * 32 * (steps + 1) <= 1 << 16 else pointer
        given = [ctypes.c_uint64(at.value or 0), ctypes.c_uint64(apart), ctypes.c_uint32(steps)]
        pointers = (ctypes.c_void_p * 3)(*[ctypes.addressof(a) for a in given])
        for _ in range(TIMES):
            d.call("cuMemsetD8_v2", at, ctypes.c_ubyte(0), ctypes.c_size_t(min(used, size)))
            d.call("cuCtxSynchronize")
            d.call("cuLaunchKernel", function, blocks, 1, 1, 32, 1, 1, 0, None, pointers, None)
            d.call("cuCtxSynchronize")


def main(out: str) -> None:
    """Records, writes."""
    command = [
        "ncu",
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--clock-control",
        "none",
        "--cache-control",
        "all",
        "--metrics",
        CYCLES,
    ]
    done = subprocess.run([*command, sys.executable, "-m", "tests.hardware.timing.pages", "--launch"], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith('"ID"'))
    rows = [r for r in csv.DictReader(io.StringIO("\n".join(lines[first:]))) if r["Kernel Name"] in ("nothing", "loads", "stores")]
    assert len(rows) == TIMES * len(launches()), len(rows)
    records = []
    for n, (kernel, used, blocks, apart, steps) in enumerate(launches()):
        runs = [int(rows[n * TIMES + t][CYCLES].replace(",", "")) for t in range(TIMES)]
        records.append(
            {
                "kernel": kernel,
                "used": used,
                "blocks": blocks,
                "apart": apart,
                "steps": steps,
                "cycles": int(statistics.median(runs)),
                "runs": runs,
            }
        )
    Path(out).write_text("[\n" + ",\n".join(json.dumps(r) for r in records) + "\n]\n")


if __name__ == "__main__":
    if sys.argv[1] == "--launch":
        launch_all()
    else:
        main(sys.argv[1])
