"""Recordings from Python: `with recording() as rec:` leaves one recording of each launch in `rec.launches`.

It works on every context that launches inside the block, whichever API gave the launch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from warplab.interpreter.recorder.recorder import LIMIT, Recorder

from ..device.launches.observing import observing
from .questions import Recording


@dataclass(slots=True, eq=False)
class Recordings:
    """What was launched so far."""

    recorders: list[Recorder]
    _made: dict[int, Recording] = field(default_factory=dict)

    @property
    def launches(self) -> list[Recording]:
        """A recording of each launch that has begun; of one with a fault up to the fault."""
        out = []
        for r in self.recorders:
            if r.track is not None:
                if id(r) not in self._made:
                    self._made[id(r)] = Recording(r.finish())
                out.append(self._made[id(r)])
        return out

    def __repr__(self) -> str:
        return f"<Recordings of {len(self.recorders)} launches>"


@contextmanager
def recording(limit: int = LIMIT, blocks: Collection[int] | None = None) -> Iterator[Recordings]:
    """Records every launch inside the with statement, in at most `limit` bytes each; `blocks`: only these, by their numbers."""
    with observing(lambda _: Recorder(limit, blocks)) as recorders:
        yield Recordings(recorders)
