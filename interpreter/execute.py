"""Runs a launch, wave by wave, on the engine that suits it; the last state of memory is its result."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from warplab.assembler.demangle import short_name

from .faults import Deadlock, ExecutionError, LaunchInterrupted
from .launch import CHECK_EVERY, Launch
from .native.proving.choice import ProofChoice, proof_choice
from .native.tiering import EngineChoice, choice_of
from .native.tiers.foresight import LaunchForesight
from .observe import Observer
from .values import Array
from .vector.waiting.deadlock import IMPATIENT, NO_PROGRESS_ROUNDS
from .vector.wave import Wave


def execute(launch: Launch, observers: Sequence[Observer] = ()) -> None:
    """Runs a launch to its end."""
    for standstill in executing(launch, observers):
        raise standstill


def executing(launch: Launch, observers: Sequence[Observer] = ()) -> Iterator[Deadlock]:
    """Runs a launch; where its lanes only spin, and it may be suspended, gives what they wait for, and goes on when it is asked for more."""
    try:
        waves = LaunchWaves(launch, observers)
        proof, is_proved = _on_trial(launch, observers) if observers else (None, False)
        begun = 0.0 if proof is None else time.thread_time()
        while not is_proved and (standstill := waves.advance()) is not None:
            began = time.monotonic()
            yield standstill
            launch.prolong(time.monotonic() - began)
        if proof is not None and not is_proved:
            proof.ran(launch, time.thread_time() - begun)
        if observers:
            with np.errstate(all="ignore"):
                for o in observers:
                    o.end(launch)
    except ExecutionError as e:
        for o in observers:
            o.aborted(launch, e)
        raise
    except KeyboardInterrupt:
        raise LaunchInterrupted(f"interrupted in kernel {short_name(launch.name)}: {launch.progress()}") from None
    finally:
        launch.close()


@np.errstate(all="ignore")
def _on_trial(launch: Launch, observers: Sequence[Observer]) -> tuple[ProofChoice | None, bool]:
    """Observers hear that a launch begins: what is known about its proofs, and is it proved that they would find nothing?"""
    for o in observers:
        o.begin(launch)
    proof = proof_choice(launch, observers)
    return proof, proof is not None and proof.proves(launch, observers)


class LaunchWaves:
    """The waves of a launch: those that have not begun, and those in which lanes only spin."""

    def __init__(self, launch: Launch, observers: Sequence[Observer]) -> None:
        self.launch = launch
        self.observers = observers
        self.suspended: deque[Wave] = deque()
        self.running: Wave | None = None  # on numpy
        launch.ended_blocks = self._ended
        self.native: Any = None  # the compiled run
        self.began = 0.0  # when numpy began with what it runs
        self._choose()

    def advance(self) -> Deadlock | None:
        """Runs until all waves have ended (None), or until lanes of a launch that may be suspended only spin."""
        self.launch.quiet_rounds = NO_PROGRESS_ROUNDS * len(self.suspended)  # what was still a moment ago has to show soon that it is not
        self.launch.turns = 0
        before = self.launch.moves
        try:
            self._run()
        except Deadlock as standstill:
            if not self._may_be_freed():
                raise
            assert self.running is not None
            standstill.turns, standstill.moved = self.launch.turns > IMPATIENT, self.launch.moves > before
            self.running.waiting.wake()
            self.suspended.append(self.running)
            self.running, self.launch.suspended_waves = None, len(self.suspended)
            return standstill
        return None

    def _may_be_freed(self) -> bool:
        """Could memory that changes free lanes?"""
        waves = [w for w in (*self.suspended, self.running) if w is not None]
        return self.launch.options.suspends and any(w.waiting.spinning or w.ready for w in waves)

    def _run(self) -> None:
        """Runs until all waves have ended."""
        launch, options, suspended = self.launch, self.launch.options, self.suspended
        while True:
            if (launch.next_block < launch.blocks and len(suspended) < options.max_waves) or (
                self.native is not None and self.native.under_way
            ):
                wave = self._next()
                if wave is None:
                    continue
                launch.gets_on()
            elif suspended:
                wave = suspended.popleft()
                launch.suspended_waves = len(suspended)
            else:
                self._end()
                return
            if self._run_wave(wave):
                launch.used.numpy_blocks += wave.count
                launch.check_limits(wave.segments_run % CHECK_EVERY, lambda w=wave: f"the end of block {w.first + w.count - 1}")  # type: ignore[misc]
            else:
                suspended.append(wave)
                launch.suspended_waves = len(suspended)
                if len(suspended) >= options.max_waves and launch.next_block < launch.blocks:
                    options.max_waves += 16

    @np.errstate(all="ignore")
    def _run_wave(self, wave: Wave) -> bool:
        """Numpy runs a wave: has it ended?"""
        self.running = wave
        if self.foresight is not None:
            self.began = time.thread_time()
            self.foresight.begin_wave()
        ended = wave.run()
        self.running = None
        if self.foresight is not None and self.native is None:
            self._count_seconds()
            self.foresight.end_wave(wave.count * ended)
        return ended

    def _count_seconds(self) -> None:
        """Those that numpy has run since it was looked at last."""
        assert self.choice is not None
        now = time.thread_time()
        self.choice.notes.seconds += now - self.began
        self.began = now

    def _end(self) -> None:
        """All waves have ended: what can be learnt of them."""
        if self.choice is not None:
            foresight = self.foresight if self.native is None else None
            self.choice.notes.count(self.launch, None if foresight is None else foresight.spent)
        if self.native is not None:
            self.native.close()

    def _ended(self) -> int:
        """How many blocks have ended."""
        native = self.native
        begun: int = native.first_block if native is not None and native.under_way else self.launch.next_block
        return max(begun - sum(w.count for w in (*self.suspended, self.running) if w is not None and w.first < begun), 0)

    def _next(self) -> Wave | None:
        """The next wave for numpy; None if compiled code ran all that was left."""
        launch, choice = self.launch, self.choice
        if self.native is None and choice is not None:
            self._begin_natively()
        if self.native is not None:
            wave: Wave | None = self.native.next_wave()
            while wave is not None and (other := self.native.suspended_wave()) is not None:
                self.suspended.append(other)
                launch.suspended_waves = len(self.suspended)
            if self.native.wants_apart:
                self._part_lanes()
            return wave
        first, count = launch.next_block, self._count()
        if not count:  # nobody looks at the rest
            self.observers = ()
            self._choose()
            return None
        launch.next_block += min(count, launch.blocks - first)
        wave = self._wave(first, launch.next_block - first)
        if choice is not None and not self.observers:  # what observers know of a wave stays with it
            wave.hand_over_to(self._take_over)
        return wave

    @np.errstate(all="ignore")
    def _wave(self, first: int, count: int, shared: Array | None = None) -> Wave:
        """Some blocks, for numpy."""
        return Wave(self.launch, self.observers, first, count, shared)

    def _count(self) -> int:
        """How many blocks the next wave of numpy has; 0 where they need not be observed, unless blocks wait for each other."""
        launch, found = self.launch, self.launch.blocks_per_wave
        if launch.options.cooperative or self.suspended or not self.observers:
            return found
        wanted = [o.wanted(launch.next_block) for o in self.observers]
        most = max(found if n is None else n for n in wanted)
        return min(found, -(-most // launch.cluster_size) * launch.cluster_size)

    def _choose(self) -> None:
        """How the engine is chosen from now on."""
        launch = self.launch
        hears_all = bool(self.observers) and any(o.hears_all for o in self.observers)
        self.choice: EngineChoice | None = choice_of(launch, hears_all)  # None: only numpy can run it
        self.foresight: LaunchForesight | None = None  # where the choice is open
        if self.choice is not None and not self.choice.loaded and launch.options.engine == "auto":
            notes = self.choice.notes
            self.foresight = LaunchForesight(launch, notes.seconds_before(launch), notes.seconds)

    def _begin_natively(self, running: Wave | None = None) -> None:
        """Compiled code runs what is left, if it is there and worth it."""
        launch, choice = self.launch, self.choice
        assert choice is not None
        self.native = choice.begun(launch, self._wave, self.foresight, running)
        if self.native is not None:
            choice.notes.numpy_steps += launch.steps + (running.segments_run % CHECK_EVERY if running is not None else 0)
        if self.foresight is not None:
            self.began = time.thread_time()

    def _take_over(self, wave: Wave) -> bool:
        """Compiled code goes on with a wave that numpy began, and with those that are suspended, if it is there by now."""
        suspended = self.suspended
        if self.foresight is not None:
            self._count_seconds()
        if self.native is None:
            self._begin_natively(wave)
        if self.native is None or not self.native.take_over((*suspended, wave)):
            if self.native is not None:
                self._part_lanes()
            return False
        suspended.clear()
        self.launch.suspended_waves = 0
        return True

    def _part_lanes(self) -> None:
        """Compiles anew where lanes have to go on apart."""
        if self.native.wants_apart and not self.native.under_way:
            assert self.choice is not None
            self.choice.part()
            self.native = None
            self._choose()
