"""Meanings are traced once for operands of the same types: the code is repeated wherever it is used, or, where it is long, a function that is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..trace.code import LLVMModule, VectorCode
from ..trace.meanings import traced
from ..trace.symbol import SymbolicArray

LONG = 24  # lines of LLVM IR

_NAME = re.compile(r"(%[am]\d+r?)")  # of an operand (with r: the same with any NaNs), or of a value computed from them
_LINE = re.compile(r"  (%m\d+) = (.*)")

Results = Sequence[SymbolicArray | None]


class Repeated(NamedTuple):
    """Lines of code: for each the name of its value, and its text, divided at the names in it."""

    lines: list[tuple[str, list[str]]]
    results: Results

    def written(self, code: VectorCode, given: Mapping[str, str]) -> Results:
        """The results for operands by their names."""
        names = dict(given)
        for name, pieces in self.lines:
            pieces = pieces.copy()
            pieces[1::2] = [names[piece] for piece in pieces[1::2]]
            names[name] = code.emit("".join(pieces))
        return [None if r is None else _renamed(r, code, names) for r in self.results]


class Called(NamedTuple):
    """A function."""

    name: str
    results: Sequence[SymbolicArray]

    def written(self, code: VectorCode, given: Sequence[SymbolicArray]) -> Results:
        """The results of a call."""
        t, results = _returned(self.results), self.results
        passed = [f"{_passed(v)} {_converted(code, v.value, v.type, _passed(v))}" for v in given]
        returned = code.emit(f"call {t} @{self.name}({', '.join(passed)})")
        values = [returned] if len(results) == 1 else [code.emit(f"extractvalue {t} {returned}, {i}") for i in range(len(results))]
        return [
            SymbolicArray(code, _converted(code, value, _passed(r), r.type), r.dtype, r.lanes)
            for value, r in zip(values, results, strict=True)
        ]


class Routines:
    """The meanings that one module has traced."""

    def __init__(self, module: LLVMModule) -> None:
        self.module = module
        self.texts: list[str] = []  # of functions
        self._known: dict[Any, Repeated | Called | None] = {}

    def results(self, code: VectorCode, key: Any, meaning: Callable[..., Any], operands: Sequence[Any], calls: bool) -> Results:
        """The results of a meaning, for which a key stands; `calls`: by a function, where the code is long."""
        given = _flat(operands)
        if all(isinstance(v, SymbolicArray) and v.code is code for v in given):
            key = key, code.width, calls, *((v.dtype, v.lanes, v.raw is not None) for v in given)
            if key not in self._known:
                self._known[key] = self._traced(code.width, meaning, operands, calls)
            found = self._known[key]
            if isinstance(found, Called):
                return found.written(code, given)
            if found is not None:
                names = {f"%a{i}": v.value for i, v in enumerate(given)}
                names |= {f"%a{i}r": v.raw.value for i, v in enumerate(given) if v.raw is not None}
                return found.written(code, names)
        return traced(code, meaning, operands)

    def _traced(self, width: int, meaning: Callable[..., Any], operands: Sequence[Any], calls: bool) -> Repeated | Called | None:
        code = VectorCode(width, self.module, "m")
        parameters = [SymbolicArray(code, f"%a{i}", v.dtype, v.lanes) for i, v in enumerate(_flat(operands))]
        for p, v in zip(parameters, _flat(operands), strict=True):
            p.raw = None if v.raw is None else SymbolicArray(code, f"{p.value}r", v.dtype, v.lanes)
        following = iter(parameters)
        results = traced(code, meaning, [tuple(next(following) for _ in v) if isinstance(v, tuple) else next(following) for v in operands])
        known = [r for r in results if r is not None]
        if calls and len(code.lines) >= LONG and len(known) == len(results):
            return self._function(code, parameters, known)
        lines = [_LINE.fullmatch(line) for line in code.lines]
        if code.rooms or None in lines:
            return None
        return Repeated([(line[1], _NAME.split(line[2])) for line in lines if line], results)

    def _function(self, code: VectorCode, parameters: Sequence[SymbolicArray], results: Sequence[SymbolicArray]) -> Called:
        values = [_converted(code, r.value, r.type, _passed(r)) for r in results]
        name, last, returned = f"meaning{len(self.texts)}", "poison", []
        for i, (r, value) in enumerate(zip(results, values, strict=True)):
            returned.append(f"  %r{i} = insertvalue {_returned(results)} {last}, {_passed(r)} {value}, {i}")
            last = f"%r{i}"
        if len(results) == 1:
            returned, last = [], values[0]
        before = [f"  {room} = alloca {t}, align 64" for room, t in code.rooms.items()]
        before += [f"  {p.value} = bitcast {_passed(p)} {p.value}.p to {p.type}" for p in parameters if p.type != _passed(p)]
        before += [f"  {p.raw.value} = bitcast {p.type} {p.value} to {p.type}" for p in parameters if p.raw is not None]
        taken = ", ".join(f"{_passed(p)} {p.value}{'.p' if p.type != _passed(p) else ''}" for p in parameters)
        self.texts.append("\n".join([
            f"define internal {_returned(results)} @{name}({taken}) noinline {{", "entry:", *before,
            *code.lines, *returned, f"  ret {_returned(results)} {last}", "}",
        ]))  # fmt: skip
        return Called(name, results)


def _renamed(r: SymbolicArray, code: VectorCode, names: Mapping[str, str]) -> SymbolicArray:
    out = SymbolicArray(code, names.get(r.value, r.value), r.dtype, r.lanes)
    out.raw = None if r.raw is None else _renamed(r.raw, code, names)
    return out


def _flat(operands: Sequence[Any]) -> list[Any]:
    """The values of operands, of which some are several, as of a product that is not rounded."""
    return [x for v in operands for x in (v if isinstance(v, tuple) else (v,))]


def _passed(v: SymbolicArray) -> str:
    """The type in which a function takes or returns a value: masks as integers, see texts.py."""
    return f"i{v.lanes}" if v.dtype.kind == "b" else v.type


def _converted(code: VectorCode, value: str, have: str, want: str) -> str:
    return value if have == want else code.emit(f"bitcast {have} {value} to {want}")


def _returned(results: Sequence[SymbolicArray]) -> str:
    return _passed(results[0]) if len(results) == 1 else "{" + ", ".join(map(_passed, results)) + "}"
