"""What groups of lanes ask of the wave that they belong to."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random
from typing import Any, Protocol

from warplab.assembler.ir import Function

from ..launch import Launch
from ..memory.access import WaveMemory
from ..memory.spaces import LocalSpace, SharedSpace
from ..memory.tensor import TensorSpace
from ..plan.plan import SyncKey
from ..rubbish import Rubbish
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


class WavePort(Protocol):
    """Some blocks of a launch; see wave.py."""

    launch: Launch
    observers: Sequence[Any]
    first: int
    count: int
    current: Any  # the Site that runs, kept for observers
    shadow: Any  # what an observer keeps beside its memories
    access: WaveMemory
    shared: SharedSpace
    local: LocalSpace
    tensor: TensorSpace
    rubbish: Rubbish | None
    exited: Array
    exited_count: int
    ready: deque[Any]
    schedule: Random | None
    segments_run: int

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
