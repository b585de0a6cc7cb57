"""The events of a launch, and the observers that receive them.  A launch without observers does not use this file.

To write a checker or a counter, derive from Observer, define the methods for the events that you need, and pass an instance as an observer of
the launch.  Events arrive in the order of execution.  Each belongs to a group: lanes that execute together.  `group.geometry` has the block, the
thread and the warp of each lane (`.block`, `.thread`, `.warps`).  Arrays have the shape of the group, or a shape that broadcasts to it: a mask or an
address that is equal in all lanes is one element.  `group.alive` is the mask of the lanes that have not left the current loop (None: all lanes);
the masks of events exclude the other lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from warplab.assembler.ir import Function
from warplab.isa.textures.resources import Image
from warplab.isa.types import ScalarType

from .faults import ExecutionError
from .launch import Launch
from .memory.access import WaveMemory
from .memory.arena import Allocation, Arena
from .memory.spaces import AccessingLanes, LocalSpace, SharedSpace
from .memory.store_buffer import LateStores
from .memory.tensor import TensorSpace
from .plan.plan import LoweringOptions, Site
from .poison import Poison
from .program import LoadedKernel
from .values import Array, Value

# ---------------------------------------------------------------- what events are about


class ObservedWave(Protocol):
    """Some blocks of a launch that execute together."""

    launch: Launch
    observers: Sequence[Any]
    first: int  # block
    count: int  # of blocks
    current: Any  # the Site that runs, kept for observers
    copying: Any  # the asynchronous copy that runs, for observers
    shadow: Any  # what an observer keeps beside its memories
    access: WaveMemory
    shared: SharedSpace
    local: LocalSpace
    tensor: TensorSpace
    poison: Poison | None
    exited: Array
    exited_count: int
    segments_run: int

    @property
    def late(self) -> LateStores | None:
        """The stores that are held; None where all are done when they are executed."""

    @property
    def pending(self) -> Any:
        """The asynchronous copies under way; None where all are complete when they are issued."""

    def block_table(self, name: str) -> Array:
        """A special register that is equal in a block, (blocks, 1)."""


class ObservedLanes(AccessingLanes, Protocol):
    """Lanes of a wave: a group, or those of its lanes whose asynchronous copy is done."""

    @property
    def wave(self) -> ObservedWave:
        """The wave of the lanes."""

    @property
    def alive(self) -> Array | None:
        """The lanes that have not left the current loop; None: all."""

    def only(self, lanes: Array) -> AbstractContextManager[None]:
        """Restricts accesses inside the with statement to these lanes."""


class Copying:
    """An asynchronous copy, from the instruction that issues it to the accesses that it makes: what some lanes have issued together."""

    __slots__ = ("after", "group", "site")

    def __init__(self, site: Site, group: str = "", after: str = "") -> None:
        self.site = site
        self.group = group  # that each lane closes next
        self.after = after  # the groups that it comes after

    def named(self, wave: ObservedWave, work: Callable[..., Any]) -> Callable[..., Any]:
        """The work, whose accesses name this copy."""

        def named(*given: Any) -> Any:
            before, wave.copying = wave.copying, self
            try:
                more = work(*given)
            finally:
                wave.copying = before
            return None if more is None else self.named(wave, more)

        return named


@dataclass(frozen=True, slots=True)
class Access:
    """A load ("ld"), store ("st"), reduction ("red") or atomic operation ("atom"), before it happens."""

    site: Site
    group: ObservedLanes
    kind: str
    space: str  # as PTX names it; "generic" if the address determines the space
    address: Value
    mask: Array | None  # the active lanes; None: all lanes of the group
    type: ScalarType
    count: int  # elements per lane
    values: Sequence[Array] = ()  # the values of a store
    copy: Copying | None = None  # the asynchronous copy that the access belongs to


@dataclass(frozen=True, slots=True)
class TexelAccess:
    """Texels of an image that lanes have fetched from a texture, or are about to access through a surface.

    Texels are given by level, slice, row and column: arrays (texels of a lane, rows, columns of the group).
    """

    site: Site
    group: ObservedLanes
    space: str  # texture or surface
    kind: str  # as Access has it
    width: int  # bytes of a lane; of a fetch those of one texel
    mask: Array | None  # the lanes that access them; None: all of the group
    image: Image
    level: Array
    slice: Array
    row: Array
    column: Array
    there: Array  # False where the border colour stood for a texel, a cube has none, or a place lies outside the surface


@dataclass(frozen=True, slots=True)
class LaunchProof:
    """A launch of which compiled code has proved what no checker objects to, instead of announcing its events.

    No byte of memory was accessed by two threads, one of them writing, unless a barrier of their whole block lay between, or all of its accesses were
    atomic updates of one size, in a scope that includes these threads; no thread had ended, or stood elsewhere, when others came to a barrier;
    nothing was read that was unset; all accesses were legal, and all but such updates weak.
    """

    launch: Launch
    unit: int  # bytes
    set: tuple[tuple[Allocation, Array], ...]  # the allocations with unset bytes that it has written, and which of their units
    may_meet: bool  # may a thread do what it does because of what another one has released?


class Observer:
    """Receives the events of a launch, and ignores them.  Derive from it, and define the methods for the events of interest."""

    @property
    def hears_all(self) -> bool:
        """Does it need every event?  If no observer of a launch does, compiled code may run it: it announces only what it leaves to numpy, such
        as malloc, free and texels.
        """
        return True

    def takes_proof(self, launch: Launch) -> bool:
        """May a LaunchProof stand for the events of a launch that begins?"""
        return not self.hears_all

    def has_unset(self, arena: Arena, a: Allocation) -> bool:
        """Does an allocation hold bytes that nobody has set, as far as it follows them?"""
        return False

    def proved(self, proof: LaunchProof) -> None:
        """It stands for all events of a launch but its beginning and its end."""

    def begin(self, launch: Launch) -> None:
        """A launch starts."""

    def wanted(self, first: int) -> int | None:
        """How many blocks it wants to see in the next wave, which begins at block `first`; None: as many as there are; 0: no more of the launch."""
        return None

    def wave(self, wave: ObservedWave) -> None:
        """Some blocks start."""

    def code(self, kernel: LoadedKernel, f: Function, lowering: LoweringOptions) -> Any:
        """A VectorFunction with additional computations, or None; it is executed instead.  At most one observer of a launch may have one."""
        return None

    def around(self, function: Any) -> Any:
        """A VectorFunction as it is executed for an observer that adds to its steps; asked each time the function is called."""
        return function

    def stretch(self, sites: Sequence[Site], group: ObservedLanes) -> None:
        """Instructions without guards, executed by the lanes `group.alive`.  All but the last are pure, and cause no other event.

        By default, each of them is passed to `instruction`.
        """
        for site in sites:
            self.instruction(site, group, group.alive)

    def instruction(self, site: Site, group: ObservedLanes, mask: Array | None) -> None:
        """An instruction with a guard, such as a branch.  `mask`: the lanes whose guard is true (None: all lanes of the group)."""

    def access(self, access: Access) -> None:
        """Lanes access memory."""

    def texels(self, access: TexelAccess) -> None:
        """Lanes have fetched texels from a texture, or are about to access those of a surface."""

    def update(self, site: Site, group: ObservedLanes, operands: Sequence[Array]) -> None:
        """An atomic operation with these operands.  Its access is the next event; memory changes after that."""

    def allocated(self, site: Site, group: ObservedLanes, addresses: Array, sizes: Array) -> None:
        """Lanes have called malloc; an address is 0 if the heap is full."""

    def freed(self, site: Site, group: ObservedLanes, addresses: Array) -> None:
        """Lanes call free with these addresses; the memory is freed after the event."""

    def arrival(self, site: Site, group: ObservedLanes, number: int, count: int | None, waits: bool) -> None:
        """Lanes arrive at a barrier of their block.  If all threads of a wave arrive together, the event is `met` instead."""

    def completion(self, wave: ObservedWave, number: int, blocks: Array) -> None:
        """A barrier with `arrival` events is complete in these blocks, given by their positions in the wave."""

    def met(self, site: Site, group: ObservedLanes, number: int) -> None:
        """All threads of a wave arrive together at a barrier of their blocks, and continue."""

    def issued(self, copy: Copying, lanes: ObservedLanes) -> None:
        """The active lanes issue an asynchronous copy.  Its accesses follow now or later, and name it."""

    def closed(self, lanes: ObservedLanes, group: str) -> None:
        """The active lanes close a group of copies."""

    def waited(self, lanes: ObservedLanes, group: str, most: int, read: bool) -> None:
        """The active lanes have waited for their groups of copies; see isa.ports.CopyingLanes.wait_groups."""

    def members(self, site: Site, group: ObservedLanes, membermask: Array) -> None:
        """Lanes of a group reach an instruction that waits for the lanes of its membermask."""

    def mbarrier(self, site: Site, group: ObservedLanes, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        """The active lanes of a group use mbarrier objects, which change after the event.  `what`, `amounts`: see isa.ports.Lanes.mbarrier."""

    def cluster(self, site: Site, group: ObservedLanes, arrives: bool) -> None:
        """The active lanes of a group arrive at the barrier of their cluster, or start to wait there."""

    def branch(self, site: Site, group: ObservedLanes, condition: Array, targets: tuple[int, int]) -> None:
        """The lanes of a group diverge at a branch.  `condition`: the lanes that take it."""

    def passed(self, group: ObservedLanes, source: int | None, target: int, size: int) -> None:
        """A call has put an argument or a result into a frame of its lanes' stacks, at `target`; `source`: where it lay in another, None: nowhere."""

    def wait(self, site: Site | None, group: ObservedLanes, why: str) -> None:
        """A group starts to wait: "barrier", "lanes" or "cluster"."""

    def end(self, launch: Launch) -> None:
        """A launch is over."""

    def aborted(self, launch: Launch, error: ExecutionError) -> None:
        """A launch ended early."""
