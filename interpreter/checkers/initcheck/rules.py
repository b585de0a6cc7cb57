"""What an operation makes of the masks of its operands, by the facts of its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from warplab.isa.notation import Operand
from warplab.isa.types import TYPES

from ...plan.plan import Each, Op, Pack, Packed, ScalarConstant, SlotAs
from ...values import plain
from ...vector.steps.meanings import bound
from ...vector.steps.operands import get_of
from ...vector.steps.ops import joined as joined_pieces
from ...vector.steps.ops import parts_of, pieces
from .masks import UNDEFINED, ZERO, Array, Mask, as_mask, as_value, bit_by_bit, bits_of, everything, upwards
from .operands import WrittenSlot, mask_of, places_of, put_mask
from .registers import ShadowRegisters

Rule = Callable[[list[Any]], "bool | Mask"]  # sets the masks of the results; True, or the lanes for which, these are computed
Put = Callable[[list[Any], Any], None]


def rule_of(registers: ShadowRegisters, op: Op, read: Sequence[int], places: Sequence[WrittenSlot]) -> Rule:
    """What an operation makes of masks."""
    facts, settled = op.meaning.form.facts, op.meaning.settled
    put = put_mask(op.target, registers.span)
    exact = "sat" not in settled and not op.meaning.form.carry
    if op.how in ("move", "factors") or (op.how == "pointer" and len(op.sources) == 1):
        return _copied(registers, op, put)
    if op.how == "pack":
        return _packed(registers, op, put)
    if op.how == "unpack":
        return _unpacked(registers, op, put)
    if op.how == "pure" and facts.bit_by_bit:
        return _bit_by_bit(registers, op, read, places)
    if op.how == "pure" and facts.takes_bits and exact:
        return _taken(registers, op, put, places)
    if op.how == "pure" and facts.compares:
        return _compared(registers, op, put)
    if facts.pairs:
        return _paired(registers, op, put)
    if op.how == "pointer" or (facts.upwards and exact):
        gets = [mask_of(s, registers.span) for s in op.sources]

        def rise(R: list[Any]) -> bool:
            put(R, upwards(_level([get(R) for get in gets])))
            return True

        return rise
    return _everything(registers, op, read, places)


def _copied(registers: ShadowRegisters, op: Op, put: Put) -> Rule:
    gets = [mask_of(s, registers.span) for s in op.sources]

    def copy(R: list[Any]) -> bool:
        masks = [get(R) for get in gets]
        put(R, masks[0] if len(masks) == 1 else masks)
        return False

    return copy


def _packed(registers: ShadowRegisters, op: Op, put: Put) -> Rule:
    (parts,) = op.sources
    whole, each, _ = parts_of(op, parts)
    get = mask_of(parts, registers.span)

    def pack(R: list[Any]) -> bool:
        found = joined_pieces([as_value(m, each.dtype) for m in get(R)], whole, each)
        put(R, tuple([as_mask(v) for v in found]) if isinstance(found, tuple) else as_mask(found))
        return False

    return pack


def _unpacked(registers: ShadowRegisters, op: Op, put: Put) -> Rule:
    whole, each, count = parts_of(op, op.target)
    get = mask_of(op.sources[0], registers.span)

    def unpack(R: list[Any]) -> bool:
        m = get(R)
        v = m if isinstance(m, tuple) else as_value(m, whole.dtype)
        put(R, [as_mask(p) for p in pieces(v, whole, each, count)])
        return False

    return unpack


def _everything(registers: ShadowRegisters, op: Op, read: Sequence[int], places: Sequence[WrittenSlot]) -> Rule:
    """Any undefined bit makes all of the result undefined; of packed values, all of an element."""
    put, span = put_mask(op.target, registers.span), registers.span
    by_element = isinstance(op.target, Pack) and all(isinstance(s, Packed) for s in op.sources)
    gets = [mask_of(s, span) for s in op.sources] if by_element else []
    narrowed = [mask_of(s, span) for s in op.sources if isinstance(s, SlotAs)]
    others = registers.read([s for s in op.sources if not isinstance(s, SlotAs)])
    others += tuple([at for at in read if at == span + registers.carry])

    def spread(R: list[Any]) -> bool:
        if by_element:
            put(R, everything(_level([get(R) for get in gets])))
        else:
            registers.fill(R, places, everything([*[get(R) for get in narrowed], *[R[at] for at in others]]))
        return True

    return spread


def _paired(registers: ShadowRegisters, op: Op, put: Put) -> Rule:
    gets = [mask_of(s, registers.span) for s in reversed(op.sources)]

    def pair(R: list[Any]) -> bool:
        put(R, np.stack(np.broadcast_arrays(*[everything([get(R)]) for get in gets]), axis=-1))
        return True

    return pair


def _bit_by_bit(registers: ShadowRegisters, op: Op, read: Sequence[int], places: Sequence[WrittenSlot]) -> Rule:
    f, gets = bound(op.meaning), [get_of(s) for s in op.sources]
    masks = [None if isinstance(s, ScalarConstant) else mask_of(s, registers.span) for s in op.sources]
    first = op.target.targets[0] if isinstance(op.target, Each) else op.target
    put = put_mask(first, registers.span)
    others = [p for p in places if p not in places_of(first)]

    def main(*values: Any) -> Array:
        found = f(*values)
        result: Array = found[0] if isinstance(found, tuple) else found
        return result

    def settle(R: list[Any]) -> Mask:
        found, changed = bit_by_bit(main, [get(R) for get in gets], [None if m is None else m(R) for m in masks])
        if others:
            registers.fill(R, others, everything([R[at] for at in read]))
        put(R, found)
        some: Mask = changed != ZERO
        return some

    return settle


def _taken(registers: ShadowRegisters, op: Op, put: Put, places: Sequence[WrittenSlot]) -> Rule:
    """The operation itself moves the masks as it would move the bits."""
    f, gets, masks = bound(op.meaning), [get_of(s) for s in op.sources], [mask_of(s, registers.span) for s in op.sources]
    taken = taken_operands(op)
    choosing = [at for n, s in enumerate(op.sources) if n not in taken for at in registers.read([s])]
    by = _shift(op)
    amount = None if by is None else get_of(op.sources[by])

    def take(R: list[Any]) -> bool | Mask:
        result = f(*[moved(get(R), m(R)) if n in taken else get(R) for n, (get, m) in enumerate(zip(gets, masks, strict=True))])
        found = tuple([as_mask(r) for r in result]) if isinstance(result, tuple) else as_mask(result)
        if not registers.undefined(R, choosing):
            put(R, found)
            if amount is None:
                return False
            calculates: Mask = plain(amount(R)) % 8 != 0
            return calculates
        open_choice = everything([R[at] for at in choosing])
        put(R, tuple([m | open_choice for m in found]) if isinstance(found, tuple) else found | open_choice)
        some: Mask = open_choice != ZERO
        return some

    return take


def _compared(registers: ShadowRegisters, op: Op, put: Put) -> Rule:
    """A comparison: any outcome that undefined operands can have is tried, with any of a predicate that it is combined with."""
    f, gets, masks = bound(op.meaning), [get_of(s) for s in op.sources], [mask_of(s, registers.span) for s in op.sources]
    settled = op.meaning.settled
    floats, equality = TYPES[str(settled.get("stype") or settled["type"])].kind == "f", settled["cmp"] in ("eq", "ne")

    def compare(R: list[Any]) -> bool:
        (a, b, *cs), (ma, mb, *mcs) = [get(R) for get in gets], [m(R) for m in masks]
        results: list[list[Mask]] = []
        for pair in _floats(a, b, ma, mb) if floats else _equals(a, b, ma, mb) if equality else _extremes(a, b, ma, mb):
            for choice in (False, True) if cs else (False,):
                found = f(*pair, *[np.where(m != ZERO, choice, c) for c, m in zip(cs, mcs, strict=True)])
                results.append([as_mask(r) for r in (found if isinstance(found, tuple) else (found,))])
        differ = [
            np.bitwise_or.reduce(np.stack([r ^ first for r in each]))
            for first, each in zip(results[0], zip(*results, strict=True), strict=True)
        ]
        put(R, tuple(differ) if isinstance(found, tuple) else differ[0])
        return True

    return compare


def _floats(a: Array, b: Array, ma: Mask, mb: Mask) -> Iterator[tuple[Array, Array]]:
    """Floats with every outcome of a comparison that has an undefined operand."""
    unknown, ones = everything(_level([ma, mb])) != ZERO, as_value(UNDEFINED, a.dtype)
    for x, y in ((0, 0), (0, 1), (1, 0), (ones, ones)):
        first, second = (np.where(unknown, a.dtype.type(v) if isinstance(v, int) else v, o) for v, o in ((x, a), (y, b)))
        yield first, second


def _equals(a: Array, b: Array, ma: Mask, mb: Mask) -> Iterator[tuple[Array, Array]]:
    """Integers that may be equal or not: those that differ in a defined bit are not."""
    differ = as_mask(a) ^ as_mask(b)
    undefined = (ma | mb) & bits_of(a.dtype)
    unknown = (undefined != ZERO) & (differ & ~undefined == ZERO)
    for y in (0, 1):
        yield np.where(unknown, a.dtype.type(0), a), np.where(unknown, a.dtype.type(y), b)


def _extremes(a: Array, b: Array, ma: Mask, mb: Mask) -> Iterator[tuple[Array, Array]]:
    """The smallest value of a with the largest of b, and the other way round."""
    sign = np.array([[1 << 8 * a.dtype.itemsize - 1 if a.dtype.kind == "i" else 0]], np.uint64)

    def ends(v: Array, m: Mask) -> tuple[Array, Array]:
        own, m = as_mask(v), m & bits_of(v.dtype)
        return as_value(own & ~m | m & sign, v.dtype), as_value((own | m) & ~(m & sign), v.dtype)

    (least_a, most_a), (least_b, most_b) = ends(a, ma), ends(b, mb)
    yield least_a, most_b
    yield most_a, least_b


# ---------------------------------------------------------------- what an operation says of itself


def source_places(op: Op) -> list[Operand]:
    """The operand places that an operation's sources stand at."""
    form, named = op.meaning.form, op.meaning.named
    if named:
        by_name = {p.name: p for p in form.operands}
        return [by_name[n] for n in named]
    own = [p for p in form.operands if not p.is_destination]
    if len(op.sources) > len(own):  # the destination is read, too
        own = [*form.operands]
    return own[: len(op.sources)]


def taken_operands(op: Op) -> frozenset[int]:
    """The sources whose bits the result takes over, by number."""
    names = op.meaning.form.facts.takes_bits.split()
    return frozenset([n for n, p in enumerate(source_places(op)) if p.name in names])


def _shift(op: Op) -> int | None:
    """The source that says by how many bits an operation shifts."""
    name = op.meaning.form.facts.shifts_by
    return next((n for n, p in enumerate(source_places(op)) if p.name == name), None) if name else None


def reads_lanes(op: Op) -> bool:
    """Does its result come from registers of other lanes, as it is?"""
    facts = op.meaning.form.facts
    return op.how == "warps" and facts.result_from_elsewhere and bool(facts.takes_bits) and not facts.access


def moved(value: Any, mask: Any) -> Any:
    """A mask in the place of a value."""
    if isinstance(value, tuple):
        masks = mask if isinstance(mask, tuple) else (mask,) * len(value)
        return tuple([moved(v, m) for v, m in zip(value, masks, strict=True)])
    return as_value(mask, plain(value).dtype)


def _level(masks: Sequence[Mask]) -> list[Mask]:
    """Masks of packed values and of whole ones with the same axes."""
    deep = any(m.ndim == 3 for m in masks)
    return [m[..., None] if deep and m.ndim == 2 else m for m in masks]
