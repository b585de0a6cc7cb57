"""The kernels of tests/data/memory/mixtures.json.xz: what memory held before, what of it is kept, and which counters."""

import json
import lzma
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
# In one block of memory, aligned to its size: L1's slices go by address.
TABLE, IN, BUFFER, OUT, SIZE = 0, 0x80000, 0x100000, 0x180000, 0x200000
_L1, _SHARED = "l1tex__t_{}_pipe_lsu_mem_{}_op_{}.sum", "l1tex__data_{}_mem_shared_op_{}.sum"
METRICS = (
    *(_L1.format(what, "global", op) for op in ("ld", "st", "atom", "red") for what in ("requests", "sectors")),
    *(_L1.format(what, "local", op) for op in ("ld", "st") for what in ("requests", "sectors")),
    *(_SHARED.format(what, op) for op in ("ld", "st", "atom") for what in ("pipe_lsu_wavefronts", "bank_conflicts_pipe_lsu")),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "lts__t_sectors_op_write.sum",
)


def short(metric: str) -> str:
    """The name that a recording has for a counter."""
    return metric.removeprefix("l1tex__").replace("pipe_lsu_", "").removesuffix(".sum")


COUNTERS = frozenset(map(short, METRICS))
# Timing decides these, too: carried where they are told from the text alone.
SOME = frozenset(name for name in COUNTERS if name.endswith("shared_op_atom") or name.startswith("lts"))


def kernels(path: Path) -> list[dict[str, Any]]:
    """Those of a file."""
    found: list[dict[str, Any]] = json.loads(lzma.decompress(path.read_bytes()))["kernels"]
    return found


def memory(k: dict[str, Any]) -> Bytes:
    """What the block held before the launch."""
    rng, image = np.random.default_rng(k["seed"]), np.zeros(SIZE, np.uint8)
    table = np.array(k["table"], np.uint32).view(np.uint8)
    image[: table.size] = table
    image[IN:BUFFER] = rng.integers(0, 256, BUFFER - IN, dtype=np.uint8)
    if k["init"] == "random":
        image[BUFFER:OUT] = rng.integers(0, 256, OUT - BUFFER, dtype=np.uint8)
    elif k["init"] == "small":
        image[BUFFER:OUT] = rng.integers(0, 16, (OUT - BUFFER) // 4, dtype=np.uint32).view(np.uint8)
    image[OUT:] = 0xA5
    return image


def checksum(k: dict[str, Any], before: Bytes, after: Bytes) -> int:
    """Of what each thread leaves, and of all words of the buffer that have changed."""
    old, new = before[BUFFER:OUT].view(np.uint32), after[BUFFER:OUT].view(np.uint32)
    changed = np.flatnonzero(old != new).astype(np.uint32)
    threads = k["grid"] * int(np.prod(k["block"]))
    return zlib.crc32(after[OUT : OUT + 4 * threads].tobytes() + changed.tobytes() + new[changed].tobytes())
