"""The documentation as tests read it: its pages, the fenced blocks of a page, and the comparison of an output with the one that a page shows.

The first word of a fence is its kind; `file=NAME` writes its text to that file, `append=NAME` adds it to the end; `needs=a,b` lists the programs
and files without which its commands cannot run, or `network`, which `pip install` needs, or `checkout`: the step changes files of warplab that
are read as it starts, and tests/docs/test_host_call.py follows it in a copy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from warplab.runtime.grading import load_lab
from warplab.runtime.grading.bundle import own_files, without_hidden

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs", "isa", "assembler", "interpreter", "runtime", "tests", "tools", "samples")
HANDOUTS = sorted((ROOT / "samples" / "labs").glob("*/README.md"))
OTHERS = {path for path in (ROOT / "tests").rglob("*.md") if "node_modules" in path.parts}  # of packages that a test installs
PAGES = sorted({*ROOT.glob("*.md"), *(path for f in FOLDERS for path in (ROOT / f).rglob("*.md"))} - {*HANDOUTS} - OTHERS)


@dataclass(frozen=True)
class Fence:
    kind: str
    file: str
    append: str
    needs: tuple[str, ...]
    text: str
    line: int

    def write(self) -> None:
        """Writes the text to the file that the fence names, if it names one."""
        if name := self.file or self.append:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a" if self.append else "w") as file:
                file.write("\n\n" * bool(self.append) + self.text)


def fences(text: str) -> list[Fence]:
    """The fenced blocks of a page."""
    found = []
    for m in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.M | re.S):
        said = dict(re.findall(r"(\w+)=(\S+)", m[2]))
        needs = said["needs"].split(",") if "needs" in said else ["network"] * ("pip install" in m[3])
        found.append(Fence(m[1], said.get("file", ""), said.get("append", ""), tuple(needs), m[3], text.count("\n", 0, m.start()) + 1))
    return found


@dataclass(frozen=True)
class Typed:
    """What a reader types, and what the page shows below it."""

    script: str
    wanted: str | None  # what it prints; None for anything
    code: int


def typed(fence: Fence) -> list[Typed]:
    """The lines of a fence that a reader types: all lines together, or one command after each `$`."""
    if fence.kind in ("sh", "bash"):
        return [Typed(fence.text, None, 0)]
    found = []
    for block in re.split(r"^\$ ", fence.text, flags=re.M)[1:]:
        first, wanted = re.findall(r"\A((?:.*\\\n)*.*)\n?((?s:.*))\Z", block)[0]
        code = 0
        if m := re.search(r"^\[exit (\d+)\]\n?\Z", wanted, re.M):
            code, wanted = int(m[1]), wanted[: m.start()]
        found.append(Typed(first, wanted if fence.kind == "console" else None, code))
    return found


def put_handout(lab: Path, folder: Path) -> None:
    """The files of a lab's handout, with the reference as the solution."""
    for name, data in own_files(load_lab(lab), without_hidden((lab / "lab.toml").read_text())).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    if (lab / "reference.ptx").exists():
        (folder / "mine.ptx").symlink_to(lab / "reference.ptx")
    elif (lab / "reference").is_dir():
        for path in (lab / "reference").iterdir():
            (folder / path.name).symlink_to(path)


def matches(wanted: str, out: str, err: str = "") -> bool:
    """Whether a page shows an output; `...` in it stands for anything."""
    lines = [re.escape(line.rstrip()).replace(r"\.\.\.", ".*") for line in wanted.strip().splitlines()]
    pattern = "\n".join("(?s:.*)" if line == ".*" else line for line in lines)
    return any(
        re.fullmatch(pattern, "\n".join(line.rstrip() for line in got.strip().splitlines())) is not None for got in (out + err, err + out)
    )
