"""What a run of pytest says in its XML file, as counts and reasons; the page that shows them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree

LONGEST = 110  # characters of a reason


@dataclass(slots=True)
class Counts:
    """The outcome of a client's tests."""

    version: str = ""
    passed: int = 0
    skipped: int = 0
    missing: Counter[str] = field(default_factory=Counter)  # library -> tests that need it
    failed: Counter[str] = field(default_factory=Counter)  # reason -> tests
    broken: list[str] = field(default_factory=list)  # files without an end

    @property
    def share(self) -> float:
        """The percentage that passed of all that ran and needs none of the missing libraries."""
        run = self.passed + self.failed.total()
        return 100 * self.passed / run if run else 0.0

    def add(self, xml: str, needs: Mapping[str, str]) -> None:
        """Counts what one file says."""
        for case in ElementTree.fromstring(xml).iter("testcase"):
            wrong = next((e for e in case if e.tag in ("failure", "error")), None)
            if wrong is not None:
                said = f"{wrong.get('message', '')}\n{wrong.text or ''}"
                library = next((name for word, name in needs.items() if word in said.upper()), None)
                (self.missing if library else self.failed)[library or reason(said)] += 1
            elif case.find("skipped") is not None:
                self.skipped += 1
            else:
                self.passed += 1


def reason(said: str) -> str:
    """The line of a failure's text that says most: the last error."""
    errors = re.findall(r"^(?:E +)?([\w.]*(?:Error|Exception|Failed|assert)\b.*)$", said, re.M)
    line: str = (errors or said.strip().splitlines() or [""])[-1]
    line = re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+", "", line)  # where files lie is this machine's own
    return re.sub(r"0x[0-9a-f]+|\s+", " ", line).strip()[:LONGEST]


def page(found: Mapping[str, Counts], most: int) -> str:
    """The page of counts."""
    part = f", of each file at most {most}" if most else ""
    out = [
        "# The clients' own tests",
        "",
        f"`python -m tests.clients --page` wrote this page: the tests that the clients' projects have, as pip brings them, under `warplab exec`{part}.",
        "Tests that need a library of machine code (cuBLAS and others) count apart. pip brings no tests of Triton, cuda.core and cuda.bindings:",
        "those are written for this page, from what the projects document. Each client has an environment of its own, as they want different",
        "versions of the same packages: numba-cuda needs older cuda-bindings than cuda.core, cupy and Triton bring compilers of their own.",
        "",
        "| client | version | passed | failed | % | need a library | skipped |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for name, c in found.items():
        out.append(f"| {name} | {c.version} | {c.passed} | {c.failed.total()} | {c.share:.1f} | {c.missing.total()} | {c.skipped} |")
    for name, c in found.items():
        if c.failed or c.missing or c.broken:
            out += ["", f"## {name}", "", "| tests | reason |", "|---:|---|"]
            out += [f"| {n} | `{why.replace('|', ' ').replace('`', ' ')}` |" for why, n in c.failed.most_common()]
            out += [f"| {n} | needs {library} |" for library, n in c.missing.most_common()]
            out += [f"| | `{path}` did not end |" for path in c.broken]
    return "\n".join(out) + "\n"
