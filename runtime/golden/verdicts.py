"""Verdicts of the assembler under test; `--update` rewrites them.

No line moves: a new verdict stands behind its instruction or at the end of the file, one that is gone leaves its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from warplab.assembler.diagnostics import Diagnostic

from .collect import Case, Failed
from .directives import Place, Verdict, quoted
from .record import append, edit, read_lines, write_lines


def compare_verdicts(case: Case, verdicts: tuple[Verdict, ...], update: bool) -> bool:
    """Holds what the assembler says of a file against its directives; True where these were rewritten."""
    from warplab.assembler import check

    found = check(case.text.decode("utf-8", "surrogateescape"))
    left = [d for d in found if d.severity == "error" or any(v.severity == "warning" for v in verdicts)]
    problems, missing = [], []
    for v in verdicts:
        for d in left:
            if d.severity == v.severity and d.span.line == v.line and v.code in ("", d.code) and v.text.lower() in d.message.lower():
                left.remove(d)
                break
        else:
            wanted = f"{v.severity}{f'[{v.code}]' if v.code else ''}{f' {v.text!r}' if v.text else ''}"
            at = "; ".join(f"{d.severity}[{d.code}]: {d.message}" for d in found if d.span.line == v.line)
            problems.append(f"line {v.line}: {wanted} is not reported" + (f"; reported: {at}" if at else ""))
            missing.append(v)
    text = case.text.decode(errors="replace")
    new = [d for d in left if d.severity == "error"]
    problems += [f"not expected:\n{d.render(text, str(case.path))}" for d in new]
    if problems and not update:
        raise Failed("\n".join(problems))
    if problems:
        rewrite_verdicts(case.path, missing, new)
    return bool(problems)


def rewrite_verdicts(path: Path, gone: Sequence[Verdict], new: Sequence[Diagnostic]) -> None:
    """Takes out the verdicts that don't hold, and puts in those that the assembler gives."""
    edit(path, {Place(v.at): "" for v in gone})
    lines = read_lines(path)
    for d in new:
        n = d.span.line
        if 1 <= n <= len(lines) and "//" not in lines[n - 1]:
            lines[n - 1] = f"{lines[n - 1].rstrip()}  //@ {d.severity}[{d.code}] {quoted(d.message)}"
        else:
            append(lines, f"//@ {d.severity}[{d.code}] {n}: {quoted(d.message)}")
    write_lines(path, lines)
