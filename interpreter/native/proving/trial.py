"""A launch that compiled code runs on trial: it proves that no checker would find anything, or leaves memory as it was."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...faults import ExecutionError, LimitReached
from ...launch import EngineUse, Launch
from ...memory.arena import Allocation, Arena
from ...observe import LaunchProof, Observer
from ..emit.watch import ALL_SET, CLAIM, NO_WRITES, WORD, WRITABLE
from ..emit.watching import INTERVAL_AT, WROTE
from ..program import NativeProgram
from ..registers import aligned
from ..run import NativeLaunch
from ..wave import CHUNK, NativeWave

Array = NDArray[Any]
MOST_THREADS = 1 << 30  # that claims tell apart
MOST_INTERVALS = 1 << 32 - INTERVAL_AT
MOST_BYTES = 1 << 28  # of the claims of what a launch may write
LINE = 64  # bytes at whose multiples the parts of shared memory begin


class UnprovedError(Exception):
    """Compiled code would have to leave something to numpy."""


class ProvingWave(NativeWave):
    """Memory for the waves of a trial: with marks and claims, and a copy of what may be written."""

    copy = np.zeros(0, np.uint8)  # of what may be written, which lies from `low` on
    claims = np.zeros(0, np.uint32)  # of its units
    written: Sequence[Allocation] = ()  # what may be written
    has_unset: Callable[[Allocation], bool]
    low = 0

    def keep(self, written: Sequence[Allocation], has_unset: Callable[[Allocation], bool]) -> None:
        """Keeps what a launch may write as it is now; nobody claims anything of it."""
        self.written, self.has_unset = written, has_unset
        self.low = min((a.start for a in written), default=0) & -16
        size = -(-(max((a.end for a in written), default=0) - self.low) // WORD) * WORD
        if self.copy.size < size:
            self.copy, self.claims = np.zeros(size, np.uint8), np.zeros(size // self.unit, np.uint32)
        for a in written:
            self.kept(a)[:] = self.launch.arena.bytes[a.start - self.launch.arena.base :][: a.size]
            self.claimed(a)[:] = 0
        state = self.state
        state.claims, state.claims_from, state.claims_size = self.claims.ctypes.data, self.low, CLAIM * (size // self.unit)

    def put_back(self) -> None:
        """What was written is as it was; what the host has written beside it meanwhile stays."""
        arena = self.launch.arena
        for a in self.written:
            memory = arena.bytes[a.start - arena.base : a.end - arena.base]
            np.copyto(self._units(memory), self._units(self.kept(a)), where=(self.claimed(a) & WROTE).astype(bool))

    @property
    def unit(self) -> int:
        """Bytes that are claimed as one."""
        assert self.program.watch is not None
        return self.program.watch.unit

    def kept(self, a: Allocation) -> Array:
        """What an allocation held."""
        return self.copy[a.start - self.low : a.end - self.low]

    def claimed(self, a: Allocation) -> Array:
        """The claims of the whole units of an allocation; bytes behind them are not written."""
        return self.claims[(a.start - self.low) // self.unit :][: a.size // self.unit]

    def _units(self, of: Array) -> Array:
        return of[: of.size // self.unit * self.unit].view(f"u{self.unit}")

    # ------------------------------------------------------------ see NativeWave

    def renew(self) -> None:
        """Shared memory, its marks and its claims."""
        part = -(-(self.per_wave * self.stride + LINE) // LINE) * LINE
        self.state.shared_part, self.state.interval = part, 0
        self.use(aligned((2 + CLAIM // self.unit) * part), aligned(0))

    def extents(self, arena: Arena) -> array[int]:
        return array("q", [x for a in arena.living() for x in (a.start, a.end, self._rights(a))])

    def _rights(self, a: Allocation) -> int:
        may = WRITABLE if any(a is b for b in self.written) else NO_WRITES
        return may | (0 if self.has_unset(a) else ALL_SET)

    def look_again(self) -> None:
        """What a launch may do with allocations is its own."""
        self.look_at_allocations()

    def fill(self, first: int, most: int = CHUNK, least: int = 1) -> None:
        super().fill(first, most, least)
        self.state.first_claim = self.chunk * self.launch.threads


class TrialLaunch(NativeLaunch):
    """Runs waves without numpy."""

    wave: ProvingWave

    def __init__(self, launch: Launch, program: NativeProgram, observers: Sequence[Observer]) -> None:
        self.observers = observers
        super().__init__(launch, program, _no_wave)

    def _may_share(self) -> bool:
        return False

    def _new(self, per_wave: int) -> NativeWave:
        return ProvingWave(self.launch, self.program, per_wave)

    def _begin(self, wave: NativeWave) -> None:
        assert isinstance(wave, ProvingWave)
        wave.launch = self.launch
        wave.keep(_written(self.launch, self.program), lambda a: any(o.has_unset(self.launch.arena, a) for o in self.observers))
        if wave.state.interval >= MOST_INTERVALS // 2:  # claims in its shared memory are from so many
            wave.renew()
        super()._begin(wave)
        wave.state.stops = 0  # poison would be what nobody has set, which is not read

    def _ask(self, first: int) -> NoReturn:
        raise UnprovedError

    def _hand_over(self) -> NoReturn:
        raise UnprovedError

    def _let_others_run(self) -> NoReturn:
        raise UnprovedError

    def proof(self) -> LaunchProof | None:
        """Runs all waves: what is proved, if that is anything."""
        try:
            self.next_wave()
        except LimitReached:  # with its events, the launch would get less far in this time
            raise
        except (UnprovedError, ExecutionError):
            return None
        if self.wave.state.interval >= MOST_INTERVALS:
            return None
        unset = [a for a in self.wave.written if self.wave.has_unset(a)]
        watch = self.program.watch
        assert watch is not None
        return LaunchProof(self.launch, watch.unit, tuple((a, self.wave.claimed(a) != 0) for a in unset), watch.may_meet)


def _no_wave(*_: Any) -> NoReturn:
    raise UnprovedError


def proved(launch: Launch, program: NativeProgram, observers: Sequence[Observer]) -> bool:
    """Runs a launch; False if it has to run again, under the eyes of its observers, with memory as it was."""
    begun, proof = time.monotonic(), None
    assert program.watch is not None
    if launch.blocks * launch.threads >= MOST_THREADS or _span(_written(launch, program)) * CLAIM // program.watch.unit > MOST_BYTES:
        return False
    run = TrialLaunch(launch, program, observers)
    try:
        proof = run.proof()
    finally:
        if proof is None:
            run.wave.put_back()
            launch.steps = launch.next_block = 0
            launch.used = EngineUse()
            launch.prolong(time.monotonic() - begun)
    if proof is None:
        return False
    run.close()
    for o in observers:
        o.proved(proof)
    return True


def _span(written: Sequence[Allocation]) -> int:
    return max((a.end for a in written), default=0) - min((a.start for a in written), default=0)


def _written(launch: Launch, program: NativeProgram) -> list[Allocation]:
    """The allocations to which the parameters point that stores go to."""
    assert program.watch is not None
    places = {program.frame.parameter(p) for p in program.watch.stored}
    found = [launch.arena.find(int(launch.parameters[at : at + 8].view(np.uint64)[0])) for at in sorted(places)]
    return [a for n, a in enumerate(found) if a is not None and a.writable and not a.freed and a.start % WORD == 0 and a not in found[:n]]
