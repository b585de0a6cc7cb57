"""Records how long the launches of launches.py take on a GPU: `python3 -m tests.hardware.timing.record SET OUT.json`, with ncu (Nsight Compute) on the PATH.

SET is `blind`, `pipelines` or `ladder`. The PTX of the first two lies in PTX_FOLDER: `nvcc -arch=sm_90a -ptx blind.cu -o /tmp/ptx/blind.ptx`.

Each launch is made three times with flushed caches; `cycles` is the median. The clocks are not locked; `hz` tells what they were.
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
from typing import Any

import numpy as np

from ..driver import Array, Driver
from .launches import SETS, Timed

SAMPLES = Path(__file__).parents[3] / "samples"
PTX_FOLDER = Path("/tmp/ptx")
TIMES = 3
REASONS = """barrier branch_resolving dispatch_stall drain imc_miss lg_throttle long_scoreboard math_pipe_throttle membar mio_throttle misc
no_instruction not_selected selected short_scoreboard sleeping tex_throttle wait""".split()
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
METRICS = {
    "cycles": "sm__cycles_elapsed.max",
    "active": "sm__cycles_active.avg",
    "inst": "sm__inst_executed.sum",
    "ns": "gpu__time_duration.sum",
    "hz": "sm__cycles_elapsed.avg.per_second",
    "dram_bytes": "dram__bytes.sum",
    "l1_sectors": "l1tex__t_sectors.sum",
    "l1_hits": "l1tex__t_sectors_lookup_hit.sum",
    "l2_sectors": "lts__t_sectors.sum",
    "l2_hits": "lts__t_sectors_lookup_hit.sum",
    "lsu_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "occupancy_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "issue_pct": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "registers": "launch__registers_per_thread",
}


def arrays() -> dict[str, Array]:
    """The contents of the buffers."""
    n, rng = 1 << 24, np.random.default_rng(1)
    f, u = rng.random(n, dtype=np.float32), rng.integers(0, 1 << 20, n, dtype=np.uint32)
    rest = {"b0": rng.integers(0, 256, 1 << 22, dtype=np.uint8), "bc": np.full(1 << 22, 7, np.uint8)}
    return {"f0": f, "f1": f[::-1].copy(), "o0": f, "u0": u, "h0": f.astype(np.float16), **rest}


def text(x: Timed) -> bytes:
    """The PTX of a launch."""
    path = next(p for p in (PTX_FOLDER / f"{x.ptx}.ptx", SAMPLES / f"{x.ptx}.ptx") if p.exists())
    return path.read_bytes() + b"\0"


def launch_all(launches: list[Timed]) -> None:
    """Makes every launch; runs under ncu."""
    d = Driver()
    buffers = {name: d.upload(data) for name, data in arrays().items()}
    modules: dict[str, ctypes.c_void_p] = {}
    for x in launches:
        if x.ptx not in modules:
            modules[x.ptx] = ctypes.c_void_p()
            d.call("cuModuleLoadData", ctypes.byref(modules[x.ptx]), text(x))
        function = ctypes.c_void_p()
        d.call("cuModuleGetFunction", ctypes.byref(function), modules[x.ptx], x.entry.encode())
        given = [buffers[a] if isinstance(a, str) else ctypes.c_float(a) if isinstance(a, float) else ctypes.c_uint32(a) for a in x.args]
        pointers = (ctypes.c_void_p * len(given))(*[ctypes.addressof(a) for a in given])
        for _ in range(TIMES):
            d.call("cuLaunchKernel", function, *x.grid, *x.block, 0, None, pointers, None)
            d.call("cuCtxSynchronize")


def profiled(chosen: str, metrics: list[str], caches: str) -> list[dict[str, str]]:
    """What ncu says of each launch."""
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--cache-control", caches]
    done = subprocess.run(
        [*command, "--metrics", ",".join(metrics), sys.executable, "-m", "tests.hardware.timing.record", "--launch", chosen],
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    first = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if first is None:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[first:]))))[1:]  # the first row holds units
    assert len(rows) == TIMES * len(SETS[chosen]), f"{len(rows)} launches were profiled"
    return rows


def number(text: str) -> float:
    """A value of ncu."""
    return float(text.replace(",", "")) if text else 0.0


def main(chosen: str, out: str) -> None:
    """Records, writes."""
    rows = profiled(chosen, [*METRICS.values(), *[STALL.format(r) for r in REASONS]], "all")
    warm = profiled(chosen, [METRICS["cycles"]], "none")
    records: list[dict[str, Any]] = []
    for n, x in enumerate(SETS[chosen]):
        mine = rows[n * TIMES : (n + 1) * TIMES]
        record: dict[str, Any] = x._asdict()
        record |= {key: number(mine[0][metric]) for key, metric in METRICS.items()}
        runs = [int(number(row[METRICS["cycles"]])) for row in mine]
        record["cycles_runs"], record["cycles"] = runs, int(statistics.median(runs))
        record["cycles_warm"] = int(statistics.median(number(row[METRICS["cycles"]]) for row in warm[n * TIMES : (n + 1) * TIMES]))
        record["stall"] = {r: round(v, 2) for r in REASONS if (v := number(mine[0].get(STALL.format(r), ""))) >= 0.01}
        records.append(record)
    name = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm", "--format=csv,noheader"], capture_output=True, text=True
    )
    Path(out).write_text("[\n" + ",\n".join(json.dumps(r) for r in records) + "\n]\n")
    print(name.stdout.strip(), len(records), "launches")


if __name__ == "__main__":
    if sys.argv[1] == "--launch":
        launch_all(SETS[sys.argv[2]])
    else:
        main(*sys.argv[1:])
