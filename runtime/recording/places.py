"""Places in the text of a recorded program: lines, labels, functions, and lines of the source that .loc names."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import PurePath

from warplab.interpreter.recorder.layout import RecordedInstruction

from ..errors import UsageError
from .questions import Recording


def instructions_at(rec: Recording, place: str) -> frozenset[int]:
    """The numbers of the instructions at a place: `43` a line, `done` a label, `vecadd` a function, `kernel.cu:17` a line of the source."""
    found = rec.track.instructions
    file, colon, line = place.rpartition(":")
    if colon and line.isdecimal() and not file.isdecimal():
        name = PurePath(file).name

        def at_source(i: RecordedInstruction) -> bool:
            source, _, number = i.source.rpartition(":")
            return number == line and PurePath(source).name == name

        if any(n == file or PurePath(n).name == name for n, _ in rec.track.texts) and not any(map(at_source, found)):
            return _on_line(rec, int(line), place, lambda i: PurePath(rec.track.texts[i.module][0]).name == name)
        return _chosen(rec, at_source, f"no instruction that was executed belongs to {place}")
    if place.isdecimal():
        return _on_line(rec, int(place), place, lambda i: True)
    for function, labels in rec.track.labels.items():
        if place in labels:
            return _on_line(rec, labels[place], place, lambda i, f=function: i.function == f)  # type: ignore[misc]
    if place in rec.track.labels:
        first = min((i.line for i in found if i.function == place), default=0)
        return _chosen(rec, lambda i: i.function == place and i.line == first, f"{place} was not executed")
    known = [*rec.track.labels, *(label for labels in rec.track.labels.values() for label in labels)]
    near = get_close_matches(place, known, 1)
    raise UsageError(
        f"there is no line, label or function {place}" + (f"; did you mean {near[0]}?" if near else f"; there are {' '.join(known[:12])}")
    )


def _on_line(rec: Recording, line: int, place: str, where: Callable[[RecordedInstruction], bool]) -> frozenset[int]:
    """The instructions on a line, or on the next one that was executed, as debuggers have it."""
    lines = sorted({i.line for i in rec.track.instructions if i.line >= line and where(i)})
    if not lines:
        raise UsageError(f"no instruction at or behind {place} was executed")
    return _chosen(rec, lambda i: i.line == lines[0] and where(i), "")


def _chosen(rec: Recording, where: Callable[[RecordedInstruction], bool], why: str) -> frozenset[int]:
    out = frozenset(n for n, i in enumerate(rec.track.instructions) if where(i))
    if not out:
        raise UsageError(why)
    return out
