"""`// RUN:` lines: a command of warplab whose output is held against CHECK lines; `--update` records the output as such lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from .collect import Case, Failed, Tool, cases_of
from .filecheck import Check, checks_of, match, unknown_checks, without_checks
from .output import call
from .record import append, read_lines, write_lines

_SPECIAL = {"{{": "{{[{][{]}}", "[[": "{{[[][[]}}"}
_FILECHECK = re.compile(r"^(?P<command>.*?)(?:\|\s*(?:filecheck|FileCheck)\b(?P<options>.*))?$")


def carry_out_tool(case: Case, tool: Tool, update: bool) -> bool:
    """Calls the command of a RUN line and holds its output against the CHECK lines; True where these were rewritten."""
    m = _FILECHECK.match(tool.words)
    assert m is not None
    try:
        words = [w.replace("%s", str(case.path)) for w in shlex.split(m["command"])]
        options = shlex.split(m["options"] or "")
    except ValueError as e:
        raise Failed(f"line {tool.line}: RUN: {e}") from None
    prefix = _prefix(options)
    fails = words[:1] == ["not"]
    words = words[fails:]
    if words[:1] != ["warplab"] or words[1:2] == ["test"]:
        raise Failed(f"line {tool.line}: RUN: only `warplab COMMAND ...` can be run, with `not` in front where it should fail")
    data = b""
    if "<" in words[:-1]:  # standard input, as in `warplab fmt - < %s`
        at = words.index("<")
        try:
            data = Path(words[at + 1]).read_bytes()
        except OSError as e:
            raise Failed(f"line {tool.line}: RUN: {words[at + 1]}: {e.strerror}") from None
        words = words[:at] + words[at + 2 :]
    before = case.path.read_bytes()
    code, output, errors = call(words[1:], data)
    if case.path.read_bytes() != before:
        case.path.write_bytes(before)
        raise Failed(f"line {tool.line}: RUN: {shlex.join(words)} changes the test itself: write `warplab fmt - < %s`")
    if fails != (code != 0):
        raise Failed(f"{shlex.join(words)}\nended with exit code {code}\n{(errors or output).rstrip()}", output + errors)
    source = case.text.decode(errors="replace")
    _refuse_unknown(case.path, prefix, source)
    checks = checks_of(source, prefix)
    text = without_checks(output + errors if fails or "2>&1" in words else output)
    if update:
        return _record(case, prefix, checks, text)
    try:
        failure = match(checks, text)
    except re.error as e:
        raise Failed(f"a {prefix} line holds no regular expression that can be read: {e}") from None
    if failure is not None:
        lines = text.splitlines()
        around = range(max(1, failure.output_line - 2), min(len(lines), failure.output_line + 4) + 1)
        shown = "\n".join(f"  {'>' if n == failure.output_line else ' '} {n:4} | {lines[n - 1]}" for n in around)
        kind = f"{prefix}-{failure.check.kind}" if failure.check.kind else prefix
        raise Failed(
            f"{case.path}:{failure.check.line}: {kind}: {failure.check.pattern}\n  {failure.reason}; the output there:\n{shown}", text
        )
    return False


def _prefix(options: list[str]) -> str:
    return next((o.partition("=")[2] for o in options if o.startswith("--check-prefix=")), "CHECK")


def _prefixes(path: Path) -> list[str]:
    """The prefix of each RUN line."""
    runs = [c.what.words for c in cases_of(path) if isinstance(c.what, Tool)]
    return [_prefix((m["options"] or "").split()) for words in runs if (m := _FILECHECK.match(words))]


def _refuse_unknown(path: Path, prefix: str, source: str) -> None:
    """Fails for a check that would be ignored, because its word is unknown and is no other RUN line's prefix."""
    for line, word in unknown_checks(source, prefix):
        if not any(f"{word}-".startswith(f"{other}-") for other in _prefixes(path) if other != prefix):
            known = "-NEXT, -SAME, -NOT, -DAG, -EMPTY, -LABEL and -COUNT-n"
            raise Failed(f"{path}:{line}: {word} is unknown: {prefix} may be followed by {known}")


def _record(case: Case, prefix: str, checks: list[Check], text: str) -> bool:
    """Writes the output down where there are no CHECK lines yet, or where they repeated it as a whole."""
    if checks and match(checks, text) is None:
        return False
    if _prefixes(case.path).count(prefix) > 1:
        raise Failed(f"several RUN lines share the {prefix} lines: give each its own with | filecheck --check-prefix=NAME")
    if not is_recorded(checks):
        raise Failed(f"the {prefix} lines do not hold, and were written by hand: change them there, or take them out and record all")
    record_checks(case.path, prefix, checks, text)
    return True


def is_recorded(checks: Sequence[Check]) -> bool:
    """Do the lines repeat a whole output, as record_checks writes it?  Hand-written ones are left to the hand that wrote them."""
    return all(c.kind == "" for c in checks[:1]) and all(c.kind in ("NEXT", "EMPTY") for c in checks[1:])


def record_checks(path: Path, prefix: str, old: Sequence[Check], output: str) -> None:
    """Writes an output as CHECK lines, where the old ones stand or at the end."""
    lines = read_lines(path)
    out: list[str] = []
    for line in output.rstrip().splitlines():
        kind = "" if not out else "-NEXT" if line.strip() else "-EMPTY"
        if out or line.strip():
            out.append(f"// {prefix}{kind}: {_literal(line, path)}".rstrip())
    if not old:
        for line in out:
            append(lines, line)
    else:
        at = old[0].line - 1
        drop = {c.line - 1 for c in old}
        lines = [
            *(x for n, x in enumerate(lines) if n < at and n not in drop),
            *out,
            *(x for n, x in enumerate(lines) if n > at and n not in drop),
        ]
    write_lines(path, lines)


def _literal(line: str, path: Path) -> str:
    text = re.sub("|".join(map(re.escape, _SPECIAL)), lambda m: _SPECIAL[m[0]], line.strip())
    return text.replace(str(path), "{{.*}}")
