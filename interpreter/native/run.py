"""Runs a launch with compiled code: its waves, and what they ask for while they run."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ..launch import Launch
from ..vector.waiting.deadlock import IMPATIENT, PROVEN
from .fallback import Fallback
from .handing_over import handed_over
from .program import NativeProgram
from .schedule import layout as s
from .schedule.compiled import scheduler
from .taking_over import LISTS_LEFT, NumpyWave
from .threads import LEAST, SHARED_LANES, WAVES, Team, may_share
from .wave import BLOCKS, CHUNK, MORE, NEXT_BLOCK, UNDER_WAY, NativeWave

COLD = 6  # times as long as later ones may the first wave of a launch take, whose code and memory the processor has to fetch


class NativeLaunch:
    """A launch as compiled code sees it; it runs one wave at a time."""

    def __init__(self, launch: Launch, program: NativeProgram, make_wave: Callable[..., Any]) -> None:
        self.launch = launch
        self.program = program
        self.make_wave = make_wave
        self.wants_apart = False  # lanes have to go on apart, for which the program was not compiled
        self.suspended: deque[NativeWave] = deque()  # waves in which lanes only spin, while others run
        self.still_waves = 0  # of those that ran last one after another, in which nothing has changed
        self.left: deque[NativeWave] = deque()  # waves that threads have left behind
        self.looks = 0  # rounds of a launch that only spins, since a lane has got on
        self.least, self.most = launch.blocks_per_wave, launch.most_blocks_per_wave  # blocks of a wave
        shares = self._may_share()
        if shares and not launch.next_block:  # waves that numpy has begun are as large as one engine has them
            part = max(launch.blocks // (WAVES * launch.options.threads), SHARED_LANES // launch.threads, 1)
            self.most = min(1 << part.bit_length() - 1, self.most)
            self.least = min(-(-self.most // 2), self.least)
        self.shares = shares and launch.blocks > 2 * self.most
        self.alone: tuple[float, int] | None = None  # when it was found that threads are not worth it, and the next block then
        self._begin(self._kept())
        self.per_wave = self.wave.per_wave
        self.wave.fill(0, self.per_wave if self.shares else CHUNK)

    def _may_share(self) -> bool:
        """May several threads run the blocks?"""
        return self.launch.options.threads > 1 and bool(self.program.side_by_side) and may_share(self.launch)

    def _kept(self) -> NativeWave:
        """Memory of an earlier launch, or else new one."""
        launch, memories = self.launch, self.program.memories
        kept: NativeWave | None = memories.pop() if memories else None
        if kept is not None and self.least <= kept.per_wave <= self.most and kept.shape == (launch.threads, launch.shared_bytes):
            return kept
        memories.clear()
        room = 1 << (launch.blocks - 1).bit_length()  # for launches of a few blocks more, too
        return self._new(min(self.most, room))

    def _new(self, per_wave: int) -> NativeWave:
        return NativeWave(self.launch, self.program, per_wave)

    def _begin(self, wave: NativeWave) -> None:
        """Waves run there."""
        wave.begin(self.launch, self.make_wave)
        self.wave = wave

    @property
    def fallback(self) -> Fallback:
        """Numpy's view of the wave that runs."""
        return Fallback(self.wave)

    def _another(self) -> NativeWave:
        return self._new(self.per_wave)

    def close(self) -> None:
        """The memory of its wave serves the next launch."""
        if self.wave.reusable:
            self.program.memories.append(self.wave)

    # ------------------------------------------------------------ running

    @property
    def under_way(self) -> bool:
        """Has a wave begun that has not ended?"""
        return bool(self.wave.word[UNDER_WAY]) or bool(self.left)

    @property
    def first_block(self) -> int:
        """Of the wave that runs."""
        return self.wave.first_block

    def take_over(self, waves: Sequence[Any]) -> bool:
        """Goes on with waves that numpy began, with the last of them first; False if it can't."""
        if self.under_way:
            return False
        given = [NumpyWave(self.program, wave) for wave in waves]
        obstacles = {x.obstacle(self.wave.entries // LISTS_LEFT) for x in given} - {""}
        if obstacles - {"lanes wait"} or (obstacles and not self.program.apart):
            self.wants_apart = obstacles == {"lanes wait"}
            return False
        for wave in given:
            if self.wave.state.under_way:
                self.suspended.append(self.wave)
                self._begin(self._another())
            self.fallback.take_over(wave)
        return True

    def next_wave(self) -> Any:
        """Runs the waves that have not begun; gives one that numpy has to go on with, None when all have ended."""
        launch, run = self.launch, scheduler()
        if self.wave.word[UNDER_WAY]:
            launch.used.native_blocks += self.wave.state.wave_blocks
        elif self.shares and self.program.seconds:
            self._share()  # an earlier launch may tell that it is worth it
        while True:
            wave, word, first = self.wave, self.wave.word, launch.next_block
            wave.grant()
            word[NEXT_BLOCK] = first - wave.chunk  # running blocks may have taken some over
            word[MORE] = launch.suspended_waves > 0 or bool(self.suspended) or wave.chunk + word[BLOCKS] < launch.blocks
            begun = time.thread_time() if self.shares else 0.0
            code, wave.code = wave.code or run(*wave.place), 0
            launch.next_block = wave.chunk + word[NEXT_BLOCK]
            launch.used.native_blocks += launch.next_block - first
            if code == s.DONE:
                self._count_steps()
                if wave.numpy is not None:
                    self.fallback.check_leaks()
                if self.left:
                    self.wave = self.left.popleft()
                elif launch.next_block < launch.blocks:
                    if self.shares and (seconds := (time.thread_time() - begun) / self.per_wave) > COLD * self.program.seconds:
                        self.program.seconds = seconds
                    if not self.shares or not self._share():
                        if self.shares:
                            self.alone = time.thread_time(), launch.next_block
                        self.shares = False
                        wave.fill(launch.next_block)
                elif self.suspended:
                    self._resume()
                else:
                    if self.alone is not None:
                        self.program.seconds = (time.thread_time() - self.alone[0]) / (launch.blocks - self.alone[1])
                    return None
            elif code == s.ASKED:
                if not self._ask(0):
                    return self._hand_over()
            elif code == s.FAULT:  # an access that is not plainly legal: of the vectors from there on nothing has been done
                wave.state.status = 0
                self._ask(wave.state.failed)
            elif code == s.BEGUN:
                self.fallback.poison()
            elif code == s.PAUSE:
                self._count_steps(begun=1)
            elif (
                (code == s.FULL and wave.make_room())
                or (code == s.NO_PROGRESS and not wave.is_still() and not self._is_impatient(s.QUIET_ROUNDS))
                or (code == s.SPINS and self._let_others_run())
            ):
                continue
            else:
                self.wants_apart |= code == s.DIVERGED
                return self._hand_over()

    def _ask(self, first: int) -> bool:
        """Numpy runs the row for the entries of the group from one on; False if it has to go on with the wave."""
        running = self.wave.state.running
        self._count_steps()
        done = self.fallback.run_row(running.entries.part(running.count)[first:])
        self.wave.look_again()
        return done

    def _hand_over(self) -> Any:
        """The wave that runs, for numpy; so that it runs no other before this one, it gets all that are suspended, too."""
        self._count_steps()
        self.launch.used.leave(self.fallback.ended_by)
        wave = handed_over(self.fallback)
        self.launch.used.native_blocks -= wave.count
        self.wave.state.under_way = 0
        self.wave.renew()
        return wave

    def _count_steps(self, begun: int = 0) -> None:
        """Looks at the limits; `begun`: segments that have run and are counted at their end."""
        self.launch.check_limits(self.wave.take_steps() + begun, self._where)
        self.launch.steps -= begun

    def _where(self) -> str:
        """What the wave executes."""
        return self.fallback.where()

    # ------------------------------------------------------------ threads

    def _share(self) -> bool:
        """Executes what is left on several threads, if that is worth it."""
        launch, seconds = self.launch, self.program.seconds * self.per_wave
        waves = -(-(launch.blocks - launch.next_block) // self.per_wave)
        if self.suspended or waves < 2 or seconds * waves < LEAST:
            return False
        self.shares = False
        members = [self.wave, *(self._kept() for _ in range(min(launch.options.threads, waves) - 1))]
        for member in members[1:]:
            member.begin(launch, self.make_wave)
            member.grant()
        launch.used.threads = len(members)
        team = Team(launch, members, seconds if self.program.module.combines else None)
        self.left.extend(team.run())
        self.program.side_by_side = team.gains  # for later launches
        self.program.seconds = min(self.program.seconds, team.seconds / max(team.waves, 1) / self.per_wave)
        launch.steps += team.steps
        self.program.memories += [member for member in members[1:] if not member.code]
        if self.left:
            self.wave = self.left.popleft()
        elif launch.next_block < launch.blocks:
            return False
        return True

    # ------------------------------------------------------------ waves in which lanes only spin

    def suspended_wave(self) -> Any:
        """One of the waves in which lanes only spin, for numpy; None if there is none."""
        if not self.suspended:
            return None
        self._resume()
        return self._hand_over()

    def _is_impatient(self, rounds: int) -> bool:
        """After so many more rounds: does a launch that may be suspended spin for long?  Then numpy suspends it."""
        gets_on = self.wave.gets_on()
        self.looks = 0 if gets_on else self.looks + rounds
        return self.launch.options.suspends and self.looks > IMPATIENT * (len(self.suspended) + 1)

    def _let_others_run(self) -> bool:
        """Suspends the wave, as numpy does; False where numpy has to do it, since waves of its own are suspended or nothing changes any more."""
        launch, options = self.launch, self.launch.options
        self._count_steps()
        self.still_waves = self.still_waves + 1 if self.wave.state.quiet >= s.QUIET_ROUNDS and self.wave.is_still() else 0
        if launch.suspended_waves or self.still_waves > PROVEN * (len(self.suspended) + 1) or self._is_impatient(1):
            return False
        self.suspended.append(self.wave)
        if len(self.suspended) >= options.max_waves and launch.next_block < launch.blocks:
            options.max_waves += 16
        if launch.next_block < launch.blocks:
            self._begin(self._another())
            self.wave.fill(launch.next_block)
        else:
            self._resume()
        return True

    def _resume(self) -> None:
        """The wave that was suspended first runs."""
        self.wave = self.suspended.popleft()
        self.wave.look_again()
        self.wave.state.counted = self.launch.steps
