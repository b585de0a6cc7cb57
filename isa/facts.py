"""What the rows of an opcode have in common beyond their spelling: rules of words and operands, and what kind of instruction it is.

A family in ops/ states the facts of its opcodes once, `facts("ld st", generic=True)`; a row may state more in its `facts`, which hold for
that row alone.  The verifier and the interpreter ask `form.facts`, or `opcodes("indexed")`, and never compare opcodes.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .notation import Need

Words = frozenset[str]


def _words(given: str | Collection[str]) -> Words:
    return frozenset(given.split() if isinstance(given, str) else given)


# ---------------------------------------------------------------- rules


@dataclass(frozen=True, eq=False, slots=True)
class When:
    """A condition on an instruction's words: one of `words` (if any are named) and all of `also` are there, none of `without` is."""

    words: Words = frozenset()
    also: Words = frozenset()
    without: Words = frozenset()

    def holds(self, given: Collection[str]) -> bool:
        """Does it hold for an instruction with these words?"""
        there = not self.words or not self.words.isdisjoint(given)
        return there and self.also.issubset(given) and self.without.isdisjoint(given)


def when(words: str | Collection[str] = "", also: str | Collection[str] = "", without: str | Collection[str] = "") -> When:
    """A condition, its words in strings."""
    return When(_words(words), _words(also), _words(without))


ALWAYS = When()


@dataclass(frozen=True, eq=False, slots=True)
class Excludes:
    """Words that do not go with others, such as state spaces."""

    words: Words
    others: Words


def excludes(words: str, others: str) -> Excludes:
    """None of the words goes with one of the others."""
    return Excludes(_words(words), _words(others))


@dataclass(frozen=True, eq=False, slots=True)
class Demand:
    """What needs a PTX version or target and is more than one word: an operand, words together, the absence of a word."""

    need: Need
    what: str  # "{what} needs {missing}"
    when: When = ALWAYS
    operands: int = 0  # holds for so many operands, and is about the last of them
    kind: str = ""  # holds for an operand of this kind: "predicate", "pair", or "handle register"
    instead: Need | None = None  # what would do as well
    message: str = ""  # in place of "{what} needs {missing}"
    help: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Constant:
    """Which values a constant has that stands for an operand."""

    operand: str  # as the row names it
    allowed: Container[int] | None = None
    when: When = ALWAYS
    message: str = ""  # with {value} and {limit}; without one it is made from `allowed`
    multiple: int = 1
    forbidden: Container[int] = ()
    most: str = ""  # the operand whose constant is the largest value
    is_unsigned: bool = False  # only the lower 32 bits count
    is_fraction: bool = False  # above 0 and up to 1
    element: int | None = None  # the one that it is about, where a vector in braces stands there
    unless: Need | None = None  # a version and target for which the rule does not hold
    help: str = ""


# ---------------------------------------------------------------- facts


class Facts(NamedTuple):
    """The facts of one opcode, or of one row."""

    # Words.
    leading: Words = frozenset()  # belong to the instruction's name: they come first, in the row's order; other words in any order
    ordered: Words = frozenset()  # stand anywhere, but in the row's order among each other
    excludes: tuple[Excludes, ...] = ()
    demands: tuple[Demand, ...] = ()

    # Values of constants, sizes of vectors.
    registers_only: str = ""  # the operand that no constant stands for
    no_result: When | None = None  # with these words `_` stands for the result
    constants: tuple[Constant, ...] = ()
    widest: int = 0  # bits of the widest access; 0: not an access by elements
    of_256_bits: Words = frozenset()  # words that go with accesses of 256 bits only
    widest_pack: int = 0  # bits that a vector in braces packs at most

    # Addresses.
    takes_any_space: bool = False  # names any state space, or none for generic addresses
    generic_only: bool = False
    address_space: str = ""  # of all addresses, where no word says it
    spaces_in_order: bool = False  # the state spaces stand in the order of the addresses: destination first
    is_indexed: bool = False  # takes `g[4]` without brackets around it
    has_wide_addresses: bool = False  # in .global and generic space addresses have 64 bits
    tensor_map: str = ""  # the operand with the address of a tensor map
    tensor_memory: Words = frozenset()  # the words with which addresses lie in tensor memory
    word_addresses: When | None = None  # then addresses are registers of 32 or 64 bits
    memory_only: When | None = None  # then an address is no handle of a texture or surface
    mbarrier: str = ""  # the operand with the address of an mbarrier, beside the one with the data's
    handles: tuple[str, ...] = ()  # the kinds of handle that stand in place of an address
    variables: str = ""  # operand a may be the address of a variable: in "any" space, in the "named" one, or in "shared"

    access: str = ""  # to the memory at its address: "load", "store", "atomic", "reduction"
    copies: bool = False  # from memory to memory
    moves_memory: bool = False  # what it reads comes out as it is: in the result or elsewhere in memory
    moves_matrix: bool = False  # between shared memory and the fragments of a warp
    unit: str = ""  # that serves it in place of the load-store unit: "texture", "barrier", "tensor"
    acquires: tuple[When, ...] = ()  # then it acquires at a scope wider than the CTA; (): as .acquire and .acq_rel say
    asks_anew: When | None = None  # then it asks memory for what other threads have changed
    pauses: bool = False  # lets other threads run
    orders_memory: bool = False
    sequential: When | None = None  # then all such instructions whose scopes hold each other come in one order
    aligned: When | None = None  # then all threads that come together must execute this one instruction

    # Operands.
    discards: bool = False  # `_` may stand for the result
    keeps_result: bool = False  # in a pair `_` may not stand for the result
    keeps_predicate: bool = False  # in a pair `_` may not stand for the predicate
    reads_special: bool = False  # special registers
    opaque: bool = False  # numbers of 64 bits are states or policies, no bits of a float
    refuses_addresses: bool = False  # `g+4` does not stand for a number
    predicate_register: When | None = None  # then a predicate is a register, no constant
    float_vectors: bool = False  # vectors of floating-point numbers are no integer registers
    fragments: Mapping[str, Words] | None = None  # type of elements ("": any other) -> types of registers that hold 32 bits of a fragment
    parts: int = 0  # of a video instruction: 1 selected byte or half of each operand, or all 2 halves or 4 bytes
    sign_free: When | None = None  # then an integer result has the same bits whether its type has a sign or not
    moves_bits: bool = False  # of integers, or of floating-point numbers
    hands_address_on: When | None = None  # then the result is an address if an operand is one
    not_compiled: str = ""  # the error with which the driver of an H200 gives a module back, or does not find its entries
    not_executed: str = ""  # why a row has no meaning that a device could be held to
    flops: int = 0  # of one lane and element, where the type is a floating-point one
    matrix_lanes: int = 0  # that multiply matrices together
    negates: bool = False  # operands may have a minus sign
    reads_destination: bool = False
    takes_bits: str = ""  # operands whose bits, moved, are the result's; the others say which of them and where
    bit_by_bit: bool = False  # each bit of the result comes from the operands' bits in its place
    compares: bool = False  # the result says how a and b compare, perhaps combined with the predicate c
    monotone: When | None = None  # then more bits in the operand are never fewer in the result
    pairs: bool = False  # each operand becomes an element of the result, the first one the uppermost
    upwards: bool = False  # no bit of the result comes from a bit above its place
    passes_on: bool = False  # compilers pass registers on that no instruction has written
    result_from_elsewhere: bool = False  # from memory or from other lanes


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
    """Notes that a row of an opcode states facts for itself."""
    for name in given:
        _OF_ROWS.setdefault(name, set()).add(opcode)


def facts_of(opcode: str, of_row: Mapping[str, Any] | None = None) -> Facts:
    """The facts of an opcode, with those that a row states for itself."""
    return _made({**_STATED.get(opcode, {}), **of_row}) if of_row else _facts_of(opcode)


@functools.cache
def _facts_of(opcode: str) -> Facts:
    return _made(_STATED.get(opcode, {}))


def _made(stated: Mapping[str, Any]) -> Facts:
    given: dict[str, Any] = {name: _words(value) if name in _SETS else value for name, value in stated.items()}
    return Facts(**given)


def opcodes(*names: str, **values: object) -> frozenset[str]:
    """The opcodes that state one of some facts, or state one with a value: all their rows, or one of them alone."""
    from . import ops  # noqa: F401  states the facts

    found = {o for o, stated in _STATED.items() if not stated.keys().isdisjoint(names) or not values.items().isdisjoint(stated.items())}
    return frozenset(found.union(*(_OF_ROWS.get(name, ()) for name in names)))
