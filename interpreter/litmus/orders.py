"""All orders of a small launch that may come to another end: dynamic partial order reduction over conflicting accesses.

Each access happens at once, in the order of one interleaving.  Two orders are the same where they differ only in accesses that do not
conflict: other bytes, two loads, or two reductions of the same kind.  Of each such class one order is carried out.  A thread that spins goes
on when what it looks at has changed.  The method is that of Abdulla, Aronis, Jonsson and Sagonas (POPL 2014): source sets and sleep sets.
Parts of the orders can be gone through side by side: behind their beginnings the same method holds.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from .events import Given, Location, MemoryEvent, NotModelled
from .stepping import EndsInError, KnownWay, PendingLoad, ThreadOracle

Cell = tuple[str, int]  # a byte of "global" or "shared" memory
WARP = 32


@dataclass(frozen=True, slots=True)
class ThreadMove:
    """What a thread does next."""

    thread: int
    cells: frozenset[Cell] = frozenset()
    writes: bool = False
    commutes: str = ""

    def conflicts(self, other: ThreadMove) -> bool:
        """Does it matter which of the two comes first?"""
        if not (self.writes or other.writes) or self.cells.isdisjoint(other.cells):
            return False
        return not (self.commutes and self.commutes == other.commutes)


@dataclass(frozen=True, slots=True)
class TakenMove:
    """A move that was made, with its place among those of its thread."""

    move: ThreadMove
    count: int
    clock: Mapping[int, int]  # of each thread, how many of its moves come before the end of this one

    def comes_before(self, clock: Mapping[int, int]) -> bool:
        """Does what has this clock hang on this move?"""
        return clock.get(self.move.thread, 0) >= self.count


@dataclass(frozen=True, slots=True)
class OrderEnd:
    """Where an order comes to: the bytes that threads have written, who wrote each last and at which line; threads that wait for ever."""

    written: Mapping[Cell, int]
    writers: Mapping[Cell, tuple[int, int]]
    waiting: tuple[int, ...] = ()


@dataclass(slots=True)
class OrderPoint:
    """One point of an order."""

    given: dict[int, Given]
    at: dict[int, int]  # of each thread, how many of its events have happened
    memory: dict[Cell, int]
    writers: dict[Cell, tuple[int, int]]
    clocks: dict[int, dict[int, int]]
    arrived: dict[tuple[object, ...], frozenset[int]]
    stopped: dict[int, MemoryEvent]  # threads that wait at a barrier, and at which
    trace: tuple[TakenMove, ...] = ()
    sleep: frozenset[int] = frozenset()
    backtrack: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    moves: dict[int, ThreadMove] | None = None  # that may happen now
    spinning: frozenset[int] = frozenset()  # threads that wait for a change of memory

    def after(self) -> OrderPoint:
        """A copy, from which an order goes on."""
        return OrderPoint(
            dict(self.given),
            dict(self.at),
            dict(self.memory),
            dict(self.writers),
            dict(self.clocks),
            dict(self.arrived),
            dict(self.stopped),
            self.trace,
            moves=None if self.moves is None else dict(self.moves),
            spinning=self.spinning,
        )

    def joins(self, n: int, clock: Mapping[int, int]) -> None:
        """What a clock counts comes before what a thread does next."""
        own = dict(self.clocks[n])
        _join(own, clock)
        self.clocks[n] = own


class OrderExplorer:
    """Goes through the orders of one launch."""

    def __init__(self, oracle: ThreadOracle) -> None:
        self.oracle = oracle
        oracle.ask({})
        none: dict[int, Given] = dict.fromkeys(sorted(oracle.threads), ())
        clocks: dict[int, dict[int, int]] = {n: {} for n in none}
        self.begin = OrderPoint(none, dict.fromkeys(none, 0), {}, {}, clocks, {}, {})
        self._settle(self.begin, list(none))

    def parts(self, count: int) -> list[tuple[int, ...]]:
        """Beginnings, each the threads that move first, of about `count` parts; each class of orders lies in one of them."""
        open_parts: deque[tuple[int, ...]] = deque([()])
        over: list[tuple[int, ...]] = []
        while open_parts and len(open_parts) + len(over) < count:
            start = open_parts.popleft()
            point = self._path(start)[-1]
            moves = self._moves(point)
            if not moves:
                over.append(start)
            open_parts += [(*start, n) for n in sorted(moves) if n not in point.sleep]
        return [*over, *open_parts]

    def _path(self, start: Sequence[int]) -> list[OrderPoint]:
        """The points of a beginning.  Every move is looked at from them; what the lesser threads' parts cover is asleep."""
        path = [self.begin.after()]
        for n in start:
            point = path[-1]
            moves = self._moves(point)
            point.backtrack, point.done = set(moves), set(moves)
            covered = point.sleep | {m for m in moves if m < n}
            following = self._take(point, moves[n])
            following.sleep = frozenset(m for m in covered if m in moves and not moves[m].conflicts(moves[n]))
            path.append(following)
        return path

    def ends(self, until: float = inf, start: Sequence[int] = ()) -> Iterator[OrderEnd | None]:
        """Where each order comes to, or each of the part with this beginning; None if the time is over before all are carried out."""
        path = self._path(start)
        self._choose(path)
        while len(path) > len(start):
            if time.monotonic() > until:
                yield None
                return
            point = path[-1]
            moves = self._moves(point)
            ready = [n for n in sorted(point.backtrack - point.done) if n in moves and n not in point.sleep]
            if not ready:
                if not moves:
                    for blocked in point.given:
                        if (move := self._next(point, blocked)) is not None:
                            self._races(path, move)
                    yield self._end(point)
                path.pop()
                continue
            n = ready[0]
            point.done.add(n)
            self._races(path, moves[n])
            following = self._take(point, moves[n])
            following.sleep = frozenset(m for m in point.sleep if m in moves and not moves[m].conflicts(moves[n]))
            point.sleep |= {n}
            path.append(following)
            self._choose(path)

    def _choose(self, path: list[OrderPoint]) -> None:
        """Some move has to be made from here: one that no order before it has covered."""
        point = path[-1]
        awake = sorted(set(self._moves(point)) - point.sleep)
        if awake:
            point.backtrack.add(awake[0])

    def _races(self, path: list[OrderPoint], move: ThreadMove) -> None:
        """Where a move that comes next might have come before one that was made, with all that does not hang on that one."""
        point = path[-1]
        clock = dict(point.clocks[move.thread])
        racing = []
        for i in range(len(point.trace) - 1, -1, -1):
            taken = point.trace[i]
            if taken.move.conflicts(move):
                if clock.get(taken.move.thread, 0) < taken.count:
                    racing.append(i)
                _join(clock, taken.clock)
        for i in racing:
            early = self._initials(point.trace, i, move.thread, clock)
            before = path[i]
            if early.isdisjoint(before.backtrack | before.sleep):
                there = set(self._moves(before))
                before.backtrack |= {min(early)} if min(early) in there else there

    def _initials(self, trace: Sequence[TakenMove], i: int, thread: int, clock: Mapping[int, int]) -> set[int]:
        """The threads that may begin what comes behind move i and does not hang on it, with a move of `thread` at its end."""
        first = trace[i]
        free = [t for t in trace[i + 1 :] if not first.comes_before(t.clock)]
        early: set[int] = set()
        seen: set[int] = set()
        for k, t in enumerate(free):
            if t.move.thread not in seen and not any(other.comes_before(t.clock) for other in free[:k]):
                early.add(t.move.thread)
            seen.add(t.move.thread)
        if thread not in seen and not any(other.comes_before(clock) for other in free):
            early.add(thread)
        return early

    # ------------------------------------------------------------ one point

    def _known(self, point: OrderPoint, n: int) -> KnownWay:
        found = self.oracle.known.get((n, point.given[n]))
        if found is None:
            self._ask(point)
            found = self.oracle.known[n, point.given[n]]
        return found

    def _ask(self, point: OrderPoint) -> None:
        """Learns what comes; of the other threads that load it is asked what they do with what is there now, which may spare questions."""
        given = {n: self._foreseen(point, n) for n in point.given}
        try:
            self.oracle.ask(given)
        except EndsInError:  # maybe for a value that no order gives
            self.oracle.ask(point.given)

    def _foreseen(self, point: OrderPoint, n: int) -> Given:
        """What the loads of a thread give if nothing changes: as far as its way is known, and one more."""
        given = point.given[n]
        while (known := self.oracle.known.get((n, given))) is not None and known.pending is not None and not known.pending.spins:
            given = (*given, *self._values(point, known.pending))
        return given

    def _next(self, point: OrderPoint, n: int) -> ThreadMove | None:
        """What a thread does next, whether it may do it yet or not; arrivals at barriers are no accesses."""
        known = self._known(point, n)
        if point.at[n] < len(known.events):
            e = known.events[point.at[n]]
            return None if e.location is None else ThreadMove(n, cells_of(e.location), e.written is not None)
        p = known.pending
        return None if p is None else ThreadMove(n, frozenset().union(*map(cells_of, p.locations)), p.writes, p.commutes)

    def _moves(self, point: OrderPoint) -> dict[int, ThreadMove]:
        """What may happen now."""
        if point.moves is None:
            point.moves = {}
            self._renew(point, point.given)
        return point.moves

    def _renew(self, point: OrderPoint, some: Iterable[int]) -> None:
        """Looks again at what some threads may do; those that spin do so whenever memory has changed."""
        assert point.moves is not None
        for n in [*some, *point.spinning]:
            move = self._next(point, n)
            spins = move is not None and self._spins(point, n)
            point.spinning = point.spinning | {n} if spins else point.spinning - {n}
            if move is None or spins:
                point.moves.pop(n, None)
            else:
                point.moves[n] = move

    def _spins(self, point: OrderPoint, n: int) -> bool:
        """Does a thread wait for a change of what it has looked at since it last changed anything?"""
        known = self._known(point, n)
        if known.pending is None or not known.pending.spins or point.at[n] < len(known.events):
            return False
        for e in reversed(known.events):
            if e.barrier or (e.written is not None and e.written != e.read):
                break
            if e.location is not None and e.read is not None and self._value(point, e.location) != e.read:
                return False
        return True

    def _take(self, point: OrderPoint, move: ThreadMove) -> OrderPoint:
        """The point behind a move."""
        n, out = move.thread, point.after()
        known = self._known(point, n)
        for taken in point.trace:
            if taken.move.conflicts(move):
                out.joins(n, taken.clock)
        count = out.clocks[n].get(n, 0) + 1
        out.joins(n, {n: count})
        if point.at[n] < len(known.events):
            self._happens(out, n, known.events[point.at[n]])
        else:
            assert known.pending is not None
            loaded = len(known.pending.locations)
            out.given[n] = (*point.given[n], *self._values(point, known.pending))
            for e in self._known(out, n).events[point.at[n] : point.at[n] + loaded]:
                self._happens(out, n, e)
        out.trace = (*point.trace, TakenMove(move, count, out.clocks[n]))
        self._renew(out, self._settle(out, [n]))
        return out

    def _happens(self, point: OrderPoint, n: int, e: MemoryEvent) -> None:
        point.at[n] += 1
        if e.location is not None and e.written is not None:
            space, start, size = e.location
            for k, byte in enumerate(e.written.to_bytes(size, "little")):
                point.memory[space, start + k] = byte
                point.writers[space, start + k] = n, e.line

    def _settle(self, point: OrderPoint, todo: list[int]) -> set[int]:
        """Passes what is no access: fences, arrivals, and barriers that are complete; gives the threads that may do something else now."""
        touched = set(todo)
        while todo:
            n = todo.pop()
            touched.add(n)
            while n not in point.stopped and (e := self._no_access(point, n)) is not None:
                if e.barrier and e.waits:
                    point.stopped[n] = e
                if e.barrier and e.arrives:
                    point.arrived[e.barrier] = point.arrived.get(e.barrier, frozenset()) | {n}
                if not (e.barrier and e.waits):
                    point.at[n] += 1
                if e.barrier:
                    todo += self._released(point, {e.barrier})
            if n not in point.stopped and self._has_ended(point, n):  # nobody waits for it any more
                todo += self._released(point, {e.barrier for e in point.stopped.values()})
        return touched

    def _released(self, point: OrderPoint, barriers: set[tuple[object, ...]]) -> list[int]:
        """Lets the threads pass whose barriers are complete."""
        out = []
        for which in barriers:
            here = [n for n, e in point.stopped.items() if e.barrier == which]
            if not here or not self._is_complete(point, here[0], point.stopped[here[0]]):
                continue
            clock: dict[int, int] = {}
            for m in point.arrived.get(which, ()):
                _join(clock, point.clocks[m])
            for n in here:
                point.joins(n, clock)
                point.at[n] += 1
                del point.stopped[n]
            out += here
        return out

    def _no_access(self, point: OrderPoint, n: int) -> MemoryEvent | None:
        known = self._known(point, n)
        if point.at[n] == len(known.events) and known.pending is None and not known.ended:
            self._ask(point)  # a barrier at which it waited may be complete now
            known = self._known(point, n)
        if point.at[n] >= len(known.events):
            return None
        e = known.events[point.at[n]]
        return e if e.location is None else None

    def _is_complete(self, point: OrderPoint, n: int, e: MemoryEvent) -> bool:
        """Have all arrived that a barrier waits for?  Threads that have ended are not waited for; a count counts whole warps."""
        there = point.arrived.get(e.barrier, frozenset())
        threads, mine = self.oracle.threads, self.oracle.threads[n]
        if e.threads:
            counted = self._counted(point, mine.block, there)
            if counted > e.threads:
                raise NotModelled("a barrier to which more threads come than it counts")
            return counted == e.threads
        kind, mask = e.barrier[0], e.barrier[3] if e.barrier[0] == "warp" else 0
        assert isinstance(mask, int)
        for m, thread in threads.items():
            wanted = thread.cluster == mine.cluster if kind == "cluster" else thread.block == mine.block
            if kind == "warp":
                wanted = wanted and self._in_block(m) // WARP == e.barrier[2] and bool(mask >> self._in_block(m) % WARP & 1)
            if wanted and m not in there and not self._has_ended(point, m):
                return False
        return True

    def _counted(self, point: OrderPoint, block: int, there: frozenset[int]) -> int:
        """What has arrived of a block: 32 threads for each warp of which all are there that have not ended."""
        warps: dict[int, list[int]] = {}
        for m, thread in self.oracle.threads.items():
            if thread.block == block:
                warps.setdefault(self._in_block(m) // WARP, []).append(m)
        whole = [w for w in warps.values() if not there.isdisjoint(w) and all(m in there or self._has_ended(point, m) for m in w)]
        return WARP * len(whole)

    def _in_block(self, n: int) -> int:
        first = min(m for m, thread in self.oracle.threads.items() if thread.block == self.oracle.threads[n].block)
        return n - first

    def _has_ended(self, point: OrderPoint, n: int) -> bool:
        known = self._known(point, n)
        return known.ended and point.at[n] >= len(known.events)

    # ------------------------------------------------------------ memory

    def _value(self, point: OrderPoint, location: Location) -> int:
        space, start, size = location
        return int.from_bytes(bytes(self._byte(point, (space, start + k), location) for k in range(size)), "little")

    def _byte(self, point: OrderPoint, cell: Cell, location: Location) -> int:
        found = point.memory.get(cell)
        if found is not None:
            return found
        return self.oracle.first[location].to_bytes(location[2], "little")[cell[1] - location[1]]

    def _values(self, point: OrderPoint, p: PendingLoad) -> Given:
        return tuple(self._value(point, location) for location in p.locations)

    def _end(self, point: OrderPoint) -> OrderEnd:
        waiting = tuple(n for n in point.given if not self._has_ended(point, n))
        return OrderEnd(point.memory, point.writers, waiting)


def cells_of(location: Location) -> frozenset[Cell]:
    """The bytes of a location."""
    space, start, size = location
    return frozenset((space, start + k) for k in range(size))


def _join(clock: dict[int, int], other: Mapping[int, int]) -> None:
    for n, count in other.items():
        if count > clock.get(n, 0):
            clock[n] = count
