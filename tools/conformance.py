"""The conformance page: every carried recording is run, and what each row of the instruction tables is held against is counted."""

from __future__ import annotations

from tests.interpreter import test_reference_caches
from tests.interpreter.profiler import test_mixed_kernels
from tests.interpreter.rules import test_coalesce, test_recorded_counters
from tests.isa import test_occupancy
from warplab.runtime.cli.reference.isa import CHAPTERS

from . import evidence
from .instructions import Family, chapters, counts, families, slug
from .markdown import code, page, paragraph, table
from .rows import executes, rows

NAME = "conformance.md"
FRONT = """This page shows how far results of warplab equal those of an NVIDIA H200, bit for bit. The generator runs every recording in the
repository and counts the equal results. The recordings were made on an H200 (compute capability 9.0) with CUDA 13.0."""
RESULTS = """A case passes if every bit of its results equals the recorded one. The repository holds a selection of all recordings, made by the
scripts in [tests/hardware](../tests/hardware)."""
COUNTERS = """The counters of the profiler, compared with the counters of the hardware and the answers of the driver."""
HOW_FAR = """\
The profiler counts for the PTX as written, with each instruction translated as `ptxas` translates it for `sm_90`. 1,641 launches of kernels
with one access pattern each were recorded on an H200: gathers, strides, masks, every width and vector, cache operators and reuse in L1,
atomics of every type, local arrays, generic addresses, `cp.async`, bulk copies, `ldmatrix` and `stmatrix`, `wmma`, clusters. Of their 29,159
counters of requests, sectors, hits, passes and conflicts, 29,097 are equal; the reasons for the others follow below.

Besides the addresses, these rules of the translation matter:

- Shared-memory atomics on floats, and on 64-bit integers other than `exch` and `cas`, are a loop of load, operation and compare-and-swap. Lanes
  with a bank conflict repeat the loop, and the loads of each iteration count. For `min` and `max`, lanes whose value would not change the
  memory leave the loop at once.
- `f16`, `bf16` and 16-bit `cas` load the surrounding 32-bit word and swap it until it has not changed in between.
- A vector atomic is one request. `red` on a generic address counts as `atom`.
- If all lanes have the same address, and this is known at assembly time, one lane acts for the warp: for `red` with `add`, `min`, `max`, `and`,
  `or` and `xor` of 32 bits, for `add` of a value that is equal in all lanes (64 bits, too), and for `atom.add` of full warps.
- `atom` whose result is not read counts as `red`. `red.shared.add` of the constant 1 serves all lanes of a word in one pass.
- `wmma` loads and stores combine neighbouring elements. For a transposed matrix of 16-bit elements they load rows and transpose them in
  registers.
- Accesses to the shared memory of another block of the cluster are not counted.
- Accesses to neighbouring words of shared memory are combined to one access of 8 or 16 bytes if the PTX shows that it is aligned: loads of one
  basic block without a store to shared memory or a barrier between them (three words suffice for 16 bytes), and consecutive stores. The
  combined access counts at the first of them.

No counters of texture fetches were recorded: their requests and sectors follow an assumed layout of arrays
([the memory hierarchy](memory.md#textures)). Devices before compute capability 5.0 have a separate texture cache, and for it L2 is modelled apart
from global memory.

`ptxas` also optimises, and then the counters of the hardware differ from those of the PTX. Of 70 recorded programs with 6,496 counters, 97 % of
the counters are within 2 %. The rest have these reasons:

| optimisation | programs |
|---|---|
| loads of shared memory combined across branches, or across iterations of an unrolled loop | flash_attention, cub_block, sync_votes |
| loads moved to a place that fewer lanes execute | triton_matmul_sm90 |
| a repeated load removed because the value was still in a register | warp_ops, generic_ptrs, clang_reduce_O0 |
| a local array, or the copy of a structure, kept in registers | sha256, float_slowpath, clang_reduce_O0, struct_params |
| stack frames of calls: registers saved in local memory; parameters of functions linked from elsewhere | recursion, func_pointers, link_two |
| the driver's own code of `printf` and `malloc` | printf_basic, malloc_list |
| an unrolled loop that lanes leave at different times: they reconverge elsewhere | symbols_init, spmv_csr |
| loads moved ahead of stores | clang_blur |

1,182 random mixtures of accesses, made to find errors in the model, ran on an H200. 1,111 of them agree in all 17 counters (99.3 % of the
counters), and all results that do not depend on the order of lanes are equal bit for bit. Known reasons for the others:

- After a store of 16 bytes per lane directly behind a store to the same cache line, the hardware keeps only the sectors of the second store.
- `discard.L2` removes lines from L1, too.
- In loops that wait for memory, inside or in front of other loops, diverged lanes stay apart longer on the hardware.
- Of the two sides of a branch, each warp of the hardware executes the one with fewer lanes first; here the sum over a group of warps decides.

The remaining differences depend on time: the iterations of a spin loop or of a contended compare-and-swap (its_spinlock, message_passing,
scan_lookback, libcudacxx_sync, atomics_all), the order of racing blocks (bfs_frontier), and whether a sector that is still in flight counts as a
hit (triton_add_reduce). If one warp's generic addresses mean global and local memory at once, its global accesses also count as local
(generic_ptrs). Caches here evict the least recently used line; the hardware keeps some lines longer. A line that an atomic or a load past L1
invalidates leaves its place free, and a load that allocates no line (`.lu`, `.L1::no_allocate`) counts as a use of a resident line."""
MATRIX = """The instruction tables consist of rows. A row is verified by an *H200* if a recorded case that passes executes it; otherwise by a *model*
if a test compares it with Python's own arithmetic or with a reference implementation of one lane at a time. Rows *only run* execute without
such a comparison; most share the computation of a verified row (other sizes, other state spaces, hints). Rows that do *not run* are
assembled, checked and printed."""
MODELLED = """These forms were not recorded on hardware, most of them because `sm_90` does not have them. `multimem` needs several GPUs with multicast, and an
H200 never finishes a kernel with a `red.async` on global memory, although `ptxas` accepts it. A test compares them with a reference implementation of one lane at a time, written
from the PTX manual. Where the manual leaves a choice, they compute as related recorded instructions do."""
ONLY_RUN = """\
An H200 cannot record most of these. Its driver compiles no module with the queries of `txq` and `suq` that are not extents."""
DIFFERS = """\
By default, warplab follows the machine code that `ptxas` 13.0 produces for `sm_90`, and that differs from the manual in these cases. With
`--fmad none`, all instructions compute as the manual specifies.

| instruction | result on the hardware, and here |
|---|---|
| a product and a sum without rounding modifiers | [one multiply-add](engine.md#products-and-sums) |
| `neg` of `neg` (f16, f16x2, bf16, f32, f64 without `.ftz`) | the number: a NaN keeps its bits |
| `max`, `min` of a number with itself, a product with 1 (f16, f32, f64 without modifiers) | the number: a NaN keeps its bits |
| `neg.f32`, `abs.f32` with a guard, or if a select (`selp.f32`, `slct.f32`, an instruction of f32 with a guard) chooses their result | the sign alone changes: a NaN keeps its payload |
| `rcp.approx.ftz.f32` of the result of `rcp.approx.ftz.f32` | the number, also if it is subnormal |
| `div.approx.ftz.f32` by the result of `rcp.approx.ftz.f32` | a product |
| `testp` with a guard | the guard is ignored |
| `bfe.s32` of a number that is not a constant, with a constant position of at least 32 and a constant length, but 0 | all bits are 1 |

These cases are not modelled; here, the manual's result applies:

| instruction | result on the hardware |
|---|---|
| `set.CMP.f32`, `.f16`, `.bf16` with a guard | where the guard is false, the absolute value of the old bits as an integer, converted to the type |
| `cvt.rna.satfinite.tf32.f32` with a guard | where the guard is false, low bits of the old register are cleared |
| `sin`, `cos`, `lg2`, `ex2`, `rcp`, `sqrt`, `rsqrt` with `.approx.f32` of a constant | correctly rounded |
"""

TEXTURES = """\
Fetches from one level or several, with every filter and address mode, are equal bit for bit wherever they were recorded, and so are the levels that
one gradient asks for. Two things are not exact:

- Anisotropic filtering. Its rules come from 7,211 recorded footprints of a plane, of which 99 % are reproduced texel by texel. Of random fetches from
  arrays of one and two dimensions, all four channels are equal in 99.6 % where one level is read, and in 96 % where two are blended; in 86 % with a level
  bias or a clamp; and in 41 % from cube maps. Most fetches that differ are off by a few thousandths of the largest texel. The level is right in 99.9 %.
- The level that two gradients of a volume ask for is off by one or two 256ths in one lane of 250. With whole-number coordinates, which
  then count as floats, two gradients of a volume give other texels in a third of the lanes."""
PTXAS = """The verdicts of the verifier on randomly changed programs (a line or a word at a time), compared with those of ptxas 13.0."""


def held(f: Family) -> str:
    """What holds a family."""
    if not executes(f.form):
        return "not run"
    h200, model = counts(f)
    return "H200" if h200 else "model" if model else "only run"


def results() -> str:
    """The recordings and how they went."""
    lines = [(s.title, s.what, s.cases, s.cases - len(s.failed), ", ".join(s.failed[:8])) for s in evidence.h200()]
    total, passed = sum(s.cases for s in evidence.h200()), sum(s.cases - len(s.failed) for s in evidence.h200())
    return table(("recordings", "one case", "cases", "pass", "fail"), [*lines, ("all", "", total, passed, "")], right=(2, 3))


def _passing(runs: list[bool]) -> tuple[int, int]:
    return len(runs), sum(runs)


def mixtures() -> list[bool]:
    """Which random mixtures of accesses count and compute what was recorded."""
    m = test_mixed_kernels
    return [(one := m.found(n)) == m.recorded(k, one[1]) for n, k in enumerate(m.KERNELS)]


def counters() -> str:
    """Counters and residency."""
    c, o = test_recorded_counters, test_occupancy
    launches = [+c.replay(one) == dict(one["counters"]) for one in c.LAUNCHES]
    steps = [test_reference_caches.replay(one) == one["hits"] for one in test_reference_caches.STEPS]
    residency = [
        min(o.block_limits(o.H200, threads, registers, static + dynamic).values()) == blocks
        for registers, static, threads, dynamic, blocks in o.RECORDED["rows"]
    ]
    gathers = []
    for group in test_coalesce.RECORDED:
        if "atomic" not in group:
            offsets, want = test_coalesce.GATHERS[f"{group} offsets"].astype("int64"), test_coalesce.GATHERS[f"{group} counts"]
            got = test_coalesce.rule(group)(offsets)
            gathers += [tuple(row) == tuple(w) for row, w in zip(zip(*got, strict=True), want, strict=True)]
    lines = [
        ("launches with all their counters: requests, sectors, hits, passes, conflicts", *_passing(launches)),
        ("random mixtures of accesses, divergent ones among them: all counters, and the results", *_passing(mixtures())),
        ("random accesses to global and local memory: requests and sectors", *_passing(gathers)),
        ("sequences of loads, stores, atomics and fences: sectors found in L1", *_passing(steps)),
        ("resident blocks by registers, threads and shared memory", *_passing(residency)),
    ]
    return table(("recorded", "cases", "equal"), lines, right=(1, 2))


def matrix() -> str:
    """Rows by chapter and by what holds them; rows that differ in a size count once."""
    ways = ("H200", "model", "only run", "not run")
    lines = []
    totals = [0, 0, 0, 0]
    for chapter, opcodes in chapters().items():
        own = [f for rs in opcodes.values() for f in families(rs)]
        n = [sum(held(f) == w for f in own) for w in ways]
        totals = [a + b for a, b in zip(totals, n, strict=True)]
        lines.append((f"[{CHAPTERS[chapter]}](instructions/{slug(chapter)})", len(own), *(k or "" for k in n)))
    return table(("chapter", "forms", *ways), [*lines, ("all", sum(totals), *totals)], right=range(1, 6))


def listed(way: str) -> str:
    """The forms that are held so, by opcode."""
    by: dict[str, list[str]] = {}
    for opcodes in chapters().values():
        for opcode, rs in opcodes.items():
            for f in families(rs):
                if held(f) == way:
                    by.setdefault(opcode, []).append(code(f.form.canonical))
    lines = []
    for opcode, forms in sorted(by.items()):
        known = list(dict.fromkeys(forms))
        more = f" and {len(known) - 6} more" if len(known) > 6 else ""
        lines.append(f"- {opcode}: {', '.join(known[:6])}{more}")
    return "\n".join(lines)


def verdicts() -> str:
    """ptxas's verdicts."""
    v = evidence.verdicts()
    said = f"{v.texts} programs, {v.legal} of them legal: {v.agreed} verdicts agree ({v.agreed / v.texts:.1%})."
    return said


def pages() -> dict[str, str]:
    """The page by its place in docs/."""
    forms = f"The tables have {len(rows())} rows. Rows that differ only in a size are one form here."
    return {NAME: page(
        "# Conformance", FRONT, "## Results on an H200", RESULTS, results(), "## Counters",
        COUNTERS, counters(), "## How far the counters go", HOW_FAR, "## Textures", TEXTURES, "## Where ptxas differs", DIFFERS, "## Instructions", paragraph(MATRIX), forms, matrix(), "## Modelled, not recorded", MODELLED, listed("model"),
        "## Only run", ONLY_RUN, listed("only run"),
        "## Verdicts of ptxas", PTXAS, verdicts(), source="the recordings in `tests/data/`",
    )}  # fmt: skip
