"""Judges the variables of a module: spaces, sizes, initial values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...diagnostics import Diagnostic, Note
from ...ir import Declaration, Function, Initial, Module, Span, Symbol, Variable, leaves_of
from ...listing import listing
from ...walk import declared
from ..places import span_at
from . import declarations, initial

CONST_BYTES = 65536


def variables(module: Module) -> Iterator[Diagnostic]:
    """Variables of the module: spaces, sizes, initial values."""
    constant = 0
    external: dict[str, Variable] = {}
    anywhere = ".const" in module.text
    for item in module.items:
        if not isinstance(item, Declaration):
            inner = listing(item).rest if anywhere and isinstance(item, Function) and item.body is not None else ()
            constant = _constants(constant, [v for place in inner for v in declared(place)])
            if constant > CONST_BYTES:
                yield _too_much(module, item.span)
                constant = 0
            continue
        for v in item.variables:
            yield from _variable(module, v)
            first = external.get(v.name)
            if v.linkage == "extern":
                external[v.name] = v
            elif first is not None and not v.linkage:
                text = f"{v.name} was declared .extern: its definition must be .visible"
                note = Note("declared .extern here", first.span)
                yield Diagnostic("error", "redeclared-differently", text, v.span, (note,), file=module.name)
        constant = _constants(constant, item.variables)
        if constant > CONST_BYTES:
            yield _too_much(module, item.variables[-1].span)
            constant = 0


def _constants(used: int, variables: Iterable[Variable]) -> int:
    """Where the next constant may begin."""
    for v in variables:
        if v.space == "const" and v.linkage != "extern":
            used = -(-used // v.align) * v.align + v.size
    return used


def _too_much(module: Module, span: Span) -> Diagnostic:
    return Diagnostic("error", "too-much-const", f"the module has more than {CONST_BYTES} bytes of .const data", span, file=module.name)


def _variable(module: Module, v: Variable) -> Iterator[Diagnostic]:
    def error(code: str, message: str, help: str = "") -> Diagnostic:
        return Diagnostic("error", code, message, v.span, (), help, file=module.name)

    if v.space == "local" and module.version >= (3, 0):
        yield error("bad-declaration", ".local variables are declared inside functions", "at module scope they ended with PTX 3.0")
    elif v.space == "local" and v.linkage == "extern" and not v.size:
        yield error("unresolved", f"{v.name} is declared .extern without a size and never defined")
    if v.type.kind == "o" and v.space != "global":
        yield error("bad-variable", f"the handle {v.name} lies in .{v.space}; textures, samplers and surfaces lie in .global")
    if v.type.name == "samplerref" and not v.dims and "texmode_independent" not in module.targets:
        yield error("bad-variable", f"the sampler {v.name} needs .target texmode_independent")
    if v.space == "tex" and module.version >= (1, 5):
        yield error("bad-variable", ".tex variables ended with PTX 1.5", f"write .global .texref {v.name}")
    if v.space == "tex" and (v.type.name not in ("u32", "u64") or v.dims):
        yield error("bad-variable", f".tex variables such as {v.name} are .u32 or .u64, and no arrays")
    if v.linkage == "common" and v.type.kind == "o":
        yield error("bad-variable", f"the handle {v.name} cannot be .common")
    if v.linkage == "common" and v.space != "global":
        yield error("bad-variable", f".common variables lie in .global, {v.name} does not")
    if v.linkage == "extern" and v.initial is not None:
        yield error("bad-initialiser", f"{v.name} is .extern: its value is given where it is defined")
    if "managed" in v.attributes and v.space != "global":
        yield error("bad-variable", f"only .global variables are .managed, {v.name} is not")
    if v.initial is not None and module.version < (3, 1) and any(s.generic for s in _symbols(v.initial)):
        yield from _operator_needs(module, v, r"generic\s*\(", "generic()", "3.1")
    if v.initial is not None and module.version < (7, 1) and any(s.mask is not None for s in _symbols(v.initial)):
        yield from _operator_needs(module, v, r"\b\d\w*\s*\(", "a mask of an address", "7.1")
    why = initial.flaw(module, v)
    if why:
        yield error("bad-initialiser", why)
    yield from declarations.judge_needs(module, v)


def _operator_needs(module: Module, v: Variable, operator: str, what: str, version: str) -> Iterator[Diagnostic]:
    """An operator of an initial value came with a version of PTX."""
    found = re.compile(operator).search(module.text, v.span.start)
    if found is not None:
        span = span_at(module.text, found.start(), found.end(), v.span)
        yield Diagnostic("error", "needs", f"{what} needs PTX {version}", span, file=module.name)


def _symbols(value: Initial) -> Iterator[Symbol]:
    """Those that an initial value names."""
    return (v for v in leaves_of(value) if isinstance(v, Symbol))
