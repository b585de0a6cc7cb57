"""A file that is run for an editor, in a process of its own, and what there is to say about its lines."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..command import command, environment

PATIENCE = 60.0  # seconds
_PLACE = re.compile(r"at line (\d+)(?: \((.+):(\d+)\))?")


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about a line, counted from 1."""

    line: int
    severity: Literal["error", "warning", "information"]
    source: str
    code: str
    message: str
    other_line: int = 0
    other_message: str = ""


@dataclass(frozen=True, slots=True)
class Launched:
    """How a run ended: in a sentence, and in remarks about lines."""

    good: bool
    summary: str
    remarks: tuple[Remark, ...] = ()


async def launched(path: Path, *options: str) -> Launched:
    """Runs a file as its //@ run comments say."""
    process = await asyncio.create_subprocess_exec(
        *command("run", str(path), "--json", *options), env=environment(), cwd=path.parent,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    except TimeoutError:
        process.kill()
        await process.wait()
        return Launched(False, f"{path.name}: the run was stopped after {PATIENCE:.0f} seconds")
    try:
        said = json.loads(out)
    except ValueError:
        last = err.decode(errors="replace").strip() or "nothing says how to launch this file: write a //@ run comment"
        return Launched(False, f"{path.name}: {last.splitlines()[0]}")
    if isinstance(said, dict):
        return Launched(False, f"{path.name}: {said.get('error', {}).get('message', '')}")
    return _told(path, said)


def _told(path: Path, runs: list[dict[str, Any]]) -> Launched:
    remarks = [r for run in runs for r in _remarks(path, run)]
    checked = sum(run["checked"] for run in runs)
    failed = sum(bool(run["code"]) for run in runs)
    words = [f"{checked} check{'s' * (checked != 1)} passed" if not failed else f"{failed} of {len(runs)} runs failed"]
    found = sum(r.source == "warplab sanitize" for r in remarks)
    if found:
        words.append(f"{found} finding{'s' * (found != 1)}")
    return Launched(not failed and not found, f"{path.name}: {', '.join(words)}", tuple(remarks))


def _remarks(path: Path, run: dict[str, Any]) -> list[Remark]:
    out = []
    for f in run["findings"]:
        line, other = _line(path, f["line"], f["source"]), _line(path, f["other_line"], f["other_source"])
        said = "\n".join(filter(None, (f["message"], f["nearby"], f["help"] and f"help: {f['help']}")))
        severity: Literal["error", "information"] = "error" if f["severity"] == "error" else "information"
        out.append(Remark(line, severity, "warplab sanitize", f["kind"], said, other, f["other_instruction"]))
    m = _PLACE.search(run["failure"])
    if run["failure"] and not out:
        line = _line(path, int(m[1]) if m else run["line"], f"{m[2]}:{m[3]}" if m and m[2] else "")
        out.append(Remark(line, "error", "warplab run", run["error"], run["failure"]))
    for wrong in run["mismatches"]:
        index = "".join(f"[{i}]" for i in wrong["index"] or ())
        said = f"expect {wrong['expect']}: {wrong['wrong']} of {wrong['of']} elements differ"
        if wrong["got"]:
            said += f"; {wrong['buffer']}{index} is {wrong['got']}, not {wrong['wanted']}"
        out.append(Remark(max(run["line"], 1), "error", "warplab run", "expect", said))
    return out


def _line(path: Path, line: int | None, source: str) -> int:
    """The line of the file itself: of CUDA C++ that of its .loc."""
    name, _, number = source.rpartition(":")
    if name and number.isdigit() and Path(name).name == path.name:
        return int(number)
    return 1 if path.suffix == ".cu" else line or 1
