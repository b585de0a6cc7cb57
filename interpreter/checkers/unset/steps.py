"""Operations of a plan as steps that carry masks of undefined bits beside the values.

While all that an operation reads is defined, which is nearly always, its masks cost a comparison each.  Else a rule says what comes out
of what goes in, by the facts of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warplab.isa.notation import Operand
from warplab.isa.types import ScalarType

from ...plan.plan import Each, Op, Pack, Packed, ParameterPlace, ScalarConstant, Source, Tuple
from ...values import plain
from ...vector.exchange import Exchange
from ...vector.group import Group
from ...vector.steps.meanings import bound
from ...vector.steps.operands import get_of, set_of
from ...vector.steps.ops import Step, parts_of, pieces, unguarded
from ...vector.steps.ops import joined as joined_pieces
from ...vector.warps import WarpView
from .masks import ALL, DEFINED, UNDEFINED, ZERO, Array, Mask, as_mask, as_value, bit_by_bit, everything, normal, upwards
from .memory import WaveShadow, shared_facts
from .operands import WrittenSlot, mask_of, places_of, put_mask, slots_of
from .origins import COMPUTED, joined
from .ports import CopyingPort, ShadowPort, UpdatingPort
from .uses import UnsetUses

Rule = Callable[[list[Any]], "bool | Mask"]  # sets the masks of the results; True, or the lanes for which, these are computed


class Steps:
    """Makes the steps of one function whose registers have shadows."""

    def __init__(self, span: int, tracked: frozenset[int], uses: UnsetUses) -> None:
        self.span = span
        self.tracked = tracked  # slots that may hold undefined bits
        self.carry = span - 1  # the slot in whose shadow that of the condition code register is kept
        self.uses = uses

    def step(self, op: Op) -> Step:
        """One operation, its guard aside."""
        match op.how:
            case "load" if not isinstance(op.sources[0], ParameterPlace):
                return self._load(op)
            case "store":
                return self._store(op)
            case "lanes" | "warps" if op.meaning.form.facts.unit == "texture":
                return self._addressed(op, self._beside(op, unguarded(op)))
            case "lanes" | "warps" if memory_of(op):
                return self._with_memory(op)
            case "warps":
                return self._warps(op)
            case "effect" if op.meaning.form.effect == "alloca":
                return self._alloca(op)
            case _:
                return self._beside(op, unguarded(op))

    # ------------------------------------------------------------ registers

    def read(self, sources: Sequence[Source]) -> tuple[int, ...]:
        """The places of the masks of what sources read, as far as it may be undefined."""
        return tuple(dict.fromkeys(self.span + s for source in sources for s in slots_of(source) if s in self.tracked))

    def written(self, op: Op) -> tuple[WrittenSlot, ...]:
        """The tracked slots that an operation writes."""
        places = [p for p in places_of(op.target) if p.slot in self.tracked]
        return (*places, WrittenSlot(self.carry)) if "out" in op.meaning.form.carry else tuple(places)

    def undefined(self, R: list[Any], masks: Sequence[int]) -> bool:
        """Has one of some masks a bit?"""
        found = False
        for at in masks:
            m = R[at]
            if m is not DEFINED:
                m = R[at] = normal(m)
                found |= m is not DEFINED
        return found

    def source(self, R: list[Any], masks: Sequence[int]) -> Array:
        """Where the undefined bits of some registers come from."""
        return joined([(R[at], R[at + self.span]) for at in masks])

    def set_origin(self, R: list[Any], places: Sequence[WrittenSlot], origin: Array) -> None:
        """Notes where results come from."""
        for p in places:
            R[2 * self.span + p.slot] = origin

    def define(self, R: list[Any], places: Sequence[WrittenSlot]) -> None:
        """Results are defined."""
        for p in places:
            R[self.span + p.slot] = R[2 * self.span + p.slot] = DEFINED

    def _beside(self, op: Op, step: Step) -> Step:
        """A step without memory: masks first, since it may write what it reads."""
        product = None
        if op.product is not None:
            product, step = self.step(op.product), unguarded(op._replace(product=None))
        read, places = self.read(op.sources), self.written(op)
        if "in" in op.meaning.form.carry.split():
            read = (*read, self.span + self.carry)
        slots = tuple([at for p in places for at in (self.span + p.slot, 2 * self.span + p.slot)])
        rule = self._rule(op, read, places)

        def run(R: list[Any]) -> None:
            for at in read:
                if R[at] is not DEFINED and self.undefined(R, read):
                    origin = self.source(R, read)
                    computed = rule(R)
                    if computed is True:
                        origin = origin | COMPUTED
                    elif computed is not False:
                        origin = np.where(computed, origin | COMPUTED, origin)
                    self.set_origin(R, places, origin)
                    break
            else:
                for at in slots:
                    R[at] = DEFINED
            step(R)

        if product is None:
            return run if slots else step

        def both(R: list[Any]) -> None:
            run(R)
            product(R)

        return both

    def _rule(self, op: Op, read: Sequence[int], places: Sequence[WrittenSlot]) -> Rule:
        """What an operation makes of masks."""
        facts, settled = op.meaning.form.facts, op.meaning.settled
        put = put_mask(op.target, self.span)
        exact = "sat" not in settled and not op.meaning.form.carry
        if op.how in ("move", "factors") or (op.how == "pointer" and len(op.sources) == 1):
            return self._copied(op, put)
        if op.how == "pack":
            return self._packed(op, put)
        if op.how == "unpack":
            return self._unpacked(op, put)
        if op.how == "pure" and facts.bit_by_bit:
            return self._bit_by_bit(op, read, places)
        if op.how == "pure" and facts.takes_bits and exact:
            return self._taken(op, put, places)
        if op.how == "pure" and facts.compares and any(place.name == "c" for place in source_places(op)):
            return self._compared(op, put)
        if op.how == "pointer" or (facts.upwards and exact):
            gets = [mask_of(s, self.span) for s in op.sources]

            def rise(R: list[Any]) -> bool:
                put(R, upwards(_level([get(R) for get in gets])))
                return True

            return rise
        return self._everything(op, read, places)

    def _copied(self, op: Op, put: Callable[[list[Any], Any], None]) -> Rule:
        gets = [mask_of(s, self.span) for s in op.sources]

        def copy(R: list[Any]) -> bool:
            masks = [get(R) for get in gets]
            put(R, masks[0] if len(masks) == 1 else masks)
            return False

        return copy

    def _packed(self, op: Op, put: Callable[[list[Any], Any], None]) -> Rule:
        (parts,) = op.sources
        whole, each, _ = parts_of(op, parts)
        get = mask_of(parts, self.span)

        def pack(R: list[Any]) -> bool:
            found = joined_pieces([as_value(m, each.dtype) for m in get(R)], whole, each)
            put(R, tuple([as_mask(v) for v in found]) if isinstance(found, tuple) else as_mask(found))
            return False

        return pack

    def _unpacked(self, op: Op, put: Callable[[list[Any], Any], None]) -> Rule:
        whole, each, count = parts_of(op, op.target)
        get = mask_of(op.sources[0], self.span)

        def unpack(R: list[Any]) -> bool:
            m = get(R)
            v = m if isinstance(m, tuple) else as_value(m, whole.dtype)
            put(R, [as_mask(p) for p in pieces(v, whole, each, count)])
            return False

        return unpack

    def _everything(self, op: Op, read: Sequence[int], places: Sequence[WrittenSlot]) -> Rule:
        """Any undefined bit makes all of the result undefined; of packed values, all of an element."""
        put, span = put_mask(op.target, self.span), self.span
        by_element = isinstance(op.target, Pack) and all(isinstance(s, Packed) for s in op.sources)
        gets = [mask_of(s, span) for s in op.sources] if by_element else []

        def spread(R: list[Any]) -> bool:
            if by_element:
                put(R, everything(_level([get(R) for get in gets])))
            else:
                self.fill(R, places, everything([R[at] for at in read]))
            return True

        return spread

    def fill(self, R: list[Any], places: Sequence[WrittenSlot], mask: Mask) -> None:
        """Results are undefined altogether in some lanes."""
        for p in places:
            R[self.span + p.slot] = mask if p.bits == ALL else mask & p.bits

    def _bit_by_bit(self, op: Op, read: Sequence[int], places: Sequence[WrittenSlot]) -> Rule:
        f, gets = bound(op.meaning), [get_of(s) for s in op.sources]
        masks = [None if isinstance(s, ScalarConstant) else mask_of(s, self.span) for s in op.sources]
        first = op.target.targets[0] if isinstance(op.target, Each) else op.target
        put = put_mask(first, self.span)
        others = [p for p in places if p not in places_of(first)]

        def main(*values: Any) -> Array:
            found = f(*values)
            result: Array = found[0] if isinstance(found, tuple) else found
            return result

        def settle(R: list[Any]) -> Mask:
            found, changed = bit_by_bit(main, [get(R) for get in gets], [None if m is None else m(R) for m in masks])
            if others:
                self.fill(R, others, everything([R[at] for at in read]))
            put(R, found)
            some: Mask = changed != ZERO
            return some

        return settle

    def _taken(self, op: Op, put: Callable[[list[Any], Any], None], places: Sequence[WrittenSlot]) -> Rule:
        """The operation itself moves the masks as it would move the bits."""
        f, gets, masks = bound(op.meaning), [get_of(s) for s in op.sources], [mask_of(s, self.span) for s in op.sources]
        taken = taken_operands(op)
        choosing = [at for n, s in enumerate(op.sources) if n not in taken for at in self.read([s])]

        def take(R: list[Any]) -> bool | Mask:
            result = f(*[moved(get(R), m(R)) if n in taken else get(R) for n, (get, m) in enumerate(zip(gets, masks, strict=True))])
            found = tuple([as_mask(r) for r in result]) if isinstance(result, tuple) else as_mask(result)
            if not self.undefined(R, choosing):
                put(R, found)
                return False
            open_choice = everything([R[at] for at in choosing])
            put(R, tuple([m | open_choice for m in found]) if isinstance(found, tuple) else found | open_choice)
            some: Mask = open_choice != ZERO
            return some

        return take

    def _compared(self, op: Op, put: Callable[[list[Any], Any], None]) -> Rule:
        """A comparison that a predicate may decide: any outcome that undefined operands can have is tried with it."""
        f, gets, masks = bound(op.meaning), [get_of(s) for s in op.sources], [mask_of(s, self.span) for s in op.sources]

        def compare(R: list[Any]) -> bool:
            (a, b, c), (ma, mb, mc) = [get(R) for get in gets], [m(R) for m in masks]
            unknown, ones = everything(_level([ma, mb])) != ZERO, as_value(UNDEFINED, a.dtype)
            results: list[list[Mask]] = []
            for x, y in ((0, 0), (0, 1), (1, 0), (ones, ones)):
                for choice in (False, True):
                    given = [np.where(unknown, a.dtype.type(v) if isinstance(v, int) else v, o) for v, o in ((x, a), (y, b))]
                    found = f(*given, np.where(mc != ZERO, choice, c))
                    results.append([as_mask(r) for r in (found if isinstance(found, tuple) else (found,))])
            differ = [
                np.bitwise_or.reduce(np.stack([r ^ first for r in each]))
                for first, each in zip(results[0], zip(*results, strict=True), strict=True)
            ]
            put(R, tuple(differ) if isinstance(found, tuple) else differ[0])
            return True

        return compare

    # ------------------------------------------------------------ across lanes

    def _warps(self, op: Op) -> Step:
        """An instruction across lanes: values and masks are laid out and exchanged together."""
        f, read, places = bound(op.meaning), self.read(op.sources), self.written(op)
        if not read:
            return self._beside(op, unguarded(op))
        n, taken = len(op.sources), taken_operands(op)
        masks = [mask_of(s, self.span) for s in op.sources]
        gets = [*[get_of(s) for s in op.sources], *masks, lambda R: self.source(R, read) if self.undefined(R, read) else DEFINED]
        finish, put = set_of(op.target), put_mask(op.target, self.span)
        paired = bool(op.meaning.form.operands[0].second)
        several, monotone = False, op.meaning.form.facts.monotone

        def exchange(view: Any, *given: Any) -> tuple[Array, ...]:
            nonlocal several
            values, shadows, origin = given[:n], given[n : 2 * n], given[-1]
            result = f(view, *values)
            several = isinstance(result, tuple)
            results = result if isinstance(result, tuple) else () if result is None else (result,)
            flat = _flat(shadows)
            if not any(m.any() for m in flat):
                return (*results, *[DEFINED] * len(results), DEFINED)
            members = view.members
            open_choice = _flat([m for k, m in enumerate(shadows) if k not in taken])
            reached = (
                np.where((np.broadcast_to(everything(open_choice), members.shape) != ZERO) & members, ALL, ZERO) if open_choice else DEFINED
            )
            reached = reached.max(axis=1, keepdims=True)
            if monotone:
                low, high = (f(view, *[_all_bits(v, m, bit) for v, m in zip(values, shadows, strict=True)]) for bit in (False, True))
                mixed = as_mask(low) ^ as_mask(high)
                source = np.where(members, origin, ZERO).max(axis=1, keepdims=True) | COMPUTED
                return (*results, mixed, source)
            found = [np.broadcast_to(reached, (len(reached), 1))] * len(results)
            if taken:
                moving = f(view, *[moved(v, m) if k in taken else v for k, (v, m) in enumerate(zip(values, shadows, strict=True))])
                moving = moving if isinstance(moving, tuple) else (moving,)
                for k, m in enumerate(moving[:1] if paired else moving):
                    found[k] = as_mask(m) | reached
            source = np.where(members, origin, ZERO).max(axis=1, keepdims=True)
            return (*results, *found, np.where(reached != ZERO, source | COMPUTED, source))

        def settle(R: list[Any], flat: Any) -> None:
            k = len(flat) // 2
            if not k:
                return
            finish(R, flat[:k] if several else flat[0])
            put(R, flat[k : 2 * k] if several else flat[k])
            self.set_origin(R, places, flat[-1])

        return Exchange(exchange, settle, gets)

    # ------------------------------------------------------------ memory

    def _load(self, op: Op) -> Step:
        access, address = op.meaning.access, get_of(op.sources[0])
        assert access is not None
        space, t, count = access
        if space == "const":
            return self._beside(op, unguarded(op))
        read, places, site = self.read(op.sources), self.written(op), op.site
        finish, put = set_of(op.target), put_mask(op.target, self.span)

        def load(R: list[Any]) -> None:
            g: Group = R[0]
            a = shared_facts(address(R), g.active)
            for at in read:
                if R[at] is not DEFINED and self.undefined(R, read):
                    self.uses.address(g, site, [R[x] for x in read], self.source(R, read))
                    break
            shadow: WaveShadow = g.wave.shadow
            masks = shadow.load(g, space, a, t, count)
            finish(R, g.wave.access.load(g, space, a, t, count))
            for m in masks:
                if m is not DEFINED:
                    put(R, masks)
                    each = [DEFINED if x is DEFINED else shadow.source(g, site, space, a, t, n, x) for n, x in enumerate(masks)]
                    origin = joined(list(zip(masks, each, strict=True)))
                    for n, p in enumerate(places):
                        R[2 * self.span + p.slot] = each[n] if len(each) == len(places) else origin
                    break
            else:
                self.define(R, places)

        return load

    def _store(self, op: Op) -> Step:
        access, address, values = op.meaning.access, get_of(op.sources[0]), get_of(op.sources[1])
        assert access is not None
        space, t, _ = access
        read, given, site = self.read(op.sources[:1]), self.read(op.sources[1:]), op.site
        get = mask_of(op.sources[1], self.span)

        def store(R: list[Any]) -> None:
            g: Group = R[0]
            a = shared_facts(address(R), g.active)
            for at in read:
                if R[at] is not DEFINED and self.undefined(R, read):
                    self.uses.address(g, site, [R[x] for x in read], self.source(R, read))
                    break
            v = values(R)
            for at in given:
                if R[at] is not DEFINED and self.undefined(R, given):
                    masks = get(R)
                    self.put_in_memory(g, op, space, a, t, masks, self._sources(R, op.sources[1], masks))
                    break
            else:
                g.wave.shadow.store(g, space, a, t, [DEFINED] * len(v))
            g.wave.access.store(g, space, a, t, v)

        return store

    def _sources(self, R: list[Any], source: Source, masks: Sequence[Mask]) -> list[Array]:
        """Where the bits of each of some masks come from."""
        each = [self.read([e]) for e in source.sources] if isinstance(source, Tuple) else []
        if len(each) != len(masks):
            each = [self.read([source])] * len(masks)
        return [self.source(R, e) for e in each]

    def put_in_memory(
        self, g: Group, op: Op, space: str, address: Any, t: ScalarType, masks: Sequence[Mask], sources: Sequence[Array]
    ) -> None:
        """Undefined bits go to memory; what was computed from such bits is used when it goes to global memory."""
        for m, source in zip(masks, sources, strict=True):
            if m is not DEFINED and (some := (m != ZERO) & (source & COMPUTED != ZERO)).any():
                self.uses.stored(g, op.site, space, address, some, source)
        g.wave.shadow.store(g, space, address, t, masks, sources)

    def _alloca(self, op: Op) -> Step:
        """Room on the stack, which earlier calls may have used."""
        step = self._beside(op, unguarded(op))

        def allocate(R: list[Any]) -> None:
            g: Group = R[0]
            g.wave.shadow.local.fill(g.geometry.lane, g.act.top)
            step(R)

        return allocate

    def _with_memory(self, op: Op) -> Step:
        """A meaning that reads or writes memory: it does the same to the shadow, through a port to that."""
        step, facts = unguarded(op), op.meaning.form.facts
        f, gets, masks = bound(op.meaning), [get_of(s) for s in op.sources], [mask_of(s, self.span) for s in op.sources]
        places, taken = self.written(op), taken_operands(op) if facts.moves_memory or facts.access else frozenset[int]()
        data = self.read([s for s, place in zip(op.sources, source_places(op), strict=True) if not place.address])
        put = put_mask(op.target, self.span)
        copies = facts.moves_memory and "tensor" not in op.meaning.settled  # whose map is read as it is
        is_update = facts.access in ("atomic", "reduction")

        def run(R: list[Any]) -> None:
            g: Group = R[0]
            origin = self.source(R, data) if self.undefined(R, data) else DEFINED
            port: ShadowPort
            if copies:
                port = CopyingPort(g, self, op, origin)
            elif is_update:
                port = UpdatingPort(g, self, op, origin, [R[x] for x in data], exchanges=bool(facts.takes_bits))
            else:
                port = ShadowPort(g, self, op, origin)
            view = WarpView(port) if op.how == "warps" else None
            lanes = port if view is None else view
            given = [moved(get(R), m(R)) if n in taken else get(R) for n, (get, m) in enumerate(zip(gets, masks, strict=True))]
            if view is not None:
                given = [view.spread(v) for v in given]
            result = f(lanes, *given)
            if view is not None:
                result = view.collect(result)
            step(R)
            if not places:
                return
            if not port.brings:
                self.define(R, places)
                return
            found = tuple([normal(as_mask(r)) for r in result]) if isinstance(result, tuple) else normal(as_mask(result))
            put(R, found)
            self.set_origin(R, places, port.origin)

        return self._addressed(op, run)

    def _addressed(self, op: Op, step: Step) -> Step:
        """A step that looks at the addresses before."""
        addresses = self.read([s for s, place in zip(op.sources, source_places(op), strict=True) if place.address])

        def checked(R: list[Any]) -> None:
            if self.undefined(R, addresses):
                self.uses.address(R[0], op.site, [R[x] for x in addresses], self.source(R, addresses))
            step(R)

        return checked if addresses else step


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


def memory_of(op: Op) -> bool:
    """Does an operation's meaning reach for memory?"""
    return op.meaning.form.facts.moves_memory or any(p.address for p in op.meaning.form.operands)


def moved(value: Any, mask: Any) -> Any:
    """A mask in the place of a value."""
    if isinstance(value, tuple):
        masks = mask if isinstance(mask, tuple) else (mask,) * len(value)
        return tuple([moved(v, m) for v, m in zip(value, masks, strict=True)])
    return as_value(mask, plain(value).dtype)


def _all_bits(value: Any, mask: Mask, on: bool) -> Any:
    """A value whose undefined bits are all set, or all not."""
    if mask is DEFINED:
        return value
    bits = as_value(mask, value.dtype)
    return value | bits if on else value & ~bits


def _flat(masks: Sequence[Any]) -> list[Mask]:
    out: list[Mask] = []
    for m in masks:
        out.extend(m) if isinstance(m, tuple) else out.append(m)
    return [m.max(axis=-1) if m.ndim == 3 else m for m in out]


def _level(masks: Sequence[Mask]) -> list[Mask]:
    """Masks of packed values and of whole ones with the same axes."""
    deep = any(m.ndim == 3 for m in masks)
    return [m[..., None] if deep and m.ndim == 2 else m for m in masks]
