"""What a meaning sees in the place of the values of lanes where only sums of thread and block indices are of interest.

A meaning is called with these values, as it is called with arrays: what it does to them tells what it means.  A value is known modulo its
register's size, as registers are; where its size matters, it has to lie in the range of its dtype.  What becomes of it in any other way is not known,
but for its range and for the allocations that an address may belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..trace.code import DType, Untraceable
from ..trace.ufuncs import types_of
from .linear import Facts, Linear, Range, Unknown, fact, narrowed, whole_steps, within

Origins = frozenset[int] | None  # the starts of allocations whose addresses a value may have been made of; None: any


class SymbolicPredicate(np.lib.mixins.NDArrayOperatorsMixin):
    """A predicate: what holds where it is true, and what where it is false."""

    dtype = np.dtype(np.bool_)

    def __init__(self, true: Facts, false: Facts) -> None:
        self.true, self.false = true, false

    def says(self) -> tuple[Any, ...]:
        """All that is known of it."""
        return self.true, self.false

    def __bool__(self) -> bool:
        raise Untraceable("the truth of lanes")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Untraceable("becomes an array of values")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kw: Any) -> SymbolicPredicate:
        if method != "__call__" or kw or not all(isinstance(x, SymbolicPredicate) for x in inputs):
            raise Untraceable(ufunc.__name__)
        a, b = inputs[0], inputs[-1]
        match ufunc.__name__:
            case "bitwise_and" | "logical_and":
                return SymbolicPredicate(narrowed(a.true, b.true), {})
            case "bitwise_or" | "logical_or":
                return SymbolicPredicate({}, narrowed(a.false, b.false))
            case "invert" | "logical_not":
                return SymbolicPredicate(a.false, a.true)
        return UNKNOWN

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        return _chosen(function, args, kwargs)


UNKNOWN = SymbolicPredicate({}, {})


@dataclass(frozen=True, eq=False)
class SymbolicSum(np.lib.mixins.NDArrayOperatorsMixin):
    """An integer: a sum, if it is one, else its range."""

    dtype: DType
    sum: Linear | None = None
    range: Range | None = None
    origins: Origins = frozenset()
    facts: Facts = field(default_factory=dict)  # that hold where it is used

    # ------------------------------------------------------------ what is known

    def where(self, facts: Facts) -> SymbolicSum:
        """The same, where some facts hold."""
        return SymbolicSum(self.dtype, self.sum, self.range, self.origins, facts)

    def says(self) -> tuple[Any, ...]:
        """All that is known of it, where nothing else is."""
        return self.dtype.str, self.sum, self.range, self.origins

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def limits(self) -> Range:
        """The range of the dtype."""
        bits = 8 * self.itemsize
        return (-1 << bits - 1, (1 << bits - 1) - 1) if self.dtype.kind == "i" else (0, (1 << bits) - 1)

    def proper(self) -> SymbolicSum:
        """The value itself, not modulo the size of its register: it lies within the limits of its dtype."""
        low, high = self.limits
        if self.sum is None:
            given = self.range
            return self if given is not None and low <= given[0] and given[1] <= high else replace(self, range=(low, high))
        least, most = self.sum.range
        if least < low or most > high:
            least, most = within(self.sum, self.facts)
        turns = (low - least + (high - low)) // (high - low + 1)  # a negative number that is kept as a large unsigned one, or the reverse
        by = turns * (high - low + 1)
        if most + by > high:
            return replace(self, sum=None, range=(low, high))
        return replace(self, sum=self.sum + Linear((), by), range=(least + by, most + by))

    @property
    def constant(self) -> int | None:
        """The one value that it can have."""
        value = self.proper()
        assert value.range is not None
        return value.range[0] if value.range[0] == value.range[1] else None

    # ------------------------------------------------------------ what arrays do

    def view(self, dtype: Any) -> SymbolicSum:
        """The same bits."""
        want = np.dtype(dtype)
        if want.kind not in "iu" or want.itemsize != self.itemsize:
            raise Untraceable(f"{self.dtype} viewed as {want}")
        return replace(self, dtype=want, range=None)

    def astype(self, dtype: Any, copy: bool = True) -> SymbolicSum:
        """Converted as numpy does."""
        want = np.dtype(dtype)
        if want.kind not in "iu":
            raise Untraceable(f"{self.dtype} as {want}")
        return replace(self.proper() if want.itemsize > self.itemsize else self, dtype=want)

    def __bool__(self) -> bool:
        raise Untraceable("the truth of lanes")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Untraceable("becomes an array of values")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, dtype: Any = None, **kw: Any) -> Any:
        if method != "__call__" or out is not None or kw:
            raise Untraceable(f"{ufunc.__name__}.{method}")
        types = types_of(ufunc, inputs, dtype)
        args = [_lifted(x).where(self.facts).astype(t) for x, t in zip(inputs, types, strict=False)]
        if ufunc.__name__ in _COMPARISONS:
            return _compared(ufunc.__name__, *args)
        numbers = [a.constant for a in args]
        if None not in numbers:
            with np.errstate(all="ignore"):
                found = ufunc(*[np.array(n, a.dtype) for n, a in zip(numbers, args, strict=True)])
            return SymbolicSum(found.dtype, Linear((), int(found)), origins=union(a.origins for a in args), facts=self.facts)
        rule = _RULES.get(ufunc.__name__)
        if rule is None:
            raise Untraceable(ufunc.__name__)
        result = rule(*args)
        return replace(result, dtype=types[ufunc.nin], facts=self.facts, origins=union(a.origins for a in args))

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        return _chosen(function, args, kwargs)

    def primitive(self, function: Any, arguments: tuple[Any, ...], modes: Mapping[str, Any]) -> Any:
        """See isa/primitives.py."""
        return function.__wrapped__(*arguments, **modes)


def _lifted(x: Any) -> SymbolicSum:
    """An operand, which may be a number."""
    if isinstance(x, SymbolicSum):
        return x
    if isinstance(x, SymbolicPredicate):
        raise Untraceable("a predicate as a number")
    a = np.asarray(x)
    if a.size != 1 or a.dtype.kind not in "iu":
        raise Untraceable("an array of values")
    return SymbolicSum(a.dtype, Linear((), int(a.item())))


def _chosen(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> SymbolicSum:
    """np.where."""
    if function is not np.where or len(args) != 3 or kwargs:
        raise Untraceable(f"np.{function.__name__}")
    return either(_lifted(args[1]), _lifted(args[2]))


def union(all_: Any) -> Origins:
    """Of the operands of one result."""
    out: frozenset[int] = frozenset()
    for origins in all_:
        if origins is None:
            return None
        out |= origins
    return out


def either(a: SymbolicSum, b: SymbolicSum) -> SymbolicSum:
    """One of two values."""
    a, b = a.proper(), b.proper()
    assert a.range is not None and b.range is not None
    same = a.sum if a.sum == b.sum else None
    return SymbolicSum(a.dtype, same, (min(a.range[0], b.range[0]), max(a.range[1], b.range[1])), union((a.origins, b.origins)), a.facts)


# ---------------------------------------------------------------- sums and ranges


def _sum(sign: int) -> Callable[[SymbolicSum, SymbolicSum], SymbolicSum]:
    def rule(a: SymbolicSum, b: SymbolicSum) -> SymbolicSum:
        if a.sum is None or b.sum is None:
            return _unknown(a)
        return replace(a, sum=a.sum + b.sum.times(sign), range=None)

    return rule


def _product(a: SymbolicSum, b: SymbolicSum) -> SymbolicSum:
    for one, other in ((a, b), (b, a)):
        factor = other.constant
        if factor is not None:
            return _unknown(a) if one.sum is None else replace(one, sum=one.sum.times(factor), range=None)
    return _unknown(a)


def _shifted(a: SymbolicSum, b: SymbolicSum) -> SymbolicSum:
    by = b.constant
    if by is None or by < 0 or a.sum is None:
        return _unknown(a)
    return replace(a, sum=a.sum.times(1 << by if by < 8 * a.itemsize else 0), range=None)


def _of_range(find: Callable[[Range, Range], Range | None]) -> Callable[[SymbolicSum, SymbolicSum], SymbolicSum]:
    """A rule that knows only a range, of the values themselves."""

    def rule(a: SymbolicSum, b: SymbolicSum) -> SymbolicSum:
        x, y = a.proper().range, b.proper().range
        assert x is not None and y is not None
        found = find(x, y)
        if found is None:
            return _unknown(a)
        return replace(a, sum=Linear((), found[0]) if found[0] == found[1] else None, range=found)

    return rule


def _masked(a: SymbolicSum, b: SymbolicSum) -> SymbolicSum:
    for one, mask in ((a, b.constant), (b, a.constant)):
        if mask is None or mask < 0:
            continue
        value = one.proper()
        assert value.range is not None
        if value.range[0] >= 0 and mask & mask + 1 == 0 and value.range[1] <= mask:
            return value  # as it was
        return replace(one, sum=None, range=(0, min(mask, value.range[1]) if value.range[0] >= 0 else mask))
    return _unknown(a)


def _combined(a: SymbolicSum, b: SymbolicSum) -> SymbolicSum:
    """Of numbers without common bits the sum."""
    x, y = a.proper(), b.proper()
    for one, other in ((x, y), (y, x)):
        assert one.range is not None and other.range is not None
        if one.sum is None or other.sum is None or other.range[0] < 0:
            continue
        unit = 1 << other.range[1].bit_length()  # above all bits of the other
        if all(f % unit == 0 for _, f in one.sum.terms) and one.sum.constant % unit == 0:
            return replace(one, sum=one.sum + other.sum, range=None)
    return _unknown(a)


def _unknown(a: SymbolicSum) -> SymbolicSum:
    return replace(a, sum=None, range=None)


def _divided(a: SymbolicSum, by: int) -> SymbolicSum:
    """Of a sum that is not negative the quotient: what is a multiple in it is divided, and of the rest, if it depends on nothing but where the
    thread is, the quotient is a symbol.
    """
    value = a.proper()
    assert value.range is not None
    if value.range[0] < 0 or by <= 0:
        return _unknown(a)
    range_ = value.range[0] // by, value.range[1] // by
    if value.sum is not None:
        whole = Linear(tuple((s, f // by) for s, f in value.sum.terms if f % by == 0), value.sum.constant // by)
        rest = value.sum - whole.times(by)
        if all(s.is_place for s, _ in rest.terms):
            low, high = rest.range
            quotient = Linear.of(Unknown(f"({rest}) / {by}", low // by, high // by, is_place=True))
            return replace(value, sum=whole + quotient, range=None)
    return replace(value, sum=Linear((), range_[0]) if range_[0] == range_[1] else None, range=range_)


def _quotient(a: SymbolicSum, b: SymbolicSum) -> SymbolicSum:
    by = b.constant
    return _unknown(a) if by is None else _divided(a, by)


def _shifted_right(a: SymbolicSum, b: SymbolicSum) -> SymbolicSum:
    by = b.constant
    return _unknown(a) if by is None or not 0 <= by < 64 else _divided(a, 1 << by)


def _remainder(x: Range, y: Range) -> Range | None:
    return (0, min(y[1] - 1, x[1])) if x[0] >= 0 and y[0] > 0 else None


def _extreme(which: Callable[[int, int], int]) -> Callable[[Range, Range], Range]:
    return lambda x, y: (which(x[0], y[0]), which(x[1], y[1]))


_RULES: dict[str, Callable[..., SymbolicSum]] = {
    "add": _sum(1), "subtract": _sum(-1), "multiply": _product, "left_shift": _shifted,
    "bitwise_and": _masked, "bitwise_or": _combined, "right_shift": _shifted_right, "floor_divide": _quotient,
    "remainder": _of_range(_remainder), "minimum": _of_range(_extreme(min)), "maximum": _of_range(_extreme(max)),
    "negative": lambda a: _unknown(a) if a.sum is None else replace(a, sum=a.sum.times(-1), range=None),
}  # fmt: skip


# ---------------------------------------------------------------- comparisons

_COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})


def _compared(name: str, a: SymbolicSum, b: SymbolicSum) -> SymbolicPredicate:
    """What a comparison tells about the difference."""
    x, y = a.proper(), b.proper()
    if x.sum is None or y.sum is None:
        return UNKNOWN
    match name:
        case "less":
            return SymbolicPredicate(_at_most(x.sum - y.sum, -1), _at_most(y.sum - x.sum, 0))
        case "less_equal":
            return SymbolicPredicate(_at_most(x.sum - y.sum, 0), _at_most(y.sum - x.sum, -1))
        case "greater":
            return _compared("less", b, a)
        case "greater_equal":
            return _compared("less_equal", b, a)
        case "equal":
            other = _compared("not_equal", a, b)
            return SymbolicPredicate(other.false, other.true)
    low, high = whole_steps(x.sum - y.sum, within(x.sum - y.sum, a.facts))
    unequal = _at_most(y.sum - x.sum, -1) if low == 0 else _at_most(x.sum - y.sum, -1) if high == 0 else {}
    return SymbolicPredicate(unequal, narrowed(_at_most(x.sum - y.sum, 0), _at_most(y.sum - x.sum, 0)))


def _at_most(difference: Linear, limit: int) -> Facts:
    """The fact that a difference is at most a number."""
    return fact(difference, difference.range[0], limit)
