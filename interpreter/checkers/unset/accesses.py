"""Loads, stores and all other operations on memory, whose shadow they change as they change memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warplab.isa.types import ScalarType

from ...plan.plan import Op, Source, Tuple
from ...vector.group import Group
from ...vector.steps.meanings import bound
from ...vector.steps.operands import get_of, set_of
from ...vector.steps.ops import Step, unguarded
from ...vector.warps import WarpView
from .masks import DEFINED, ZERO, Array, Mask, as_mask, normal
from .memory import WaveShadow, shared_facts
from .operands import mask_of, put_mask
from .origins import COMPUTED, joined
from .ports import CopyingPort, ShadowPort, UpdatingPort
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
        """A meaning that reads or writes memory: it does the same to the shadow, through a port to that."""
        step, facts = unguarded(op), op.meaning.form.facts
        f, gets, masks = bound(op.meaning), [get_of(s) for s in op.sources], [mask_of(s, self.registers.span) for s in op.sources]
        places, taken = self.registers.written(op), taken_operands(op) if facts.moves_memory or facts.access else frozenset[int]()
        data = self.registers.read([s for s, place in zip(op.sources, source_places(op), strict=True) if not place.address])
        put = put_mask(op.target, self.registers.span)
        copies = facts.moves_memory and "tensor" not in op.meaning.settled  # whose map is read as it is
        is_update = facts.access in ("atomic", "reduction")

        def run(R: list[Any]) -> None:
            g: Group = R[0]
            origin = self.registers.source(R, data) if self.registers.undefined(R, data) else DEFINED
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
                self.registers.define(R, places)
                return
            found = tuple([normal(as_mask(r)) for r in result]) if isinstance(result, tuple) else normal(as_mask(result))
            put(R, found)
            self.registers.set_origin(R, places, port.origin)

        return self.addressed(op, run)

    def addressed(self, op: Op, step: Step) -> Step:
        """A step that looks at the addresses before."""
        addresses = self.registers.read([s for s, place in zip(op.sources, source_places(op), strict=True) if place.address])

        def checked(R: list[Any]) -> None:
            if self.registers.undefined(R, addresses):
                self.uses.address(R[0], op.site, [R[x] for x in addresses], self.registers.source(R, addresses))
            step(R)

        return checked if addresses else step


def memory_of(op: Op) -> bool:
    """Does an operation's meaning reach for memory?"""
    return op.meaning.form.facts.moves_memory or any(p.address for p in op.meaning.form.operands)
