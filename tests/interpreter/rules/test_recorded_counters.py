"""Every counter of the hand-written patterns recorded on an H200, from the rules and what each kernel is known to do."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.interpreter.reference_caches import L1
from warplab.interpreter.rules.banks import matrix_passes, modern_banks
from warplab.interpreter.rules.coalesce import async_copy_global, modern_global
from warplab.interpreter.rules.local import local_sectors
from warplab.interpreter.rules.policies import LoadPolicy, StorePolicy, load_policy
from warplab.isa.occupancy import l1_bytes
from warplab.isa.profiles import profile

LAUNCHES = json.loads((Path(__file__).parents[2] / "data/memory/patterns.json").read_text())["launches"]
H200 = profile("sm_90")
IN, OUT = 1 << 20, 1 << 24  # buffers lie on 256-byte boundaries, far apart
FILL_WORDS = 8704
WIDTHS = {
    "u8": 1,
    "u16": 2,
    "u32": 4,
    "u64": 8,
    "v2u32": 8,
    "v4u32": 16,
    "v2u64": 16,
    "8": 1,
    "16": 2,
    "32": 4,
    "64": 8,
    "v2": 8,
    "128": 16,
}


class Recorder:
    """What a launch's accesses add to the counters."""

    def __init__(self, grid: int, block: int) -> None:
        warps = -(-block // 32)
        self.thread = np.arange(warps * 32).reshape(-1, 32)
        self.live = np.tile(self.thread < block, (grid, 1))
        self.global_id = np.concatenate([self.thread + k * block for k in range(grid)])
        self.thread = np.tile(self.thread, (grid, 1))
        self.multiprocessor = np.repeat(np.arange(grid), warps) % H200.multiprocessors
        self.l1 = L1(H200.multiprocessors, l1_bytes(H200, 0, H200.max_blocks))
        self.counters: Counter[str] = Counter()

    def count(self, space: str, op: str, requests: np.ndarray, sectors: np.ndarray) -> None:
        self.counters[f"requests {space} {op}"] += int(requests.sum())
        self.counters[f"sectors {space} {op}"] += int(sectors.sum())

    def load(self, address: np.ndarray, width: int, live: np.ndarray | None = None, policy: LoadPolicy = LoadPolicy.CACHE) -> None:
        live = self.live if live is None else live
        self.count("global", "ld", *modern_global(address, live, width))
        self.counters["hits global ld"] += int(self.l1.load(self.multiprocessor, address, live, width, policy).sum())

    def store(self, address: np.ndarray, width: int) -> None:
        self.count("global", "st", *modern_global(address, self.live, width))
        self.l1.store(self.multiprocessor, address, self.live, width, StorePolicy.KEEP)

    def shared(self, op: str, passes: np.ndarray, conflicts: np.ndarray) -> None:
        self.counters[f"passes shared {op}"] += int(passes.sum())
        self.counters[f"conflicts shared {op}"] += int(conflicts.sum())

    def result(self) -> None:
        self.store(OUT + self.global_id * 4, 4)


def replay(launch: dict) -> Counter[str]:
    """The accesses of one launch, in the order its kernel makes them."""
    r = Recorder(launch["grid"], launch["block"])
    entry, args = launch["entry"], launch["args"]
    width = WIDTHS.get(entry.split("_")[-1], 4)
    table = np.zeros(r.live.shape, dtype=np.int64)
    if "table" in launch:
        table[r.live] = np.tile(launch["table"], launch["grid"])
    match launch["program"]:
        case "ctr_gld_stride" | "ctr_gld_width" | "ctr_gld_misaligned":
            r.load(IN + r.global_id * args[0] + args[1], width)
            r.result()
        case "ctr_gst":
            r.store(OUT + r.global_id * args[0] + args[1], width)
        case "ctr_partial":
            r.load(IN + r.global_id * args[0], 4, r.live & (args[1] >> (r.thread & 31) & 1 == 1))
            r.result()
        case "ctr_cache":
            policy = load_policy(["volatile" if entry == "vol" else entry[:2]])
            for _ in range(2):
                r.load(IN + r.global_id * 4, 4, policy=policy)
            r.result()
        case "ctr_local":
            r.load(IN + r.global_id * 4, 4)
            for word in range(args[1]):
                r.count("local", "st", *local_sectors(np.full(r.live.shape, word * 4), r.live, 4))
            r.count("local", "ld", *local_sectors((table & args[0]) * 4, r.live, 4))
            r.result()
        case "ctr_cp_async":
            size = int(entry[2:])
            source, target = IN + r.global_id * args[0], r.thread * args[1]
            r.count("global", "ld", *async_copy_global(source, target, r.live, size, bypass=entry.startswith("cg")))
            policy = LoadPolicy.BYPASS if entry.startswith("cg") else LoadPolicy.CACHE
            r.counters["hits global ld"] += int(r.l1.load(r.multiprocessor, source, r.live, size, policy).sum())
            r.shared("ld", *modern_banks(target, r.live, 4))
            r.result()
        case "ctr_sst":
            r.load(IN + r.thread * 4, 4)
            r.shared("st", *modern_banks(table, r.live, width, store=True))
            r.shared("ld", *modern_banks(table, r.live, 1 if width == 1 else 4))
            r.result()
        case "ctr_ldmatrix" | "ctr_sld_stride" | "ctr_sld_wide" | "ctr_sld_broadcast":
            for first in range(0, FILL_WORDS, launch["block"]):
                r.shared("st", *modern_banks((first + r.thread) * 4, r.live, 4, store=True))
            r.load(IN + r.thread * 4, 4)
            if launch["program"] == "ctr_ldmatrix":
                r.shared("ld", *matrix_passes(table, int(entry[5])))
            else:
                r.shared("ld", *modern_banks(table, r.live, width))
            r.result()
        case other:
            raise AssertionError(other)
    return r.counters


@pytest.mark.parametrize("program", sorted({launch["program"] for launch in LAUNCHES}))
def test_every_counter_is_the_hardwares(program: str) -> None:
    for launch in LAUNCHES:
        if launch["program"] == program:
            assert +replay(launch) == Counter(launch["counters"]), launch
