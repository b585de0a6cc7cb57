"""What a function may not do with its memory as a whole: more static shared memory than a block has, writes to its own input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warplab.isa.facts import opcodes

from ...diagnostics import Diagnostic, Note
from ...info import sizes
from ...ir import Address, Function, Module, Symbol, Variable
from ...listing import listing
from ...walk import declared
from ..needs import capability
from ..places import places

LOADS, STORES = opcodes(access="load"), opcodes(access="store")


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
        yield from _inputs(module, item)
        yield from _guarded(module, item)


def _anywhere(module: Module) -> int:
    """The bytes of shared memory that any kernel may use: what the module declares, and what its .func do."""
    functions = [item for item in module.items if isinstance(item, Function) and item.body is not None and not item.is_entry]
    return _shared(module.items) + sum(map(_own, functions))


def _own(function: Function) -> int:
    return _shared(listing(function).rest)


def _shared(places: Iterable[object]) -> int:
    return sum(v.size + v.align for place in places for v in declared(place) if v.space == "shared")


def _guarded(module: Module, function: Function) -> Iterator[Diagnostic]:
    """Guarded accesses to what calls hand over: a call takes all of it or nothing."""
    own = {id(v) for v in (*function.params, *function.returns)}
    for s in listing(function).on_parameters(LOADS | STORES):
        if s.guard is None:
            continue
        i = 0 if s.opcode in STORES else 1
        at = s.operands[i] if i < len(s.operands) else None
        v = at.base if isinstance(at, Address) else None
        if isinstance(v, Variable) and v.space == "param" and id(v) not in own:
            text = f"a guard does not go with an access to {v.name}, which a call hands over"
            note = Note(f"{v.name} is declared here", v.span)
            yield Diagnostic("error", "bad-predicate", text, places(module, s).operand(i), (note,), file=module.name)


def _inputs(module: Module, function: Function) -> Iterator[Diagnostic]:
    """Stores to the function's own parameters."""
    inputs = {id(v) for v in function.params if v.space == "param"}
    if not inputs:
        return
    for s in listing(function).on_parameters(STORES):
        if not s.operands:
            continue
        at = s.operands[0]
        base = at.base if isinstance(at, Address) else None
        v = base.target if isinstance(base, Symbol) else base
        if isinstance(v, Variable) and id(v) in inputs:
            note = Note(f"{v.name} is declared here", v.span)
            text = f"the parameter {v.name} is an input of {function.name} and cannot be written"
            help = (
                "a kernel gives results through pointers: load the pointer with ld.param and store to .global" if function.is_entry else ""
            )
            yield Diagnostic("error", "input-parameter", text, places(module, s).operand(0), (note,), help, file=module.name)
