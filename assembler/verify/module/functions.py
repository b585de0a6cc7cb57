"""Judges the headers of functions: parameters, directives, what is declared and never defined."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warplab.isa.facts import Need

from ...diagnostics import Diagnostic, Note
from ...ir import LISTED, Alias, Declaration, Directive, Function, Module, Pragma, Section, Span, Variable
from ...walk import used_functions
from ..needs import Has, capability
from ..places import span_at
from . import debugging, declarations

BUILT_IN = frozenset({"vprintf", "malloc", "free", "__assertfail"})  # what ptxas itself brings; the device runtime is linked to it
DIRECTIVES = {
    ".maxntid": Need(1.3), ".maxnreg": Need(1.3), ".minnctapersm": Need(2.0), ".maxnctapersm": Need(1.3), ".reqntid": Need(2.1),
    ".pragma": Need(2.0), ".reqnctapercluster": Need(7.8, 90), ".explicitcluster": Need(7.8, 90), ".maxclusterrank": Need(7.8, 90),
    ".blocksareclusters": Need(9.0, 90), ".noreturn": Need(6.4, 30), ".local_maxnreg": Need(8.8), ".abi_preserve": Need(9.0, 80),
    ".abi_preserve_control": Need(9.0, 80),
}  # fmt: skip
UP_TO_THREE = frozenset({".maxntid", ".reqntid", ".reqnctapercluster"})
_VALUES = re.compile(r"[\s\w,]*")
EXCLUSIVE = ((".maxntid", ".reqntid"), (".reqnctapercluster", ".maxclusterrank"))


def functions(module: Module) -> Iterator[Diagnostic]:
    """Headers of functions: parameters, directives; declared functions that nothing defines."""
    yield from debugging.judge_inlined(module)
    has = Has.of(module)
    before: dict[str, Function] = {}
    for item in module.items:
        if isinstance(item, Function):
            yield from declarations.judge_linkage(module, item)
            yield from _directives(module, item, has)
            yield from _parameters(module, item, has)
            earlier = before.get(item.name)
            if earlier is None or item.body is not None:
                before[item.name] = item
            why = _clash(earlier, item)
            if why:
                notes = (Note("first declared here", earlier.span),) if earlier is not None else ()
                extern = item.body is not None and item.linkage == "extern"
                span = _closing_brace(module, item) if extern else _after_header(module, item)
                yield Diagnostic("error", "redeclared-differently", why, span, notes, file=module.name)
        elif isinstance(item, Alias):
            missing = has.lacks(Need(6.3, 30))
            if missing:
                yield Diagnostic("error", "needs", f".alias needs {missing}", item.span, file=module.name)
            yield from _alias(module, item)
        elif isinstance(item, Pragma):
            yield from declarations.judge_pragma(module, item, True)
        elif isinstance(item, Section):
            yield from debugging.judge_section(module, item)


def _after_header(module: Module, f: Function) -> Span:
    """What follows a function's header, where ptxas notices what is wrong with it; an .entry's parameters tell it sooner."""
    text, start = module.text, f.span.end
    if f.is_entry and (m := re.compile(r"\s*\([^(){};]*\)").match(text, start)):
        at = m.end() - 1
    elif f.body is not None:
        at = f.body.span.start
    else:
        at = text.find(";", start)
    return f.span if at < 0 else span_at(text, at, at + 1, f.span)


def _closing_brace(module: Module, f: Function) -> Span:
    """The end of a function's body, where ptxas looks at the function as a whole."""
    assert f.body is not None
    at = f.body.span.end - 1
    return span_at(module.text, at, at + 1, f.span)


def _closing(module: Module, p: Variable) -> Span:
    """The parenthesis that ends a parameter's list."""
    at = module.text.find(")", p.span.end)
    return p.span if at < 0 else span_at(module.text, at, at + 1, p.span)


def _clash(earlier: Function | None, f: Function) -> str:
    """Why a function may not be declared again, or defined, like this; "" where it may."""
    if f.body is not None and f.linkage == "extern":
        return f"{f.name} is .extern, so it is defined elsewhere"
    if earlier is None:
        return ""
    if earlier.body is not None:
        return f"{f.name} is declared again after its definition"
    if f.linkage not in ("", earlier.linkage):
        return f"{f.name} was declared {'.' + earlier.linkage if earlier.linkage else 'without linkage'}, and now .{f.linkage}"
    if (earlier.directive(".noreturn") is None) != (f.directive(".noreturn") is None):
        return f"{f.name} was declared {'with' if earlier.directive('.noreturn') else 'without'} .noreturn"
    for a, b in zip((*earlier.returns, *earlier.params), (*f.returns, *f.params), strict=False):
        if a.align != b.align:
            return f"the alignment of {b.name} was {a.align} and is {b.align} now"
    return ""


def _alias(module: Module, alias: Alias) -> Iterator[Diagnostic]:
    named = module.functions.get(alias.name)
    target = alias.target
    if named is None:
        return
    why = ""
    if target.is_entry:
        why = f"{target.name} is an .entry: only a .func has aliases"
    elif named.body is not None:
        why = f"{alias.name} is defined itself"
    elif [v.type for v in (*named.params, *named.returns)] != [v.type for v in (*target.params, *target.returns)]:
        why = f"{alias.name} and {target.name} have different parameters"
    if why:
        yield Diagnostic("error", "bad-alias", why, alias.span, file=module.name)


def _directives(module: Module, f: Function, has: Has) -> Iterator[Diagnostic]:
    def error(code: str, message: str, d: Directive, note: Note | None = None) -> Diagnostic:
        span = d.span
        if d.name in UP_TO_THREE and len(d.values) < 3:  # ptxas looks at it when it has seen that no further value comes
            m = _VALUES.match(module.text, span.end)
            span = span_at(module.text, m.end(), m.end() + 1, span) if m else span
        return Diagnostic("error", code, message, span, (note,) if note else (), file=module.name)

    for d in f.directives:
        missing = has.lacks(DIRECTIVES.get(d.name, Need()))
        if missing:
            yield error("needs", f"{d.name} needs {missing}", d)
        if any(isinstance(v, int) and v >= 2**32 for v in d.values):
            text = f"{d.name} needs numbers of 32 bits"
            yield Diagnostic("error", "bad-directive", text, d.span, file=module.name)
        if d.name == ".maxnctapersm" and module.version >= (2, 1):
            yield error("bad-directive", ".maxnctapersm ended with PTX 2.1; .minnctapersm took its place", d)
        if d.name == ".noreturn" and f.returns:
            text = f"{f.name} is .noreturn and yet has a result"
            yield Diagnostic("error", "bad-directive", text, _after_header(module, f), file=module.name)
        if d.name == ".blocksareclusters" and not (f.directive(".reqntid") and f.directive(".reqnctapercluster")):
            yield error("bad-directive", ".blocksareclusters needs .reqntid and .reqnctapercluster", d)
    for a, b in EXCLUSIVE:
        one, other = f.directive(a), f.directive(b)
        if one is not None and other is not None:
            later, earlier = (one, other) if one.span.start > other.span.start else (other, one)
            span = _closing_brace(module, f) if f.body is not None and a == ".maxntid" else later.span
            notes = (Note(f"{earlier.name} is here", earlier.span), Note(f"{later.name} is here", later.span))
            text = f"{a} and {b} exclude each other"
            yield Diagnostic("error", "conflicting-directives", text, span, notes, file=module.name)


def _parameters(module: Module, f: Function, has: Has) -> Iterator[Diagnostic]:
    def error(code: str, message: str, span: Span, help: str = "") -> Diagnostic:
        return Diagnostic("error", code, message, span, (), help, file=module.name)

    offset = 0
    where = "in the parameter list of an .entry"
    for i, p in enumerate((*f.returns, *f.params)):
        if p.space == "param" and not f.is_entry and capability(has.target)[0] < 20:
            yield error("needs", f".param parameters of a .func such as {p.name} need sm_20", p.span, "write .reg")
        elif p.space == "param" and not f.is_entry and f.body is not None and has.version < (2, 0):
            yield error("needs", f"before PTX 2.0, .param variables such as {p.name} are declared {where}", p.span)
        if f.body is not None and not f.is_entry:
            yield from declarations.judge_alignment(module, p)
        if p.name == "_" and not f.is_entry:
            yield error("bad-parameter", "'_' names no parameter of a function", _closing(module, p))
        if p.pointer is not None and not f.is_entry:
            yield error("bad-parameter", f".ptr belongs to parameters of an .entry; {p.name} is one of a .func", p.span)
        if f.body is not None:
            yield from declarations.judge_needs(module, p)
        if f.body is not None and p.type.name == "f16x2" and p.space == "param" and not p.dims:
            yield error("bad-parameter", f"{p.name} cannot lie in .param", p.span)
        if f.body is not None and p.type.kind == "o" and not f.is_entry:
            yield error("bad-parameter", f"the handle {p.name} is not a parameter of a .func", p.span)
        if f.is_entry and module.version < LISTED and p.vector > 1 and not p.dims:
            yield error("bad-variable", f"{p.name} cannot lie in .param", p.span)
        if 0 in p.dims and not f.is_entry and (missing := has.lacks(Need(6.0, 30))):
            yield error("needs", f"a parameter without a size needs {missing}", p.span)
        if 0 in p.dims and not f.is_entry:
            if i < len(f.returns):
                yield error("bad-parameter", f"the result {p.name} needs a size", _closing(module, p))
            elif p is not f.params[-1]:
                after = f.params[i - len(f.returns) + 1].span
                yield error("bad-parameter", f"only the last parameter may be an open array, {p.name} is not", after)
        offset = -(-offset // p.align) * p.align + p.size
    if len(f.returns) > 1 and any(p.space == "param" for p in f.returns):
        yield error("bad-parameter", f"{f.name} has several results: they must be .reg", _after_header(module, f))
    if not f.is_entry:
        return
    limit = 256 if module.version < (1, 5) else 4352 if module.version < (8, 1) else 32764
    if offset > limit:
        help = "PTX 8.1 and sm_70 allow 32764 bytes" if limit == 4352 else ""
        yield error("too-many-parameters", f"{f.name} has {offset} bytes of parameters, {limit} are allowed", f.span, help)
    elif offset > 4352 and has.lacks(Need(8.1, 70)):
        yield error("needs", f"{offset} bytes of parameters need {has.lacks(Need(8.1, 70))}", f.span)


def unresolved(module: Module) -> Iterator[Diagnostic]:
    """Functions that are used or not .extern, and nowhere defined; extern arrays without a size."""
    used: set[str] | None = None
    for item in module.items:
        if isinstance(item, Function) and item.body is None and item.definition is None:
            known = module.functions.get(item.name)
            if item.name in module.aliases or (known is not None and known.body is not None):
                continue
            if item.name in BUILT_IN:
                continue
            if item.linkage == "extern":
                if item.name.startswith(("__cuda_syscall_", "__cudaCDP2")):
                    continue
                used = {f.name for f in used_functions(module)} if used is None else used
                if item.name not in used:
                    continue
            text = f"{item.name} is {'used' if item.linkage == 'extern' else 'declared'} and never defined"
            help = "link it with the module that does" if item.linkage == "extern" else "write .extern before it"
            yield Diagnostic("error", "unresolved", text, item.span, (), help, file=module.name)
        if isinstance(item, Declaration):
            for v in item.variables:
                if v.linkage == "extern" and 0 in v.dims and v.space in ("global", "const") and module.variables.get(v.name) is v:
                    text = f"{v.name} is .extern without a size, and nothing defines it"
                    yield Diagnostic("error", "unresolved", text, v.span, file=module.name)
