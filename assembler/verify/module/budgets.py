"""More static shared memory than a block has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...diagnostics import Diagnostic
from ...info import sizes
from ...ir import Function, Module
from ...listing import listing
from ...walk import declared
from ..needs import capability


def budgets(module: Module) -> Iterator[Diagnostic]:
    """The errors of all functions."""
    allowed = 49152 if capability(module.target)[0] >= 20 else 16384
    anywhere = _anywhere(module) if ".shared" in module.text else 0
    for item in module.items:
        if not isinstance(item, Function) or item.body is None:
            continue
        if item.is_entry and anywhere + _own(item) > allowed and (used := sizes(item)[1]) > allowed:
            text = f"{item.name} uses {used} bytes of static shared memory, {allowed} are allowed"
            help = "an .extern .shared array without a size gets the size that the launch requests, which may be more"
            yield Diagnostic("error", "too-much-shared", text, item.span, (), help, file=module.name)


def _anywhere(module: Module) -> int:
    """The bytes of shared memory that any kernel may use: what the module declares, and what its .func do."""
    functions = [item for item in module.items if isinstance(item, Function) and item.body is not None and not item.is_entry]
    return _shared(module.items) + sum(map(_own, functions))


def _own(function: Function) -> int:
    return _shared(listing(function).rest)


def _shared(places: Iterable[object]) -> int:
    return sum(v.size + v.align for place in places for v in declared(place) if v.space == "shared")
