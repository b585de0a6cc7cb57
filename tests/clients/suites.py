"""The clients' suites as their authors run them, each in one process: what was run, and what pytest's XML file says of it.

The files are called NAME-VERSION.xml and come from `pytest --junitxml` under `warplab exec`; see the README of the client for how its tests are run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

from .counting import Counts

SUITES = {
    "numba-cuda": "all tests of the package (`pytest --pyargs numba.cuda.tests`), with the newest cuda-bindings, whose handles for other processes have no attribute that it reads",
    "cuda.core": "`cuda_core/tests` of its repository, for this release, without those that build extensions",
    "cuda.bindings": "`cuda_bindings/tests` of its repository, for this release, without those that build extensions and those of cuFile, whose library searches the machine's buses for a GPU",
    "cupy": "core, creation, indexing, sorting and statistics tests, chosen by a checksum of their names: 473 of 560, as many as ended in 18 minutes on a busy machine",
    "pycuda": "all tests of its source distribution but five, which need more memory than the machine has; the first `nvcc` on `PATH` calls the compiler that the variable `NVCC` names",
    "warp": "tests of the package that run on a device: 440 of 73 files, chosen by a checksum of their names, without examples and rendering",
    "taichi": "basic tests of its repository, for CUDA: 356 of 45 files, chosen by a checksum of their names",
}  # fmt: skip
CLIENT_OF = {"numba-cuda": "numba", "cuda.core": "core", "cuda.bindings": "bindings"}  # table.py's name, where it is another
LEAST = 20  # failures of one reason or of several that the page tells; the rest it counts


def results(folder: Path) -> list[tuple[str, str, str, Counts]]:
    """(name, version, date, counts) of each file, in the order of the table."""
    out = []
    for path in sorted(folder.glob("*.xml"), key=lambda p: list(SUITES).index(p.stem.rpartition("-")[0])):
        name, _, version = path.stem.rpartition("-")
        counts = Counts(version)
        counts.add(path.read_text(), {})
        suite = next(ElementTree.parse(path).getroot().iter("testsuite"))
        out.append((name, version, suite.get("timestamp", "")[:10], counts))
    return out


def without_suite(found: Mapping[str, Counts], suites: Iterable[str]) -> dict[str, Counts]:
    """The clients of table.py of which no whole suite says more."""
    told = {CLIENT_OF.get(name, name) for name in suites}
    return {name: c for name, c in found.items() if name not in told}


def section(found: list[tuple[str, str, str, Counts]]) -> list[str]:
    """The part of the page that shows them."""
    if not found:
        return []
    out = ["", "## Whole suites", "", "Each suite was run in one process, as its authors run it.", ""]
    out += ["| client | version | date | passed | failed | % | skipped | what was run |", "|---|---|---|---:|---:|---:|---:|---|"]
    for name, version, date, c in found:
        out.append(f"| {name} | {version} | {date} | {c.passed} | {c.failed.total()} | {c.share:.1f} | {c.skipped} | {SUITES[name]} |")
    for name, _, _, c in found:
        if c.failed:
            out += ["", f"### {name}", "", "| tests | reason |", "|---:|---|"]
            out += [f"| {n} | `{why.replace('|', ' ').replace('`', ' ')}` |" for why, n in c.failed.most_common(LEAST)]
            if rest := sum(n for _, n in c.failed.most_common()[LEAST:]):
                out.append(f"| {rest} | others, each of which a single test has |")
    return out
