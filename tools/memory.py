"""The page about the memory hierarchy: tables from the device profiles, numbers and charts from the rules that the profiler counts by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.interpreter.reference_caches import L1
from warplab.interpreter.rules.banks import atomic_passes, shared_passes
from warplab.interpreter.rules.coalesce import global_transactions
from warplab.interpreter.rules.constant import constant_passes
from warplab.interpreter.rules.local import local_sectors
from warplab.interpreter.rules.policies import LoadPolicy, load_policy
from warplab.isa.occupancy import l1_bytes, occupancy
from warplab.isa.profiles import KIB, PROFILES, DeviceProfile, profile
from warplab.isa.textures.layout import TexelLayout
from warplab.isa.textures.resources import Image, TexelFormat

from .charts import chart
from .markdown import code, made_by, page, size, table

NAME = "memory.md"
LANES = np.arange(32)
ALL = np.ones((1, 32), np.bool_)
Lanes = NDArray[np.int64]

GLOBAL: tuple[tuple[str, int, Lanes], ...] = (
    ("word k", 4, LANES * 4),
    ("word k, one word further on", 4, LANES * 4 + 4),
    ("all one word", 4, LANES * 0),
    ("every 2nd word", 4, LANES * 8),
    ("every 8th word", 4, LANES * 32),
    ("every 32nd word: a column of a 32-wide array", 4, LANES * 128),
    ("word 31 - k", 4, (31 - LANES) * 4),
    ("byte k", 1, LANES),
    ("8-byte word k (v2)", 8, LANES * 8),
    ("16-byte word k (v4)", 16, LANES * 16),
)
GLOBAL_DEVICES = (
    ("1.0, 1.1", "1.0", None),
    ("1.2, 1.3", "1.2", None),
    ("2.x", "2.0", True),
    ("2.x past L1, 3.x", "3.0", False),
    ("5.x-9.0", "9.0", None),
)
STRIDES = (0, 1, 2, 3, 4, 8, 16, 31, 32, 33)
SHARED_DEVICES = (("1.x", "1.0"), ("2.x", "2.0"), ("3.x", "3.0"), ("5.x-9.0", "9.0"))


def _warp(lanes: Lanes) -> Lanes:
    return np.asarray(lanes, np.int64)[None]


def _name(p: DeviceProfile) -> str:
    return ".".join(map(str, p.capability))


def devices() -> str:
    """What is resident on a multiprocessor of each capability."""
    head = ("capability", "device", "multiprocessors", "blocks", "warps", "registers", "shared memory", "of which a block")
    lines = [
        (
            _name(p), f"{p.device}, {p.architecture}", p.multiprocessors, p.max_blocks, p.max_warps, f"{p.registers:,}", size(p.shared),
            size(p.shared_per_block_optin),
        )
        for p in PROFILES.values()
    ]  # fmt: skip
    return table(head, lines, right=range(2, 8))


def cache_sizes() -> str:
    """The caches of each capability."""
    lines = []
    for p in PROFILES.values():
        own = p.l1_and_shared and p.l1_and_shared != p.shared + p.l1_size
        l1 = f"{size(p.l1_and_shared)} with shared" if own else size(p.l1_size)
        lines.append((_name(p), l1, size(p.constant_cache), size(p.l2_cache), f"{p.memory_bandwidth / 1e9:,.0f}"))
    return table(("capability", "L1", "constant cache", "L2", "device memory, GB/s"), lines, right=range(1, 5))


def texture_caches() -> str:
    """Where texels are cached, by capability."""
    where = (
        ("1.x", "1.0", "a texture cache that two or three multiprocessors share", "read only; `tex` alone reads it"),
        ("2.x", "2.0", "a texture cache of the multiprocessor", "read only; `tex` alone reads it"),
        ("3.0", "3.0", "a texture cache of the multiprocessor", "read only; `tex` alone reads it"),
        ("3.2-3.7", "3.5", "the read-only data cache", "`ld.global.nc` reads it, too"),
        ("5.x", "5.2", "L1 and texture cache in one", "shared memory is apart"),
        ("6.x", "6.1", "L1 and texture cache in one", "shared memory is apart"),
        ("7.0-9.0", "9.0", "L1 and texture cache in one", "in one memory with shared memory"),
    )
    lines = [(name, what, size(profile(target).texture_cache), how) for name, target, what, how in where]
    return table(("capability", "texels are cached in", "up to", ""), lines, right=(2,))


def texture_table() -> str:
    """Sectors of one warp's point-sampled fetch, by the shape of the texels that it reads."""
    lines = []
    for columns in (32, 16, 8, 4, 2, 1):
        rows = [f"{columns} x {32 // columns}"]
        for channels in (1, 2, 4):
            level = np.broadcast_to(np.zeros(1, np.float32), (1, 64, 64, channels))
            layout = TexelLayout(Image(TexelFormat("f", 32, channels), 64, 64, 0, (level,)))
            zero = np.zeros(1, np.int64)
            offsets = layout.offsets(zero, zero, LANES // columns, LANES % columns)
            rows.append(str(len({int(x) // 32 for x in offsets})))
        lines.append(rows)
    return table(("texels (columns x rows)", "float", "float2", "float4"), lines, right=(1, 2, 3))


def _transactions(target: str, lanes: Lanes, width: int, cached: bool | None) -> str:
    _, found = global_transactions(profile(target), _warp(lanes), ALL, width, cached=cached)
    return f"{found.size.size} / {int(found.size.sum())} B"


def global_table() -> str:
    """Transactions and bytes of one warp, pattern by pattern."""
    rows = [(name, width, *(_transactions(t, lanes, width, c) for _, t, c in GLOBAL_DEVICES)) for name, width, lanes in GLOBAL]
    return table(("lane k reads", "bytes", *(name for name, _, _ in GLOBAL_DEVICES)), rows, right=range(1, 7))


def shared_table() -> str:
    """Passes of one warp, stride by stride."""
    rows = []
    for stride in STRIDES:
        passes = (int(shared_passes(profile(t), _warp(LANES * stride * 4), ALL, 4)[0][0]) for _, t in SHARED_DEVICES)
        add = int(atomic_passes(_warp(LANES * stride * 4), ALL, 4)[0][0])
        rows.append((stride, *passes, add))
    return table(("stride in words", *(name for name, _ in SHARED_DEVICES), "atomic, 5.x-9.0"), rows, right=range(6))


def wide_table() -> str:
    """Passes of wide accesses in order."""
    rows = []
    for width in (1, 2, 4, 8, 16):
        rows.append((width, *(int(shared_passes(profile(t), _warp(LANES * width), ALL, width)[0][0]) for _, t in SHARED_DEVICES)))
    return table(("bytes a lane", *(name for name, _ in SHARED_DEVICES)), rows, right=range(5))


def constant_table() -> str:
    """Passes of a constant load by how many addresses a warp asks for."""
    rows = []
    for n in (1, 2, 4, 16, 32):
        rows.append((n, *(int(constant_passes(profile(t), _warp(LANES % n * 4), ALL)[0]) for t in ("1.0", "2.0", "9.0"))))
    return table(("different addresses", "1.x", "2.x", "9.0"), rows, right=range(4))


def local_table() -> str:
    """Sectors of a local access."""
    cases = (("the same index in all lanes", LANES * 0 + 8), ("index k mod 2", LANES % 2 * 4), ("index k", LANES * 4))
    rows = [(name, int(local_sectors(_warp(lanes), ALL, 4)[1][0])) for name, lanes in cases]
    return table(("each lane reads a word of its own array at", "sectors"), rows, right=[1])


def operators_table() -> str:
    """Load operators by what they do to L1."""
    spellings = (
        "",
        "ca",
        "cs",
        "nc",
        "L1::evict_last",
        "lu",
        "L1::no_allocate",
        "cg",
        "cv",
        "volatile",
        "relaxed.gpu",
        "acquire.gpu",
        "relaxed.cta",
    )
    said = {LoadPolicy.CACHE: "reads L1, brings the sector in", LoadPolicy.STREAM: "reads L1, brings the sector into a line that is there, but no line", LoadPolicy.BYPASS: "reads L2, takes the line out of L1"}  # fmt: skip
    by: dict[LoadPolicy, list[str]] = {}
    for s in spellings:
        by.setdefault(load_policy(s.split(".") if s else []), []).append(code(f"ld.global.{s}" if s else "ld.global"))
    return table(("load", "what it does"), [(", ".join(names), said[policy]) for policy, names in by.items()])


def _found(kib: int, cache: int) -> float:
    """The share of sectors that a second walk over an array finds in an L1 of so many bytes."""
    l1, lines = L1(1, cache), np.arange(kib * KIB // 128)
    addresses, active = lines[:, None] * 128 + LANES * 4, np.ones((len(lines), 32), np.bool_)
    l1.load(np.zeros(len(lines), np.int64), addresses, active, 4)
    return float(l1.load(np.zeros(len(lines), np.int64), addresses, active, 4).mean()) / 4


def caches() -> str:
    """A second walk over arrays of rising size."""
    series = {}
    for target, shared in (("9.0", 0), ("9.0", 16 * KIB), ("2.0", 0)):
        p = profile(target)
        blocks = p.max_blocks if p.l1_and_shared == p.shared + p.l1_size else min(p.max_blocks, p.shared // (shared + 1024))
        l1 = l1_bytes(p, shared, blocks)
        name = f"{p.device}, {l1 // KIB} KiB"
        series[name] = [(k, 100 * _found(k, l1)) for k in (*range(4, 64, 4), *range(64, 260, 16))]
    return chart(
        "How much of an array a second walk finds in L1",
        "size of the array in KiB",
        "% found",
        series,
        range(0, 257, 32),
        range(0, 101, 25),
    )


def residency() -> str:
    """Occupancy by registers."""
    series = {}
    for target in ("2.0", "3.5", "7.0", "9.0"):
        p = profile(target)
        series[p.name] = [(r, 100 * occupancy(p, 256, r, 0).fraction) for r in range(8, min(p.max_registers_per_thread, 128) + 1)]
    return chart(
        "Resident warps of blocks of 256 threads",
        "registers a thread",
        "% of the most",
        series,
        range(8, 129, 8),
        range(0, 101, 25),
        steps=True,
    )


def strides() -> str:
    """Bytes moved by stride."""
    series = {}
    for name, target, cached in GLOBAL_DEVICES:
        points = []
        for stride in range(1, 33):
            _, found = global_transactions(profile(target), _warp(LANES * 4 * stride), ALL, 4, cached=cached)
            points.append((stride, 100 * 128 / int(found.size.sum())))
        series[name] = points
    return chart(
        "How much of what is fetched is used", "stride in words", "% used", series, (1, 4, 8, 12, 16, 20, 24, 28, 32), range(0, 101, 25)
    )


def occupancy_table() -> str:
    """Blocks of 256 threads and who limits them."""
    rows = []
    for registers, shared in ((16, 0), (32, 0), (40, 0), (64, 0), (32, 8 * KIB), (32, 24 * KIB), (32, 48 * KIB)):
        cells = []
        for target in ("2.0", "3.5", "7.0", "9.0"):
            o = occupancy(profile(target), 256, registers, shared)
            cells.append(f"{o.blocks} ({o.fraction:.0%}; {', '.join(o.limiters)})" if o.blocks else "does not fit")
        rows.append((registers, size(shared), *cells))
    return table(("registers", "shared memory", "2.0", "3.5", "7.0", "9.0"), rows, right=(0, 1))


def figures() -> dict[str, str]:
    """The charts by their place in docs/."""
    return {"figures/strides.svg": strides(), "figures/caches.svg": caches(), "figures/residency.svg": residency()}


FRONT = """A kernel's speed is mostly a matter of where its data lies and how a warp asks for it. This page says what each level of memory holds and
how it answers a warp, by compute capability. The numbers come from the rules that [the profiler](profiling.md) counts by; for 9.0 the
rules agree with the counters of an H200 on every pattern that was recorded ([conformance](conformance.md))."""
SPACES = """| space | where it is | who sees it | lives as long as | PTX |
|---|---|---|---|---|
| registers | on the multiprocessor | one thread | the thread | `.reg` |
| shared | on the multiprocessor | the block (from 9.0 on the cluster) | the block | `.shared`, `ld.shared` |
| local | device memory, cached | one thread | the thread | `.local`, spilled registers |
| global | device memory, cached | all | until it is freed | `.global`, `ld.global` |
| constant | device memory, own cache | all, read only | the module | `.const`, `ld.const` |
| textures | device memory, own cache or L1 | all, read only | until the array is destroyed | `.texref`, `tex` |
| parameters | constant memory | all, read only | the launch | `.param`, `ld.param` |"""
TRY = """```console
$ warplab devices sm_90
...
$ warplab profile samples/transpose/1_naive.ptx --device sm_90
...
$ warplab profile samples/transpose/1_naive.ptx --device sm_13
...
```"""


def pages() -> dict[str, str]:
    """The page by its place in docs/."""
    return {NAME: page(
        "# The memory hierarchy, by compute capability", made_by("`isa/profiles.py` and the rules in `interpreter/rules/`"), FRONT, SPACES,
        "## What a multiprocessor holds", "One device stands for each capability.", devices(), "## Global memory: sectors and lines",
        "A warp asks once, and memory answers in pieces whose size depends on the device. 1.x looks at half a warp: 1.0 and 1.1 "
        "want word k in lane k, else each lane pays by itself; 1.2 and 1.3 take the smallest segments that do. 2.x fetches "
        "lines of 128 bytes through L1, or sectors of 32 bytes past it. From 5.x on it is sectors.\n\nTransactions and bytes of one warp:",
        global_table(), "![How much of what is fetched is used, by stride](figures/strides.svg)", "In order and one word further on, on 9.0 and on 1.0:",
        "![aligned and sequential](pictures/global_1_sm_90.svg)\n![misaligned by a word](pictures/global_3_sm_90.svg)\n"
        "![misaligned by a word, 1.0](pictures/global_3_sm_10.svg)", "[Profiling](profiling.md) has these pictures for every generation.",
        "## Shared memory: banks", "Word i lies in bank i mod 32 (mod 16 on 1.x). Lanes that want different words of one bank are served one after "
        "the other; the same word is read by all at once. On 1.x half a warp is served at a time, so 2 passes are the least. An "
        "atomic operation on one word is done lane by lane. Passes of one warp:", shared_table(),
        "![stride of two words](pictures/shared_2_sm_20.svg)", "Wide words take more passes for the same data and fewer instructions. Lanes in order:",
        wide_table(), "## Constant memory", "One address is served in a pass, for all lanes that want it:", constant_table(),
        "## Local memory", "Each word of a thread's array lies beside the same word of its neighbours: equal indices cost 4 sectors, as a "
        "sequential global access does.", local_table(), "## Caches", cache_sizes(),
        "L1 lies on the multiprocessor and does not see what others write; L2 is one for the device. What L1 does with a load depends "
        "on its operator (9.0):", operators_table(), "What is left to L1 depends on the shared memory that resident blocks take. When an array "
        "is walked twice, the second walk finds all of it as long as it fits, and nothing when it is a little too big, because "
        "the least recently used line goes first:", "![How much of an array a second walk finds in L1](figures/caches.svg)",
        "## Textures", "A fetch reads texels through a cache of its own or through L1, and blends them on the way. From 5.0 on the texture unit "
        "and the load-store unit share one cache.", texture_caches(), "An array's texels lie in tiles, so that neighbours in both directions "
        "share sectors: a warp that reads a square of texels needs as few sectors as one that reads a row, and the next rows find theirs in the cache. "
        "In linear memory texels lie row after row. A device keeps its layout to itself; "
        "the tiles here are 64 bytes by 8 rows, a sector is 16 bytes of two rows. Sectors of a warp's fetch without a filter:", texture_table(),
        "The profiler counts requests and sectors of fetches as `l1tex__t_requests_pipe_tex_mem_texture.sum` and "
        "`l1tex__t_sectors_pipe_tex_mem_texture.sum`, and its HTML page shows which texels the worst warp of each fetch reads.",
        "## Occupancy", "A multiprocessor hides latency by switching between warps. How many are resident is decided by the first resource "
        "that runs out, each rounded up to its unit of allocation. Blocks of 256 threads, with the share of warps and what allows no more:",
        occupancy_table(), "![Resident warps by registers](figures/residency.svg)", "## See it", TRY,
    )}  # fmt: skip
