"""Verdicts of the assembler under test, of CUDA C++ those of its compiler; `--update` rewrites them.

No line moves: a new verdict stands behind its instruction or at the end of the file, one that is gone leaves its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import ApiError
from ..sources import CPP, program_of
from .collect import Case, Failed
from .directives import Place, Verdict, quoted
from .record import append, edit, read_lines, write_lines


@dataclass(frozen=True, slots=True)
class Reported:
    """What is said of a line, and how a person reads it."""

    severity: str
    line: int
    code: str
    message: str
    shown: str


def compare_verdicts(case: Case, verdicts: tuple[Verdict, ...], update: bool) -> bool:
    """Holds what is said of a file against its directives; True where these were rewritten."""
    found = _of_compiler(case) if case.path.suffix == CPP else _of_assembler(case)
    left = [d for d in found if d.severity == "error" or any(v.severity == "warning" for v in verdicts)]
    problems, missing = [], []
    for v in verdicts:
        for d in left:
            if d.severity == v.severity and d.line == v.line and v.code in ("", d.code) and v.text.lower() in d.message.lower():
                left.remove(d)
                break
        else:
            wanted = f"{v.severity}{f'[{v.code}]' if v.code else ''}{f' {v.text!r}' if v.text else ''}"
            at = "; ".join(f"{_word(d)}: {d.message}" for d in found if d.line == v.line)
            problems.append(f"line {v.line}: {wanted} is not reported" + (f"; reported: {at}" if at else ""))
            missing.append(v)
    new = [d for d in left if d.severity == "error"]
    problems += [f"not expected:\n{d.shown}" for d in new]
    if problems and not update:
        raise Failed("\n".join(problems))
    if problems:
        rewrite_verdicts(case.path, missing, new)
    return bool(problems)


def _of_assembler(case: Case) -> list[Reported]:
    from warplab.assembler import check

    text = case.text.decode(errors="replace")
    found = check(case.text.decode("utf-8", "surrogateescape"))
    return [Reported(d.severity, d.span.line, d.code, d.message, d.render(text, str(case.path))) for d in found]


def _of_compiler(case: Case) -> list[Reported]:
    from ..compilers.messages import messages

    name = str(case.path)
    try:
        log = program_of(name, case.text).log
    except ApiError as e:
        log = e.message
    return [Reported(m.severity, m.line, m.code, m.message, f"{name}({m.line}): {m.severity}: {m.message}") for m in messages(log, name)]


def _word(f: Reported) -> str:
    return f"{f.severity}[{f.code}]" if f.code else f.severity


def rewrite_verdicts(path: Path, gone: Sequence[Verdict], new: Sequence[Reported]) -> None:
    """Takes out the verdicts that don't hold, and puts in those that are given."""
    edit(path, {Place(v.at): "" for v in gone})
    lines = read_lines(path)
    for d in new:
        n = d.line
        if 1 <= n <= len(lines) and "//" not in lines[n - 1]:
            lines[n - 1] = f"{lines[n - 1].rstrip()}  //@ {_word(d)} {quoted(d.message)}"
        else:
            append(lines, f"//@ {_word(d)} {n}: {quoted(d.message)}")
    write_lines(path, lines)
