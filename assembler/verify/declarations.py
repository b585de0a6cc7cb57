"""Judges the declarations, pragmas and prototypes that stand in bodies."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Diagnostic
from ..ir import Declaration, Module, Pragma, Prototype, Span, Statement

OF_MODULES = frozenset({"nounroll", "coroutine"})
WITH_VALUES = frozenset({"used_bytes_mask", "frequency"})


def judge_statement(module: Module, statement: Statement) -> Iterator[Diagnostic]:
    """What is wrong with a statement that is no instruction."""
    match statement:
        case Declaration():
            yield from _declaration(module, statement)
        case Pragma():
            yield from judge_pragma(module, statement, False)
        case Prototype(noreturn=True, returns=returns) if returns:
            yield _error(module, "bad-directive", f"{statement.name} is .noreturn and yet has a result", statement.span)


def judge_pragma(module: Module, pragma: Pragma, outside: bool) -> Iterator[Diagnostic]:
    """Most pragmas belong into functions, and some need a value."""
    for text in pragma.texts:
        if outside and text not in OF_MODULES:
            yield _error(module, "bad-pragma", f'the pragma "{text}" does not stand outside of functions', pragma.span)
        elif text in WITH_VALUES:
            yield _error(module, "bad-pragma", f'the pragma "{text}" needs a value', pragma.span)


def _declaration(module: Module, declaration: Declaration) -> Iterator[Diagnostic]:
    for v in declaration.variables:
        why = ""
        if v.linkage:
            why = f"{v.name} is declared inside a function: it cannot be .{v.linkage}"
        elif v.type.kind == "o":
            why = f"the handle {v.name} belongs outside of functions"
        elif v.space == "tex":
            why = f"the texture {v.name} belongs outside of functions"
        elif v.space == "param" and (v.vector > 1 or v.type.name == "f16x2"):
            why = f"{v.name} cannot lie in .param"
        if why:
            yield _error(module, "bad-variable", why, v.span)
    own, vector = declaration.type, declaration.vector
    if own is not None and (own.kind == "o" or (own.kind == "p" and vector > 1)):
        yield _error(
            module,
            "bad-variable",
            f"there are no registers of type .{own}" + (f" in vectors of {vector}" if vector > 1 else ""),
            declaration.span,
        )
    if own is not None and own.name == "b128" and module.version < (8, 3):
        yield _error(module, "needs", ".b128 needs PTX 8.3", declaration.span)


def _error(module: Module, code: str, message: str, span: Span) -> Diagnostic:
    return Diagnostic("error", code, message, span, file=module.name)
