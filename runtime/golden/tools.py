"""`// RUN:` lines: a command of warplab whose output is held against CHECK lines; `--update` records the output as such lines."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from .collect import Case, Failed, Tool, cases_of
from .filecheck import Check, checks_of, match, unknown_checks, without_checks
from .filecheck_options import FileCheckOptions, OptionError, read_options
from .output import call
from .record import append, read_lines, write_lines

_SPECIAL = {"{{": "{{[{][{]}}", "[[": "{{[[][[]}}"}
_SHELL = frozenset({"&&", "||", ";", "|", "|&", "&", ">", ">>", "2>", "&>"})
_FILECHECK = re.compile(r"^(?P<command>.*?)(?:\|\s*(?:filecheck|FileCheck)\b(?P<options>.*))?$")


def carry_out_tool(case: Case, tool: Tool, update: bool) -> bool:
    """Calls the command of a RUN line and holds its output against the CHECK lines; True where these were rewritten."""
    words, options = _read(tool.words, f"line {tool.line}: RUN", str(case.path))
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
    asked = options or FileCheckOptions()
    _refuse_unknown(case.path, asked.prefixes, source)
    checks = checks_of(source, asked.prefixes)
    text = without_checks(output + errors if fails or "2>&1" in words else output)
    if update:
        return _record(case, asked, checks, text)
    if options is not None and not checks and not options.nots:
        raise Failed(f"line {tool.line}: RUN: no line of the file begins with // {': or // '.join(asked.prefixes)}:; --update writes them")
    if options is None and any(given is not None and asked.prefixes[0] in given.prefixes for _, given in _run_lines(case.path)):
        return False  # these lines are about the output of another command, which is piped into FileCheck
    try:
        failure = match(checks, text, asked)
    except re.error as e:
        raise Failed(f"a {' or '.join(asked.prefixes)} line holds no regular expression that can be read: {e}") from None
    if failure is not None:
        lines = text.splitlines()
        around = range(max(1, failure.output_line - 2), min(len(lines), failure.output_line + 4) + 1)
        shown = "\n".join(f"  {'>' if n == failure.output_line else ' '} {n:4} | {lines[n - 1]}" for n in around)
        said = f"{failure.check.word}: {failure.check.pattern}" if failure.check.line else failure.check.word
        where = f"{case.path}:{failure.check.line or tool.line}"
        raise Failed(f"{where}: {said}\n  {failure.reason}; the output there:\n{shown}", text)
    return False


def _read(line: str, said: str, path: str) -> tuple[list[str], FileCheckOptions | None]:
    """The command of a RUN line, and FileCheck's options; None where nothing is piped into it."""
    m = _FILECHECK.match(line)
    assert m is not None
    try:
        words = [w if w in _SHELL else _substituted(w, path) for w in shlex.split(m["command"])]
        options = None if m["options"] is None else read_options([_substituted(w, path) for w in shlex.split(m["options"])])
    except (ValueError, OptionError) as e:
        raise Failed(f"{said}: {e}") from None
    if wrong := next((w for w in words if w in _SHELL), None):
        raise Failed(f"{said}: {wrong} is not supported: write one command of warplab, and | FileCheck behind it")
    return words, options


def _substituted(word: str, path: str) -> str:
    """A word with the test's file for %s and its folder for %S."""

    def value(m: re.Match[str]) -> str:
        known = {"%s": path, "%S": str(Path(path).parent), "%%": "%"}
        if m[0] not in known:
            raise ValueError(f"{m[0]} is not supported; there are %s, the test's file, and %S, its folder")
        return known[m[0]]

    return re.sub(r"%[%a-zA-Z]", value, word)


def _run_lines(path: Path) -> list[tuple[str, FileCheckOptions | None]]:
    """The commands of all RUN lines that can be read, and FileCheck's options."""
    out = []
    for case in cases_of(path):
        if isinstance(case.what, Tool):
            with contextlib.suppress(Failed):
                out.append((case.what.words, _read(case.what.words, "", str(path))[1]))
    return out


def _refuse_unknown(path: Path, prefixes: Sequence[str], source: str) -> None:
    """Fails for a check that would be ignored, because its word is unknown and is not the prefix of another RUN line."""
    others = {p for _, options in _run_lines(path) for p in (options or FileCheckOptions()).prefixes} - set(prefixes)
    for line, word in unknown_checks(source, prefixes):
        if not any(f"{word}-".startswith(f"{other}-") for other in others):
            known = "-NEXT, -SAME, -NOT, -DAG, -EMPTY, -LABEL and -COUNT-n, and by {LITERAL}"
            raise Failed(f"{path}:{line}: {word} is unknown: {' or '.join(prefixes)} may be followed by {known}")


def _record(case: Case, options: FileCheckOptions, checks: list[Check], text: str) -> bool:
    """Writes the output down where there are no CHECK lines yet, or where they repeated it as a whole."""
    if checks and match(checks, text, options) is None:
        return False
    prefix = options.prefixes[0]
    if [p for _, given in _run_lines(case.path) for p in (given or FileCheckOptions()).prefixes].count(prefix) > 1:
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
