"""The engine as an explorer of threads: each load of shared or global memory gives a value that was guessed, and is noted.

A guess is made for each thread by itself, so one launch carries out one guess of every thread.  What was written then says what may be
read, until nothing new comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warplab.isa.ports import NotYet, Shortcut
from warplab.isa.types import ScalarType

from ..memory.access import WaveMemory
from ..observe import Copying, ObservedWave, Observer
from ..order import order_of
from ..plan.plan import Site
from ..values import Array, LocalPlace, Value, plain
from ..vector.observed import ObservedMemory
from .events import Given, Location, MemoryEvent, NotModelled, Thread, Traces
from .relations import bits
from .ways import MOST_LOADS, Values, Ways, settled

COMMUTING = frozenset({"add", "and", "or", "xor", "min", "max"})  # operations of which two in a row may change places
PRIVATE = frozenset({"const", "local", "param", "param::entry", "param::func"})
Guesses = dict[int, Given]
State = tuple[object, ...]  # the place of a thread, and the values that it works with


class Guesser(Observer):
    """Carries out one guess: what each thread's first loads give; those behind them give the least value."""

    def __init__(self, guesses: Guesses, values: Values) -> None:
        self.guesses = guesses
        self.values = values
        self.first: dict[Location, int] = {}  # what locations hold before the launch
        self.given: dict[int, list[int]] = {}
        self.open: dict[int, list[Given]] = {}  # ways that other values lead to
        self.events: dict[int, list[MemoryEvent]] = {}
        self.threads: dict[int, Thread] = {}
        self.parked: set[int] = set()  # threads that load too often, or only do again what they have done: they wait for ever
        self.bounded = False  # does one load too often?
        self._visited: dict[int, set[State]] = {}  # since each thread has last changed anything
        self._waves: list[ObservedWave] = []
        self._phases: dict[tuple[object, ...], int] = {}

    def wave(self, wave: ObservedWave) -> None:
        """See Observer."""
        wave.access = GuessedMemory(self, wave.access)
        self._waves.append(wave)
        launch = wave.launch
        for lane in range(wave.count * launch.threads):
            block = wave.first + lane // launch.threads
            number = block * launch.threads + lane % launch.threads
            self.threads[number] = Thread(number, block, block // launch.cluster_size)

    def note(self, number: int, event: MemoryEvent) -> None:
        """A thread does something."""
        self.events.setdefault(number, []).append(event)
        if event.barrier or (event.written is not None and event.written != event.read):
            self.changed(number)

    def changed(self, number: int) -> None:
        """A thread has done what cannot be undone: what comes now is nothing that it has done before."""
        self._visited.pop(number, None)

    @property
    def ended(self) -> list[int]:
        """The threads that came to their end."""
        if not self.parked:
            return list(self.threads)
        ends = [(wave.first * wave.launch.threads, np.flatnonzero(wave.exited).tolist()) for wave in self._waves]
        return [first + n for first, some in ends for n in some]

    def is_over(self, number: int, state: State | None) -> bool:
        """Has a thread loaded as often as it may, or does it spin: has it come here before with all that it works with as it is now?

        A turn of a loop that changes nothing leads to nothing that the thread could not do without it, and what it loads only adds conditions.
        """
        spins = state is not None and state in self._visited.get(number, ())
        late = len(self.given.get(number, ())) >= MOST_LOADS
        if late or spins:
            self.parked.add(number)
            self.bounded = self.bounded or not spins
        return late or spins

    def meets(self, number: int, locations: Sequence[Location], line: int, writes: bool, commutes: str) -> None:
        """A thread comes to a load, or to an atomic operation of this name, and has not carried it out."""

    def visit(self, number: int, state: State | None) -> None:
        """A thread goes on from here."""
        if state is not None:
            self._visited.setdefault(number, set()).add(state)

    def value(self, number: int, location: Location) -> int:
        """What a load finds."""
        given = self.given.setdefault(number, [])
        n, planned = len(given), self.guesses.get(number, ())
        if n < len(planned):
            found = planned[n]
        else:
            found, *others = sorted(self.values[location])
            self.open.setdefault(number, []).extend((*given, other) for other in others)
        given.append(found)
        return found

    def issued(self, copy: Copying, lanes: Any) -> None:
        """See Observer."""
        raise NotModelled("asynchronous copies")

    # ------------------------------------------------------------ what orders memory

    def stretch(self, sites: Sequence[Site], group: Any) -> None:
        """See Observer."""
        self.instruction(sites[-1], group, group.alive)

    def instruction(self, site: Site, group: Any, mask: Array | None) -> None:
        """See Observer."""
        order = order_of(site.instruction)
        if order.fence and not order.proxy:
            for number in numbers(group, mask):
                self.note(number, MemoryEvent(order=order, line=site.instruction.span.line))

    def met(self, site: Site, group: Any, number: int) -> None:
        """See Observer."""
        self.arrival(site, group, number, None, True)

    def arrival(self, site: Site, group: Any, number: int, count: int | None, waits: bool) -> None:
        """See Observer."""
        for thread in numbers(group, None):
            which = ("barrier", self.threads[thread].block, number)
            self._barrier(thread, which, site, arrives=True, waits=waits, threads=self.counted(count))

    def counted(self, count: int | None) -> int:
        """The threads that a barrier waits for, where that is asked; here whoever comes in some execution."""
        return 0

    def members(self, site: Site, group: Any, membermask: Array) -> None:
        """See Observer."""
        if site.instruction.form is None or site.instruction.form.effect != "warp_barrier":
            return
        mask = np.broadcast_to(membermask, group.geometry.shape).ravel().tolist()
        for thread, named in zip(numbers(group, None), mask, strict=True):
            of_block = group.wave.launch.threads
            self._barrier(thread, ("warp", thread // of_block, thread % of_block // 32, named), site, arrives=True, waits=True)

    def cluster(self, site: Site, group: Any, arrives: bool) -> None:
        """See Observer."""
        for thread in numbers(group, group.active):
            which = ("cluster", self.threads[thread].cluster)
            self._barrier(thread, which, site, arrives=arrives and "relaxed" not in site.instruction.modifiers, waits=not arrives)

    def _barrier(self, thread: int, which: tuple[object, ...], site: Site, *, arrives: bool, waits: bool, threads: int = 0) -> None:
        key = (thread, *which, arrives)
        phase = self._phases[key] = self._phases.get(key, 0) + 1
        self.note(
            thread, MemoryEvent(barrier=(*which, phase), arrives=arrives, waits=waits, threads=threads, line=site.instruction.span.line)
        )


def numbers(group: Any, mask: Array | None) -> list[int]:
    """The numbers in the launch of a group's lanes."""
    g = group.geometry
    lanes = np.broadcast_to(g.lane, g.shape)
    found: list[int] = (lanes.ravel() if mask is None else lanes[np.broadcast_to(mask, g.shape)]).tolist()
    first = group.wave.first * group.wave.launch.threads
    return [first + n for n in found]


def _states(g: Any) -> list[State | None]:
    """The state of each lane before an access, with which a segment begins; none within a call, whose caller has values, too."""
    act = g.act
    if act.caller is not None or g.cc is not None:
        return [None] * g.geometry.n
    live = act.function.plan.live_in[g.pc]
    values = [g.fetch_or_none(slot) for slot in bits(live)]
    each = [np.broadcast_to(plain(v), g.geometry.shape).ravel().tolist() for v in values if v is not None]
    return (
        [(act.function.plan.name, g.pc, *lane) for lane in zip(*each, strict=True)]
        if each
        else [(act.function.plan.name, g.pc)] * g.geometry.n
    )


class GuessedMemory(ObservedMemory):
    """Memory of a wave in which global and shared locations hold what is guessed."""

    def __init__(self, guesser: Guesser, inner: WaveMemory) -> None:
        self.__dict__.update(inner.__dict__)
        self.guesser = guesser

    def _park(self, g: Any) -> None:
        """Lanes that have loaded too often, or spin, stop here."""
        active = np.broadcast_to(True if g.active is None else g.active, g.geometry.shape).ravel().tolist()
        each = list(zip(numbers(g, None), _states(g), active, strict=True))
        over = np.array([here and self.guesser.is_over(n, state) for n, state, here in each]).reshape(g.geometry.shape)
        if over.any():
            raise NotYet(g.geometry.warps.spread(over) & g.geometry.warps.members, "nothing more that it may load")
        for n, state, here in each:
            if here:
                self.guesser.visit(n, state)

    def _meet(self, g: Any, space: str, address: Value, size: int, count: int, writes: bool = False, commutes: str = "") -> None:
        """Tells which locations each lane comes to."""
        found: dict[int, list[Location]] = {}
        for i in range(count):
            for _, thread, location in self._places(g, space, plain(address) + np.uint64(i * size), size, writes):
                self._known(location)
                found.setdefault(thread, []).append(location)
        for thread, locations in found.items():
            self.guesser.meets(thread, locations, g.wave.current.instruction.span.line, writes, commutes)

    def _places(self, g: Any, space: str, address: Value, size: int, write: bool) -> list[tuple[int, int, Location]]:
        """(lane's position in the group, its thread, what it accesses)."""
        threads = numbers(g, None)
        out = []
        for part, memory, place in self.places(g, space, plain(address), size, write):
            where = range(g.geometry.n) if part.lanes is None else part.lanes.tolist()
            name = memory.name
            if name not in ("global", "shared"):
                raise NotModelled(f"an access to {name} memory through a generic address")
            out += [(n, threads[n], (name, at, size)) for n, at in zip(where, place.tolist(), strict=True)]
        return sorted(out)

    def load(self, g: Any, space: str, address: Value | LocalPlace, type: ScalarType, count: int) -> tuple[Array, ...]:
        if isinstance(address, LocalPlace) or space in PRIVATE:
            return WaveMemory.load(self, g, space, address, type, count)
        site, size = g.wave.current, type.dtype.itemsize
        self._meet(g, space, plain(address), size, count * type.elements)
        self._park(g)
        out = [np.zeros(g.geometry.shape, f"u{size}") for _ in range(count * type.elements)]
        order = order_of(site.instruction)
        for i, o in enumerate(out):
            for n, thread, location in self._places(g, space, plain(address) + np.uint64(i * size), size, False):
                found = self._value(thread, location)
                o.ravel()[n] = found
                self.guesser.note(thread, MemoryEvent(location, found, None, order, line=site.instruction.span.line))
        return tuple(o.view(type.dtype) for o in out)

    def store(self, g: Any, space: str, address: Value | LocalPlace, type: ScalarType, values: Sequence[Array]) -> None:
        if isinstance(address, LocalPlace) or space in PRIVATE:
            for number in numbers(g, g.active):
                self.guesser.changed(number)
            return WaveMemory.store(self, g, space, address, type, values)
        site, size = g.wave.current, type.dtype.itemsize
        order = order_of(site.instruction)
        for i, value in enumerate(values):
            bits = np.broadcast_to(np.ascontiguousarray(value).view(f"u{size}"), g.geometry.shape).ravel().tolist()
            for n, thread, location in self._places(g, space, plain(address) + np.uint64(i * size), size, True):
                self._known(location)
                self.guesser.note(thread, MemoryEvent(location, None, bits[n], order, line=site.instruction.span.line))
        return None

    def update(
        self, g: Any, space: str, address: Value, type: ScalarType, change: Callable[..., Array], operands: Sequence[Array],
        shortcut: Shortcut | None, returns: bool,
    ) -> Array:  # fmt: skip
        site, size = g.wave.current, type.dtype.itemsize
        if type.elements > 1:
            raise NotModelled("an atomic operation on several elements")
        words = site.instruction.modifiers
        commutes = "" if returns or type.dtype.kind not in "iu" else next((w for w in words if w in COMMUTING), "")
        self._meet(g, space, address, size, 1, True, commutes)
        self._park(g)
        out = np.zeros(g.geometry.shape, f"u{size}")
        flat = [np.broadcast_to(o, g.geometry.shape).ravel() for o in operands]
        for n, thread, location in self._places(g, space, address, size, True):
            old = self._value(thread, location)
            new = change(np.array([old], f"u{size}").view(type.dtype), *(o[n : n + 1] for o in flat))
            bits = int(np.ascontiguousarray(new).view(f"u{size}")[0])
            out.ravel()[n] = old
            self.guesser.note(thread, MemoryEvent(location, old, bits, order_of(site.instruction), line=site.instruction.span.line))
        found: Array = out.view(type.dtype)
        return found

    def _value(self, thread: int, location: Location) -> int:
        self._known(location)
        return self.guesser.value(thread, location)

    def _known(self, location: Location) -> None:
        """What a location holds before the launch is a value that it may hold."""
        if location not in self.guesser.values:
            name, at, size = location
            memory = self.shared if name == "shared" else self.device
            held = self.guesser.first[location] = int(memory.view(np.dtype(f"u{size}"))[at // size])
            self.guesser.values[location] = {held}


def explore(launch: Callable[[Guesser], None]) -> tuple[list[Traces], dict[Location, int], bool]:
    """All ways through all threads, what each location holds at first, and whether ways were left out that load too often.

    `launch` carries a fresh launch out under an observer, and does not mind a deadlock of threads that are parked.
    """
    first: dict[Location, int] = {}
    threads, cut = settled(lambda values: _launched(launch, values, first), {})
    return threads, first, cut


def _launched(launch: Callable[[Guesser], None], values: Values, first: dict[Location, int]) -> Ways:
    """All ways through each thread of a launch."""
    found = Ways()
    todo: dict[int, list[Given]] = {}
    planned: set[tuple[int, Given]] = set()
    while True:
        guesses = {n: next(iter(ways)) for n, ways in found.ways.items()}
        guesses |= {n: ways.pop() for n, ways in todo.items() if ways}
        guesser = Guesser(guesses, values)
        launch(guesser)
        first |= guesser.first
        found.threads |= guesser.threads
        found.cut = found.cut or guesser.bounded
        for n in guesser.parked:
            found.left.setdefault(n, set()).add(tuple(guesser.given.get(n, ())))
            found.begun.append(tuple(guesser.events.get(n, ())))
        for n in guesser.ended:
            found.ways.setdefault(n, {}).setdefault(tuple(guesser.given.get(n, ())), tuple(guesser.events.get(n, ())))
        for n, ways in guesser.open.items():
            new = [way for way in ways if (n, way) not in planned]
            planned.update((n, way) for way in new)
            todo.setdefault(n, []).extend(new)
        if not any(todo.values()):
            return found
