"""The conformance page: every carried recording is run, and what each row of the instruction tables is held against is counted."""

from __future__ import annotations

from tests.interpreter import test_reference_caches
from tests.interpreter.profiler import test_mixed_kernels
from tests.interpreter.rules import test_coalesce, test_recorded_counters
from tests.isa import test_occupancy
from warplab.runtime.cli.isa import CHAPTERS

from . import evidence
from .instructions import Family, chapters, counts, families, slug
from .markdown import code, made_by, page, paragraph, table
from .rows import executes, rows

NAME = "conformance.md"
FRONT = """How far warplab gives what an NVIDIA H200 gives, bit for bit. To make this page every recording that the tests carry was run; a test
runs them again and compares. They were made on an H200 (compute capability 9.0) with CUDA 13.0."""
RESULTS = """A case passes if every bit that it leaves is the recorded one. Carried is a part of what was recorded, chosen by the scripts in
[tests/hardware](../tests/hardware)."""
COUNTERS = """What the profiler counts, against the hardware's counters and the driver's answers."""
MATRIX = """A row of the tables is *held by* an H200 if a recorded case that passes executes it, else by a *model* if a test compares it with Python's own
arithmetic or with a description of one lane at a time. *Only run* rows execute, but no recording and no
such test performs them; most share the calculation of a row beside them (other sizes, other state spaces, hints). *Not run* rows are assembled, checked and printed."""
MODELLED = """No hardware answered for these: a test holds them against a description of one lane at a time, made from the PTX manual.  Where
the manual is silent, they calculate as the recorded instructions beside them do."""
PTXAS = """The verifier's verdict on programs that were changed at random, a line or a word at a time, against that of ptxas 13.0."""


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
    return table(("recordings", "a case is", "cases", "pass", "fail"), [*lines, ("all", "", total, passed, "")], right=(2, 3))


def _passing(runs: list[bool]) -> tuple[int, int]:
    return len(runs), sum(runs)


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
    m = test_mixed_kernels
    mixtures = [(one := m.found(n)) == m.recorded(k, one[1]) for n, k in enumerate(m.KERNELS)]
    lines = [
        ("launches with all their counters: requests, sectors, hits, passes, conflicts", *_passing(launches)),
        ("random mixtures of accesses, divergent ones among them: all counters, and the results", *_passing(mixtures)),
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
    forms = f"{len(rows())} rows make the tables; those of one family, which differ in a size only, count as one form here."
    return {NAME: page(
        "# Conformance", made_by("the recordings in `tests/data/`"), FRONT, "## Results on an H200", RESULTS, results(), "## Counters",
        COUNTERS, counters(), "## Instructions", paragraph(MATRIX), forms, matrix(), "## Modelled, not recorded", MODELLED, listed("model"),
        "## Only run", listed("only run"),
        "## Verdicts of ptxas", PTXAS, verdicts(),
    )}  # fmt: skip
