"""Operations of a plan as steps that carry masks of undefined bits beside the values.

While all that an operation reads is defined, which is nearly always, its masks cost a comparison each.  Else a rule says what comes out
of what goes in, by the facts of the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...plan.plan import Op, ParameterPlace
from ...vector.steps.meanings import bound
from ...vector.steps.operands import get_of, set_of
from ...vector.steps.ops import Step, unguarded
from ...vector.waiting.exchange import Exchange
from .accesses import ShadowAccesses, memory_of
from .masks import ALL, DEFINED, UNDEFINED, ZERO, Array, Mask, as_mask, as_value, by_halves, everything
from .operands import flat, mask_of, put_mask
from .origins import COMPUTED
from .registers import ShadowRegisters
from .rules import moved, reads_lanes, rule_of, taken_operands
from .uses import UnsetUses

# What undefined elements of matrices hold, in turn: an element of the product is undefined where that makes a difference.  A rule would need to
# know how each of the many formats lies in registers, and all must be undefined that an undefined element may reach, but no other row or column.
PROBES = (ALL, np.uint64(0x3F803C3A3F803C3A), np.uint64(0xC1F3A965C1F3A965))


class Steps:
    """Makes the steps of one function whose registers have shadows."""

    def __init__(self, registers: ShadowRegisters, uses: UnsetUses) -> None:
        self.registers = registers
        self.accesses = ShadowAccesses(registers, uses, lambda op: self._beside(op, unguarded(op)))

    def step(self, op: Op) -> Step:
        """One operation, its guard aside."""
        match op.how:
            case "load" if not isinstance(op.sources[0], ParameterPlace):
                return self.accesses.load(op)
            case "store":
                return self.accesses.store(op)
            case "lanes" | "warps" if op.meaning.form.facts.unit == "texture":
                return self.accesses.addressed(op, self._beside(op, unguarded(op)))
            case "lanes" | "warps" if memory_of(op):
                return self.accesses.through_port(op)
            case "warps":
                return self._exchange(op)
            case "effect" if op.meaning.form.effect == "alloca":
                return self.accesses.alloca(op)
            case _:
                return self._beside(op, unguarded(op))

    def _beside(self, op: Op, step: Step) -> Step:
        """A step without memory: masks first, since it may write what it reads."""
        registers, product = self.registers, None
        if op.product is not None:
            product, step = self.step(op.product), unguarded(op._replace(product=None))
        read, places = registers.read(op.sources), registers.written(op)
        if "in" in op.meaning.form.carry.split():
            read = (*read, registers.span + registers.carry)
        slots = tuple([at for p in places for at in (registers.span + p.slot, 2 * registers.span + p.slot)])
        rule = rule_of(registers, op, read, places)

        def run(R: list[Any]) -> None:
            for at in read:
                if R[at] is not DEFINED and registers.undefined(R, read):
                    origin = registers.source(R, read)
                    computed = rule(R)
                    if computed is True:
                        origin = origin | COMPUTED
                    elif computed is not False:
                        origin = np.where(computed, origin | COMPUTED, origin)
                    registers.set_origin(R, places, origin)
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

    def _exchange(self, op: Op) -> Step:
        """An instruction across lanes: values and masks are laid out and exchanged together."""
        registers = self.registers
        f, read, places = bound(op.meaning), registers.read(op.sources), registers.written(op)
        absent = self.accesses.uses.origins.of_lanes(op.site) if reads_lanes(op) else 0
        if not read and not absent:
            return self._beside(op, unguarded(op))
        n, taken = len(op.sources), taken_operands(op)
        masks = [mask_of(s, registers.span) for s in op.sources]
        gets = [*[get_of(s) for s in op.sources], *masks, lambda R: registers.source(R, read) if registers.undefined(R, read) else DEFINED]
        finish, put = set_of(op.target), put_mask(op.target, registers.span)
        paired = bool(op.meaning.form.operands[0].second)
        facts = op.meaning.form.facts
        several, multiplies = False, bool(facts.matrix_lanes)
        monotone = facts.monotone is not None and facts.monotone.holds(op.site.instruction.modifiers)

        def exchange(view: Any, *given: Any) -> tuple[Array, ...]:
            nonlocal several
            values, shadows, origin = given[:n], given[n : 2 * n], given[-1]
            result = f(view, *values)
            several = isinstance(result, tuple)
            results = result if isinstance(result, tuple) else () if result is None else (result,)
            whole = _whole(shadows)
            lacking = absent and not view.members.all()
            if lacking:
                origin = np.where(origin != ZERO, origin, np.uint64(absent) | COMPUTED)  # even a copy of nothing is a use
            elif not any(m.any() for m in whole):
                return (*results, *[DEFINED] * len(results), DEFINED)
            if multiplies:
                others = [f(view, *[_probed(v, m, probe) for v, m in zip(values, shadows, strict=True)]) for probe in PROBES]
                differ = [np.bitwise_or.reduce([as_mask(o[k]) ^ as_mask(r) for o in others]) for k, r in enumerate(results)]
                return (*results, *[by_halves(d) for d in differ], origin.max(axis=1, keepdims=True) | COMPUTED)
            members = view.members
            open_choice = _whole([m for k, m in enumerate(shadows) if k not in taken])
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
            if lacking:  # a lane that does not execute is read as 0, where all others give ones
                (seen, _) = f(view, *[moved(v, UNDEFINED) if k in taken else v for k, v in enumerate(values)])
                found[0] = found[0] | np.where(as_mask(seen) == ZERO, ALL, ZERO)
            source = np.where(members, origin, ZERO).max(axis=1, keepdims=True)
            return (*results, *found, np.where(reached != ZERO, source | COMPUTED, source))

        def settle(R: list[Any], flat: Any) -> None:
            k = len(flat) // 2
            if not k:
                return
            finish(R, flat[:k] if several else flat[0])
            put(R, flat[k : 2 * k] if several else flat[k])
            registers.set_origin(R, places, flat[-1])

        return Exchange(exchange, settle, gets)


def _probed(value: Any, mask: Any, probe: np.uint64) -> Any:
    """A value some of whose undefined bits are others."""
    if isinstance(value, tuple):
        return tuple([_probed(v, m, probe) for v, m in zip(value, mask, strict=True)])
    return value if isinstance(value, int) else as_value(as_mask(value) ^ (mask & probe), value.dtype)


def _all_bits(value: Any, mask: Mask, on: bool) -> Any:
    """A value whose undefined bits are all set, or all not."""
    if mask is DEFINED:
        return value
    bits = as_value(mask, value.dtype)
    return value | bits if on else value & ~bits


def _whole(masks: Sequence[Any]) -> list[Mask]:
    """Masks, those of packed values without the axis of their elements."""
    return [m.max(axis=-1) if m.ndim == 3 else m for m in flat(masks)]
