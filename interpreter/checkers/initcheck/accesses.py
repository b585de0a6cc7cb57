"""Loads, stores and all other operations on memory, whose shadow they change as they change memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from warplab.isa.notation import Operand
from warplab.isa.types import ScalarType

from ...plan.plan import Op, Source, Tuple
from ...vector.group import Group
from ...vector.steps.meanings import bound
from ...vector.steps.operands import get_of, set_of
from ...vector.steps.ops import Step, unguarded
from ...vector.waiting.exchange import Exchange
from ...vector.warps import WarpView
from .masks import DEFINED, ZERO, Array, Mask, as_mask, normal
from .memory import WaveShadow, shared_facts
from .operands import flat, mask_of, put_mask
from .origins import COMPUTED, joined
from .ports import CopyingPort, DefiningPort, ExchangingPort, ShadowPort, UpdatingPort
from .registers import ShadowRegisters
from .rules import moved, source_places, taken_operands
from .uses import UnsetUses


class ShadowAccesses:
    """Makes the steps that work on memory."""

    def __init__(self, registers: ShadowRegisters, uses: UnsetUses, beside: Callable[[Op], Step]) -> None:
        self.registers = registers
        self.uses = uses
        self.beside = beside  # a step that leaves memory alone

    def load(self, op: Op) -> Step:
        access, address = op.meaning.access, get_of(op.sources[0])
        assert access is not None
        space, t, count = access
        if space == "const":
            return self.beside(op)
        read, places, site = self.registers.read(op.sources), self.registers.written(op), op.site
        finish, put = set_of(op.target), put_mask(op.target, self.registers.span)

        def load(R: list[Any]) -> None:
            g: Group = R[0]
            a = shared_facts(address(R), g.active)
            for at in read:
                if R[at] is not DEFINED and self.registers.undefined(R, read):
                    self.uses.address(g, site, [R[x] for x in read], self.registers.source(R, read))
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
                        R[2 * self.registers.span + p.slot] = each[n] if len(each) == len(places) else origin
                    break
            else:
                self.registers.define(R, places)

        return load

    def store(self, op: Op) -> Step:
        access, address, values = op.meaning.access, get_of(op.sources[0]), get_of(op.sources[1])
        assert access is not None
        space, t, _ = access
        read, given, site = self.registers.read(op.sources[:1]), self.registers.read(op.sources[1:]), op.site
        get = mask_of(op.sources[1], self.registers.span)

        def store(R: list[Any]) -> None:
            g: Group = R[0]
            a = shared_facts(address(R), g.active)
            for at in read:
                if R[at] is not DEFINED and self.registers.undefined(R, read):
                    self.uses.address(g, site, [R[x] for x in read], self.registers.source(R, read))
                    break
            v = values(R)
            for at in given:
                if R[at] is not DEFINED and self.registers.undefined(R, given):
                    masks = get(R)
                    self.put_in_memory(g, op, space, a, t, masks, self._sources(R, op.sources[1], masks))
                    break
            else:
                g.wave.shadow.store(g, space, a, t, [DEFINED] * len(v))
            g.wave.access.store(g, space, a, t, v)

        return store

    def _sources(self, R: list[Any], source: Source, masks: Sequence[Mask]) -> list[Array]:
        """Where the bits of each of some masks come from."""
        each = [self.registers.read([e]) for e in source.sources] if isinstance(source, Tuple) else []
        if len(each) != len(masks):
            each = [self.registers.read([source])] * len(masks)
        return [self.registers.source(R, e) for e in each]

    def put_in_memory(
        self, g: Group, op: Op, space: str, address: Any, t: ScalarType, masks: Sequence[Mask], sources: Sequence[Array]
    ) -> None:
        """Undefined bits go to memory; what was computed from such bits is used when it goes to global memory."""
        for m, source in zip(masks, sources, strict=True):
            if m is not DEFINED and (some := (m != ZERO) & (source & COMPUTED != ZERO)).any():
                self.uses.stored(g, op.site, space, address, some, source)
        g.wave.shadow.store(g, space, address, t, masks, sources)

    def alloca(self, op: Op) -> Step:
        """Room on the stack, which earlier calls may have used."""
        step = self.beside(op)

        def allocate(R: list[Any]) -> None:
            g: Group = R[0]
            g.wave.shadow.local.fill(g.geometry.lane, g.act.top)
            step(R)

        return allocate

    def through_port(self, op: Op) -> Step:
        """A meaning that reads or writes memory, through a port."""
        facts = op.meaning.form.facts
        if facts.moves_memory and "tensor" not in op.meaning.settled:  # whose map is to be read as it is
            return self.addressed(op, self._copy(op))
        f, gets, finish = bound(op.meaning), [get_of(s) for s in op.sources], set_of(op.target)
        given = [s for s, place in zip(op.sources, source_places(op), strict=True) if not place.address]
        places, data = self.registers.written(op), self.registers.read(given)
        put, masks = put_mask(op.target, self.registers.span), [mask_of(s, self.registers.span) for s in given]
        updates, exchanges = facts.access in ("atomic", "reduction"), bool(facts.takes_bits)
        step = unguarded(op)

        def run(R: list[Any]) -> None:
            g: Group = R[0]
            if g.exchanged is not None:
                step(R)
                return
            origin = self.registers.source(R, data) if self.registers.undefined(R, data) else DEFINED
            port: ShadowPort
            if updates and exchanges:
                port = ExchangingPort(g, self, op, origin, flat([m(R) for m in masks]))
            elif updates:
                port = UpdatingPort(g, self, op, origin, [R[x] for x in data])
            else:
                port = DefiningPort(g, self, op, origin)
            lanes, values = _laid_out(port, op, [get(R) for get in gets])
            result = f(lanes, *values)
            finish(R, result if lanes is port else lanes.collect(result))
            self.registers.define(R, places)
            if isinstance(port, ExchangingPort) and places:
                put(R, port.old if len(port.old) > 1 else port.old[0])
                self.registers.set_origin(R, places, port.origin)

        return self.addressed(op, _beside_exchange(step, run))

    def _copy(self, op: Op) -> Step:
        """What is moved is moved in the shadow, too."""
        step, f, gets = unguarded(op), bound(op.meaning), [get_of(s) for s in op.sources]
        places, taken = self.registers.written(op), taken_operands(op)
        data = self.registers.read([s for n, s in enumerate(op.sources) if n in taken])
        amounts = [
            s for n, (s, place) in enumerate(zip(op.sources, source_places(op), strict=True)) if n not in taken and not _is_beside(place)
        ]
        deciding = self.registers.read(amounts)
        put, masks = put_mask(op.target, self.registers.span), [mask_of(s, self.registers.span) for s in op.sources]

        def run(R: list[Any]) -> None:
            if self.registers.undefined(R, deciding):
                self.uses.copied(R[0], op.site, [R[x] for x in deciding], self.registers.source(R, deciding))
            origin = self.registers.source(R, data) if self.registers.undefined(R, data) else DEFINED
            port = CopyingPort(R[0], self, op, origin)
            given = [moved(get(R), m(R)) if n in taken else get(R) for n, (get, m) in enumerate(zip(gets, masks, strict=True))]
            lanes, values = _laid_out(port, op, given)
            result = f(lanes, *values)
            if lanes is not port:
                result = lanes.collect(result)
            step(R)
            if not port.brings:
                self.registers.define(R, places)
            elif places:
                put(R, tuple([normal(as_mask(r)) for r in result]) if isinstance(result, tuple) else normal(as_mask(result)))
                self.registers.set_origin(R, places, port.origin)

        return _beside_exchange(step, run)

    def addressed(self, op: Op, step: Step) -> Step:
        """A step that looks at the addresses before."""
        addresses = self.registers.read([s for s, place in zip(op.sources, source_places(op), strict=True) if place.address])

        def checked(R: list[Any]) -> None:
            if self.registers.undefined(R, addresses):
                self.uses.address(R[0], op.site, [R[x] for x in addresses], self.registers.source(R, addresses))
            step(R)

        return _beside_exchange(step, checked) if addresses else step


class ShadowExchange(Exchange):
    """An exchange across lanes with what is done beside it."""

    __slots__ = ("run",)

    def __init__(self, exchange: Exchange, run: Step) -> None:
        super().__init__(exchange.meaning, exchange.finish, exchange.gets)
        self.run = run

    def __call__(self, R: list[Any]) -> None:
        self.run(R)


def _beside_exchange(step: Step, run: Step) -> Step:
    """A step that does more than another one, and is an exchange as that is."""
    return ShadowExchange(step, run) if isinstance(step, Exchange) else run


def _laid_out(port: ShadowPort, op: Op, values: list[Any]) -> tuple[Any, list[Any]]:
    """A port and operands as the meaning wants them: by lanes or by warps."""
    if op.how != "warps":
        return port, values
    view = WarpView(cast(Any, port))
    return view, [view.spread(v) for v in values]


def _is_beside(place: Operand) -> bool:
    """Does an operand of a copy not decide what is copied: an address, or a cache policy?"""
    return place.address or place.type == "b64"


def memory_of(op: Op) -> bool:
    """Does an operation's meaning reach for memory?"""
    return op.meaning.form.facts.moves_memory or any(p.address for p in op.meaning.form.operands)
