"""Recorded outputs: NAME.golden.npz beside NAME.ptx, keys `run1.c`; small ones stand in the file, `//@ golden c = [1, 2, 3]`.

Without tolerances in the run they are compared bit for bit, NaN equal to NaN.  rewrite() makes the record what a run gave; it keeps the
number of lines of a file, so that directives that count lines stay right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..reports.tables import table
from ..run.expect import agree, show
from ..run.inputs.values import as_numbers
from ..run.outcome import Outcome
from .directives import Golden, Place, RunCheck, quoted

Array = NDArray[Any]
SHOWN = 8  # elements of a difference


def npz_of(path: Path) -> Path:
    """Where the recorded outputs of a file lie."""
    return path.with_suffix(".golden.npz")


def recorded(path: Path) -> dict[str, Array]:
    """The recorded outputs of a file."""
    found = npz_of(path)
    if not found.is_file():
        return {}
    with np.load(found, allow_pickle=False) as data:
        return {k: data[k] for k in data.files}


class GoldenDifference(NamedTuple):
    """What is not as it was recorded, and the first element that differs: y[8]."""

    text: str
    element: str = ""


def compare(path: Path, check: RunCheck, outcome: Outcome, record: Mapping[str, Array]) -> list[GoldenDifference]:
    """What differs from the file itself and from the recorded outputs beside it."""
    out: list[GoldenDifference] = []
    inline = [g for g in check.goldens if g.values is not None]
    for g in inline:
        b = _buffer(outcome, g)
        wanted = _parse(g, b)
        out += difference(g.name, wanted, b, check)
    kept = {k.partition(".")[2]: v for k, v in record.items() if k.startswith(f"run{check.number}.")}
    for g in check.goldens:
        for name in _names(outcome, g) if g.values is None else ():
            if name not in kept:
                out.append(GoldenDifference(f"{npz_of(path).name} holds no {name} of run {check.number}: record it with --update"))
    for name, wanted in kept.items():
        found = outcome.buffers.get(name)
        if found is None or found.after is None:
            out.append(GoldenDifference(f"{npz_of(path).name} holds {name}, which is not a buffer of run {check.number}"))
        else:
            out += difference(name, wanted, found.after, check)
    return out


def difference(name: str, wanted: Array, got: Array, check: RunCheck) -> list[GoldenDifference]:
    """A table of the first elements that differ."""
    if wanted.size != got.size:
        return [GoldenDifference(f"golden {name}: {got.size} elements, {wanted.size} are recorded")]
    equal = agree(got, wanted.reshape(got.shape).astype(got.dtype, copy=False), check.spec.tolerance)
    if equal.all():
        return []
    where = np.argwhere(~equal)
    rows = [(str(list(map(int, at)))[1:-1], show(wanted.reshape(got.shape)[tuple(at)]), show(got[tuple(at)])) for at in where[:SHOWN]]
    lines = [f"golden {name}: {len(where)} of {got.size} elements differ"]
    lines += [f"  {line}" for line in table(("at", "recorded", "got"), rows, left=0).splitlines()]
    if len(where) > SHOWN:
        lines.append(f"  ... and {len(where) - SHOWN} more")
    return [GoldenDifference("\n".join(lines), name + "".join(f"[{n}]" for n in where[0].tolist()))]


def rewrite(path: Path, check: RunCheck, outcome: Outcome, printed: str) -> bool:
    """Makes the record what the run gave; True where that changed a file."""
    edits: dict[Place, str] = {}
    if check.prints is not None and check.prints != printed:
        parts = printed.splitlines(True)
        last = len(check.prints_at) - 1  # one line each, and the last directive takes the rest
        edits |= {at: f"prints {quoted(''.join(parts[n:] if n == last else parts[n : n + 1]))}" for n, at in enumerate(check.prints_at)}
    if not check.goldens or not compare(path, check, outcome, recorded(path)):
        edit(path, edits)
        return bool(edits)
    for g in check.goldens:
        if g.values is not None:
            values = ", ".join(show(x) for x in _buffer(outcome, g).ravel())
            edits[g.at] = f"golden {g.name} = [{values}]"
    edit(path, edits)
    names = [n for g in check.goldens if g.values is None for n in _names(outcome, g)]
    if names:
        kept = {k: v for k, v in recorded(path).items() if not k.startswith(f"run{check.number}.")}
        kept |= {f"run{check.number}.{n}": after for n in names if (after := outcome.buffers[n].after) is not None}
        with npz_of(path).open("wb") as file:
            np.savez_compressed(file, **kept)  # type: ignore[arg-type]
    return True


def edit(path: Path, edits: Mapping[Place, str]) -> None:
    """Writes directives anew, each in its line; an empty one goes, and leaves what stands before it."""
    for beside, mark in ((False, "//@"), (True, "#@")):
        chosen = {at.line: text for at, text in edits.items() if at.beside is beside}
        if not chosen:
            continue
        file = path.with_suffix(".toml") if beside else path
        lines = read_lines(file)
        for n, text in chosen.items():
            head = lines[n - 1].partition(mark)[0]
            lines[n - 1] = f"{head}{mark} {text}" if text else head.rstrip() or mark[:-1]
        write_lines(file, lines)


def _names(outcome: Outcome, g: Golden) -> list[str]:
    return [g.name] if g.name else [b.name for b in outcome.buffers.values() if b.way in ("out", "inout") or b.changed]


def _buffer(outcome: Outcome, g: Golden) -> Array:
    b = outcome.buffers.get(g.name)
    if b is None or b.after is None:
        raise UsageError(f"line {g.at.line}: golden {g.name}: the buffers are {' '.join(outcome.buffers) or 'none'}")
    return as_numbers(b.after, b.type)


def _parse(g: Golden, like: Array) -> Array:
    assert g.values is not None
    words = g.values.strip().strip("[]").replace(",", " ").split()
    try:
        return np.array([float(w) if like.dtype.kind == "f" else int(w, 0) for w in words]).astype(like.dtype)
    except (ValueError, OverflowError):
        raise UsageError(f"line {g.at.line}: golden {g.name}: {g.values!r} is not a list of numbers") from None


def append(lines: list[str], line: str) -> None:
    """Adds a line at the end of a file."""
    if lines and not lines[-1]:
        lines.insert(len(lines) - 1, line)
    else:
        lines += [line, ""]


def read_lines(path: Path) -> list[str]:
    """The lines of a file, whatever its bytes."""
    return path.read_bytes().decode(errors="surrogateescape").split("\n")


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Writes what read_lines gave."""
    path.write_bytes("\n".join(lines).encode(errors="surrogateescape"))
