"""What the planner made of each function: `warplab dump --stage plan`, as text and as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from warplab.assembler.ir import Function, Module, Variable
from warplab.assembler.link import link_modules
from warplab.assembler.objects import load
from warplab.assembler.printer import statement
from warplab.isa.types import ScalarType

from ..memory.arena import Arena
from ..program import LoadedKernel, LoadedProgram
from .plan import (
    EXIT,
    AddressSource,
    Convert,
    Each,
    FrameAddress,
    FramePlace,
    Guard,
    InFrame,
    Jump,
    Meaning,
    Not,
    Op,
    Pack,
    Packed,
    ParameterAddress,
    ParameterPlace,
    PlanFunction,
    PlusConstant,
    Pointer,
    RegisterResult,
    ScalarConstant,
    Segment,
    Site,
    SlotAs,
    Special,
    Tuple,
)

_ROOM = 1 << 20  # for the addresses of the module's variables


def plan(data: bytes, name: str) -> str:
    """Slots, segments, operations and ends of every function of a PTX text or object file."""
    return "\n".join([line for made, caller in _planned(data, name) for line in PlanText(made).lines(caller)]) + "\n"


def plan_of(modules: Sequence[Module]) -> str:
    """As plan, of several modules that are linked."""
    return "\n".join([line for made, caller in _planned_of(modules) for line in PlanText(made).lines(caller)]) + "\n"


def plan_json(data: bytes, name: str) -> str:
    """The same as JSON: every value of plan.py as an object with its class and fields; a slot that is taken as it is kept as a number."""
    return json.dumps([{"caller": caller, **encoded(made)} for made, caller in _planned(data, name)], indent=1) + "\n"


def _planned(data: bytes, name: str) -> Iterator[tuple[PlanFunction, str]]:
    """Every function as each kernel calls it, and that kernel."""
    yield from _planned_of([load(data, name)])


def _planned_of(modules: Sequence[Module]) -> Iterator[tuple[PlanFunction, str]]:
    for kernel in kernels_of(modules):
        for function in dict.fromkeys([kernel.function, *kernel.reached]):
            yield kernel.plan(function), kernel.name if function is not kernel.function else ""


def kernels_of(modules: Sequence[Module]) -> list[LoadedKernel]:
    """The kernels of modules that are linked."""
    size = sum(v.size + v.align for m in modules for v in m.variables.values() if v.space in ("global", "const"))
    return list(LoadedProgram(link_modules(modules, complete=False), Arena(size + _ROOM)).kernels.values())


# ---------------------------------------------------------------- as JSON


def encoded(value: Any) -> Any:
    """A plan, or a part of it, in what JSON knows."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Site():
            return {"line": value.instruction.span.line, "text": statement(value.instruction), "function": value.function}
        case Meaning():
            form = value.form
            row = {"row": form.row, "meaning": form.meaning and form.meaning.__name__, "effect": form.effect, "carry": form.carry}
            fields = [f.name for f in dataclasses.fields(value) if f.name not in ("form", "words")]
            return {"class": "Meaning", **row, "words": dict(value.words)} | {n: encoded(getattr(value, n)) for n in fields}
        case Function() | Variable() | ScalarType() | np.dtype():
            return value.name
        case np.ndarray():
            return {"dtype": value.dtype.name, "bits": f"0x{int.from_bytes(value.tobytes(), 'little'):x}"}
        case frozenset():
            return sorted(value)
        case Mapping():
            return {str(k): encoded(v) for k, v in value.items()}
    if dataclasses.is_dataclass(value):
        return {"class": type(value).__name__} | {f.name: encoded(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if hasattr(value, "_fields"):
        return {"class": type(value).__name__} | {n: encoded(getattr(value, n)) for n in value._fields}
    assert isinstance(value, tuple | list), f"{value!r} is not part of a plan"
    return [encoded(v) for v in value]


# ---------------------------------------------------------------- as text


class PlanText:
    """A function's plan as lines."""

    def __init__(self, made: PlanFunction) -> None:
        self.made = made

    def lines(self, caller: str) -> Iterator[str]:
        made = self.made
        source = f", as {caller} calls it" if caller else ""
        slots = made.first_constant + len(made.constants)
        yield f"{made.name}{source}: {slots} slots, {len(made.segments)} segments, {made.frame_size} bytes of stack"
        for home in sorted(made.homes.values(), key=lambda home: home.slot):
            width = f"-{home.slot + home.width - 1}" if home.width > 1 else ""
            yield f"  slot {home.slot}{width}: {home.name} as {home.dtype.name}{', a pointer' if home.pointer else ''}"
        for n, constant in enumerate(made.constants, made.first_constant):
            yield f"  slot {n}: {constant.item()} as {constant.dtype.name}"
        for v, at in made.frame:
            yield f"  frame {at}: {v.name}"
        if made.zeros:
            yield f"  zero at first: {' '.join(map(str, sorted(made.zeros)))}"
        for i, segment in enumerate(made.segments):
            reads = " ".join(map(str, segment.reads))
            writes, live = _slots(segment.writes), _slots(made.live_in[i])
            yield f"  segment {i} of B{segment.block}: {segment.length} instructions"
            yield f"    reads [{reads}], writes [{writes}], live at its start [{live}]"
            yield from [f"    {self.op(op)}" for op in segment.ops]
            yield f"    {self.end(segment)}"
        yield ""

    def op(self, op: Op) -> str:
        """An operation, and the instruction that it is."""
        target = "" if op.target is None else f"{self._operand(op.target)} = "
        sources = ", ".join(map(self._operand, op.sources))
        return _beside(f"{self._guard(op.guard)}{target}{op.how} {sources}".rstrip(), op.site)

    def end(self, segment: Segment) -> str:
        """How a segment ends, and the instruction that ends it."""
        end = segment.end
        words = [type(end).__name__.lower()]
        guard = None if isinstance(end, Jump) else end.guard
        for f in dataclasses.fields(end):
            value = getattr(end, f.name)
            if f.name != "guard" and value not in (None, {}, (), False):
                words.append(f"{f.name} {self._field(value)}")
        return _beside(self._guard(guard) + " ".join(words), segment.site)

    def _field(self, value: Any) -> str:
        match value:
            case True:
                return ""
            case int():
                return _place(value)
            case str():
                return value
            case Mapping():
                return "{" + ", ".join(f"{_place(k)}: {self._field(v)}" for k, v in value.items()) + "}"
            case Function():
                return value.name
            case InFrame(offset):
                return f"frame[{offset}]"
            case RegisterResult(target, _):
                return self._operand(target)
            case frozenset():
                return " ".join(map(str, sorted(value)))
            case tuple() if not hasattr(value, "_fields"):
                return "(" + ", ".join(map(self._field, value)) + ")"
        return str(encoded(value)) if dataclasses.is_dataclass(value) else self._operand(value)

    def _guard(self, guard: Guard | None) -> str:
        return "" if guard is None else f"@{'!' if guard.negated else ''}s{guard.slot} "

    def _operand(self, x: Any) -> str:
        match x:
            case None:
                return "_"
            case int():
                return f"s{x}"
            case SlotAs(slot, _, wanted):
                return f"s{slot} as {wanted.name}"
            case Convert(slot, _, t):
                return f"s{slot} from {t.name}"
            case Packed(slot, t):
                return f"s{slot} as {t.name}"
            case Pack(slot, _, t):
                return f"s{slot} from {t.name}"
            case Tuple(parts) | Each(parts):
                return "{" + ", ".join(map(self._operand, parts)) + "}"
            case Special(name):
                return name
            case Not(slot):
                return f"!s{slot}"
            case PlusConstant(source, by):
                return f"{self._operand(source)}+{by}"
            case ScalarConstant(value):
                return str(value)
            case Pointer(slot, offset):
                return f"[s{slot}{offset:+}]"
            case AddressSource(base, offset):
                return f"[{self._operand(base)}{offset:+}]"
            case FrameAddress(offset) | FramePlace(offset):
                return f"frame[{offset}]"
            case ParameterAddress(v, offset) | ParameterPlace(v, offset):
                return f"{v.name}[{offset}]"
        return str(x)


def _beside(text: str, site: Site | None) -> str:
    return text if site is None else f"{text:60}  {statement(site.instruction)}"


def _slots(mask: int) -> str:
    return " ".join([str(slot) for slot in range(mask.bit_length()) if mask >> slot & 1])


def _place(pc: int) -> str:
    return "the end" if pc == EXIT else str(pc)
