"""Work that has not ended: launches whose lanes only spin, and whatever streams were given behind them.

All other work ends inside the call that gives it, so there is hardly ever any.  A launch that only spins goes on when memory may have
changed: other work has run, the host has written memory that both see.  The order is the same every time: of the pieces that may run, one of
the stream with the highest priority, and of those the one that was given first.  The host that waits for work which nothing can change any
more ends it: a deadlock.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from warplab.assembler.demangle import short_name
from warplab.interpreter.faults import Deadlock, ExecutionError

from ...errors import ApiError, code_of
from ..memory.allocations import AddressSpace
from ..memory.host import host
from ..state import DeviceState

Steps = Iterator[Deadlock]  # work in pieces: between two of them it waits for a change of memory
Work = Callable[[], Steps | None]
HOST = "HOST"  # the kind of work that only a thread of the program can do


class WaitingStream(Protocol):
    """A stream, as its work knows it."""

    priority: int  # the lower the number, the higher

    @property
    def context(self) -> DeviceState:
        """What it belongs to."""

    @property
    def title(self) -> str:
        """How people know it."""

    def is_ordered_with(self, other: Any) -> bool:
        """Does the legacy default stream, which one of them is, order their work?"""


@dataclass(eq=False)
class PendingWork:
    """A piece of a stream's work."""

    stream: WaitingStream
    kind: str
    work: Work
    after: list[PendingWork]
    steps: Steps | None = None  # once it has begun
    standstill: Deadlock | None = None
    seen: object = None  # the state of memory before it ran last; None: not known
    done: bool = False

    def advance(self) -> bool:
        """Does it, as far as that goes; was anything done?"""
        begins = self.steps is None
        if begins:
            self.steps = self.work()
        self.standstill = None if self.steps is None else next(self.steps, None)
        self.done = self.standstill is None
        return begins or self.standstill is None or self.standstill.moved

    def drop(self) -> None:
        """It will not be done."""
        self.done = True
        if self.steps is not None:
            self.steps.close()  # type: ignore[attr-defined]

    def held_by(self) -> list[PendingWork]:
        """It, and all that it waits for."""
        return [self, *(x for p in self.after if not p.done for x in p.held_by())]


@dataclass(eq=False)
class WorkQueue:
    """All such work, in the order in which it was given."""

    pieces: list[PendingWork] = field(default_factory=list)
    changes: int = 0  # pieces that have changed memory
    running: bool = False  # does a thread see to it?

    def give(self, stream: WaitingStream, kind: str, work: Work, after: Sequence[PendingWork] = ()) -> PendingWork:
        """A stream's next piece of work: it is done now, unless it has to wait."""
        piece = PendingWork(
            stream, kind, work, [*self.of_stream(stream), *(p for p in after if not p.done)] if self.pieces or after else []
        )
        if piece.after or (self.pieces and self.running):
            self.pieces.append(piece)
            self.progress()
            return piece
        idle = not self.pieces
        piece.advance()
        if not piece.done:
            self.pieces.append(piece)
        if not idle:
            self.changes += 1
            self.progress()
        return piece

    def of_stream(self, stream: WaitingStream) -> list[PendingWork]:
        """What the next work of a stream comes behind; the legacy default stream orders its work with that of others."""
        return [p for p in self.pieces if not p.done and (p.stream is stream or p.stream.is_ordered_with(stream))]

    def of_context(self, context: DeviceState) -> list[PendingWork]:
        """All work of a context."""
        return [p for p in self.pieces if not p.done and p.stream.context is context]

    def progress(self, speaks: bool = True) -> None:
        """Does what can be done now; where the program can't be spoken to, without the functions of the host."""
        if self.running or not self.pieces:
            return
        self.running = True
        try:
            turned: set[PendingWork] = set()  # those that may get on by themselves do so once
            while (piece := next((p for p in self._by_priority() if self._may_run(p, speaks, turned)), None)) is not None:
                turned.add(piece)
                self._advance(piece)
        finally:
            self.running = False

    def _by_priority(self) -> list[PendingWork]:
        """All pieces in the order in which they are looked at; priorities are not for copies."""
        return sorted(self.pieces, key=lambda p: 0 if p.kind == "MEMCPY" else p.stream.priority)

    def _may_run(self, piece: PendingWork, speaks: bool, turned: set[PendingWork]) -> bool:
        if any(not p.done for p in piece.after):
            return False
        if piece.standstill is None:
            return speaks or piece.kind != HOST
        return piece.seen != self._state() or (speaks and piece.standstill.turns and piece not in turned)

    def _advance(self, piece: PendingWork) -> None:
        context = piece.stream.context
        piece.seen = self._state()  # before it runs: what the host writes meanwhile may come too late for it
        if context.is_dropping:
            piece.drop()
        else:
            try:
                self.changes += piece.advance()
            except ApiError as e:
                piece.done = True
                context.pending = context.pending or e
        if piece.done:
            self.pieces.remove(piece)

    def _state(self) -> object:
        """What changes whenever memory may have: how much has been done, and what the host may have written."""
        spaces: dict[int, AddressSpace] = {id(p.stream.context.space): p.stream.context.space for p in self.pieces}
        written = 0
        for space in spaces.values():
            for arena in space.host_arenas():
                for a in arena.living():
                    written = zlib.crc32(arena.bytes[a.start - arena.base : a.end - arena.base].data, written)
        return self.changes, written

    def wait(self, wanted: Callable[[], Sequence[PendingWork]], what: str) -> None:
        """The host waits for some pieces; those that nothing can change any more end in a deadlock."""
        if not self.pieces:
            return
        self.progress()
        if not wanted():
            return
        patience = host().patience()
        while left := wanted():
            held = [x for p in left for x in p.held_by() if x.standstill is not None]
            if next(patience, None) is None:
                if not any(x.standstill and x.standstill.turns for x in held):
                    self._end(held, what)
                    return
                patience = host().patience()
            self.progress()

    def _end(self, held: Sequence[PendingWork], what: str) -> None:
        """Nothing changes any more: the first of these pieces ends in a deadlock, and what its context has left is dropped."""
        first = next(p for p in self.pieces if p in held)
        others = [p for p in self.pieces if p.standstill is not None and p is not first]
        assert first.standstill is not None and first.steps is not None
        names = ", ".join(f"{short_name(p.standstill.kernel)} in {p.stream.title}" for p in others if p.standstill and p.standstill.kernel)
        words = [
            first.standstill.note,
            f"it is in {first.stream.title}, and the host waits for {what}",
            names and f"these spin, too: {names}",
        ]
        first.standstill.note = "; ".join(filter(None, words))
        try:
            first.steps.throw(first.standstill)  # type: ignore[attr-defined]
        except StopIteration:
            pass
        except ExecutionError as e:
            first.stream.context.pending = ApiError(code_of(e), str(e), e)
        self.drop(first.stream.context)

    def left(self) -> str:
        """What is left when the host has ended, in words: what spins, and how much comes behind it; nothing where all is done."""
        spinning = [p for p in self.pieces if not p.done and p.standstill is not None]
        lines = []
        for p in spinning:
            assert p.standstill is not None
            _, *waits = str(p.standstill).splitlines()
            title = f"kernel {short_name(p.standstill.kernel)}" if p.standstill.kernel else "work"
            behind = sum(1 for q in self.pieces if q is not p and p in q.held_by())
            lines += [f"{title} in {p.stream.title} had not ended when the program did: nobody waited for it", *waits]
            lines += [f"  {behind} pieces of work behind it were not begun"] if behind else []
        return "\n".join(lines)

    def drop(self, context: DeviceState) -> None:
        """What a context has left will not be done."""
        for piece in self.of_context(context):
            piece.drop()
        self.pieces = [p for p in self.pieces if not p.done]

    def clear(self) -> None:
        """There is no such work."""
        self.pieces, self.running = [], False


QUEUE = WorkQueue()
