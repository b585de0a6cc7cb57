"""How long a launch takes, as the model of time predicts it: beside the counts, which are exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
    by_line: Mapping[tuple[str, int], Mapping[str, float]]  # by module and line: the cycles that the warps of a multiprocessor wait for each reason
    bucket: int  # cycles of an entry of the timeline
    timeline: tuple[tuple[float, ...], ...]  # warps of a multiprocessor by reason, in the order of `stalls` of the model
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
