"""Facts of instructions that their syntax lines cannot express: rules of words and operands, and the kind of instruction.

A family in ops/ states the facts of its opcodes once, as in `facts("ld st", takes_any_space=True)`; the `facts` of a row hold for that row only.
The verifier and the interpreter read `form.facts`, or `opcodes("is_indexed")`, and never compare names of opcodes.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Words = frozenset[str]


def _words(given: str | Collection[str]) -> Words:
    return frozenset(given.split() if isinstance(given, str) else given)


# ---------------------------------------------------------------- rules


@dataclass(frozen=True, slots=True)
class Need:
    """The first PTX version and compute capability (times ten) that know a form or one of its words; arch "a" or "f" where the manual says so.

    "af" stands for either letter and any family since, "f1" for the first family alone.
    `before` is the PTX version that no longer knows it, for targets from the capability `ends` on.
    """

    ptx: float = 1.0
    sm: int = 10
    arch: str = ""
    before: float = 99.0
    ends: int = 10

    def __str__(self) -> str:
        """`PTX 7.0, sm_80`; nothing for what was always there."""
        parts = [f"PTX {self.ptx:.1f}"] if self.ptx > 1 else []
        if self.sm > 10 or self.arch:
            parts.append(f"sm_{self.sm}{self.arch}")
        return ", ".join(parts)


@dataclass(frozen=True, eq=False, slots=True)
class When:
    """A condition on the words of an instruction: it has one of `words` (unless empty), all of `also`, and none of `without`."""

    words: Words = frozenset()
    also: Words = frozenset()
    without: Words = frozenset()

    def holds(self, given: Collection[str]) -> bool:
        """Whether it holds for an instruction with these words."""
        there = not self.words or not self.words.isdisjoint(given)
        return there and self.also.issubset(given) and self.without.isdisjoint(given)


def when(words: str | Collection[str] = "", also: str | Collection[str] = "", without: str | Collection[str] = "") -> When:
    """A condition; the words of each argument are separated by spaces."""
    return When(_words(words), _words(also), _words(without))


ALWAYS = When()


@dataclass(frozen=True, eq=False, slots=True)
class Excludes:
    """Words that exclude other words, such as state spaces."""

    words: Words
    others: Words
    unless: Need | None = None  # a version and target for which the rule does not hold


def excludes(words: str, others: str, unless: Need | None = None) -> Excludes:
    """Each of the words excludes each of the others."""
    return Excludes(_words(words), _words(others), unless)


@dataclass(frozen=True, eq=False, slots=True)
class Demand:
    """A required PTX version or target that does not depend on a single word: of an operand, a combination of words, a missing word."""

    need: Need
    what: str  # "{what} needs {missing}"
    when: When = ALWAYS
    operands: int = 0  # applies if there are this many operands, and concerns the last one
    kind: str = ""  # applies to an operand of this kind: "predicate", "pair", or "handle register"
    instead: Need | None = None  # an alternative requirement
    message: str = ""  # instead of "{what} needs {missing}"
    help: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Constant:
    """The valid values of an operand that is a constant."""

    operand: str  # its name in the row
    allowed: Container[int] | None = None
    when: When = ALWAYS
    message: str = ""  # with {value} and {limit}; without one it is made from `allowed`
    multiple: int = 1
    forbidden: Container[int] = ()
    most: str = ""  # the operand whose value is the maximum
    is_unsigned: bool = False  # only the lower 32 bits matter
    is_fraction: bool = False  # above 0 and up to 1
    element: int | None = None  # the element concerned, if the operand is a vector in braces
    unless: Need | None = None  # a version and target for which the rule does not hold
    help: str = ""


# ---------------------------------------------------------------- facts


class Facts(NamedTuple):
    """The facts of one opcode, or of one row."""

    # Words.
    leading: Words = frozenset()  # words of the instruction's name: they come first, in the order of the row; others in any order
    ordered: Words = frozenset()  # words in any place, but in the order of the row among each other
    excludes: tuple[Excludes, ...] = ()
    demands: tuple[Demand, ...] = ()

    # Values of constants, sizes of vectors.
    registers_only: str = ""  # the operand that cannot be a constant
    no_result: When | None = None  # then the result must be `_`
    constants: tuple[Constant, ...] = ()
    widest: int = 0  # bits of the widest access; 0: not an access by elements
    of_256_bits: Words = frozenset()  # words that require an access of 256 bits
    widest_pack: int = 0  # the most bits that a vector in braces packs

    # Addresses.
    takes_any_space: bool = False  # accepts any state space, or none for generic addresses
    generic_only: bool = False
    address_space: str = ""  # of all addresses, if no word names it
    spaces_in_order: bool = False  # the state spaces are in the order of the addresses: destination first
    is_indexed: bool = False  # accepts `g[4]` without enclosing brackets
    has_wide_addresses: bool = False  # addresses in .global and generic space have 64 bits
    tensor_map: str = ""  # the operand with the address of a tensor map
    tensor_memory: Words = frozenset()  # the words with which addresses lie in tensor memory
    word_addresses: When | None = None  # then addresses are registers of 32 or 64 bits
    memory_only: When | None = None  # then an address cannot be a handle of a texture or surface
    mbarrier: str = ""  # the operand with the address of an mbarrier, in addition to that of the data
    handles: tuple[str, ...] = ()  # the kinds of handle that may replace an address
    variables: str = ""  # operand a may be the address of a variable: in "any" space, in the "named" one, or in "shared"

    access: str = ""  # to the memory at its address: "load", "store", "atomic", "reduction"
    copies: bool = False  # from memory to memory
    moves_memory: bool = False  # copies memory unchanged: to the result, or elsewhere in memory
    moves_matrix: bool = False  # between shared memory and the fragments of a warp
    unit: str = ""  # the unit that executes it instead of the load-store unit: "texture", "barrier", "tensor"
    acquires: tuple[When, ...] = ()  # then it acquires at a scope wider than the CTA; (): if it has .acquire or .acq_rel
    observes_changes: When | None = None  # then it observes changes of memory by other threads
    pauses: bool = False  # lets other threads run
    orders_memory: bool = False
    sequential: When | None = None  # then all such instructions whose scopes include each other have one total order
    aligned: When | None = None  # then all threads of the warp must execute the same instruction together

    # Operands.
    discards: bool = False  # the result may be `_`
    keeps_result: bool = False  # the result of a pair may not be `_`
    keeps_predicate: bool = False  # the predicate of a pair may not be `_`
    reads_special: bool = False  # accepts special registers
    opaque: bool = False  # 64-bit numbers are states or policies, not the bits of a float
    refuses_addresses: bool = False  # `g+4` is not accepted as a number
    predicate_register: When | None = None  # then a predicate must be a register, not a constant
    float_vectors: bool = False  # vectors of floating-point numbers cannot be integer registers
    fragments: Mapping[str, Words] | None = None  # type of elements ("": any other) -> types of registers that hold 32 bits of a fragment
    parts: int = 0  # of a video instruction: 1 selected byte or half of each operand, or all 2 halves or 4 bytes
    sign_free: When | None = None  # then the bits of an integer result do not depend on the sign of its type
    moves_bits: bool = False  # of integers, or of floating-point numbers
    passes_address: When | None = None  # then the result is an address if an operand is an address
    not_compiled: str = ""  # the error of an H200's driver when it loads such a module, or looks up its entries
    not_executed: str = ""  # why a row is not executed
    flops: int = 0  # per lane and element, if the type is a floating-point type
    matrix_lanes: int = 0  # the number of lanes that multiply matrices together
    negates: bool = False  # operands may have a minus sign
    reads_destination: bool = False
    takes_bits: str = ""  # operands whose bits, moved, form the result; the other operands select and place them
    shifts_by: str = ""  # the operand that says by how many bits: a shift by whole bytes moves them, any other calculates
    bit_by_bit: bool = False  # each bit of the result depends only on the same bit of the operands
    divides: bool = False  # which takes the host long, too
    compares: bool = False  # the result is a comparison of a and b, possibly combined with the predicate c
    monotone: When | None = None  # then setting more bits of the operand never clears a bit of the result
    pairs: bool = False  # each operand becomes an element of the result, the first one the uppermost
    upwards: bool = False  # no bit of the result depends on a higher bit of the operands
    passes_on: bool = False  # compilers use it to pass on registers that no instruction has written
    triggers_events: bool = False  # that a profile counts
    updates_as: str = ""  # the atomic operation that updates memory as this instruction updates a register
    result_from_elsewhere: bool = False  # the result comes from memory or from other lanes


_SETS = frozenset(name for name, default in Facts._field_defaults.items() if isinstance(default, frozenset))
_STATED: dict[str, dict[str, Any]] = {}  # opcode -> facts of all its rows
_OF_ROWS: dict[str, set[str]] = {}  # fact -> the opcodes with a row that states it


def facts(opcodes: str, **given: Any) -> None:
    """States facts of some opcodes."""
    for opcode in opcodes.split():
        stated = _STATED.setdefault(opcode, {})
        assert stated.keys().isdisjoint(given), f"{opcode}: {stated.keys() & given.keys()} stated twice"
        stated.update(given)


def row_states(opcode: str, given: Mapping[str, Any]) -> None:
    """Records that a row of an opcode states facts of its own."""
    for name in given:
        _OF_ROWS.setdefault(name, set()).add(opcode)


def facts_of(opcode: str, of_row: Mapping[str, Any] | None = None) -> Facts:
    """The facts of an opcode, with those that a row states."""
    return _made({**_STATED.get(opcode, {}), **of_row}) if of_row else _facts_of(opcode)


@functools.cache
def _facts_of(opcode: str) -> Facts:
    return _made(_STATED.get(opcode, {}))


def _made(stated: Mapping[str, Any]) -> Facts:
    given: dict[str, Any] = {name: _words(value) if name in _SETS else value for name, value in stated.items()}
    return Facts(**given)


def opcodes(*names: str, **values: object) -> frozenset[str]:
    """The opcodes of which all rows, or a single row, state one of these facts, or state a fact with a value."""
    from . import ops  # noqa: F401  states the facts

    found = {o for o, stated in _STATED.items() if not stated.keys().isdisjoint(names) or not values.items().isdisjoint(stated.items())}
    return frozenset(found.union(*(_OF_ROWS.get(name, ()) for name in names)))
