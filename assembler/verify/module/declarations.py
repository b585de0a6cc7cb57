"""Judges the declarations, pragmas and prototypes that stand in bodies."""

from __future__ import annotations

from collections.abc import Iterator

from warplab.isa.facts import Need

from ...diagnostics import Diagnostic
from ...ir import LISTED, Declaration, Function, Module, Pragma, Prototype, Span, Statement, Targets, Variable
from ..needs import Has
from ..places import span_at

OF_MODULES = frozenset({"nounroll", "coroutine"})
WITH_VALUES = frozenset({"used_bytes_mask", "frequency"})
PRAGMAS = {"used_bytes_mask": Need(8.3), "enable_smem_spilling": Need(8.7), "frequency": Need(9.0)}
LISTS = {"branch": Need(6.0, 30), "call": Need(2.1, 20)}
PROTOTYPES = Need(2.1, 20)

MOST_ALIGNED = 128


def judge_statement(module: Module, statement: Statement) -> Iterator[Diagnostic]:
    """What is wrong with a statement that is not an instruction."""
    match statement:
        case Declaration():
            yield from _declaration(module, statement)
        case Pragma():
            yield from judge_pragma(module, statement, False)
        case Targets(kind=kind):
            yield from _directive(module, statement, f".{kind}targets", LISTS[kind])
        case Prototype():
            yield from _directive(module, statement, ".callprototype", PROTOTYPES)
            if statement.noreturn and statement.returns:
                yield _error(module, "bad-directive", f"{statement.name} is .noreturn and yet has a result", statement.span)


def _directive(module: Module, statement: Targets | Prototype, word: str, need: Need) -> Iterator[Diagnostic]:
    """What a directive behind a label needs."""
    if missing := Has.of(module).lacks(need):
        at = module.text.find(word, statement.span.start)
        yield _error(module, "needs", f"{word} needs {missing}", span_at(module.text, at, at + len(word), statement.span))


def judge_pragma(module: Module, pragma: Pragma, outside: bool) -> Iterator[Diagnostic]:
    """Most pragmas belong into functions, and some need a value."""
    has = Has.of(module)
    if missing := has.lacks(Need(2.0)):
        yield _error(module, "needs", f".pragma needs {missing}", pragma.span)
    for text in pragma.texts:
        name = text.partition(" ")[0]
        if missing := has.lacks(PRAGMAS.get(name, Need())):
            yield _error(module, "needs", f'the pragma "{name}" needs {missing}', pragma.span)
        elif outside and text not in OF_MODULES:
            yield _error(module, "bad-pragma", f'the pragma "{text}" does not stand outside of functions', pragma.span)
        elif text in WITH_VALUES:
            yield _error(module, "bad-pragma", f'the pragma "{text}" needs a value', pragma.span)


def _declaration(module: Module, declaration: Declaration) -> Iterator[Diagnostic]:
    for v in declaration.variables:
        yield from judge_needs(module, v)
        yield from judge_alignment(module, v)
        why = ""
        if v.linkage:
            why = f"{v.name} is declared inside a function: it cannot be .{v.linkage}"
        elif v.type.kind == "o":
            why = f"the handle {v.name} belongs outside of functions"
        elif "managed" in v.attributes and v.space != "global":
            why = f"only .global variables are .managed, {v.name} is not"
        elif v.space == "tex":
            why = f"the texture {v.name} belongs outside of functions"
        elif v.space == "param" and not v.dims and (v.vector > 1 or v.type.name == "f16x2"):
            why = f"{v.name} cannot lie in .param"
        if v.space == "param" and module.version < (2, 0):  # those of old kernels are among their parameters
            where = "in the parameter list of an .entry" if module.version >= LISTED else "in an .entry"
            yield _error(module, "needs", f"before PTX 2.0, .param variables such as {v.name} are declared {where}", v.span)
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
    missing = _lacking(module, own.name, vector) if own is not None else ""
    if missing:
        yield _error(module, "needs", f".{own} needs {missing}", declaration.span)


TYPES = {"b128": Need(8.3, 70), "f16x2": Need(4.2, 53), "texref": Need(1.5), "samplerref": Need(1.5), "surfref": Need(1.5)}
LINKAGES = {"weak": Need(3.1), "common": Need(5.0)}
ATTRIBUTES = {"managed": Need(4.0, 30), "unified": Need(8.0, 90)}


def _lacking(module: Module, name: str, vector: int) -> str:
    need = TYPES.get(name)
    return Has.of(module).lacks(need) if need is not None and (vector == 1 or name != "f16x2") else ""


def judge_needs(module: Module, v: Variable) -> Iterator[Diagnostic]:
    """Types, linkage and attributes of a variable or parameter that the module's version or target does not have."""
    missing = _lacking(module, v.type.name, v.vector)
    if missing:
        yield _error(module, "needs", f".{v.type} needs {missing}", v.span)
    yield from judge_linkage(module, v)


def judge_alignment(module: Module, v: Variable) -> Iterator[Diagnostic]:
    """A parameter that is handed to a function lies at a multiple of 128 bytes at most."""
    if v.space == "param" and v.align > MOST_ALIGNED:
        yield _error(module, "bad-parameter", f"{v.name} requires an alignment of {v.align}, {MOST_ALIGNED} is the most", v.span)


def judge_linkage(module: Module, v: Variable | Function) -> Iterator[Diagnostic]:
    """The same for what variables and functions have both."""
    has = Has.of(module)
    attributes = v.attributes if isinstance(v, Variable) else [d.name[1:] for d in v.directives]
    for word, table in ((v.linkage, LINKAGES), *((a.partition("(")[0], ATTRIBUTES) for a in attributes)):
        missing = has.lacks(table[word]) if word in table else ""
        if missing:
            yield _error(module, "needs", f".{word} needs {missing}", v.span)


def _error(module: Module, code: str, message: str, span: Span) -> Diagnostic:
    return Diagnostic("error", code, message, span, file=module.name)
