"""Meanings whose code is long, as functions: written once, called wherever they are used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..trace.code import LLVMModule, VectorCode
from ..trace.meanings import traced
from ..trace.symbol import SymbolicArray

LONG = 24  # lines of LLVM IR


class Routines:
    """The functions of one module."""

    def __init__(self, module: LLVMModule) -> None:
        self.module = module
        self.texts: list[str] = []
        self._known: dict[Any, tuple[str, list[SymbolicArray]] | None] = {}

    def called(self, code: VectorCode, key: Any, meaning: Callable[..., Any], operands: Sequence[Any]) -> list[SymbolicArray] | None:
        """The results of a meaning, called with operands that vary; None where its code is better repeated.  `key` stands for the meaning."""
        given = _flat(operands)
        if not all(isinstance(v, SymbolicArray) and v.code is code for v in given):
            return None
        key = key, code.width, *((v.dtype, v.lanes) for v in given)
        if key not in self._known:
            self._known[key] = self._written(code.width, meaning, operands)
        found = self._known[key]
        if found is None:
            return None
        name, results = found
        arguments = ", ".join(f"{v.type} {v.value}" for v in given)
        returned = code.emit(f"call {_returned(results)} @{name}({arguments})")
        values = (
            [returned]
            if len(results) == 1
            else [code.emit(f"extractvalue {_returned(results)} {returned}, {i}") for i in range(len(results))]
        )
        return [SymbolicArray(code, value, r.dtype, r.lanes) for value, r in zip(values, results, strict=True)]

    def _written(self, width: int, meaning: Callable[..., Any], operands: Sequence[Any]) -> tuple[str, list[SymbolicArray]] | None:
        code = VectorCode(width, self.module, "m")
        parameters = [SymbolicArray(code, f"%a{i}", v.dtype, v.lanes) for i, v in enumerate(_flat(operands))]
        following = iter(parameters)
        results = traced(code, meaning, [tuple(next(following) for _ in v) if isinstance(v, tuple) else next(following) for v in operands])
        known = [r for r in results if r is not None]
        if len(code.lines) < LONG or len(known) < len(results):
            return None
        name, last, returned = f"meaning{len(self.texts)}", "poison", []
        for i, r in enumerate(known):
            returned.append(f"  %r{i} = insertvalue {_returned(known)} {last}, {r.type} {r.value}, {i}")
            last = f"%r{i}"
        if len(known) == 1:
            returned, last = [], known[0].value
        rooms = [f"  {room} = alloca {t}, align 64" for room, t in code.rooms.items()]
        given = ", ".join(f"{v.type} {v.value}" for v in parameters)
        self.texts.append("\n".join([
            f"define internal {_returned(known)} @{name}({given}) noinline {{", "entry:", *rooms, *code.lines, *returned,
            f"  ret {_returned(known)} {last}", "}",
        ]))  # fmt: skip
        return name, known


def _flat(operands: Sequence[Any]) -> list[Any]:
    """The values of operands, of which some are several, as of a product that is not rounded."""
    return [x for v in operands for x in (v if isinstance(v, tuple) else (v,))]


def _returned(results: Sequence[SymbolicArray]) -> str:
    return results[0].type if len(results) == 1 else "{" + ", ".join(r.type for r in results) + "}"
