"""`// RUN:` lines: commands whose output is held against CHECK lines; `--update` records the output as such lines.

A single command of warplab is called in this process, any other command by shell.py.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from . import shell
from .collect import Case, Failed, Tool, cases_of
from .filecheck import Check, checks_of, match, unknown_checks, without_checks
from .filecheck_options import FileCheckOptions, OptionError, read_options
from .output import call
from .record import append, read_lines, write_lines

_SPECIAL = {"{{": "{{[{][{]}}", "[[": "{{[[][[]}}"}
_COMMENTED = re.compile(r"\s*(?://|#|;)\s*([A-Z]\w*)(?:-[A-Z\d-]+)?:")
_SHELL = frozenset({"&&", "||", ";", "|", "|&", "&", ">", ">>", "2>", "&>"})  # words with which a command is bash's
_FILECHECK = re.compile(r"^(?P<command>.*?)(?:\|\s*(?:filecheck|FileCheck)\b(?P<options>.*))?$")


def carry_out_tool(case: Case, tool: Tool, update: bool) -> bool:
    """Calls the command of a RUN line and holds its output against the CHECK lines; True where these were rewritten."""
    said = f"line {tool.line}: RUN"
    command, words, options = _read(tool.words, said, str(case.path))
    fails = words[:1] == ["not"]
    words = words[fails:]
    if words[:2] == ["warplab", "test"]:
        raise Failed(f"{said}: a test cannot run tests")
    before = case.path.read_bytes()
    if words:
        code, output, errors = _call(words[1:], said)
        command = shlex.join(words)
    else:
        try:
            code, output, errors = shell.run(command, case.path)
        except ValueError as e:
            raise Failed(f"{said}: {e}") from None
    if case.path.read_bytes() != before:
        case.path.write_bytes(before)
        raise Failed(f"{said}: {command} changes the test itself: write `warplab fmt - < %s`")
    if fails != (code != 0):
        raise Failed(f"{command}\nended with exit code {code}\n{(errors or output).rstrip()}", output + errors)
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


def _call(words: list[str], said: str) -> tuple[int, str, str]:
    """A command of warplab, with a file as standard input where it says `< FILE`."""
    data = b""
    if "<" in words[:-1]:
        at = words.index("<")
        try:
            data = Path(words[at + 1]).read_bytes()
        except OSError as e:
            raise Failed(f"{said}: {words[at + 1]}: {e.strerror}") from None
        words = words[:at] + words[at + 2 :]
    return call(words, data)


def _read(line: str, said: str, path: str) -> tuple[str, list[str], FileCheckOptions | None]:
    """The command of a RUN line, its words if it is a single command of warplab, and FileCheck's options; None where nothing is piped into it."""
    m = _FILECHECK.match(line)
    assert m is not None
    command = m["command"].strip()
    try:
        words = shlex.split(command)
        single = words[words[:1] == ["not"] :][:1] == ["warplab"] and not any(w in _SHELL or w.endswith(";") for w in words)
        single = single and not any(part in command for part in ("%t", "%T", "$", "`"))
        words = [shell.substituted(w, path) for w in words] if single else []
        options = None if m["options"] is None else read_options([shell.substituted(w, path) for w in shlex.split(m["options"])])
    except (ValueError, OptionError) as e:
        raise Failed(f"{said}: {e}") from None
    return command, words, options


def _run_lines(path: Path) -> list[tuple[str, FileCheckOptions | None]]:
    """The commands of all RUN lines that can be read, and FileCheck's options."""
    out = []
    for case in cases_of(path):
        if isinstance(case.what, Tool):
            with contextlib.suppress(Failed):
                out.append((case.what.words, _read(case.what.words, "", str(path))[2]))
    return out


def _refuse_unknown(path: Path, prefixes: Sequence[str], source: str) -> None:
    """Fails for a check that would be ignored, because its word is unknown and is not the prefix of another RUN line."""
    others = {p for _, options in _run_lines(path) for p in (options or FileCheckOptions()).prefixes} - set(prefixes)
    for line, word in unknown_checks(source, prefixes):
        if not any(f"{word}-".startswith(f"{other}-") for other in others):
            known = "-NEXT, -SAME, -NOT, -DAG, -EMPTY, -LABEL and -COUNT-n, and by {LITERAL}"
            raise Failed(f"{path}:{line}: {word} is unknown: {' or '.join(prefixes)} may be followed by {known}")
    for n, line_ in enumerate(source.splitlines(), 1):
        word = m[1] if (m := _COMMENTED.match(line_)) else ""
        if word and word not in {*prefixes, *others, "RUN", "XFAIL"} and (near := get_close_matches(word, prefixes, 1, 0.75)):
            raise Failed(f"{path}:{n}: {word} is no check; is {near[0]} meant?")


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
