"""The calls that a thread has open."""

from __future__ import annotations

from ..recording.questions import OpenCall
from .adapter import Adapter


def calls_of(a: Adapter, lane: int) -> list[OpenCall]:
    """The open calls of a thread, the innermost first; of one that has ended the one that it was in."""
    rec, step = a.rec, a.session.step
    found = rec.backtrace(lane, step)
    if not found and (last := rec.previous_step(lane, step)) is not None:
        i = rec.columns.instruction(last)
        return [OpenCall(i.function, last, i)]
    return found
