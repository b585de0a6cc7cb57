"""The questions to a recording.  Every face uses only these.

A step is one instruction that a group of lanes executes; steps are numbered from 0 on, in the order in which the launch executed them.  The state
at a step is the state before it: `at(rec.step_count)` is the end of the launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.recorder.layout import RecordedInstruction
from warplab.interpreter.recorder.track import Dim3, NamedCells, RecordedAccess, RecordedEvent, Track
from warplab.isa.control import LEAVES
from warplab.isa.types import TYPES

from ..errors import UsageError
from .columns import Columns, HeldValues, Numbers
from .expressions import NamedVariables
from .memory import RecordedMemory
from .stack import RecordedStack, element_name
from .uses import used_types

Array = NDArray[Any]


class ThreadPlace(NamedTuple):
    """A thread by its coordinates, as CUDA names it."""

    block: Dim3
    thread: Dim3

    def __str__(self) -> str:
        return f"block {self.block}, thread {self.thread}"


class LaunchFault(NamedTuple):
    """A fault: the step and lane that has it, and what it is."""

    step: int
    lane: int
    text: str


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that is open: the function, and the step of the instruction in it that is executed next or waits for the call's end."""

    function: str
    step: int
    instruction: RecordedInstruction


@dataclass(frozen=True, slots=True)
class Cell:
    """An element of memory."""

    name: str  # as it is written: c[7]
    space: str
    owner: int  # the block of shared memory, the lane of local memory; 0 for global
    address: int
    type: str

    @property
    def size(self) -> int:
        """Its bytes."""
        return TYPES[self.type].bytes


@dataclass(frozen=True, slots=True)
class Moment:
    """A step: the instruction that is about to be executed, and the lanes that execute it."""

    recording: Recording
    step: int
    instruction: RecordedInstruction
    lanes: Numbers  # of the group
    active: NDArray[np.bool_]  # those for which the instruction takes effect: its guard holds

    def registers(self, lane: int) -> dict[str, Array]:
        """The registers of a lane by their names; those that nothing has written are left out."""
        return self.recording.registers(lane, self.step)

    def backtrace(self, lane: int) -> list[OpenCall]:
        """The calls of a lane that are open, the innermost first."""
        return self.recording.backtrace(lane, self.step)

    @property
    def events(self) -> list[RecordedEvent]:
        """What happened at this step beside its results."""
        return self.recording.events_at(self.step)


class Recording:
    """A recorded launch."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.columns = Columns(track)
        self.bytes = RecordedMemory(self.columns)
        self.stack = RecordedStack(self.columns, self.bytes)
        self.step_count = self.columns.steps
        self.names: NamedVariables | None = None  # those of the source, where a debugger has read them
        self._used: dict[str, dict[str, str]] = {}

    def __repr__(self) -> str:
        t = self.track
        return f"<Recording of {t.kernel}<<<{t.grid}, {t.block}>>>: {self.step_count} steps>"

    # ------------------------------------------------------------ threads

    @property
    def threads(self) -> int:
        """Threads of a block."""
        x, y, z = self.track.block
        return x * y * z

    @cached_property
    def _number_of(self) -> dict[Dim3, int]:
        return {(int(x), int(y), int(z)): n for n, (x, y, z) in enumerate(self.track.blocks.tolist())}

    def block(self, at: Dim3 | int) -> int:
        """The number of a block, given by its coordinates or by its place in the grid, x first."""
        x, y, _ = self.track.grid
        where = (at % x, at // x % y, at // (x * y)) if isinstance(at, int) else at
        found = self._number_of.get(where)
        if found is None:
            raise UsageError(f"there is no block {at}; the grid is {self.track.grid}")
        return found

    def lane(self, block: Dim3 | int, thread: Dim3 | int) -> int:
        """The number of a lane: a thread of a block, given by coordinates or by its place, x first."""
        x, y, _ = self.track.block
        linear = thread if isinstance(thread, int) else thread[0] + x * (thread[1] + y * thread[2])
        inside = isinstance(thread, int) or all(0 <= t < d for t, d in zip(thread, self.track.block, strict=True))
        if not 0 <= linear < self.threads or not inside:
            raise UsageError(f"there is no thread {thread}; the block is {self.track.block}")
        return self.block(block) * self.threads + linear

    def thread(self, lane: int) -> ThreadPlace:
        """The coordinates of a lane."""
        block, t = divmod(int(lane), self.threads)
        x, y, _ = self.track.block
        bx, by, bz = self.track.blocks[block].tolist()
        return ThreadPlace((bx, by, bz), (t % x, t // x % y, t // (x * y)))

    def warp_of(self, lane: int) -> Numbers:
        """The lanes of a lane's warp."""
        block, t = divmod(int(lane), self.threads)
        first = t & ~31
        return np.arange(first, min(first + 32, self.threads)) + block * self.threads

    def is_recorded(self, block: int) -> bool:
        """Is a block among those that are recorded?"""
        kept = self.track.kept_blocks
        return kept is None or bool(kept[block])

    # ------------------------------------------------------------ steps

    def steps(self, lanes: int | Sequence[int] | Numbers) -> Numbers:
        """The steps in which one of some lanes takes part, in order."""
        who = np.atleast_1d(np.asarray(lanes, np.int64))
        c = self.columns
        ex = c.executions_with(who)
        counts = c.done[ex]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        out: Numbers = np.repeat(c.first[ex], counts) + within
        return out

    def at(self, step: int) -> Moment:
        """A step: what is executed, and by which lanes.  Of the end of the launch, its last step."""
        if not 0 <= step <= self.step_count or not self.step_count:
            raise UsageError(f"there is no step {step}; the recording has {self.step_count}")
        shown = min(step, self.step_count - 1)
        lanes, active = self.columns.taking_part(shown)
        return Moment(self, step, self.columns.instruction(shown), lanes, active)

    def next_step(self, lane: int, step: int) -> int | None:
        """The first step at or behind `step` in which a lane takes part; None where it has ended."""
        c = self.columns
        who = np.array([lane])
        near = np.flatnonzero(c.touching(who)) if step < self.step_count else np.empty(0, np.int64)
        for n in near[np.searchsorted(near, c.execution(step)) :].tolist() if near.size else []:
            if c.done[n] and c.first[n + 1] > step and c.lanes_of(n).places(who)[0] >= 0:
                return max(int(c.first[n]), step)
        return None

    def previous_step(self, lane: int, step: int) -> int | None:
        """The last step before `step` in which a lane takes part."""
        c = self.columns
        who = np.array([lane])
        near = np.flatnonzero(c.touching(who))
        for n in near[: np.searchsorted(near, c.execution(step - 1), side="right")][::-1].tolist() if step > 0 else []:
            if c.done[n] and c.first[n] < step and c.lanes_of(n).places(who)[0] >= 0:
                return min(int(c.first[n + 1]), step) - 1
        return None

    def interrupted_at(self, lane: int) -> int | None:
        """The step in which a lane took part last, where the launch ended before the lane did: at a fault, or in a deadlock."""
        if not self.track.ended or (step := self.previous_step(lane, self.step_count)) is None:
            return None
        numbers, active = self.columns.taking_part(step)
        left = self.columns.instruction(step).opcode in LEAVES and lane in numbers[active]
        return None if left else step

    @cached_property
    def _events(self) -> dict[tuple[int, int], list[int]]:
        out: dict[tuple[int, int], list[int]] = {}
        for n, e in enumerate(self.track.events):
            out.setdefault((e.execution, e.step), []).append(n)
        return out

    def event(self, n: int) -> tuple[RecordedEvent, Numbers] | None:
        """An event of the track, and the lanes to which it happens; None for a branch at which only whole warps go different ways."""
        e = self.track.events[n]
        group = self.track.lanes[e.lanes]
        numbers = group.numbers
        if e.mask is None:
            return e, numbers
        mask = group.full(e.mask)
        if e.kind == "branch":
            block, thread = np.divmod(numbers, self.threads)
            warp = block * (-(-self.threads // 32)) + (thread >> 5)
            warp -= warp.min()
            alive = self.columns.lanes_of(min(e.execution, len(self.columns.lanes) - 1)).active
            alive = alive if alive.size == mask.size else np.ones(mask.shape, np.bool_)
            taken, every = np.bincount(warp[mask]), np.bincount(warp[alive])
            taken = np.pad(taken, (0, every.size - taken.size))
            mask = ((taken > 0) & (taken < every))[warp] & alive
            if not mask.any():
                return None
        return e, numbers[mask]

    def events_at(self, step: int, lanes: Numbers | None = None) -> list[RecordedEvent]:
        """What happened at a step beside its results, to any lane or to one of some."""
        if step >= self.step_count:
            return []
        n, k = place = self.columns.place(step)
        events = [e for n in self._events.get(place, []) if (e := self.event(n)) is not None]
        if k == 0 and n in self.reconvergences:
            events.insert(0, (RecordedEvent(n, 0, "reconverge", "lanes reconverge", int(self.columns.lanes[n])), self.reconvergences[n]))
        return [e for e, numbers in events if lanes is None or np.isin(lanes, numbers).any()]

    @cached_property
    def reconvergences(self) -> dict[int, Numbers]:
        """The executions before which lanes of a warp were apart, and these lanes."""
        c, out = self.columns, {}
        warps = -(-self.threads // 32)
        before = np.full(len(self.track.blocks) * self.threads, -1, np.int64)  # the last execution of each lane
        for n in range(len(c.layout)):
            numbers = c.lanes_of(n).numbers
            last = before[numbers]
            if last.size and (last != last[0]).any():
                block, thread = np.divmod(numbers, self.threads)
                warp = block * warps + (thread >> 5)
                low, high = np.full(int(warp.max()) + 1, n), np.full(int(warp.max()) + 1, -1)
                np.minimum.at(low, warp, last)
                np.maximum.at(high, warp, last)
                apart = (low != high)[warp]
                if apart.any():
                    out[n] = numbers[apart]
            before[numbers] = n
        return out

    @cached_property
    def fault(self) -> LaunchFault | None:
        """The fault that has ended the launch."""
        for n, e in enumerate(self.track.events):
            if e.kind == "fault" and (found := self.event(n)) is not None:
                step = min(int(self.columns.first[e.execution]) + max(e.step, 0), self.step_count - 1)
                return LaunchFault(step, int(found[1][0]), e.text)
        return None

    # ------------------------------------------------------------ registers

    def frame(self, lane: int, step: int) -> tuple[str, int]:
        """The function that a lane is in before a step, and how many calls are open."""
        c = self.columns
        at = self.next_step(lane, step)
        if at is None:
            at = self.previous_step(lane, step)
        if at is None:
            raise UsageError(f"{self.thread(lane)} is not in the recording")
        n = c.execution(at)
        return self.track.layouts[c.layout[n]].function, int(c.depth[n])

    def held(
        self, register: str, lanes: Numbers, step: int, frame: tuple[str, int] | None = None, group: int | None = None
    ) -> HeldValues:  # fmt: skip
        """What lanes hold in a register before a step, as numbers of its type, since when, and whether that is known.

        `group`: the lanes are all of the track's set of this number.
        """
        function, depth = frame or self.frame(int(lanes[0]), step)
        c = self.columns
        type = c.type_of(function, register)
        found = c.last(function, register, depth, lanes, step, group=group)
        if TYPES[type].bits == 128:
            high = c.last(function, register, depth, lanes, step, 1)
            return HeldValues(np.stack([found.value.view(np.uint64), high.value.view(np.uint64)], axis=-1), found.step, found.known)
        return HeldValues(c.decoded(found.value, type), found.step, found.known)

    def registers(self, lanes: int | Numbers, step: int) -> dict[str, Array]:
        """The registers of a lane, or of the lanes of a warp, before a step; those that nothing has written are left out."""
        who = np.atleast_1d(np.asarray(lanes, np.int64))
        frame = self.frame(int(who[0]), step)
        out = {}
        for name in self.track.registers.get(frame[0], {}):
            found = self.held(name, who, step, frame)
            if found.known.all():
                out[name] = found.value if np.ndim(lanes) else found.value[0]
        return out

    def backtrace(self, lane: int, step: int) -> list[OpenCall]:
        """The calls of a lane that are open before a step, the innermost first."""
        c = self.columns
        at = self.next_step(lane, step)
        out: list[OpenCall] = []
        for n in () if at is None else self.stack.open_executions(lane, at):
            s = int(at or 0) if not out else int(c.first[n + 1]) - 1
            out.append(OpenCall(self.track.layouts[c.layout[n]].function, s, c.instruction(s)))
        return out

    def used_type(self, function: str, register: str) -> str:
        """The type that the instructions of a function use a register with: of a .b32 that holds floating-point numbers f32."""
        if function not in self._used:
            self._used[function] = used_types(self.track.instructions, function, self.track.registers.get(function, {}))
        return self._used[function][register]

    # ------------------------------------------------------------ memory

    def object(self, name: str) -> NamedCells:
        """An object in memory by its name."""
        for o in self.track.objects:
            if o.name == name:
                return o
        known = " ".join(dict.fromkeys(o.name for o in self.track.objects)) or "none"
        raise UsageError(f"there is no array or variable {name}; there are {known}")

    def memory(self, name: str, step: int, block: Dim3 | int = 0) -> Array:
        """An array or variable before a step, in its shape and type; of shared memory that of a block."""
        o = self.object(name)
        owner = self.block(block) if o.space == "shared" else 0
        raw = self.bytes.held(o.space, owner, o.start, o.size, step)
        t = TYPES.get(o.type, TYPES["b8"])
        kind = t.dtype if t.elements == 1 else np.dtype(f"u{t.bytes}")
        out: Array = raw[: raw.size // kind.itemsize * kind.itemsize].view(kind)
        return out.reshape(o.shape) if o.shape and int(np.prod(o.shape)) == out.size else out

    def cell(self, name: str, index: int | Sequence[int], block: int = 0) -> Cell:
        """An element of an array, its index given in one number or in one for each dimension."""
        o = self.object(name)
        type = o.type if o.type in TYPES else "b8"
        size = TYPES[type].bytes
        places = [index] if isinstance(index, int) else list(index)
        shape = o.shape if o.shape and len(places) == len(o.shape) else (o.size // size,)
        if len(places) != len(shape) or not all(0 <= i < d for i, d in zip(places, shape, strict=True)):
            raise UsageError(
                f"{name}{''.join(f'[{i}]' for i in places)} is not one of its elements; {name} has {' x '.join(map(str, shape))}"
            )
        linear = int(np.ravel_multi_index(places, shape))
        return Cell(f"{name}[{linear}]", o.space, block if o.space == "shared" else 0, o.start + linear * size, type)

    def cell_value(self, cell: Cell, step: int) -> Any:
        """What a cell holds before a step."""
        t = TYPES[cell.type]
        kind = t.dtype if t.elements == 1 else np.dtype(f"u{t.bytes}")
        changes, owner = self.bytes.changes[cell.space], cell.owner if cell.space != "global" else -1
        k = changes.last(owner, cell.address, cell.address + cell.size, step)
        if k is not None and changes.address[k] == cell.address and changes.size[k] == kind.itemsize == cell.size:
            return changes.bits[k : k + 1].astype(f"u{cell.size}").view(kind)[0]
        return self.bytes.held(cell.space, cell.owner, cell.address, cell.size, step).view(kind)[0]

    def name_of(self, space: str, address: int) -> str:
        """A place in memory by the object that holds it: c[7]."""
        for o in self.track.objects:
            if o.space == space and o.start <= address < o.start + o.size:
                return element_name(o, address, True)
        return f"{space}[{address:#x}]"

    def type_at(self, space: str, address: int, type: str) -> str:
        """The type of an element that an access reaches: what the object there consists of, if that has the size of the access's type."""
        for o in self.track.objects:
            if o.space == space and o.start <= address < o.start + o.size:
                return o.type if o.type in TYPES and TYPES[o.type].bytes == TYPES[type].bytes else type
        return type

    @cached_property
    def _accesses(self) -> dict[int, list[RecordedAccess]]:
        out: dict[int, list[RecordedAccess]] = {}
        for a in self.track.accesses:
            out.setdefault(a.execution, []).append(a)
        return out

    def accesses_of(self, execution: int) -> list[RecordedAccess]:
        """The accesses of an execution, in the order of time."""
        return self._accesses.get(execution, [])

    @cached_property
    def _unset(self) -> dict[str, frozenset[str]]:
        out: dict[str, set[str]] = {}
        for layout in self.track.layouts:
            out.setdefault(layout.function, set()).update(c.register for c in layout.columns if c.role == "unset")
        return {k: frozenset(v) for k, v in out.items()}

    def unset_registers(self, function: str) -> frozenset[str]:
        """The registers of a function that may be read before they are written."""
        return self._unset.get(function, frozenset())

    def issued(self, cell: Cell, step: int) -> int:
        """The step whose instruction has caused the last change of a cell at a step: under a seed a store may be done later."""
        k = self.bytes.changes[cell.space].last(
            -1 if cell.space == "global" else cell.owner, cell.address, cell.address + cell.size, step + 1
        )
        return step if k is None else self.bytes.issuing_step(cell.space, k)

    def writers(self, cell: Cell, before: int | None = None) -> list[tuple[int, int]]:
        """The steps at which a cell has changed, and the lanes that have written it, in the order of time."""
        end = self.step_count + 1 if before is None else before
        owner = -1 if cell.space == "global" else cell.owner
        changes = self.bytes.changes[cell.space]
        near = changes.places(owner, cell.address, cell.address + cell.size, end).tolist()
        late = [k for k in near if self.track.accesses[changes.access[k]].kind == "late"]
        held = {(self.bytes.issuing_step(cell.space, k), int(changes.lane[k])) for k in late}  # not done where they were executed
        found = [(int(changes.step[k]), int(changes.lane[k])) for k in near]
        return list(dict.fromkeys(at for k, at in zip(near, found, strict=True) if k in late or at not in held))

    def last_write(self, what: str | Cell, lane: int, before: int) -> tuple[int, int] | None:
        """The step that wrote a register of a lane, or a cell, last before a step, and the lane that did; None where nothing has."""
        if isinstance(what, Cell):
            changes = self.bytes.changes[what.space]
            k = changes.last(-1 if what.space == "global" else what.owner, what.address, what.address + what.size, before)
            return None if k is None else (self.bytes.issuing_step(what.space, k), int(changes.lane[k]))
        one = self.held(what, np.array([lane]), before)
        return (int(one.step[0]), lane) if one.known[0] and one.step[0] >= 0 else None

    # ------------------------------------------------------------ files

    def save(self, path: str | Path) -> None:
        """Writes the recording to a file."""
        from .files import save

        save(self.track, Path(path))

    @staticmethod
    def load(path: str | Path, most: int | None = None) -> Recording:
        """Reads a recording, and trusts nothing in the file: UsageError where it is damaged, or takes more than `most` bytes unpacked."""
        from .files import MOST_BYTES, load

        return Recording(load(Path(path), MOST_BYTES if most is None else most))
