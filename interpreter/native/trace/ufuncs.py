"""Numpy's elementwise functions as LLVM IR, in the types that numpy itself would work in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .code import DType, Untraceable, VectorCode, scalar_type
from .symbol import UFUNCS, SymbolicArray, lift, stand_in

_INTEGER = {"add": "add", "subtract": "sub", "multiply": "mul", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
_FLOAT = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
_LOGIC = {"add": "or", "multiply": "and", "logical_and": "and", "logical_or": "or", "logical_xor": "xor"}
_COMPARE = {"equal": ("eq", "oeq"), "not_equal": ("ne", "une"), "less": ("lt", "olt"), "less_equal": ("le", "ole"),
            "greater": ("gt", "ogt"), "greater_equal": ("ge", "oge")}  # fmt: skip
_ROUNDED = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "roundeven", "fabs": "fabs", "absolute": "fabs"}


def apply(code: VectorCode, ufunc: np.ufunc, inputs: Sequence[Any], dtype: Any) -> Any:
    """A call of a ufunc, some of whose operands are symbols."""
    types = types_of(ufunc, inputs, dtype)
    lanes = max(x.lanes for x in inputs if isinstance(x, SymbolicArray))
    args = [lift(code, x, t, lanes) for x, t in zip(inputs, types, strict=False)]
    name, result = ufunc.__name__, types[ufunc.nin]
    a = args[0]
    rule = _RULES.get(name)
    if rule is not None:
        return rule(*args)
    if name in _COMPARE:
        return _compare(name, *args)
    if name in _LOGIC and (a.dtype.kind == "b" or name.startswith("logical")):
        x, y = (v.astype(bool) for v in args)
        return x.new(f"{_LOGIC[name]} {x.type} {x.value}, {y.value}", bool)
    if a.dtype.kind == "f":
        if name in _FLOAT:
            x, y = (numbers(v) for v in args)
            return x.new(f"{_FLOAT[name]} {x.type} {x.value}, {y.value}", result)
        if name in _ROUNDED:
            return _call(_ROUNDED[name], a)
    elif name in _INTEGER:
        return a.new(f"{_INTEGER[name]} {a.type} {a.value}, {args[1].value}", result)
    raise Untraceable(f"np.{name} of {a.dtype}")


def types_of(ufunc: np.ufunc, inputs: Sequence[Any], dtype: Any) -> list[DType]:
    """The types of operands and results that numpy chooses: a Python number takes the type of the array beside it."""
    stands = [stand_in(x) for x in inputs]
    proper = [x.dtype if hasattr(x, "dtype") else type(x) for x in stands]
    asked: dict[str, Any] = {} if dtype is None else {"signature": (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout}
    try:
        return [np.dtype(t) for t in ufunc.resolve_dtypes((*proper, *(None,) * ufunc.nout), **asked)]
    except TypeError as e:
        raise Untraceable(f"np.{ufunc.__name__}: {e}") from None


def suffix(s: SymbolicArray) -> str:
    """What the name of an intrinsic of vectors ends with."""
    t = scalar_type(s.dtype)
    return f"v{s.lanes}" + {"half": "f16", "float": "f32", "double": "f64"}.get(t, t)


def _call(intrinsic: str, *args: SymbolicArray) -> SymbolicArray:
    a = args[0]
    return SymbolicArray(
        a.code, a.code.call(f"llvm.{intrinsic}.{suffix(a)}", a.type, *[f"{x.type} {x.value}" for x in args]), a.dtype, a.lanes
    )


def _number(like: SymbolicArray, value: Any) -> SymbolicArray:
    return lift(like.code, value, like.dtype, like.lanes)


def numbers(a: SymbolicArray) -> SymbolicArray:
    """An operand of arithmetic, which makes a NaN of every NaN: all results in single and half precision are made canonical afterwards."""
    return a if a.raw is None else a.raw


def select(condition: SymbolicArray, a: SymbolicArray, b: SymbolicArray) -> SymbolicArray:
    """a where the condition holds, else b; floats as bits, for LLVM may take one NaN for another."""
    if a.dtype.kind == "f":
        bits = np.dtype(f"u{a.itemsize}")
        return select(condition, a.view(bits), b.view(bits)).view(a.dtype)
    if _combines_bits(a) or _combines_bits(b):
        b = _hidden(b)
    return a.new(f"select {condition.type} {condition.value}, {a.type} {a.value}, {b.type} {b.value}", a.dtype)


def _combines_bits(a: SymbolicArray) -> bool:
    """Could LLVM compute a value by one vpternlog?

    With AVX-512, LLVM (20 and 22) merges the choice between such a value and one of its operands into the instruction.  If another operand lies in
    memory, it reorders the operands, and takes the truth table of the inverse order.
    """
    text = a.code.origin(a.value)
    while text.startswith("bitcast "):
        text = a.code.origin(text.partition(" to ")[0].split()[-1])
    return a.code.width > 1 and (text.startswith(("or ", "xor ", "add ")) or "@llvm.copysign" in text)


def _hidden(a: SymbolicArray) -> SymbolicArray:
    """The same value, which LLVM's choice of instructions takes for another one: so nothing is merged with it."""
    floats = {4: "f4", 8: "f8"}.get(a.itemsize)
    return a if floats is None else _call("arithmetic.fence", a.view(floats)).view(a.dtype)


def _compare(name: str, a: SymbolicArray, b: SymbolicArray) -> SymbolicArray:
    integer, floating = _COMPARE[name]
    if a.dtype.kind == "f":
        return a.new(f"fcmp {floating} {a.type} {a.value}, {b.value}", bool)
    sign = "" if integer in ("eq", "ne") else "s" if a.dtype.kind == "i" else "u"
    if sign == "s" and a.code.width > 1 and a.lanes * a.itemsize <= 32:
        # one of them may be zero: LLVM 22 gets such a mask by vmovmskps, though it has other uses, or the numbers lie where that cannot reach
        a, b = _hidden(a), _hidden(b)
    return a.new(f"icmp {sign}{integer} {a.type} {a.value}, {b.value}", bool)


def _left_shift(a: SymbolicArray, b: SymbolicArray) -> SymbolicArray:
    return _shift("shl", a, b, _number(a, 0))


def _right_shift(a: SymbolicArray, b: SymbolicArray) -> SymbolicArray:
    if a.dtype.kind != "i":
        return _shift("lshr", a, b, _number(a, 0))
    sign = a.new(f"ashr {a.type} {a.value}, {_number(a, 8 * a.itemsize - 1).value}", a.dtype)
    return _shift("ashr", a, b, sign)


def _shift(op: str, a: SymbolicArray, b: SymbolicArray, beyond: SymbolicArray) -> SymbolicArray:
    """A shift; LLVM has no answer for a distance of the width or more, numpy has."""
    bits = _number(b, 8 * b.itemsize)
    inside = b.new(f"icmp ult {b.type} {b.value}, {bits.value}", bool)
    safe = select(inside, b, _number(b, 0))
    return select(inside, a.new(f"{op} {a.type} {a.value}, {safe.value}", a.dtype), beyond)


def _invert(a: SymbolicArray) -> SymbolicArray:
    return a.new(f"xor {a.type} {a.value}, {_number(a, True if a.dtype.kind == 'b' else -1).value}", a.dtype)


def _negative(a: SymbolicArray) -> SymbolicArray:
    return a.new(f"fneg {a.type} {a.value}" if a.dtype.kind == "f" else f"sub {a.type} zeroinitializer, {a.value}", a.dtype)


def _absolute(a: SymbolicArray) -> SymbolicArray:
    if a.dtype.kind == "f":
        return _call("fabs", a)
    if a.dtype.kind != "i":
        return a
    return SymbolicArray(a.code, a.code.call(f"llvm.abs.{suffix(a)}", a.type, f"{a.type} {a.value}", "i1 false"), a.dtype, a.lanes)


def _extreme(which: str) -> Callable[[SymbolicArray, SymbolicArray], SymbolicArray]:
    def rule(a: SymbolicArray, b: SymbolicArray) -> SymbolicArray:
        if a.dtype.kind != "f":
            return _call(("s" if a.dtype.kind == "i" else "u") + which, a, b)
        first = a.new(f"fcmp {'olt' if which == 'min' else 'ogt'} {a.type} {a.value}, {b.value}", bool)  # of equals the second
        return select(first | np.isnan(a), a, b)  # the first NaN wins

    return rule


def _extreme_number(which: str) -> Callable[[SymbolicArray, SymbolicArray], SymbolicArray]:
    def rule(a: SymbolicArray, b: SymbolicArray) -> SymbolicArray:
        first = a.new(f"fcmp {'ole' if which == 'min' else 'oge'} {a.type} {a.value}, {b.value}", bool)
        return select(first | np.isnan(b), a, b)

    return rule


def _magnitude(a: SymbolicArray) -> tuple[SymbolicArray, SymbolicArray]:
    """The bits of a float without its sign, and those of infinity."""
    bits = a.view(f"u{a.itemsize}")
    size = bits & bits.dtype.type((1 << 8 * a.itemsize - 1) - 1)
    return size, _number(size, int(np.array(np.inf, a.dtype).view(bits.dtype)))


def _isnan(a: SymbolicArray) -> SymbolicArray:  # of bits, for LLVM takes one NaN for another
    size, infinity = _magnitude(a)
    return size > infinity  # type: ignore[no-any-return]


def _isinf(a: SymbolicArray) -> SymbolicArray:
    size, infinity = _magnitude(a)
    return size == infinity  # type: ignore[no-any-return]


def _isfinite(a: SymbolicArray) -> SymbolicArray:
    size, infinity = _magnitude(a)
    return size < infinity  # type: ignore[no-any-return]


def _signbit(a: SymbolicArray) -> SymbolicArray:
    return a.view(f"i{a.itemsize}") < 0  # type: ignore[no-any-return]


def _bitwise_count(a: SymbolicArray) -> SymbolicArray:
    return _call("ctpop", a if a.dtype.kind == "u" else _absolute(a)).astype(np.uint8)


def _floor_divide(a: SymbolicArray, b: SymbolicArray) -> SymbolicArray:
    if a.dtype.kind != "u":
        raise Untraceable("np.floor_divide of signed numbers")
    nothing = b.new(f"icmp eq {b.type} {b.value}, zeroinitializer", bool)
    quotient = a.new(f"udiv {a.type} {a.value}, {select(nothing, _number(b, 1), b).value}", a.dtype)
    return select(nothing, _number(a, 0), quotient)


def _frexp(a: SymbolicArray) -> tuple[SymbolicArray, SymbolicArray]:
    """Mantissa in [1/2, 1) and exponent, of double precision."""
    if a.itemsize != 8:
        raise Untraceable(f"np.frexp of {a.dtype}")
    small = np.abs(a) < 2.0**-1022
    bits = np.where(small, a * 2.0**54, a).view(np.uint64)
    special = ~np.isfinite(a) | (a == 0)
    exponent = (bits >> np.uint64(52) & np.uint64(0x7FF)).astype(np.int32) - np.where(small, np.int32(1022 + 54), np.int32(1022))
    mantissa = (bits & np.uint64(0x800FFFFFFFFFFFFF) | np.uint64(0x3FE0000000000000)).view(np.float64)
    return np.where(special, a, mantissa), np.where(special, np.int32(0), exponent)  # type: ignore[return-value]


def _power(exponent: Any) -> Any:
    """2.0**exponent of normal numbers."""
    return ((exponent.astype(np.int64) + 1023) << 52).view(np.float64)


def _ldexp(a: SymbolicArray, k: SymbolicArray) -> SymbolicArray:
    """a * 2**k, rounded once: the last of three factors is the only one that can make a subnormal, of a number with its full mantissa."""
    if a.itemsize != 8:
        raise Untraceable(f"np.ldexp of {a.dtype}")
    n = np.minimum(np.maximum(k, -3000), 3000)
    step = np.where(n > 0, 1023, -969)  # 2**-1022 * 2**53: no factor before the last reaches a subnormal
    out: Any = a
    for _ in range(2):
        far = (n > 1023) | (n < -1022)
        out = out * _power(np.where(far, step, 0))
        n = n - np.where(far, step, 0)
    return out * _power(np.minimum(np.maximum(n, -1022), 1023))  # type: ignore[no-any-return]


_RULES: dict[str, Callable[..., Any]] = {
    "left_shift": _left_shift, "right_shift": _right_shift, "invert": _invert, "logical_not": lambda a: _invert(a.astype(bool)),
    "negative": _negative, "positive": lambda a: a, "absolute": _absolute,
    "minimum": _extreme("min"), "maximum": _extreme("max"), "fmin": _extreme_number("min"), "fmax": _extreme_number("max"),
    "isnan": _isnan, "isinf": _isinf, "isfinite": _isfinite, "signbit": _signbit, "copysign": lambda a, b: _call("copysign", a, b),
    "bitwise_count": _bitwise_count, "floor_divide": _floor_divide, "frexp": _frexp, "ldexp": _ldexp,
}  # fmt: skip

UFUNCS.append(apply)
