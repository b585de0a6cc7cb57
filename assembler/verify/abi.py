"""Modules that ptxas compiles without the ABI: those with a function of several results, or with .local variables outside of functions.

Registers of any type can then be handed over, but nothing can be called through a register, and no function can call itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from warplab.isa.control import CALLS

from ..diagnostics import Diagnostic, Note
from ..ir import Declaration, Function, Module
from ..listing import listing


def without_abi(module: Module) -> Note | None:
    """Why a module has no ABI; None if it has."""
    for item in module.items:
        if isinstance(item, Function) and len(item.returns) > 1:
            return Note(f"{item.name} has several results: the module is compiled without the ABI", item.span)
        if isinstance(item, Declaration) and any(v.space == "local" for v in item.variables):
            return Note("a .local variable of the module: it is compiled without the ABI", item.span)
    return None


def judge_without_abi(module: Module, why: Note) -> Iterator[Diagnostic]:
    """What kernels reach that needs the ABI: functions that call themselves, and addresses of functions."""
    functions, called = _functions(module)
    for name in reached_by_kernels(module):
        f = functions[name]
        if name in _reached(called, called[name]):
            yield Diagnostic("error", "call-target", f"{name} calls itself, which needs the ABI", f.span, (why,), file=module.name)
        for i in listing(f).instructions:
            if i.opcode not in CALLS and any(isinstance(o, Function) for o in i.operands):
                yield Diagnostic("error", "call-target", "the address of a function needs the ABI", i.span, (why,), file=module.name)


def reached_by_kernels(module: Module) -> list[str]:
    """The functions of a module that its kernels reach, which are those that ptxas compiles."""
    functions, called = _functions(module)
    return [name for name in _reached(called, [f.name for f in functions.values() if f.is_entry]) if name in functions]


def _functions(module: Module) -> tuple[dict[str, Function], dict[str, list[str]]]:
    functions = {f.name: f for f in module.functions.values() if f.body is not None}
    return functions, {name: _called(f) for name, f in functions.items()}


def _reached(called: Mapping[str, Iterable[str]], first: Iterable[str]) -> dict[str, None]:
    """Functions that are called from the first ones, these included."""
    seen: dict[str, None] = {}
    work = [*first]
    while work:
        name = work.pop()
        if name not in seen:
            seen[name] = None
            work += called.get(name, ())
    return seen


def _called(f: Function) -> list[str]:
    calls = (i for i in listing(f).instructions if i.opcode in CALLS)
    return [o.name for i in calls for o in i.operands if isinstance(o, Function)]
