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
from warplab.runtime.reports.drawn.charts import chart

from .markdown import code, page, size, table

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
    head = ("capability", "device", "multiprocessors", "blocks", "warps", "registers", "shared memory", "at most per block")
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
        ("1.x", "1.0", "a texture cache shared by two or three multiprocessors", "only `tex` reads it"),
        ("2.x", "2.0", "a texture cache of the multiprocessor", "only `tex` reads it"),
        ("3.0", "3.0", "a texture cache of the multiprocessor", "only `tex` reads it"),
        ("3.2-3.7", "3.5", "the read-only data cache", "`ld.global.nc` reads it, too"),
        ("5.x", "5.2", "the unified L1 and texture cache", "separate from shared memory"),
        ("6.x", "6.1", "the unified L1 and texture cache", "separate from shared memory"),
        ("7.0-9.0", "9.0", "the unified L1 and texture cache", "shares its memory with shared memory"),
    )
    lines = [(name, what, size(profile(target).texture_cache), how) for name, target, what, how in where]
    return table(("capability", "texels are cached in", "up to", "note"), lines, right=(2,))


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
    return table(("bytes per lane", *(name for name, _ in SHARED_DEVICES)), rows, right=range(5))


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
    said = {LoadPolicy.CACHE: "reads L1; a miss fetches the sector into L1", LoadPolicy.STREAM: "reads L1; a miss fetches the sector if its line is resident, and allocates no line", LoadPolicy.BYPASS: "reads L2, and invalidates the line in L1"}  # fmt: skip
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
        "L1 hit rate of the second pass over an array",
        "size of the array in KiB",
        "% hits",
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
        "registers per thread",
        "% of the maximum",
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
        "Used part of the bytes transferred", "stride in words", "% used", series, (1, 4, 8, 12, 16, 20, 24, 28, 32), range(0, 101, 25)
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


FRONT = """The speed of a kernel mostly depends on where its data lies and how its warps access it. This page describes each level of memory, and how
it serves a warp, by compute capability. The numbers come from the rules of [the profiler](profiling.md); for compute capability 9.0 these rules
agree with the counters of an H200 on all recorded patterns ([conformance](conformance.md))."""
SPACES = """| space | location | accessible to | lifetime | PTX |
|---|---|---|---|---|
| registers | on the multiprocessor | one thread | the thread | `.reg` |
| shared | on the multiprocessor | the block (from 9.0 on the cluster) | the block | `.shared`, `ld.shared` |
| local | device memory, cached | one thread | the thread | `.local`, spilled registers |
| global | device memory, cached | all threads and the host | until it is freed | `.global`, `ld.global` |
| constant | device memory, own cache | all threads, read only | the module | `.const`, `ld.const` |
| textures | device memory, own cache or L1 | all threads, read only | until the array is destroyed | `.texref`, `tex` |
| parameters | constant memory | all threads, read only | the launch | `.param`, `ld.param` |"""
SURFACES = """`suld`, `sust` and `sured` read and write an array by coordinates. The manual leaves many cases open; warplab does what an H200 did:

- `suld.b`, `sust.b` and `sured.b` count x in bytes, `sust.p` in texels, `sured.p` in elements of its type. An access may be wider than a texel.
- An access that does not start at a multiple of its size is a fault, even outside the surface; with `.trap`, being outside is reported first.
- With `.clamp`, an access beyond the end of a row moves to the last multiple of its size that fits the row. If none fits, nothing is read or written.
- `.1d` and `.a1d` reach arrays without rows, `.2d` and `.a2d` all arrays with rows, of which a 3D array counts as its first plane; `.3d` reaches 3D arrays
  only. Any other combination reads zeros and writes nothing, even with `.trap`. So does a null handle.
- `sust.p` saturates integers, cuts halves towards zero and fills channels without a register with 0.
- If lanes of a warp write to one place, the lowest lane wins. A warp writes 128 bytes at a time: of accesses of 16 bytes, lanes 0 to 7 come first.
- `tex` with the handle of a surface fetches texels as they are, without filter or conversion.
- `txq` and `suq` answer width, height and depth. The driver does not compile modules with other queries, so the driver and runtime APIs refuse them as it does;
  `warplab run` gives the manual's answers."""
TRY = """```console
$ warplab devices sm_90
...
$ warplab profile samples/transpose/1_naive.ptx --device sm_90
...
$ warplab profile samples/transpose/1_naive.ptx --device sm_13 --device-rules-only
...
```"""


def pages() -> dict[str, str]:
    """The page by its place in docs/."""
    return {NAME: page(
        "# The memory hierarchy, by compute capability", FRONT, SPACES,
        "## What a multiprocessor holds", "The model of each compute capability is a device of that generation.", devices(), "## Global memory: sectors and lines",
        "One request of a warp becomes several transactions, whose size depends on the device. Devices of 1.x serve half a warp at a time: "
        "1.0 and 1.1 combine the accesses if lane k reads word k, and otherwise make one transaction per lane; 1.2 and 1.3 use the "
        "smallest segments that contain the accesses. Devices of 2.x fetch lines of 128 bytes through L1, or sectors of 32 bytes "
        "if L1 is bypassed. From 5.x on, all transfers are sectors.\n\nTransactions and bytes of one warp:",
        global_table(), "![Used part of the bytes transferred, by stride](figures/strides.svg)", "Aligned on 9.0, misaligned by one word on 9.0, and the latter on 1.0:",
        "![aligned and sequential](pictures/global_1_sm_90.svg)\n![misaligned by a word](pictures/global_3_sm_90.svg)\n"
        "![misaligned by a word, 1.0](pictures/global_3_sm_10.svg)", "[Profiling](profiling.md) has these pictures for every generation.",
        "## Shared memory: banks", "Word i lies in bank i mod 32 (mod 16 on 1.x). An access takes one pass (wavefront) for each different word that "
        "its lanes access in one bank; lanes that read the same word share a pass. Devices of 1.x serve half a warp at a time, so at least "
        "2 passes are needed. Atomic operations on one word take one pass per lane. Passes of one warp:", shared_table(),
        "![stride of two words](pictures/shared_2_sm_20.svg)", "Wide accesses take more passes each, but fewer instructions for the same data. Lane k reads element k:",
        wide_table(), "## Constant memory", "One pass serves all lanes with the same address:", constant_table(),
        "## Local memory", "Local memory is interleaved: a word of a thread's array lies next to the same word of the neighbouring threads. If all lanes use "
        "the same index, they access 4 sectors, as a sequential global access does.", local_table(), "## Caches", cache_sizes(),
        "Each multiprocessor has its own L1, which is not coherent with writes of other multiprocessors; the device has one L2. On 9.0, the "
        "cache operator of a load determines its use of L1:", operators_table(), "The size of L1 depends on the shared memory of the resident blocks. If a kernel reads an array "
        "twice, the second pass hits L1 as long as the array fits. If the array is slightly larger, nearly every access misses, because "
        "the cache evicts the least recently used line:", "![L1 hit rate of the second pass over an array](figures/caches.svg)",
        "## Textures", "A fetch reads texels through a texture cache or through L1, and filters them. From 5.0 on, the texture unit "
        "and the load-store unit share one cache.", texture_caches(), "The texels of an array are stored in tiles, so neighbours in both directions "
        "share sectors: a warp that reads a square of texels needs about as few sectors as one that reads a row, and the next rows hit the cache. "
        "In linear memory texels are stored row by row. NVIDIA does not publish the layout of arrays; "
        "here a tile is 64 bytes by 8 rows, and a sector is 16 bytes of two rows. Sectors of one warp's fetch without filtering:", texture_table(),
        "The profiler counts requests and sectors of fetches as `l1tex__t_requests_pipe_tex_mem_texture.sum` and "
        "`l1tex__t_sectors_pipe_tex_mem_texture.sum`, and its HTML page shows which texels the worst warp of each fetch reads. It counts accesses "
        "through surfaces as `l1tex__t_requests_pipe_tex_mem_surface_op_ld.sum`, `..._op_st.sum` and `..._op_red.sum`, and their sectors likewise.",
        "### Surfaces", SURFACES,
        "## Occupancy", "A multiprocessor hides latency by switching between resident warps. The scarcest resource limits how many blocks are resident; each "
        "resource is rounded up to its unit of allocation. Resident blocks of 256 threads, with the occupancy and the limiting resource:",
        occupancy_table(), "![Resident warps by registers](figures/residency.svg)", "## Try it", TRY,
        source="`isa/profiles.py` and the rules in `interpreter/rules/`",
    )}  # fmt: skip
