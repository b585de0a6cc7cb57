"""Accesses to parameters: a function's own, and the .param variables of its body, which hand over what calls need and bring their results.

ptxas tells a function's parameters by their names, so a variable of the body that has the name of one is treated like it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from warplab.isa.control import CALLS
from warplab.isa.facts import opcodes
from warplab.isa.types import TYPES

from ...diagnostics import Diagnostic, Note
from ...ir import Address, Arguments, Function, Instruction, Module, Operand, Symbol, Variable
from ...listing import Listing, listing
from ..places import places

LOADS, STORES = opcodes(access="load"), opcodes(access="store")
# The words that ptxas 13.0 reads past the result of a call, and past all parameters of a .func; it crashes beyond.
PAST_RESULT, PAST_PARAMETERS = 2, 3


def parameters(module: Module, reached: Collection[str]) -> Iterator[Diagnostic]:
    """The errors of all functions, of which kernels reach some."""
    for item in module.items:
        if isinstance(item, Function) and item.body is not None:
            columns = listing(item)
            for s in columns.on_parameters(LOADS | STORES):
                yield from _access(module, item, s)
            yield from _addresses(module, item, columns)
            if item.name in reached:
                yield from _reads(module, item, columns)


def _accessed(s: Instruction) -> tuple[Variable | None, int]:
    """The variable that an access to .param names, and the offset."""
    i = 0 if s.opcode in STORES else 1
    match s.operands[i] if i < len(s.operands) else None:
        case Address(base=Variable(space="param") as v, offset=offset):
            return v, offset
        case Address(base=Symbol(target=Variable(space="param") as v), offset=offset):
            return v, offset
    return None, 0


def _access(module: Module, function: Function, s: Instruction) -> Iterator[Diagnostic]:
    """What a single access may not do: write an input, read a result, depend on a guard."""
    v, _ = _accessed(s)
    if v is None:
        return
    help = ""
    if s.opcode in STORES and any(v.name == p.name for p in function.params):
        code, text = "input-parameter", f"the parameter {v.name} is an input of {function.name} and cannot be written"
        if function.is_entry:
            help = "a kernel gives results through pointers: load the pointer with ld.param and store to .global"
    elif s.opcode in LOADS and any(v.name == p.name for p in function.returns):
        code, text = "output-parameter", f"the parameter {v.name} is a result of {function.name} and cannot be read"
        help = "keep the value in a register, and store it to the parameter at the end"
    elif s.guard is not None and v not in (*function.params, *function.returns):
        code, text = "bad-predicate", f"a guard does not go with an access to {v.name}, which a call hands over"
    else:
        return
    yield _error(module, code, text, s, 0 if s.opcode in STORES else 1, v, help)


def _addresses(module: Module, function: Function, columns: Listing) -> Iterator[Diagnostic]:
    """Addresses of variables of the body, which need not lie in memory."""
    named = {p.name for p in (*function.params, *function.returns)}
    own = {id(o) for o in columns.others.values() if _variable(o) is not None}
    for s in columns.instructions if own else ():
        for i, o in enumerate(s.operands) if s.opcode not in CALLS else ():
            v = _variable(o) if id(o) in own else None
            if v is not None and v.name not in named:
                yield _error(
                    module,
                    "operand-kind",
                    f"{v.name} belongs to calls and has no address",
                    s,
                    i,
                    v,
                    "copy the value with ld.param or st.param",
                )


def _variable(o: Operand) -> Variable | None:
    v = o.target if isinstance(o, Symbol) else o
    return v if isinstance(v, Variable) and v.space == "param" else None


def _reads(module: Module, function: Function, columns: Listing) -> Iterator[Diagnostic]:
    """Reads of what no call has brought, or of what lies elsewhere."""
    loads = set(map(id, columns.on_parameters(LOADS)))
    if not loads:
        return
    words = [-(-v.size // 4) for v in function.params]
    room = {id(v): sum(words[i:]) + PAST_PARAMETERS for i, v in enumerate(function.params)}
    brought: set[int] = set()
    for s in columns.instructions:
        if s.opcode in CALLS and s.operands and isinstance(s.operands[0], Arguments):
            brought.update(id(v) for v in s.operands[0].elements if isinstance(v, Variable))
        elif id(s) in loads:
            v, offset = _accessed(s)
            if v is None or (function.is_entry and v in function.params) or 0 in v.dims:
                continue
            if id(v) not in brought and id(v) not in room:
                text = f"no call before this has {v.name} as its result"
                yield _error(
                    module, "no-result", text, s, 1, v, "read the variable that stands before the name of the function in the call"
                )
            elif offset < 0 or offset // 4 + _words(s) > (room[id(v)] if id(v) in room else -(-v.size // 4) + PAST_RESULT):
                text = f"the access at offset {offset} of {v.name} lies outside of its {v.size} bytes"
                yield _error(module, "out-of-range", text, s, 1, v)


def _words(s: Instruction) -> int:
    settled = s.settled or {}
    vector = str(settled.get("vec", "v1"))[1:]
    return -(-TYPES[str(settled.get("type", "b8"))].bytes * int(vector) // 4)


def _error(module: Module, code: str, text: str, s: Instruction, operand: int, v: Variable, help: str = "") -> Diagnostic:
    note = Note(f"{v.name} is declared here", v.span)
    return Diagnostic("error", code, text, places(module, s).operand(operand), (note,), help, file=module.name)
