"""What is learnt about kernels, in this process and in earlier ones: kept beside their compiled code."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from ...launch import Launch
from ..store import ObjectStore, folder
from . import at_end

VERSION = "notes 1"
NOTED = 0.15  # seconds on numpy, from which on a later process may gain by compiled code
CHANGED = 0.25  # of what was kept, from which on it is kept anew


@dataclass(slots=True)
class KernelNote:
    """What one process has found."""

    seconds: float = 0.0  # that its launches take on numpy
    rate: float = 0.0  # seconds on numpy for one step of a launch
    writing: float = 0.0  # seconds to write the kernel down for the compiler; 0: unknown
    kept: bool = False  # its code is on disk, or a process makes it

    def says_the_same(self, other: KernelNote) -> bool:
        """Would a later process decide alike?"""
        return self.kept == other.kept and abs(self.seconds - other.seconds) < CHANGED * other.seconds


class KernelNotes:
    """Of one kernel: the note of an earlier process, and what comes to it in this one."""

    def __init__(self, key: str, store: ObjectStore) -> None:
        self._key, self._store = key, store
        self.before = KernelNote()
        raw = store.get(key)
        if raw is not None:
            with contextlib.suppress(ValueError, TypeError):
                self.before = KernelNote(**json.loads(raw))
        b = self.before
        self.writing, self.kept = b.writing, b.kept
        self.seconds = 0.0  # that numpy has run it
        self.numpy_steps = self.steps = 0  # of launches: on numpy, on both engines
        self._last: tuple[Any, float] = None, 0.0  # the shape of the last launch, and its seconds on numpy

    def count(self, launch: Launch, seconds: float | None) -> None:
        """A launch has ended, all of it on numpy in so many seconds, or not."""
        self.steps += launch.steps
        if seconds is not None:
            self.numpy_steps += launch.steps
            self._last = (launch.grid, launch.block), seconds

    def seconds_before(self, launch: Launch) -> float:
        """Of the launch before on numpy, if it was as large; else 0."""
        shape, seconds = self._last
        return seconds if shape == (launch.grid, launch.block) else 0.0

    def note(self) -> KernelNote:
        """For later processes."""
        rate = self.seconds / self.numpy_steps if self.numpy_steps else self.before.rate
        return KernelNote(rate * self.steps, rate, self.writing, self.kept)

    def write(self) -> None:
        """Keeps the note, if it says something new of a kernel that was worth writing down, or may be for a later process."""
        now = self.note()
        if (self.writing or now.seconds > NOTED) and self.steps and not now.says_the_same(self.before):
            self._store.put(self._key, json.dumps(asdict(now)).encode())
            self.before = now


def notes_of(launch: Launch, code: str = "") -> KernelNotes:
    """The notes on the kernel of a launch, compiled as it is or to code of another kind."""
    function, modules = launch.kernel.function, launch.kernel.program.modules
    text = next((m.text[function.span.start : function.span.end] for m in modules if m.functions.get(function.name) is function), "")
    key = hashlib.sha256("\0".join((VERSION + code, text, repr(launch.lowering), launch.kernel.program.fmad)).encode()).hexdigest()
    place = folder()
    found = _all.get((place, key))
    if found is None:
        found = _all[place, key] = KernelNotes(key, ObjectStore(place))
    return found


_all: dict[Any, KernelNotes] = {}


@at_end
def write_all() -> None:
    """Keeps what this process has found."""
    for notes in _all.values():
        notes.write()
