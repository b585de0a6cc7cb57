"""Machine code beside what ptxas makes: for authors of the rules in interpreter/ptxas/machine/.  Needs ptxas and nvdisasm, and nvcc for --write.

python -m tools.machine_code FILE.ptx [KERNEL]    prints each line of PTX with our machine instructions and with those of ptxas
python -m tools.machine_code --write              writes tests/data/machine_code/assembled.json.xz from the CUDA sources beside it
"""

from __future__ import annotations

import collections
import json
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from warplab.assembler.flow import flow
from warplab.assembler.link import link_modules
from warplab.assembler.parse import parse
from warplab.interpreter.memory.arena import Arena
from warplab.interpreter.program import LoadedProgram
from warplab.interpreter.ptxas.machine_code import machine_code

DATA = Path(__file__).parents[1] / "tests" / "data" / "machine_code"
SOURCES = ("tuned.cu", "blind.cu")
TOOLS = ("ptxas", "nvdisasm")
LINE = re.compile(r"\s*//## File .*, line (\d+)")
CODE = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(@!?U?P\w+)?\s*([A-Z][\w.]*)\s*([^;]*);")
TARGET = re.compile(r"`\((\S+?)\)")


class Assembled(NamedTuple):
    """One machine instruction of ptxas."""

    opcode: str
    line: int  # of the PTX
    depth: int  # loops around it


def assembled(text: str, target: str = "sm_90") -> dict[str, list[Assembled]]:
    """What ptxas makes of each function, without the routines and rare paths behind its end."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.ptx").write_text(re.sub(r"^\s*\.(loc|file)\b.*$", "", text, flags=re.M))
        subprocess.run(["ptxas", f"-arch={target}", "-lineinfo", "a.ptx", "-o", "a.cubin"], cwd=folder, check=True, capture_output=True)
        shown = subprocess.run(["nvdisasm", "-c", "-gp", "a.cubin"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return {name: _main_part(lines) for name, lines in _functions(shown)}


def _functions(shown: str) -> Iterator[tuple[str, list[str]]]:
    name, lines = "", list[str]()
    for line in shown.splitlines():
        if (m := re.match(r"\.text\.(\S+):", line)) or line.startswith("//-----"):
            if name:
                yield name, lines
            name, lines = (m[1], []) if m else ("", [])
        else:
            lines.append(line)
    if name:
        yield name, lines


def _main_part(lines: list[str]) -> list[Assembled]:
    """The instructions up to the end of the last block that a branch of theirs leads to."""
    code: list[tuple[str, str, str, int]] = []  # guard, opcode, target, line
    labels: dict[str, int] = {}
    at = 0
    for text in lines:
        if m := LINE.match(text):
            at = int(m[1])
        elif m := re.match(r"(\S+):\s*$", text):
            labels[m[1]] = len(code)
        elif m := CODE.match(text):
            target = TARGET.search(m[3])
            code.append((m[1] or "", m[2], target[1] if target else "", at))
    end = _end(code, 0)
    while (far := max([labels.get(t, 0) for _, o, t, _ in code[: end + 1] if o in ("BRA", "BSSY", "BRX")], default=0)) > end:
        end = _end(code, far)
    loops = [(labels[t], n) for n, (_, o, t, _) in enumerate(code[: end + 1]) if o == "BRA" and labels.get(t, n + 1) <= n]
    last = dict(loops)
    return [Assembled(o, line, sum(a <= n <= b for a, b in last.items())) for n, (_, o, _, line) in enumerate(code[: end + 1])]


def _end(code: list[tuple[str, str, str, int]], start: int) -> int:
    return next((n for n in range(start, len(code)) if code[n][1] in ("EXIT", "RET", "BRA") and not code[n][0]), len(code) - 1)


# ---------------------------------------------------------------- side by side


def compare(text: str, only: str = "") -> Iterator[str]:
    """Each line of PTX that became something, with both."""
    theirs = assembled(text)
    program = LoadedProgram(link_modules([parse(text)], complete=False), Arena(1 << 24))
    lines = text.splitlines()
    for name, k in program.kernels.items():
        if only not in ("", name) or name not in theirs:
            continue
        code, by_line = machine_code(k), collections.defaultdict(list)
        for a in theirs[name]:
            by_line[a.line].append(a.opcode)
        yield f"{name}: {sum(map(len, code.blocks))} machine instructions, ptxas {len(theirs[name])}"
        graph = flow(k.function)
        for b in graph.rpo:
            if not graph.blocks[b].instructions:
                continue
            ours = collections.defaultdict(list)
            for o in code.blocks[code.number[id(k.function), b]]:
                ours[id(o.of)].append(o.opcode)
            yield f"  block {b}: {' '.join(ours[id(None)])}"
            for i in graph.blocks[b].instructions:
                if ours[id(i)] or by_line[i.span.line]:
                    yield f"    {lines[i.span.line - 1].strip()[:56]:56} | {' '.join(ours[id(i)]):28} | {' '.join(by_line[i.span.line])}"


def write() -> None:
    """Compiles the sources and keeps what ptxas makes of them."""
    data: dict[str, Any] = {}
    for source in SOURCES:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["nvcc", "-arch=sm_90", "-ptx", DATA / source, "-o", Path(folder) / "a.ptx"], check=True)
            text = (Path(folder) / "a.ptx").read_text()
        data[source] = {"ptx": text, "assembled": assembled(text)}
    (DATA / "assembled.json.xz").write_bytes(lzma.compress(json.dumps(data).encode(), preset=9))


def main(arguments: list[str]) -> int:
    """The command."""
    if missing := [t for t in TOOLS if shutil.which(t) is None]:
        print(f"not on the PATH: {', '.join(missing)}", file=sys.stderr)
        return 1
    if arguments == ["--write"]:
        write()
        return 0
    for line in compare(Path(arguments[0]).read_text(), *arguments[1:2]):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
