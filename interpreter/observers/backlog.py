"""Accesses that wait for the caches: which may, and when all are followed at once.

All wait that load, store or change what the caches hold.  Where an access needs the caches as they are, and when many lanes wait, the
caches catch up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from .footprint import Footprint
from .fresh import Fresh
from .fresh_full import lost_in_full_l2
from .fresh_l1 import missed_in_l1
from .fresh_l2 import contested, lost_in_l2, overflows
from .fresh_marching import leaders
from .fresh_seen import Seen
from .fresh_short import Told, told_shortly
from .joint_l1 import JointCaches
from .joint_l2 import JointCache
from .rows import Rows
from .scattered import Scattered
from .strays import lane_by_lane
from .uses import WORD, Frame, Index, Numbers, Waiting, Way, count_of

if TYPE_CHECKING:
    from ..program import Kernel

LANES = 10 << 20  # that wait, as long as nobody was forgotten since the launch began
BATCH = 1 << 20  # lanes that are followed together if somebody was
CROWD = 8  # times as many lanes of one cache as it has lines
TURNS = 1 << 15  # accesses
FEW = 4  # accesses that are not worth following at once
PAST = 64  # accesses that were asked at once and are remembered

_pauses: WeakKeyDictionary[Kernel, int] = WeakKeyDictionary()
Name = tuple[int, int, int]  # the same for accesses that use the same
Asked = Callable[[Way, Footprint, int, Rows], tuple[int, int, int]]


class Backlog:
    """The accesses that wait, and what is known of the caches without them."""

    def __init__(self, l1: JointCaches, l2: JointCache, kernel: Kernel | None = None) -> None:
        self.l1, self.l2 = l1, l2
        self.written = 0  # sectors that became dirty
        self._waiting: list[Waiting] = []
        self._emptied: list[tuple[int, Index]] = []  # caches of L1 that forget everything before the access of a turn
        self._lanes = self._crowd = 0
        self._met: set[int] = set()  # footprints whose lanes were counted
        # Accesses that are not to wait: those who waited got in each other's way.
        self._alone = self._pause = _pauses.get(kernel, 0) if kernel is not None else 0
        self._kernel = kernel
        # Those who were asked at once, from the first on; None: some are not known any more.
        self._past: Seen | None = Seen()
        self._past_written = 0  # sectors that they made dirty
        self._chapters = False  # the caches know nothing; what was done to them is in `_past`
        self._used = 0  # lines that one cache may have been asked for
        # As many as there had been when all that an access uses was brought in, or was stored; and by whom.
        self._brought: dict[Name, int] = {}
        self._stored: dict[Name, tuple[int, int]] = {}

    @property
    def pauses(self) -> bool:
        """Is nobody to wait for the time being?"""
        return self._alone > 0

    def takes(self, f: Footprint) -> bool:
        """May this access wait?"""
        if self._alone:
            self._alone -= 1
            return False
        return f.count > 0

    def add(self, way: Way, f: Footprint, start: int, rows: Rows, ask: Asked) -> Waiting:
        """One more; `ask` asks the caches for one access alone."""
        limit = LANES if self._past is not None else BATCH
        if self._lanes > limit or (self._past is None and self._crowd > CROWD * self.l1.lines > 0) or len(self._waiting) >= TURNS:
            self.settle(ask, full=True)
        name, there, again, other, crowd = (id(f.same), start, id(rows)), False, False, False, 0
        if way is Way.LOAD or way is Way.STORE:
            crowd = f.most_lines(rows)
            oldest = self._used + crowd - self.l1.lines  # of what was used since then nothing has had to go
            there = self._brought.get(name, -1) >= max(oldest, 0)
            if way is Way.STORE and not there and (since := self._stored.get(name)) is not None:
                again = since[0] >= oldest
                other = again and since[1] != id(f)
        waiting = Waiting(way, f, start, rows, there=there, again=again, other_words=other)
        self._waiting.append(waiting)
        if not (there or again):
            self._lanes += f.count if isinstance(f, Scattered) or id(f) not in self._met else f.packed.sector.size
            self._met.add(id(f))
            if way is Way.LOAD or way is Way.STORE:
                self._crowd += crowd
                self._used += crowd
                if waiting.brings:
                    self._brought[name] = self._used
                else:
                    self._stored[name] = self._used, id(f)
        if way is Way.PASS or way is Way.ATOMIC:
            self._forget_uses()
        return waiting

    def _forget_uses(self) -> None:
        self._brought.clear()
        self._stored.clear()

    def asked(self, way: Way, f: Footprint, start: int, rows: Rows, written: int) -> None:
        """An access did not wait; `written`: sectors that became dirty so far."""
        if self._past is None:
            return
        if len(self._past.last) < PAST:
            self._past.last.append(Waiting(way, f, start, rows, silent=True))
            self._past_written = written
        else:
            self._past = None

    def forget(self) -> None:
        """Something was done to the caches that is not worth knowing."""
        self._past = None

    def empty(self, caches: Index) -> None:
        """These forget everything that was brought in so far."""
        self._forget_uses()
        if self._waiting or self._chapters:
            self._emptied.append((len(self._waiting), caches))
        else:
            self.l1.empty(caches)
            if self._past is not None and self._past.last:
                self._past.emptied.append((len(self._past.last), caches))

    def settle(self, ask: Asked, *, last: bool = False, full: bool = False) -> None:
        """Nobody waits any longer; `last`: nobody will ask the caches again; `full`: there was no room for more."""
        if not self._waiting:
            if self._chapters and not last:
                self._wake(ask)
            return
        waiting, self._waiting = self._waiting, []
        emptied, self._emptied = self._emptied, []
        self._lanes = self._crowd = 0
        self._met.clear()
        few = len(waiting) < FEW and not last and not full  # not worth it
        if last and len(waiting) < FEW and not (emptied or self._chapters) and all(w.f.by_line for w in waiting):
            _sample(waiting)
            for w in waiting:  # which is sooner done than to follow them
                w.tell(w.f.total, *ask(w.way, w.f, w.start, w.rows))
            return
        if (last or full) and self._afresh(waiting, emptied, last=last):
            self._set_pause(0)
            return
        self._forget_uses()
        self._wake(ask)
        self._ask(waiting, emptied, ask, few=few, last=last)

    def _wake(self, ask: Asked) -> None:
        """From now on the caches are asked themselves: if they know nothing, they are told."""
        past, self._past = self._past, None
        if self._chapters and past is not None:
            self._chapters = False
            past.bring(self.l2)
            emptied, self._emptied = past.emptied + [(len(past.last), some) for _, some in self._emptied], []
            self._ask(past.last, emptied, ask, few=False, last=False)

    def _ask(self, waiting: list[Waiting], emptied: list[tuple[int, Index]], ask: Asked, *, few: bool, last: bool) -> None:
        """The caches catch up."""
        for part, gone in self._batches(waiting, emptied):
            for w in part:
                if w.way is Way.STORE and not w.brings and not isinstance(w.f, Scattered):
                    w.f = lane_by_lane(w.f)
                if isinstance(w.f, Scattered):
                    w.f.measure()
            _sample(part)
            if not few and self._together(part, gone, last and part[-1] is waiting[-1]):
                self._set_pause(0)
            else:
                self._in_turn(part, gone, ask, few)
            for turn, caches in gone:
                if turn == len(part):
                    self.l1.empty(caches)

    def _batches(self, waiting: list[Waiting], emptied: list[tuple[int, Index]]) -> Iterator[tuple[list[Waiting], list[tuple[int, Index]]]]:
        """Accesses, not too many at a time, and the caches that are emptied before the access of a turn."""
        begin = lanes = crowd = 0
        for at, w in enumerate(waiting):
            lanes, crowd = lanes + w.f.count, crowd + w.f.crowd(w.rows)
            last = at + 1 == len(waiting)
            if last or lanes > BATCH or crowd > CROWD * self.l1.lines > 0:
                end = at + 1
                yield waiting[begin:end], [(turn - begin, some) for turn, some in emptied if begin <= turn < end + last]
                begin, lanes, crowd = end, 0, 0

    def _in_turn(self, waiting: list[Waiting], emptied: list[tuple[int, Index]], ask: Asked, few: bool) -> None:
        """Those who get in each other's way are asked one after the other, if it must be."""
        at, parts = 0, _until_read_again(waiting)
        if not (few or emptied or len(parts) == 1 or FEW * len(parts) > len(waiting)):
            for part in parts:
                if not self._together(part, [], False):
                    break
                at += len(part)
        if at < len(waiting):
            self._set_pause(min(2 * self._pause + 8, 1 << 10))
        for turn, w in enumerate(waiting[at:], at):
            for _, caches in [x for x in emptied if x[0] == turn]:
                self.l1.empty(caches)
            w.tell(w.f.total, *ask(w.way, w.f, w.start, w.rows))

    def _set_pause(self, accesses: int) -> None:
        """Until so many have come nobody is to wait, in later launches of the kernel too."""
        self._pause = self._alone = accesses
        if self._kernel is not None:
            _pauses[self._kernel] = accesses

    def _afresh(self, waiting: list[Waiting], emptied: list[tuple[int, Index]], *, last: bool) -> bool:
        """Follows all accesses of the launch from its beginning, when the caches were empty, or those of one more chapter."""
        l1, l2, seen = self.l1, self.l2, self._past
        if seen is None or not (l1.lines and l2.lines):
            return False
        every = seen.last + waiting
        emptied = seen.emptied + [(turn + len(seen.last), some) for turn, some in emptied]
        rest, some = leaders(every, l1.lines, l2.lines) if last and not (emptied or self._chapters) else (every, [])
        if rest:
            some.append(rest)
        alone = last and seen.is_empty and not emptied
        parts: list[tuple[Fresh, Told | None]] = []
        for part in some:
            fresh, told = told_shortly(part, l1.caches if part is rest else 1, l1.lines, l2.lines) if alone else (None, None)
            if fresh is None:
                fresh = Fresh.of(part, last=last)
            if fresh is not None:
                parts.append((fresh, told))
            if fresh is None or (told is None and contested(fresh, seen)):
                for one, _ in parts:
                    one.undo()
                return False
        self.written -= self._past_written
        self._past_written = 0
        for part, (fresh, told) in zip(some, parts, strict=True):
            if told is None and part is rest:
                told = self._follow(fresh, seen, emptied, l1.caches, last=last)
            self._hand_on(fresh, told or self._follow(fresh, Seen(), [], 1, last=True))
            _tell_others(part)
        if not last:
            seen.keep(every, emptied, l1.lines)
            self._chapters = True
            kept = {(id(w.f.same), w.start, id(w.rows)) for w in seen.last}
            self._brought = {name: used for name, used in self._brought.items() if name in kept}
            self._stored = {name: used for name, used in self._stored.items() if name in kept}
        _sample(waiting)
        return True

    def _follow(self, fresh: Fresh, seen: Seen, emptied: list[tuple[int, Index]], caches: int, *, last: bool) -> Told:
        """What so many caches find, and L2."""
        full = seen.held is not None or overflows(fresh, self.l2.lines, seen)
        missed = missed_in_l1(fresh, caches, self.l1.lines, emptied)
        if full:
            return Told(missed.sectors, *lost_in_full_l2(fresh, seen, self.l2.lines, last=last))
        return Told(missed.sectors, *lost_in_l2(fresh, missed, seen, last=last))

    def _hand_on(self, fresh: Fresh, told: Told) -> None:
        """Tells all of these what was found."""
        times = fresh.used[0].waiting.times if fresh.used else 1
        self.written += times * told.written
        fresh.measure()
        for code, group in enumerate(fresh.groups):
            if group:  # all count for the same: it does not matter which of them missed
                total = sum([w.f.total for w in group])
                lost = min(told.lost[code], total)
                asked = max(told.missed[code], lost) if group[0].way is Way.LOAD else total  # some caches may have told for all
                group[0].tell(total, total - asked, asked, asked - lost)

    def _together(self, waiting: list[Waiting], emptied: list[tuple[int, Index]], last: bool) -> bool:
        if any(w.way is Way.STREAM or (w.f.width < WORD and w.way is Way.STORE and not w.brings) for w in waiting):
            return False  # parts of words have no numbers
        frame = Frame.of(waiting, self.l1.caches)
        if not frame.fits or (missed := self.l1.take_together(frame, waiting, emptied, last=last)) is None:
            return False
        if (fetched := self.l2.take_together(frame, waiting, missed)) is None:
            return False
        if not last:
            missed.commit()
            fetched.commit()
        self.written += fetched.changed
        self._tell(frame, waiting, missed.asked, fetched.lost)
        return True

    def _tell(self, frame: Frame, waiting: list[Waiting], missed: Numbers, fetched: Numbers) -> None:
        """Tells who waits what was missed in L1, and what in L2."""
        loads = [w for w in waiting if w.way is Way.LOAD and not w.there]
        if loads and len({w.sink for w in loads}) == 1 and all(w.way in (Way.LOAD, Way.STORE) for w in waiting):
            total = sum(w.f.total for w in loads)  # all count for the same: it does not matter which of them missed
            loads[0].tell(total, total - missed.size, missed.size, missed.size - fetched.size)
        else:
            by_turn = zip(*(count_of(frame.turn_in(lost), len(waiting)).tolist() for lost in (missed, fetched)), strict=True)
            for w, (asked, new) in zip(waiting, by_turn, strict=True):
                if w.way is not Way.STORE and not w.there:
                    asked = asked if w.way is Way.LOAD else w.f.total
                    w.tell(w.f.total, w.f.total - asked, asked, asked - new)
        _tell_others(waiting)


def _sample(waiting: list[Waiting]) -> None:
    for w in waiting:
        if w.sink is not None:
            w.sink.sample(w.f, w.start)


def _tell_others(waiting: list[Waiting]) -> None:
    """Tells those of whom it was clear what they would find."""
    for w in waiting:
        if w.way is Way.STORE:
            w.tell(w.f.total, 0, w.f.total, 0)
        elif w.there:
            w.tell(w.f.total, w.f.total, 0, 0)


def _until_read_again(waiting: list[Waiting]) -> list[list[Waiting]]:
    """Accesses in stretches in which nothing is read after something was stored."""
    cuts = [0]
    stored = False
    for at, w in enumerate(waiting):
        if stored and w.way is not Way.STORE:
            cuts.append(at)
        stored = w.way is Way.STORE
    return [waiting[a:b] for a, b in zip(cuts, [*cuts[1:], len(waiting)], strict=True)]
