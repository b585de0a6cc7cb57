"""What a client shows of a call: registers, special registers, parameters, and memory by its names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.recorder.track import NamedCells
from warplab.isa.types import TYPES

from ..dwarf.places import AtAddress, NotThere
from ..dwarf.types import SourceVariable
from ..dwarf.values import SourceValue
from ..recording.conditions import LanesAt
from ..recording.expressions import SPECIALS
from ..recording.telling import number
from .adapter import Adapter, Body, request
from .arguments import RequestArguments
from .calls import calls_of
from .code import memory_reference
from .handles import Container, FrameAt, Slice, Variable

MOST_ELEMENTS = 1 << 16  # of an array of the source, where the client asks for all
FEW = 8  # elements of an array that its value shows
READ_ONLY = {"attributes": ["readOnly"]}


def scopes_of(a: Adapter, frame: FrameAt) -> list[dict[str, Any]]:
    """The scopes of a call, the ones that are looked at most first."""
    rec = a.rec
    calls = calls_of(a, frame.lane)
    function, depth = calls[frame.level].function, len(calls) - 1 - frame.level
    view = _View(a, frame.lane, (function, depth))
    found: list[tuple[str, str, Container, int, bool]] = [
        (
            "Registers",
            "registers",
            Container(view.registers, lambda name: name, frame.lane),
            len(rec.track.registers.get(function, {})),
            False,
        ),
        ("Special registers", "", Container(view.specials, lane=frame.lane), len(SPECIALS), False),
        ("Parameters", "arguments", Container(view.parameters, lane=frame.lane), len(rec.track.parameters), False),
    ]
    if not a.session.names.why_not:
        held = Container(view.locals, lambda name: name, frame.lane)
        found.insert(0, ("Locals", "locals", held, len(view.named()), False))
    for space in ("shared", "global", "const"):
        objects = [o for o in rec.track.objects if o.space == space]
        if objects:
            held = Container(lambda part, of=objects: view.objects(part, of), lambda name: name, frame.lane)  # type: ignore[misc]
            found.append((space.capitalize(), "", held, len(objects), False))
    return [
        {"name": name, **({"presentationHint": hint} if hint else {}), "variablesReference": a.handles.add(held),
         "namedVariables": count, "expensive": expensive}
        for name, hint, held, count, expensive in found
    ]  # fmt: skip


@request("variables")
def variables(a: Adapter, args: RequestArguments) -> Body:
    """What is inside of something."""
    container = a.handles.container(args.whole("variablesReference"))
    count = args.whole("count", 0)
    hexadecimal = args.inner("format").flag("hex")
    return {"variables": container.variables(Slice(args.whole("start", 0), count or None, hexadecimal))}


def leaf(name: str, value: str, type: str = "", expression: str = "") -> Variable:
    """A variable with nothing inside."""
    out = {"name": name, "value": value, "variablesReference": 0, "presentationHint": READ_ONLY}
    return out | ({"type": type} if type else {}) | ({"evaluateName": expression} if expression else {})


class _View:
    """A call of a thread at the step at which the debugger stands."""

    def __init__(self, adapter: Adapter, lane: int, frame: tuple[str, int]) -> None:
        self.adapter, self.rec, self.lane, self.frame = adapter, adapter.rec, lane, frame
        self.step = adapter.session.step

    # ------------------------------------------------------------ registers

    def registers(self, part: Slice) -> list[Variable]:
        """The registers of the function: the lane's value, and inside those of all lanes of the warp."""
        names = list(self.rec.track.registers.get(self.frame[0], {}))
        out = []
        for k in part.of(len(names)):
            values, known, type = self._held(names[k], np.array([self.lane]))
            expression = names[k] if type == self.rec.track.registers[self.frame[0]][names[k]] else f"{type}({names[k]})"
            one = leaf(names[k], self._text(values[0], bool(known[0]), part), f".{type}", expression)
            if known[0] and (where := self._pointed(values[0], type)):
                one["memoryReference"] = where
            inside = Container(lambda some, name=names[k]: self._lanes(name, some), lane=self.lane)  # type: ignore[misc]
            one |= {"variablesReference": self.adapter.handles.add(inside), "indexedVariables": self.rec.warp_of(self.lane).size}
            out.append(one)
        return out

    def _held(self, name: str, lanes: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
        """What lanes hold, whether that is known, and the type that it is used with."""
        found = self.rec.held(name, lanes, self.step, self.frame)
        type = self.rec.used_type(self.frame[0], name)
        t = TYPES[type]
        value = (
            found.value if found.value.ndim > 1 or found.value.dtype.itemsize != t.bytes or t.elements > 1 else found.value.view(t.dtype)
        )
        return value, found.known, type

    def _lanes(self, name: str, part: Slice) -> list[Variable]:
        lanes = self.rec.warp_of(self.lane)
        values, known, _ = self._held(name, lanes)
        first = int(lanes[0]) % self.rec.threads & 31
        return [leaf(f"[{first + k}]", self._text(values[k], bool(known[k]), part)) for k in part.of(lanes.size)]

    def _text(self, value: Any, known: bool, part: Slice) -> str:
        if not known:
            return "<not written yet>"
        at = np.asarray(value)
        named = self.rec.name_of("global", int(value)) if at.ndim == 0 and at.dtype.kind in "iu" and at.dtype.itemsize == 8 else "global["
        text = number(value, "x" if part.hexadecimal or not named.startswith("global[") else "")
        return text if named.startswith("global[") else f"{text} <{named}>"

    def _pointed(self, value: Any, type: str) -> str:
        """What a 64-bit value points to, if an array is there."""
        if TYPES[type].bits != 64 or np.asarray(value).ndim or np.asarray(value).dtype.kind not in "iu":
            return ""
        at = int(value) & ((1 << 64) - 1)
        return (
            memory_reference("global", 0, at)
            if any(o.space == "global" and o.start <= at < o.start + o.size for o in self.rec.track.objects)
            else ""
        )

    def specials(self, part: Slice) -> list[Variable]:
        """tid.x and so on."""
        names = sorted(SPECIALS)
        at = LanesAt(self.rec, self.step, np.array([self.lane]), self.frame)
        return [
            leaf(names[k], number(at.special(names[k])[0], "x" if part.hexadecimal else ""), ".u32", names[k]) for k in part.of(len(names))
        ]

    def parameters(self, part: Slice) -> list[Variable]:
        """What the kernel was given."""
        t = self.rec.track
        out = []
        for name, type, at, size in [t.parameters[k] for k in part.of(len(t.parameters))]:
            raw, kind = np.frombuffer(t.parameter_bytes[at : at + size], np.uint8), TYPES[type].dtype
            whole = raw.size == kind.itemsize
            text = self._text(raw.view(kind)[0], True, part) if whole else raw.tobytes().hex()
            one = leaf(name, text, f".{type}", name if whole else "")
            if whole and (where := self._pointed(raw.view(kind)[0], type)):
                one["memoryReference"] = where
            out.append(one)
        return out

    # ------------------------------------------------------------ variables of the source

    def named(self) -> list[tuple[SourceVariable, SourceValue | str]]:
        """Arguments and variables that can be seen."""
        return self.adapter.session.names.variables(self.lane, self.step, self.frame)

    def locals(self, part: Slice) -> list[Variable]:
        """They, with their members and elements."""
        found = self.named()
        return [self._named(*found[k], part) for k in part.of(len(found))]

    def _named(self, v: SourceVariable, value: SourceValue | str, part: Slice) -> Variable:
        return leaf(v.name, f"<{value}>", str(v.type), v.name) if isinstance(value, str) else self.source(v.name, v.name, value, part)

    def source(self, name: str, path: str, value: SourceValue, part: Slice) -> Variable:
        """A variable of the source, or a part of one; `path` is the expression for it."""
        out = leaf(name, value.text("x" if part.hexadecimal else "", 1), str(value.type), path)
        if isinstance(value.where, AtAddress):
            out["memoryReference"] = memory_reference(value.where.space, value.where.owner, value.where.address)
        if not value.has_parts:
            return out
        arrow = "->" if value.type.plain.kind == "pointer" else "."

        def inner(child: str) -> str:
            return f"*{path}" if child == "*" else f"{path}{child}" if child[:1] == "[" else f"{path}{arrow}{child}"

        def inside(some: Slice) -> list[Variable]:
            t = value.type.plain
            try:
                if t.kind == "array":
                    chosen = some.of(t.count)[:MOST_ELEMENTS]
                    return [self.source(f"[{k}]", f"{path}[{k}]", value.element(k), some) for k in chosen]
                parts = list(value.parts())
            except NotThere as e:
                return [leaf("*", f"<{e}>")]
            return [self.source(parts[k][0], inner(parts[k][0]), parts[k][1], some) for k in some.of(len(parts))]

        count = {"indexedVariables": value.type.plain.count} if value.type.plain.kind == "array" else {}
        return out | {"variablesReference": self.adapter.handles.add(Container(inside, inner, self.lane)), **count}

    # ------------------------------------------------------------ memory

    def objects(self, part: Slice, objects: Sequence[NamedCells]) -> list[Variable]:
        """Arrays and variables in memory by their names."""
        return [self.array(objects[k], part) for k in part.of(len(objects))]

    def array(self, o: NamedCells, part: Slice) -> Variable:
        """One of them."""
        values = self.rec.memory(o.name, self.step, self.rec.thread(self.lane).block)
        owner = self.lane // self.rec.threads if o.space == "shared" else 0
        out = self._array(o.name, o.name, values, part, f".{o.type}{''.join(f'[{d}]' for d in values.shape)}")
        return out | {"memoryReference": memory_reference("shared" if o.space == "shared" else "global", owner, o.start)}

    def _array(self, name: str, expression: str, values: NDArray[Any], part: Slice, type: str = "") -> Variable:
        """An array, and inside its elements, or its rows."""
        if not values.ndim or (values.size == 1 and values.ndim == 1 and not type.endswith("[1]")):
            return leaf(name, number(values[()], "x" if part.hexadecimal else ""), type, expression)
        form = "x" if part.hexadecimal else ""
        shown = ", ".join(number(v, form) for v in values.ravel()[:FEW])
        inside = Container(self._elements(expression, values), lambda child: expression + child, self.lane)
        return leaf(name, "{" + shown + (", ..." if values.size > FEW else "") + "}", type, expression) | {
            "variablesReference": self.adapter.handles.add(inside), "indexedVariables": len(values),
        }  # fmt: skip

    def _elements(self, expression: str, values: NDArray[Any]) -> Callable[[Slice], list[Variable]]:
        return lambda part: [self._array(f"[{k}]", f"{expression}[{k}]", values[k], part) for k in part.of(len(values))]


def view_of(a: Adapter, frame: FrameAt) -> _View:
    """A call, to show what an expression in it names."""
    calls = calls_of(a, frame.lane)
    return _View(a, frame.lane, (calls[frame.level].function, len(calls) - 1 - frame.level))
