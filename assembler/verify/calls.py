"""Judges calls: the target, the number of arguments, and each argument against the parameter that it is handed to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic, Note
from ..ir import (
    Arguments,
    Function,
    Immediate,
    Instruction,
    Label,
    Operand,
    Prototype,
    Register,
    Sink,
    Span,
    Targets,
    Variable,
)
from .operands import described
from .places import Places, places

if TYPE_CHECKING:
    from .instructions import Judge

Report = Callable[..., None]
Signature = tuple[tuple[Variable, ...], tuple[Variable, ...], str, Span]  # results, parameters, name, where it is declared


def judge_call(judge: Judge, function: Function, call: Instruction) -> None:
    """Reports what is wrong with a call."""
    results, target, arguments, how = split(call)

    def report(code: str, message: str, operand: Operand | None, note: Note | None = None, help: str = "") -> None:
        where = places(judge.module, call)
        at = _spans(where, call)
        span = where.shown(at.get(id(operand), where.opcode) if operand is not None else where.opcode)
        notes = (note,) if note is not None else ()
        judge.found.append(Diagnostic("error", code, message, span, notes, help, file=judge.module.name))

    if judge.without_abi is not None and isinstance(target, Register):
        report("call-target", f"the call through {target.name} needs the ABI", target, judge.without_abi)
        return
    for signature in _signatures(function, target, how, report):
        returns, params, name, declared = signature
        note = Note(f"{name} is declared here", declared)
        wrong = False
        for given, formal, what in ((results, returns, "result"), (arguments, params, "argument")):
            if len(given) != len(formal):
                message = f"{name} has {len(formal)} {what}{'s' * (len(formal) != 1)}, the call {len(given)}"
                report("call-arity", message, given[len(formal)] if len(given) > len(formal) else target, note)
                wrong = True
        for given, formal, what in ((results, returns, "result"), (arguments, params, "argument")):
            for actual, parameter in zip(given, formal, strict=False):
                why = _argument(function, actual, parameter, what)
                if why and not wrong:
                    formal_note = Note(f"parameter {parameter.name} is declared here", parameter.span)
                    report("call-argument", f"{described(actual)}, does not match {_parameter(parameter)}: {why}", actual, formal_note)
        if wrong:
            return
        narrow = next((v for v in (*returns, *params) if _is_narrow(v)), None) if judge.without_abi is None else None
        if narrow is not None and function.name in judge.reached:
            note = Note(f"parameter {narrow.name} is declared here", narrow.span)
            what = f"a .{narrow.type} register" if narrow.space == "reg" else f"a .{narrow.type} number"
            hint = "" if narrow.space == "reg" else f"declare it .b{narrow.type.bits}, or as wide as 32 bits"
            report("call-argument", f"{name} has {what} as parameter: calls pass 32 and 64 bits only", target, note, hint)
            return


def _is_narrow(v: Variable) -> bool:
    """Has a parameter no place in the ABI?  .param variables without a sign have."""
    if v.vector > 1 or v.dims or v.type.bits >= 32:
        return False
    return v.space == "reg" or v.type.kind in "us"


def split(call: Instruction) -> tuple[tuple[Operand, ...], Operand | None, tuple[Operand, ...], Operand | None]:
    """The results, the target, the arguments, and the prototype or list of targets of a call."""
    rest = list(call.operands)
    results = _elements(rest)
    target = rest.pop(0) if rest else None
    arguments = _elements(rest)
    return results, target, arguments, rest[0] if rest else None


def _elements(rest: list[Operand]) -> tuple[Operand, ...]:
    if rest and isinstance(rest[0], Arguments):
        elements = rest[0].elements
        del rest[0]
        return elements
    return ()


def _spans(where: Places, call: Instruction) -> dict[int, Span]:
    """The span of each operand and of each element of the lists, by identity."""
    found = {}
    for i, operand in enumerate(call.operands):
        found[id(operand)] = where.operand(i)
        if isinstance(operand, Arguments):
            found.update((id(e), where.operand(i, k)) for k, e in enumerate(operand.elements))
    return found


def _signatures(function: Function, target: Operand | None, how: Operand | None, report: Report) -> Sequence[Signature]:
    """What the target may be called with; empty after an error."""
    if isinstance(target, Function):
        if target.is_entry:
            report("call-target", f"{target.name} is an .entry: only a .func can be called", target, Note("declared here", target.span))
            return ()
        if how is not None:
            report("call-target", "a direct call has no prototype", how)
            return ()
        return [(target.returns, target.params, target.name, target.span)]
    if isinstance(target, Register) and target.vector == 1 and target.type.is_integer and target.type.bits in (32, 64):
        match how:
            case Prototype():
                return [(how.returns, how.params, how.name, how.span)]
            case Targets(kind="call", targets=targets):
                return [(t.returns, t.params, t.name, t.span) for t in targets if isinstance(t, Function)]
            case None:
                report("call-target", f"the call through {target.name} names neither a .callprototype nor .calltargets", target)
            case _:
                report("call-target", f"{described(how)} is neither a .callprototype nor a list of .calltargets", how)
        return ()
    if isinstance(target, Label):
        report("call-target", f"{target.name} is a label: a call goes to a function", target, Note("declared here", target.span))
    elif target is None:
        report("call-target", "a call names what it calls", None)
    else:
        report("call-target", f"{described(target)}, cannot be called", target)
    return ()


def _parameter(v: Variable) -> str:
    dims = "".join(f"[{n or ''}]" for n in v.dims)
    return f"the parameter .{v.space} .align {v.align} .{v.type} {v.name}{dims}"


def _argument(function: Function, actual: Operand, formal: Variable, what: str) -> str:
    """Why an argument cannot be handed to a parameter; "" where it can."""
    t = formal.type
    match actual:
        case Sink():
            return "" if what == "result" else "'_' discards a result, it is not an argument"
        case Immediate(kind=kind):
            if what == "result":
                return "a result needs a register or a .param variable"
            if formal.dims:
                return "an array needs a .param variable"
            return (
                "" if (kind == "int" and t.is_integer) or (kind != "int" and t.kind in "fb") else f"a constant of the other kind than .{t}"
            )
        case Register(type=own, vector=vector):
            dims: tuple[int, ...] = ()
            align = own.bytes * vector
        case Variable(space="param", type=own, vector=vector, dims=dims, align=align) as v:
            if v in function.params or v in function.returns:
                return f"{v.name} is a parameter of {function.name} itself; load it first"
        case Variable():
            return "only registers and .param variables are handed over"
        case _:
            return "only registers, constants and .param variables are handed over"
    if bool(dims) != bool(formal.dims) or (dims != formal.dims and 0 not in formal.dims):
        return "the sizes differ"
    if own.bits != t.bits or vector != formal.vector or own.kind == "p" != t.kind == "p":
        return "the sizes differ"
    if own.kind != t.kind and "f" in own.kind + t.kind and "b" not in own.kind + t.kind and "f16x2" not in (own.name, t.name):
        return "one is an integer, the other a floating-point number"
    if isinstance(actual, Variable) and formal.space == "param" and align != formal.align:
        return f"its alignment is {align}, the parameter's {formal.align}"
    return ""
