"""Places in the text of a recorded program: lines, labels, functions, and lines of the source that .loc names."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches
from pathlib import PurePath

from warplab.assembler.demangle import matching, short_name
from warplab.interpreter.recorder.layout import RecordedInstruction

from ..errors import UsageError
from .questions import Recording

_CODE = re.compile(r"\s*\{?\s*(?:[\w$]+:\s*)?(?:@!?\S+\s+)?[a-z][a-z0-9]*(?:\.[\w:]+)*(?:\s|;)")
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)(?:\s+\d+)?(?:.*\binlined_at\s+(\d+)\s+(\d+))?")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"\n]*)"', re.M)


def instructions_at(rec: Recording, place: str) -> frozenset[int]:
    """The numbers of the instructions at a place: `43` a line, `done` a label, `vecadd` a function, `kernel.cu:17` a line of the source."""
    file, colon, line = place.rpartition(":")
    if colon and line.isdecimal() and not file.isdecimal():
        name = PurePath(file).name
        modules = [n for n, (m, _) in enumerate(rec.track.texts) if m == file or PurePath(m).name == name]
        if modules and not any(PurePath(f).name == name for f in source_files(rec)):
            return on_line(rec, int(line), modules)
        return on_source_line(rec, file, int(line))
    if place.isdecimal():
        return on_line(rec, int(place))
    for function, labels in rec.track.labels.items():
        if place in labels:
            return _on_line(rec, labels[place], place, lambda i, f=function: i.function == f)  # type: ignore[misc]
    functions = [place] if place in rec.track.labels else matching(list(rec.track.labels), place)
    if functions:
        first = {f: _behind_prologue(rec, f) for f in functions}
        return _chosen(rec, lambda i: first.get(i.function) == i.line, f"{place} was not executed")
    known = [*map(short_name, rec.track.labels), *(label for labels in rec.track.labels.values() for label in labels)]
    near = get_close_matches(place, known, 1)
    raise UsageError(
        f"there is no line, label or function {place}" + (f"; did you mean {near[0]}?" if near else f"; there are {' '.join(known[:12])}")
    )


def on_line(rec: Recording, line: int, modules: Collection[int] | None = None) -> frozenset[int]:
    """The instructions on a line of the PTX, or on the next one that has some; UsageError where they were not executed."""
    among = range(len(rec.track.texts)) if modules is None else modules
    wanted = _next((n for m in among for n, code, _ in _lines(rec.track.texts[m][1]) if code), line)
    return _chosen(rec, lambda i: i.line == wanted and i.module in among, _why_not(line, wanted))


def on_source_line(rec: Recording, file: str, line: int) -> frozenset[int]:
    """The same of a line of the source, of which .loc may name another folder."""
    name = PurePath(file).name
    if not any(PurePath(f).name == name for f in source_files(rec)):
        raise UsageError(f"no .loc of the PTX names a file {name}")
    wanted = _next(_source_lines(rec, name), line)

    def is_there(i: RecordedInstruction) -> bool:
        source, _, number = i.source.rpartition(":")
        return number == str(wanted) and PurePath(source).name == name

    return _chosen(rec, is_there, f"{name}: {_why_not(line, wanted)}")


def source_files(rec: Recording) -> list[str]:
    """The files that .loc names, as .file has them."""
    return list(dict.fromkeys(path for _, text in rec.track.texts for _, path in _FILE.findall(text)))


def source_lines(rec: Recording, file: str) -> list[int]:
    """The lines of a source for which there are instructions, executed or not."""
    return sorted(set(_source_lines(rec, PurePath(file).name)))


def code_lines(rec: Recording, module: int) -> list[int]:
    """The lines of the PTX that hold instructions."""
    return [n for n, code, _ in _lines(rec.track.texts[module][1]) if code]


def _source_lines(rec: Recording, name: str) -> Iterator[int]:
    for _, text in rec.track.texts:
        numbers = {number for number, path in _FILE.findall(text) if PurePath(path).name == name}
        for _, code, locations in _lines(text):
            if code:
                yield from (int(line) for file, line in locations if file in numbers and line != "0")


def _behind_prologue(rec: Recording, function: str) -> int:
    """The line of the first instruction of a function; with DWARF, of the first one that is not about its arguments, as debuggers have it."""
    own = sorted((i.module, i.line) for i in rec.track.instructions if i.function == function)
    if not own:
        return 0
    module, first = own[0]
    text = rec.track.texts[module][1]
    if ".debug_info" not in text:
        return first
    lines = text.splitlines()
    begin = next((m for n in range(first - 1, -1, -1) if (m := _LOC.match(lines[n])) is not None), None)
    if begin is None or not begin[0].rstrip().endswith(" 0"):  # compilers write column 0 where a function begins
        return first
    there = {line for _, line in own}
    for n in range(first, max(there)):
        m = _LOC.match(lines[n - 1])
        if m is not None and m[0] != begin[0]:
            return min((line for line in there if line > n), default=first)
    return first


def _lines(text: str) -> Iterator[tuple[int, bool, tuple[tuple[str, str], ...]]]:
    """Each line's number, whether it holds an instruction, and the files and lines of the .loc in force."""
    locations: tuple[tuple[str, str], ...] = ()
    for n, line in enumerate(text.splitlines(), 1):
        if (m := _LOC.match(line)) is not None:
            locations = ((m[1], m[2]), *([(m[3], m[4])] if m[3] else []))
        yield n, _CODE.match(line) is not None, locations


def _next(lines: Iterator[int], line: int) -> int | None:
    return min((n for n in lines if n >= line), default=None)


def _why_not(line: int, wanted: int | None) -> str:
    return f"there is no instruction at or behind line {line}" if wanted is None else f"line {wanted} was not executed"


def _on_line(rec: Recording, line: int, place: str, where: Callable[[RecordedInstruction], bool]) -> frozenset[int]:
    """The instructions behind a label, as far as the next one that was executed."""
    lines = sorted({i.line for i in rec.track.instructions if i.line >= line and where(i)})
    if not lines:
        raise UsageError(f"no instruction at or behind {place} was executed")
    return _chosen(rec, lambda i: i.line == lines[0] and where(i), "")


def _chosen(rec: Recording, where: Callable[[RecordedInstruction], bool], why: str) -> frozenset[int]:
    """The instructions that begin a place: of several in a row, the first one."""
    order = sorted(range(len(rec.track.instructions)), key=lambda n: _position(rec.track.instructions[n]))
    out, before = set(), None
    for n in order:
        i = rec.track.instructions[n]
        if where(i) and i.function != before:
            out.add(n)
        before = i.function if where(i) else None
    if not out:
        raise UsageError(why)
    return frozenset(out)


def _position(i: RecordedInstruction) -> tuple[int, int, int]:
    return i.module, i.line, i.column
