"""How long a launch takes, as the model of time predicts it: beside the counts, which are exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

# Why a warp waits, in Nsight Compute's words; a warp that issues is `selected`.
REASONS = ("selected", "wait", "long_scoreboard", "short_scoreboard", "barrier", "branch_resolving", "math_pipe_throttle", "mio_throttle", "no_instruction",
           "not_selected", "imc_miss", "drain", "membar")  # fmt: skip
BOUND = 0.6  # of the active cycles for which a resource must be busy to be called the limit
KNEE = 1.05  # of the least cycles: fewer warps would be slower by more
ROUNDS = "latency"  # in `busy`: what the rounds of blocks take if nothing else is at work


class Issue(NamedTuple):
    """An instruction that a multiprocessor issues."""

    cycle: int
    scheduler: int
    warp: int  # among those of the multiprocessor, block after block
    opcode: str  # of the machine code
    line: int  # of the PTX; 0: ptxas adds it


@dataclass(frozen=True, slots=True)
class LaunchTime:
    """A prediction; times are cycles of a multiprocessor."""

    recorded: bool  # is the device one that the model was compared with?  Else its figures are from published tables
    clock_hz: float
    slots: int  # instructions that the device can issue in a cycle
    cycles: float  # of the launch
    active: float  # of a multiprocessor from its first block to its last one
    issued: float  # warp instructions of the machine code
    stalls: Mapping[str, float]  # cycles that warps wait for each reason, per instruction issued
    by_line: Mapping[
        tuple[str, int], Mapping[str, float]
    ]  # by function and line: the cycles that the warps of a multiprocessor wait for each reason
    bucket: int  # cycles of an entry of the timeline
    timeline: tuple[tuple[float, ...], ...]  # warps of a multiprocessor by reason, in the order of REASONS
    issues: tuple[Issue, ...]  # the first ones
    parallelism: float  # instructions of a block of code for each that must wait for the one before
    ratio: float  # instructions for each one that loads from global memory; 0: none does
    busy: Mapping[str, float]  # how long each resource of a multiprocessor is busy, and what the rounds of blocks take alone
    occupancy: tuple[tuple[int, float], ...]  # warps resident on a multiprocessor, and the cycles of the launch with them

    @property
    def seconds(self) -> float:
        """At the device's clock."""
        return self.cycles / self.clock_hz

    @property
    def issue_slots(self) -> float:
        """The part of the issue slots of active cycles that is used."""
        return self.issued / (self.active * self.slots) if self.active else 0.0

    @property
    def limiter(self) -> tuple[str, float]:
        """What bounds the launch, and the part of the active cycles for which it is busy; latency, if no resource is."""
        resources = {name: cycles / self.active for name, cycles in self.busy.items() if name != ROUNDS} if self.active else {}
        name = max(resources, key=resources.__getitem__, default=ROUNDS)
        if resources.get(name, 0.0) >= BOUND:
            return name, min(1.0, resources[name])
        return ROUNDS, min(1.0, self.busy.get(ROUNDS, 0.0) / self.active) if self.active else 0.0

    @property
    def knee(self) -> int:
        """The warps on a multiprocessor from which more of them gain little."""
        best = min((cycles for _, cycles in self.occupancy), default=0.0)
        return next((warps for warps, cycles in self.occupancy if cycles <= KNEE * best), 0)

    @property
    def waits(self) -> dict[str, float]:
        """What warps wait for, the greatest first."""
        return dict(sorted(((r, n) for r, n in self.stalls.items() if r != "selected"), key=lambda x: -x[1]))
