"""The verdict and the line that ptxas 13.0 gives, and warnings on what is legal and surely wrong.

`check` takes text, `verify` a parsed module; both hand on Diagnostics and raise nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..collector import collector_off
from ..diagnostics import Diagnostic, PtxError
from ..ir import Function, Module
from . import module as modules
from . import warnings as warn
from .abi import judge_without_abi
from .calls import judge_call
from .instructions import Judge
from .needs import Has
from .phases import ordered

BROKEN = frozenset({"syntax", "empty-statement", "unclosed-brace", "bad-declaration"})


def check(text: str | bytes, target: str | None = None, name: str = "<text>", warnings: Collection[str] | None = None) -> list[Diagnostic]:
    """All errors of PTX, in the order of ptxas, and then the warnings with these code words, or all warnings for None."""
    with collector_off():
        return _check(text, target, name, warnings)  # the module is gone before the collector is back


def _check(text: str | bytes, target: str | None, name: str, warnings: Collection[str] | None) -> list[Diagnostic]:
    from ..parse import parse_all

    return check_parsed(*parse_all(text, name), target, warnings)


def check_parsed(
    module: Module, unread: Sequence[Diagnostic], target: str | None = None, warnings: Collection[str] | None = None
) -> list[Diagnostic]:
    """The same of what could be read of a text, given with what could not."""
    found = [*unread, *verify(module, target, () if unread else warnings)]
    broken = min((d.span.start for d in found if d.code in BROKEN), default=None)
    if broken is not None:
        # A statement that cannot be read declares nothing: what is missing may stand there, or after it.
        bodies = [f.body.span for f in module.items if isinstance(f, Function) and f.body is not None]
        whole = [b for b in bodies if b.end <= broken]
        found = [
            d
            for d in found
            if d.code != "unresolved" and (d.code != "unknown-label" or any(b.start <= d.span.start < b.end for b in whole))
        ]
    return ordered(module, found)


def verify(module: Module, target: str | None = None, warnings: Collection[str] | None = ()) -> list[Diagnostic]:
    """Every error of a parsed module; the warnings of these names, or all for None."""
    with collector_off():
        found = _judged(module, target)
        if all(d.severity == "note" for d in found):  # what is wrong anyway needs no warnings
            found += warn.warnings(module, warnings)
        return ordered(module, found)


def verify_body(module: Module, function: Function) -> None:
    """Raises PtxError where a body has errors, of a module whose bodies are read one by one."""
    judge = Judge(module, [], Has.of(module))
    for call in judge.body(function):
        judge_call(judge, function, call)
    if errors := [d for d in judge.found if d.severity == "error"]:
        raise PtxError(ordered(module, errors), module.text, module.name)


def _judged(module: Module, target: str | None) -> list[Diagnostic]:
    head = list(modules.header(module, target))
    if any(d.code == "unknown-version" for d in head):  # its instructions and targets are unknown
        return head
    found = [*head, *modules.variables(module), *modules.functions(module)]
    judge = Judge(module, found, Has.of(module))
    for item in module.items:
        if isinstance(item, Function) and item.body is not None:
            for call in judge.body(item):
                judge_call(judge, item, call)
    if judge.without_abi is not None:
        found += judge_without_abi(module, judge.without_abi)
    found += modules.budgets(module)
    found += modules.parameters(module, judge.reached)
    found += modules.unresolved(module)
    if any(d.code == "unknown-target" for d in head):  # what it has is not known
        return [d for d in found if d.code != "needs"]
    return found
