"""What a recorded launch leaves: its executions of segments, the values that they wrote, its accesses and events.

A track is data: a file holds the same.  An execution of a segment is a row (`layout_of[n]`, ...); its instructions have the steps from
`first_step[n]` on.  Values are arrays in the shape of their lanes, or of one that broadcasts to it, and (base, delta) where the engine holds an
address so; None where nothing was there to be taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..values import Array
from .lanes import LaneSet
from .layout import RecordedInstruction, SegmentLayout

Kept = Array | tuple[Array, int] | None
Dim3 = tuple[int, int, int]
PAGE_BITS = 16  # of the stretches of memory that are kept as they were


@dataclass(frozen=True, slots=True)
class NamedCells:
    """An object in memory by its name."""

    name: str
    space: str  # global const shared local
    start: int
    size: int
    type: str = "b8"
    shape: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class RecordedAccess:
    """A load ("ld"), store ("st"), reduction ("red"), atomic operation ("atom"), or what a call passes in memory ("call")."""

    execution: int
    step: int  # of the execution's instructions
    instruction: int  # in the list of the track
    kind: str
    space: str
    lanes: int  # in the list of the track
    address: Kept
    mask: Array | None
    type: str  # of an element, its dtype's name
    count: int  # elements of a lane
    after: tuple[Array, ...] = ()  # what memory holds behind it, an array for each element
    values: tuple[Array, ...] = ()  # of a store that may become visible later: what is stored; else that is `after`
    source: int = -1  # of what a call passes: where it was copied from in the local memory of the same lanes; -1: it was in a register


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """Lanes diverge ("branch"), wait ("wait"), arrive at a barrier ("arrive") or are all there ("met"); a fault; what a checker has found."""

    execution: int
    step: int
    kind: str
    text: str
    lanes: int
    mask: Array | None = None


@dataclass(slots=True, eq=False)
class Track:
    """A recorded launch."""

    kernel: str
    grid: Dim3
    block: Dim3
    cluster: Dim3
    device: str
    options: dict[str, str]  # how it ran, in words
    blocks: NDArray[np.int32]  # ctaid of each block of the launch, by its number: (blocks, 3)
    texts: list[tuple[str, str]]  # of the program's modules: name and text
    parameters: list[tuple[str, str, int, int]]  # name, type, offset and size
    parameter_bytes: bytes
    objects: list[NamedCells]  # in memory
    instructions: list[RecordedInstruction] = field(default_factory=list)
    registers: dict[str, dict[str, str]] = field(default_factory=dict)  # by function: names and types
    labels: dict[str, dict[str, int]] = field(default_factory=dict)  # by function: names and lines
    frames: dict[str, list[NamedCells]] = field(default_factory=dict)  # by function: what lies in its frame, by its offset
    layouts: list[SegmentLayout] = field(default_factory=list)
    lanes: list[LaneSet] = field(default_factory=list)
    layout_of: list[int] = field(default_factory=list)
    lanes_of: list[int] = field(default_factory=list)
    depth_of: list[int] = field(default_factory=list)  # calls that are open
    base_of: list[int] = field(default_factory=list)  # where the frame of the function begins in local memory
    done: list[int] = field(default_factory=list)  # instructions that were executed
    values: list[tuple[Kept, ...]] = field(default_factory=list)
    accesses: list[RecordedAccess] = field(default_factory=list)
    events: list[RecordedEvent] = field(default_factory=list)
    pages: dict[int, Array] = field(default_factory=dict)  # global memory before the launch, by address >> PAGE_BITS
    shared: dict[int, Array] = field(default_factory=dict)  # what shared memory of a block began with, where that is not zero
    shared_bytes: int = 0
    unset: list[tuple[int, int]] = field(default_factory=list)  # global memory that nothing had written before the launch: address and size
    kept_blocks: NDArray[np.bool_] | None = None  # those that are recorded; None: all
    ended: str = ""  # what ended the launch early
    stopped: bool = False  # the limit was reached where only one block was left: what follows is missing
