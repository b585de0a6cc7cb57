"""Judges initial values: numbers and addresses against the type; the parser has held their braces against the dimensions."""

from __future__ import annotations

import re

from ...ir import Function, Module, Symbol, Variable, leaves_of

_TOKEN = re.compile(
    r"0[fF][0-9A-Fa-f]{8}|0[dD][0-9A-Fa-f]{16}|[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+\.|[0-9]+[eE][+-]?[0-9]+|[0-9]\w*|[A-Za-z_$%][\w$]*"
)
_FLOAT = re.compile(r"0[fFdD]|.*\.|(?!0[xX]).*[eE]")
_COMPARISON = re.compile(r"[<>=!?&|]")


def flaw(module: Module, v: Variable) -> str:
    """What is wrong with a variable's initial value; "" where nothing is."""
    value = v.initial
    if value is None or v.type.kind == "o":
        return ""
    if v.type.name in ("f16", "f16x2"):
        return f".{v.type} variables such as {v.name} have no initial value"
    addresses = (_address(v, x) for x in leaves_of(value) if isinstance(x, Symbol))
    return next(filter(None, addresses), "") or _numbers(module, v)


def _address(v: Variable, value: Symbol) -> str:
    target = value.target
    if v.type.name not in (("u8", "u32", "u64") if value.mask is not None else ("u32", "u64")):
        return f"the address of {target.name} does not fit .{v.type}: write .u64"
    if isinstance(target, Variable) and target.space not in ("global", "const"):
        return f"{target.name} lies in .{target.space}: only addresses in .global and .const are known before the launch"
    if isinstance(target, Function) and value.generic:
        return f"{target.name} is a function: its address is not a generic address"
    return ""


def _numbers(module: Module, v: Variable) -> str:
    """The IR keeps values as the type has them; whether they were written as integers, only the text still knows."""
    if v.type.kind == "b":
        return ""
    text = module.text
    begin = text.find("=", v.span.end)
    end = text.find(";", v.span.end)
    if not v.span.end <= begin < end:
        return ""
    source = re.sub(r"/\*.*?\*/|//[^\n]*|\(\s*\.\w+\s*\)", " ", text[begin:end], flags=re.DOTALL)
    if _COMPARISON.search(source, 1):
        return ""  # a comparison is an integer whatever it compares
    if v.type.kind == "f":
        wrong = next((t for t in _TOKEN.findall(_own(source)) if not _FLOAT.match(t)), "")
        return f"{wrong} is not a floating-point number, as the .{v.type} {v.name} needs" if wrong else ""
    if "." not in source and "f" not in source and "F" not in source and "d" not in source and "D" not in source and "e" not in source:
        return ""
    wrong = next((t for t in _TOKEN.findall(_own(source)) if t[0] in "0123456789." and _FLOAT.match(t)), "")
    return f"{wrong} is not an integer, as the .{v.type} {v.name} needs" if wrong else ""


def _own(source: str) -> str:
    """The text of the first declarator's value: up to a comma outside of braces."""
    depth = 0
    for m in re.finditer(r"[{},()]", source):
        c = m.group()
        if c == "," and depth == 0:
            return source[: m.start()]
        depth += (c in "{(") - (c in "})")
    return source
