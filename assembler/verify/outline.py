"""A function's registers and control flow as arrays of numbers, from the shapes of its statements: what warnings look at first.

Nearly all functions are in order, and the arrays say so without a node being made.  Where they leave a doubt, the statements are looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from ..chunks import Chunk, TextBlock
from ..flow import ENDS, BasicBlock, Flow, accesses, passed_on, stays
from ..ir import Block, Function, Instruction, Label, Register, Targets
from ..known import tokens_of
from ..listing import flat
from ..patterns import REGISTER, Patterns
from ..recipes import items
from ..scopes import Scope
from .roles import (
    BARRIER,
    ENDING,
    GIVEN,
    LABELLED,
    LANE,
    LANED,
    LOADING,
    NAMED,
    PASSED_ON,
    READ,
    SOMETIMES,
    WHOLE,
    WRITTEN,
    Role,
    role_of,
    waits,
)
from .suspects import DIVERGENT, LOADS

_MOST = 1 << 16
BOILERPLATE = "temp_param_reg"  # nvcc declares it at every call

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]


class Numbers(dict[object, int]):
    """The numbers of registers: those of a range one after the other, others by name, or by the identity of what an inner block declares."""

    def __init__(self, scope: Scope, patterns: Patterns) -> None:
        stems = scope.stems
        self.ranges: dict[str, int] = {}
        self.total = 0
        for stem in patterns.stems:
            if stem in stems:
                self.ranges[stem] = self.total
                self.total += stems[stem].count
        self.first = np.array([self.ranges.get(stem, 0) for stem in patterns.stems], np.int64)

    def of(self, name: object) -> int:
        """The number of a name, or of the identity of a register that a block declares."""
        if isinstance(name, str):
            stem = name.rstrip("0123456789")
            first = self.ranges.get(stem)
            if first is not None and stem != name:
                return first + int(name[len(stem) :])
        number = self.setdefault(name, self.total)
        self.total = max(self.total, number + 1)
        return number


@dataclass(slots=True)
class End:
    """What ends a block."""

    opcode: str
    guarded: bool
    stays: bool
    label: str = ""


@dataclass(slots=True)
class Outline:
    """A function in numbers: events are what the tokens of its statements do, in the order of the text."""

    function: Function
    numbers: Numbers
    count: int  # statements
    rows: Ints  # of each event its statement,
    registers: Ints  # its register,
    roles: Bytes  # and what it does
    loading: Ints  # statements that read memory
    barriers: list[int]  # those that wait for the whole block
    ends: dict[int, End]
    graph: Flow
    block_of: Ints  # of each statement
    starts: list[int]  # the first statement of each block
    unused: bool  # is a register named nowhere that an inner block declares?


class _Maker:
    """Puts an outline together."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.count = 0
        self.chunks: list[tuple[int, Chunk, list[Role]]] = []  # each with its first row
        self.rows: list[Ints] = []
        self.registers: list[Ints] = []
        self.roles: list[Bytes] = []
        self.told: list[tuple[int, int, int]] = []  # row, register and role of what single instructions tell
        self.loading: list[int] = []
        self.barriers: list[int] = []
        self.ends: dict[int, End] = {}
        self.labels: dict[str, int] = {}
        self.inner: list[tuple[int, str]] = []  # what blocks in chunks declare, each with the block's first row
        self.made: list[Instruction] = []  # nodes that only this holds
        self.own: Mapping[str, object] = {}  # what the body itself declares

    def outline(self) -> Outline | None:
        """The outline of the function; None of one that branches in unusual ways."""
        body = self.function.body
        if not isinstance(body, TextBlock):
            return None
        chunk = next(part for part in body.parts if isinstance(part, Chunk))
        scope = chunk.scope
        self.own = scope.names
        self.numbers = Numbers(scope, chunk.source.patterns)
        if self.numbers.total > _MOST + body.span.end - body.span.start:
            return None  # of so many registers only few can be used
        with scope.opened():
            return self.finished() if self.parts(body) else None

    def parts(self, body: TextBlock) -> bool:
        """Takes everything in; False where there are branches that it does not follow."""
        for part in body.parts:
            if isinstance(part, Chunk):
                for recipe in part.kinds:
                    role_of(recipe)
                self.chunks.append((self.count, part, list(map(attrgetter("role"), part.recipes))))
                self.count += len(part.recipes)
            elif isinstance(part, Block):
                inner = flat([part])
                if any(isinstance(s, (Label, Targets)) for s in inner):
                    return False
                for s in inner:
                    if isinstance(s, Instruction):
                        self.instruction(s, self.count)
                        self.count += 1
            elif isinstance(part, Label):
                self.labels[part.name] = self.count
            elif isinstance(part, Instruction):
                self.instruction(part, self.count)
                self.count += 1
            elif isinstance(part, Targets):
                return False
        self.statements()
        return True

    def statements(self) -> None:
        """The events of all chunks."""
        chunks = self.chunks
        patterns, ends = chunks[0][1].source.patterns, chunks[0][1].source.ends
        roles = [role for _, _, known in chunks for role in known]
        flags = np.frombuffer(bytes([role.flags for role in roles]), np.uint8)
        events = [role.registers for role in roles]
        what = np.frombuffer(b"".join(events), np.uint8)
        lengths = np.fromiter(map(len, events), np.int64, len(events))
        rows = np.concatenate([np.arange(row, row + len(known)) for row, _, known in chunks])
        limits = [pos for _, c, known in chunks for pos in (c.pos, ends[c.first + len(known) - 1])]
        at = patterns.at.searchsorted(limits).tolist()
        pieces = [slice(lo, hi) for lo, hi in zip(at[::2], at[1::2], strict=True)]
        stems, numbers = (np.concatenate([a[piece] for piece in pieces]) for a in (patterns.stem, patterns.number))
        if len(stems) != len(what) or np.any(flags & WHOLE):
            # Some registers are not of ranges, or statements only tell by themselves what they do.
            found = np.concatenate([self.found(c, piece) for (_, c, _), piece in zip(chunks, pieces, strict=True)])
            apart = (found != lengths) | (flags & WHOLE > 0)
            inside = ~np.repeat(apart, found)
            stems, numbers = stems[inside], numbers[inside]
            what = what[~np.repeat(apart, lengths)]
            flags, lengths = flags | (apart & (flags & WHOLE == 0)) * np.uint8(NAMED), np.where(apart, 0, lengths)
        self.rows.append(np.repeat(rows, lengths))
        self.registers.append(self.numbers.first.take(stems) + numbers)
        self.roles.append(what)
        laned = rows[(flags & LANED) > 0]
        if laned.size:
            self.rows.append(laned)
            self.registers.append(np.zeros(laned.size, np.int64))
            self.roles.append(np.full(laned.size, LANE, np.uint8))
        self.loading += rows[(flags & LOADING) > 0].tolist()
        first = 0
        for row, chunk, known in chunks:
            own = flags[first : first + len(known)]
            for i in np.flatnonzero(own & (LABELLED | ENDING | BARRIER | WHOLE)).tolist():
                self.special(chunk, i, row + i, int(own[i]))
            self.named(chunk, row, known, np.flatnonzero(own & NAMED).tolist())
            first += len(known)

    @staticmethod
    def found(chunk: Chunk, piece: slice) -> Ints:
        """How many numbered registers each statement of a chunk has."""
        count = len(chunk.recipes)
        texts = chunk.source.patterns.texts[chunk.first : chunk.first + count]
        found = np.fromiter([text.count(REGISTER) for text in texts], np.int64, count)
        found[0] = piece.stop - piece.start - found[1:].sum()  # something else may stand before the chunk
        return found

    def special(self, chunk: Chunk, i: int, row: int, flags: int) -> None:
        """A statement that more is to be said of than what its tokens do."""
        recipe = chunk.recipes[i]
        if flags & LABELLED:
            self.labels.update([(m[2], row) for m in items(chunk.source.code, chunk.span(i)[0]) if m[2]])
        if flags & WHOLE:
            self.made.append(chunk.instruction(i))
            self.instruction(self.made[-1], row)
            return
        if recipe.opcode == "call":
            if chunk.called(i).directive(".noreturn") is not None:
                self.ends[row] = End("call", False, True)
            return
        if flags & ENDING:
            label = chunk.text(i).split()[-1] if recipe.opcode == "bra" else ""
            self.ends[row] = End(recipe.opcode, recipe.guard >= 0, recipe.guard < 0, label)
        if flags & BARRIER:
            self.barriers.append(row)

    def named(self, chunk: Chunk, first: int, roles: list[Role], rows: list[int]) -> None:
        """Statements with registers that are declared by their own names, in a block perhaps."""
        block, names, turns, wanted = -1, set[str](), set(chunk.turns), set(rows)
        for i in sorted(turns.union(rows)):
            if i in turns:
                recipe = chunk.recipes[i]
                if "{" in recipe.lead or "}" in recipe.lead:
                    block, names = first + i, set()
                names.update(recipe.declares)
                if recipe.opcode == ".reg":
                    self.inner += [(block, name) for name in recipe.declares if name != BOILERPLATE]
            if i not in wanted:
                continue
            for token, role in zip(tokens_of(chunk.text(i)), roles[i].tokens, strict=True):
                for part in token.split("|") if role else ():
                    name = part.strip("{}@![]").partition("+")[0]
                    number = self.numbers.of((block, name) if name in names else name)
                    self.told.append((first + i, number, role))

    def instruction(self, s: Instruction, row: int) -> None:
        """The events of an instruction of which there is a node."""
        read, written = accesses(s)
        passed = {id(r) for r in passed_on(s) if r is not s.guard}
        role = GIVEN if s.opcode == "call" else PASSED_ON
        events = [(self.number(r), role if id(r) in passed else READ) for r in read]
        events += [(self.number(r), SOMETIMES if s.guard is not None or s.operands[0] is not r else WRITTEN) for r in written]
        if any(getattr(o, "name", "") in DIVERGENT for o in s.operands):
            events.append((0, LANE))
        self.told += [(row, register, role) for register, role in events]
        if s.opcode in LOADS or s.opcode == "call":
            self.loading.append(row)
        if s.opcode in ENDS:
            target = s.operands[0] if s.opcode == "bra" and s.operands else None
            label = target.name if isinstance(target, Label) else ""
            self.ends[row] = End(s.opcode, s.guard is not None, stays(s), label)
        if waits(s.opcode, s.modifiers, len(s.operands)):
            self.barriers.append(row)

    def number(self, r: Register) -> int:
        """The number of a register; one that an inner block declares is told by its identity."""
        return self.numbers.of(r.name if self.own.get(r.name) is r else id(r))

    def finished(self) -> Outline | None:
        """Blocks and the ways between them."""
        n, ends = self.count, self.ends
        starts = {0, *self.labels.values(), *(row + 1 for row in ends if row + 1 < n)}
        if n and n - 1 in ends and not ends[n - 1].stays:
            starts.add(n)  # where lanes fall off the end
        order = sorted(starts)
        place = {row: i for i, row in enumerate(order)}
        blocks: list[BasicBlock] = []
        for i, (_, stop) in enumerate(itertools.zip_longest(order, order[1:], fillvalue=n)):
            end = ends.get(stop - 1) if order[i] < stop else None
            taken: tuple[int, ...] = ()
            if end is not None and end.opcode in ("bra", "brx"):
                if end.label not in self.labels:
                    return None
                taken = (place[self.labels[end.label]],)
            on = i + 1 < len(order) and not (end is not None and end.stays)
            blocks.append(BasicBlock(i, (), (), (), (*taken, i + 1) if on else taken))
        block_of = np.repeat(np.arange(len(order)), np.diff([*order, n]))
        graph = Flow(self.function, tuple(blocks))
        if self.told:
            told = np.array(self.told, np.int64)
            self.rows.append(told[:, 0])
            self.registers.append(told[:, 1])
            self.roles.append(told[:, 2].astype(np.uint8))
        rows, registers, roles = np.concatenate(self.rows), np.concatenate(self.registers), np.concatenate(self.roles)
        if np.any(rows[1:] < rows[:-1]):  # what the instructions of a chunk told themselves
            order_of_text = np.argsort(rows, kind="stable")
            rows, registers, roles = rows[order_of_text], registers[order_of_text], roles[order_of_text]
        return Outline(
            self.function, self.numbers, n, rows, registers, roles, np.array(sorted(self.loading), np.int64), self.barriers, ends, graph,
            block_of, order, any(key not in self.numbers for key in self.inner),
        )  # fmt: skip


def outline(function: Function) -> Outline | None:
    """A function in numbers; None where only its statements tell what it does."""
    return _Maker(function).outline()
