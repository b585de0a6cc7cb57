"""`--update` of what is no buffer: verdicts of the assembler, and CHECK lines that repeat a tool's output.

No line moves: what is new stands behind its instruction or at the end of the file, what is gone leaves its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from warplab.assembler.diagnostics import Diagnostic

from .directives import Place, Verdict, quoted
from .filecheck import Check
from .record import edit

_SPECIAL = {"{{": "{{[{][{]}}", "[[": "{{[[][[]}}"}


def rewrite_verdicts(path: Path, gone: Sequence[Verdict], new: Sequence[Diagnostic]) -> None:
    """Takes out the verdicts that don't hold, and puts in those that the assembler gives."""
    edit(path, {Place(v.at): "" for v in gone})
    lines = _read(path)
    for d in new:
        n = d.span.line
        if 1 <= n <= len(lines) and "//" not in lines[n - 1]:
            lines[n - 1] = f"{lines[n - 1].rstrip()}  //@ {d.severity}[{d.code}] {quoted(d.message)}"
        else:
            _append(lines, f"//@ {d.severity}[{d.code}] {n}: {quoted(d.message)}")
    _write(path, lines)


def is_recorded(checks: Sequence[Check]) -> bool:
    """Do the lines repeat a whole output, as record_checks writes it?  Hand-written ones are left to the hand that wrote them."""
    return all(c.kind == "" for c in checks[:1]) and all(c.kind in ("NEXT", "EMPTY") for c in checks[1:])


def record_checks(path: Path, prefix: str, old: Sequence[Check], output: str) -> None:
    """Writes an output as CHECK lines, where the old ones stand or at the end."""
    lines = _read(path)
    out: list[str] = []
    for line in output.rstrip().splitlines():
        kind = "" if not out else "-NEXT" if line.strip() else "-EMPTY"
        if out or line.strip():
            out.append(f"// {prefix}{kind}: {_literal(line, path)}".rstrip())
    if not old:
        for line in out:
            _append(lines, line)
    else:
        at = old[0].line - 1
        drop = {c.line - 1 for c in old}
        lines = [
            *(x for n, x in enumerate(lines) if n < at and n not in drop),
            *out,
            *(x for n, x in enumerate(lines) if n > at and n not in drop),
        ]
    _write(path, lines)


def _literal(line: str, path: Path) -> str:
    text = re.sub("|".join(map(re.escape, _SPECIAL)), lambda m: _SPECIAL[m[0]], line.strip())
    return text.replace(str(path), "{{.*}}")


def _append(lines: list[str], line: str) -> None:
    if lines and not lines[-1]:
        lines.insert(len(lines) - 1, line)
    else:
        lines += [line, ""]


def _read(path: Path) -> list[str]:
    return path.read_bytes().decode(errors="surrogateescape").split("\n")


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_bytes("\n".join(lines).encode(errors="surrogateescape"))
