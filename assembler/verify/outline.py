"""A function's registers and control flow as arrays of numbers, from the shapes of its statements: what warnings look at first.

Nearly all functions are in order, and the arrays say so without a node being made.  Where they leave a doubt, the statements are looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..bulk import tokens_of
from ..chunks import Chunk, Recipe, TextBlock
from ..flow import ENDS, PASSING, BasicBlock, Flow, accesses, passed_on, stays
from ..ir import Block, Function, Instruction, Label, Register, Targets
from ..listing import READS_ITS_DESTINATION, flat, has_results
from ..scopes import Scope
from ..words import REGISTERS
from .suspects import DIVERGENT, LOADS

# What a token does.
READ, PASSED_ON, WRITTEN, SOMETIMES, LANE, GIVEN = 1, 2, 4, 8, 16, 32  # GIVEN: passed on to a function
LABELLED, ENDING, LOADING, BARRIER, WHOLE = 1, 2, 4, 8, 16  # what a statement is; WHOLE: only the instruction itself can tell
_MOST = 1 << 16

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]


@dataclass(slots=True)
class Role:
    """What the tokens of a shape do, the semicolon included."""

    tokens: bytes
    count: int
    flags: int


_ROLES: dict[Recipe, Role] = {}


def role_of(recipe: Recipe) -> Role:
    """The roles of a statement's tokens."""
    found = _ROLES.get(recipe)
    if found is None:
        words = recipe.shape.split(" ")
        tokens = _roles(words, recipe)
        flags = LABELLED * bool(recipe.labels) | ENDING * (recipe.opcode in ENDS) | LOADING * (recipe.opcode in LOADS)
        flags |= BARRIER * (recipe.opcode in ("bar", "barrier")) | WHOLE * (tokens is None)
        found = Role(bytes(len(words) + 1) if tokens is None else tokens, len(words) + 1, flags)
        if len(_ROLES) < _MOST:
            _ROLES[recipe] = found
    return found


def _roles(words: list[str], recipe: Recipe) -> bytes | None:
    if recipe.form is None or recipe.opcode in READS_ITS_DESTINATION:
        return None
    roles = bytearray(len(words) + 1)
    if recipe.guard >= 0:
        roles[recipe.guard] = READ
    writes = has_results(recipe.form) and recipe.start < len(words) and words[recipe.start][0] != "["
    written = slice(0, 0)
    if writes:
        written = recipe.vectors[0] if recipe.vectors else slice(recipe.start, recipe.start + 1, 2)
    results = range(*written.indices(len(words)))
    whole = writes and recipe.guard < 0 and words[recipe.start][0] != "{"
    for i in range(recipe.start, len(words), 2):
        word = words[i].strip("{}")
        if i in results:
            if word in REGISTERS:
                roles[i] = WRITTEN if whole else SOMETIMES
            elif word != "_":
                return None
        elif word.lstrip("!") in REGISTERS or (word[0] == "[" and word[1:-1] in REGISTERS):
            roles[i] = PASSED_ON if recipe.opcode in PASSING and word[0] != "[" else READ
        elif word[0] == "%":
            roles[i] = LANE if word.partition(".")[0] in DIVERGENT else 0
        elif word[0] not in "[#" and word not in PLAIN and ":" not in word:
            return None
    return bytes(roles)


PLAIN = frozenset({"label", "func", "entry", "_"})


class Numbers(dict[object, int]):
    """The numbers of registers, by the tokens that name them, or by the identity of those that an inner block declares."""

    def __init__(self) -> None:
        self.total = 0

    def start(self, scope: Scope, size: int) -> None:
        """Numbers the ranges that a scope declares, for a text of so many characters."""
        left = min(size >> 2, 1 << 16)  # more than that is not likely to be used
        for stem, entry in scope.stems.items():
            if entry.count <= left and not stem[-1:].isdigit():  # all digits at the end of a name are its number
                left -= entry.count
                self.update([(f"{stem}{i}", self.total + i) for i in range(entry.count)])
                self.total += entry.count

    def __missing__(self, token: str) -> int:
        name = token.strip("{}@![]").partition("+")[0]
        number = self[token] = self.of(name) if name != token else self.total
        self.total = max(self.total, number + 1)
        return number

    def of(self, name: object) -> int:
        """The number of a name, or of the identity of a register that a block declares."""
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


class _Maker:
    """Puts an outline together."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.numbers = Numbers()
        self.count = 0
        self.rows: list[Ints] = []
        self.registers: list[Ints] = []
        self.roles: list[Bytes] = []
        self.told: list[tuple[int, int, int]] = []  # row, register and role of what single instructions tell
        self.loading: list[int] = []
        self.barriers: list[int] = []
        self.ends: dict[int, End] = {}
        self.labels: dict[str, int] = {}
        self.own: Mapping[str, object] = {}  # what the body itself declares

    def outline(self) -> Outline | None:
        """The outline of the function; None of one that branches in unusual ways."""
        body = self.function.body
        if not isinstance(body, TextBlock):
            return None
        scope = next(part.scope for part in body.parts if isinstance(part, Chunk))
        self.own = scope.names
        self.numbers.start(scope, body.span.end - body.span.start)
        with scope.opened():
            return self.finished() if self.parts(body) else None

    def parts(self, body: TextBlock) -> bool:
        """Takes everything in; False where there are branches that it does not follow."""
        for part in body.parts:
            if isinstance(part, Chunk):
                self.chunk(part)
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
        return True

    def chunk(self, chunk: Chunk) -> None:
        """The events of a chunk."""
        recipes = chunk.recipes
        roles = {recipe: role_of(recipe) for recipe in chunk.kinds}
        done = b"".join([roles[recipe].tokens for recipe in recipes])
        end = chunk.source.ends[chunk.first + len(recipes) - 1] + 1
        tokens = itertools.compress(tokens_of(chunk.source.code[chunk.pos : end]), done)
        what = np.frombuffer(done, np.uint8)
        places = np.flatnonzero(what)
        lengths = np.fromiter([roles[recipe].count for recipe in recipes], np.int64, len(recipes))
        self.rows.append(np.repeat(np.arange(self.count, self.count + len(recipes)), lengths)[places])
        self.registers.append(np.fromiter(map(self.numbers.__getitem__, tokens), np.int64, len(places)))
        self.roles.append(what[places])
        flags = np.frombuffer(bytes([roles[recipe].flags for recipe in recipes]), np.uint8)
        self.loading += (np.flatnonzero(flags & LOADING) + self.count).tolist()
        for i in np.flatnonzero(flags & (LABELLED | ENDING | BARRIER | WHOLE)).tolist():
            self.special(chunk, i, roles[recipes[i]])
        self.count += len(recipes)

    def special(self, chunk: Chunk, i: int, role: Role) -> None:
        """A statement that more is to be said of than what its tokens do."""
        row, recipe = self.count + i, chunk.recipes[i]
        if role.flags & LABELLED:
            tokens = chunk.text(i)[0].split()
            for n in recipe.labels:
                self.labels[tokens[n][:-1]] = row
        if role.flags & ENDING:
            label = chunk.text(i)[0].split()[-1] if recipe.opcode == "bra" else ""
            self.ends[row] = End(recipe.opcode, recipe.guard >= 0, recipe.guard < 0, label)
        if role.flags & WHOLE:
            self.instruction(chunk.instruction(i), row)
        elif role.flags & BARRIER:
            self.barrier(chunk.instruction(i), row)

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
        self.barrier(s, row)

    def barrier(self, s: Instruction, row: int) -> None:
        """Notes a barrier of the whole block."""
        if s.opcode in ("bar", "barrier") and "sync" in s.modifiers and not {"warp", "cluster"} & set(s.modifiers) and len(s.operands) == 1:
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
            block_of, order,
        )  # fmt: skip


def outline(function: Function) -> Outline | None:
    """A function in numbers; None where only its statements tell what it does."""
    return _Maker(function).outline()
