"""What groups of lanes ask of the wave that they belong to."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any, Protocol

from warplab.assembler.ir import Function

from ..observe import ObservedWave
from ..plan.plan import SyncKey
from ..values import Array
from .function import VectorFunction


class WaitingPort(Protocol):
    """The groups that cannot go on; see sync.py."""

    blocked: list[Any]
    spinning: list[Any]
    joins_not_waited_for: set[tuple[str, int]]
    events: int

    def rest(self, g: Any, pc: int) -> int | None:
        """A group that spins lets others run first."""

    def wait(self, g: Any, why: str) -> None:
        """A blocked group waits."""

    def missing(self, g: Any, mask: Array | None, who: Array | None = None) -> Array:
        """The lanes that membermasks name and that are elsewhere."""

    def wait_for_lanes(self, g: Any, mask: Array | None, pc: int, key: SyncKey | None) -> int | None:
        """A group that lacks lanes of its warps waits for them."""


class BarriersPort(Protocol):
    """The barriers of blocks and clusters; see barriers.py."""

    def arrive(self, g: Any, number: Array, count: int | None, waits: bool, pc: int, reduction: Any) -> int | None:
        """A group arrives at a barrier of its blocks."""

    def split_passed(self, wave: Any) -> bool:
        """Lanes of blocks whose barrier is complete go on without the others of their group."""

    def recheck(self, wave: Any) -> None:
        """Lanes have ended: barriers may be complete."""

    def cluster_arrive(self, g: Any) -> None:
        """A group arrives at the barrier of its clusters."""

    def cluster_wait(self, g: Any, pc: int) -> int | None:
        """A group waits there."""


class PendingPort(Protocol):
    """Asynchronous copies that are under way; see pending.py."""

    def takes(self, lanes: Any, work: Any, group: str, barrier: Any, after: str) -> bool:
        """Does some lanes' work come later?"""

    def close_group(self, lanes: Any, group: str) -> None:
        """Some lanes close a group of copies."""

    def wait_groups(self, lanes: Any, group: str, most: int, read: bool) -> None:
        """Some lanes wait for their groups."""

    def settle(self, lanes: Any, space: str, address: Any) -> None:
        """Some lanes look at an mbarrier."""

    def finish(self) -> bool:
        """All that is under way comes now."""


class WavePort(ObservedWave, Protocol):
    """Some blocks of a launch; see wave.py."""

    ready: deque[Any]
    schedule: Random | None

    @property
    def pending(self) -> PendingPort | None:
        """The copies under way; None where all are complete when they are issued."""

    def finish_late(self) -> bool:
        """Nobody can go on: what comes late comes now.  False where nothing was under way."""

    @property
    def waiting(self) -> WaitingPort:
        """The groups that cannot go on."""

    @property
    def barriers(self) -> BarriersPort:
        """The barriers of its blocks."""

    def block_table(self, name: str) -> Array:
        """A value of each block, (blocks, 1)."""

    def code_of(self, f: Function) -> VectorFunction:
        """A function as this launch runs it."""
