"""A symbolic array: what a meaning sees instead of the values of lanes, recording each operation as LLVM IR.

What asks about all lanes at once ("is any lane subnormal?") chooses a shortcut in a meaning and never its result: it is answered so that the
general way is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .code import DType, Untraceable, VectorCode, constant, scalar_type, vector_type

_NUMBER = re.compile(r"(?:<|splat \()i(?!1 )\d+ (-?\d+)[>)]")  # as lift() writes a constant
MANY = 1 << 20  # lanes that a symbol claims to have: short ways for few lanes are not taken

Rule = Callable[..., Any]
FUNCTIONS: dict[str, Rule] = {}  # numpy's functions by name; functions.py fills it
UFUNCS: list[Rule] = []  # what applies an elementwise function to symbols; ufuncs.py fills it
PRIMITIVES: dict[Any, Rule] = {}  # functions of isa/ that the host has instructions for; rules.py fills it


class Whole:
    """A question about all lanes, answered so that no shortcut is taken: extreme values are as extreme as anybody asks."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def _largest(self) -> bool:
        return self.kind in ("max", "maximum")

    def _least(self) -> bool:
        return self.kind in ("min", "minimum")

    def __lt__(self, other: object) -> bool:
        return not self._largest()

    def __le__(self, other: object) -> bool:
        return self._least()

    def __gt__(self, other: object) -> bool:
        return not self._least()

    def __ge__(self, other: object) -> bool:
        return self._largest()

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:  # a NaN is among them, and so is any value that is asked for
        return other is not self

    def __ne__(self, other: object) -> bool:
        return other is self

    def __bool__(self) -> bool:
        return self.kind == "any"

    def __invert__(self) -> bool:
        return not bool(self)


class SymbolicArray(np.lib.mixins.NDArrayOperatorsMixin):
    """A vector of `width` lanes of a dtype, or of several elements a lane where the type is packed."""

    __array_priority__ = 1000

    def __init__(self, code: VectorCode, value: str, dtype: Any, lanes: int | None = None) -> None:
        self.code = code
        self.value = value
        self.dtype: DType = np.dtype(dtype)
        self.lanes = lanes or code.width  # elements in all
        self.raw: SymbolicArray | None = None  # the same numbers, with any NaNs in the place of the hardware's one

    # ------------------------------------------------------------ what an array knows of itself

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def each(self) -> int:
        """Elements of one lane."""
        return self.lanes // self.code.width

    @property
    def size(self) -> int:
        return MANY

    @property
    def shape(self) -> tuple[int, ...]:
        return (1, MANY) if self.each == 1 else (1, MANY, self.each)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def type(self) -> str:
        """LLVM's type."""
        return vector_type(self.dtype, self.lanes)

    @property
    def number(self) -> int | None:
        """The integer that all its elements are known to be."""
        found = _NUMBER.fullmatch(self.value)
        return None if found is None else int(found[1])

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Untraceable("becomes an array of values")

    def __len__(self) -> int:
        raise Untraceable("the number of rows")

    def __iter__(self) -> Any:
        raise Untraceable("a loop over lanes")

    def __bool__(self) -> bool:
        raise Untraceable("the truth of lanes")

    def __index__(self) -> int:
        raise Untraceable("a lane as a number")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise Untraceable("assignment to some lanes")

    # ------------------------------------------------------------ recording

    def new(self, text: str, dtype: Any, lanes: int | None = None) -> SymbolicArray:
        """The value of an expression."""
        return SymbolicArray(self.code, self.code.emit(text), dtype, lanes or self.lanes)

    def same(self, dtype: DType) -> SymbolicArray:
        """The same LLVM value under another dtype, such as signed for unsigned."""
        return SymbolicArray(self.code, self.value, dtype, self.lanes)

    def shuffled(self, indices: list[int]) -> SymbolicArray:
        """Some of the elements in an order."""
        mask = ", ".join(f"i32 {i}" for i in indices)
        text = f"shufflevector {self.type} {self.value}, {self.type} poison, <{len(indices)} x i32> <{mask}>"
        return self.new(text, self.dtype, len(indices))

    def view(self, dtype: Any) -> SymbolicArray:
        """The bits under another dtype, which may be one of another size."""
        want = np.dtype(dtype)
        if want == self.dtype or (want.kind in "iu" and self.dtype.kind in "iu" and want.itemsize == self.itemsize):
            return self.same(want)
        if self.dtype.kind == "b" and want.itemsize == 1:
            return self.astype(want)
        if "b" in (want.kind, self.dtype.kind) or self.lanes * self.itemsize % want.itemsize:
            raise Untraceable(f"{self.dtype} viewed as {want}")
        lanes = self.lanes * self.itemsize // want.itemsize
        return self.new(f"bitcast {self.type} {self.value} to {vector_type(want, lanes)}", want, lanes)

    def astype(self, dtype: Any, copy: bool = True) -> SymbolicArray:
        """Converted as numpy does."""
        want = np.dtype(dtype)
        if want == self.dtype:
            return self
        have, to = self.dtype, vector_type(want, self.lanes)
        match have.kind, want.kind:
            case "b", "f":
                op = "uitofp"
            case "b", _:
                op = "zext"
            case "f", "b":
                return self.new(f"fcmp une {self.type} {self.value}, zeroinitializer", want)
            case _, "b":
                return self.new(f"icmp ne {self.type} {self.value}, zeroinitializer", want)
            case "f", "f":
                op = "fptrunc" if want.itemsize < have.itemsize else "fpext"
            case "f", _:
                return self._to_integer(want)
            case _, "f":
                op = "sitofp" if have.kind == "i" else "uitofp"
            case _:
                if want.itemsize == have.itemsize:
                    return self.same(want)
                op = "trunc" if want.itemsize < have.itemsize else "sext" if have.kind == "i" else "zext"
        return self.new(f"{op} {self.type} {self.value} to {to}", want)

    def _to_integer(self, want: DType) -> SymbolicArray:
        """A float as an integer; what does not fit gives the least signed integer, as the host's processors give it to numpy."""
        if want == np.uint64:
            return self.new(f"fptoui {self.type} {self.value} to {vector_type(want, self.lanes)}", want)
        through = want if want.kind == "i" and want.itemsize >= 4 else np.dtype(np.int64)
        limit = 2.0 ** (8 * through.itemsize - 1)
        low, high = (lift(self.code, self.dtype.type(x), self.dtype, self.lanes).value for x in (-limit, limit))
        with_flags = f"<{self.lanes} x i1>"
        below = self.code.emit(f"fcmp olt {self.type} {self.value}, {high}")
        above = self.code.emit(f"fcmp oge {self.type} {self.value}, {low}")
        inside = self.code.emit(f"and {with_flags} {below}, {above}")
        safe = self.code.emit(f"select {with_flags} {inside}, {self.type} {self.value}, {self.type} {low}")
        return self.new(f"fptosi {self.type} {safe} to {vector_type(through, self.lanes)}", through).astype(want)

    # ------------------------------------------------------------ methods of arrays

    def any(self, axis: int | None = None, **_: Any) -> Whole:
        return self._whole("any", axis)

    def all(self, axis: int | None = None, **_: Any) -> Whole:
        return self._whole("all", axis)

    def min(self, axis: int | None = None, **_: Any) -> Whole:
        return self._whole("min", axis)

    def max(self, axis: int | None = None, **_: Any) -> Whole:
        return self._whole("max", axis)

    def _whole(self, kind: str, axis: int | None) -> Whole:
        if axis is not None:
            raise Untraceable(f"{kind} along an axis")
        return Whole(kind)

    def copy(self) -> SymbolicArray:
        return self

    def ravel(self) -> SymbolicArray:
        return self

    def reshape(self, *_: Any) -> SymbolicArray:
        raise Untraceable("reshape")

    def byteswap(self) -> SymbolicArray:
        name = f"llvm.bswap.v{self.lanes}i{8 * self.itemsize}"
        return SymbolicArray(self.code, self.code.call(name, self.type, f"{self.type} {self.value}"), self.dtype, self.lanes)

    def __getitem__(self, key: Any) -> SymbolicArray:
        match key:
            case (e, None) if e is Ellipsis:
                return self  # an axis of one element
            case (e, int(i)) if e is Ellipsis and self.each > 1:
                return self.shuffled([lane * self.each + i % self.each for lane in range(self.code.width)])
            case (e, 0) if e is Ellipsis:
                return self
            case (e, slice(step=2) as s) if e is Ellipsis and self.each % 2 == 0:
                return self.shuffled(list(range(s.start or 0, self.lanes, 2)))
        raise Untraceable(f"lanes [{key!r}]" if not isinstance(key, SymbolicArray) else "lanes chosen by an array")

    # ------------------------------------------------------------ numpy's functions

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, dtype: Any = None, where: Any = True, **kw: Any
    ) -> Any:
        if method == "reduce":
            if kw.get("axis", 0) is not None:
                raise Untraceable(f"{ufunc.__name__}.reduce along an axis")
            return Whole(ufunc.__name__)
        if method != "__call__" or where is not True:
            raise Untraceable(f"{ufunc.__name__}.{method}")
        result = UFUNCS[0](self.code, ufunc, inputs, dtype)
        if out is None:
            return result
        (target,) = out
        if not isinstance(target, SymbolicArray):
            raise Untraceable("a result in an array of values")
        target.value, target.dtype, target.lanes = result.value, result.dtype, result.lanes  # as in `a += b`
        return target

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        rule = FUNCTIONS.get(function.__name__)
        if rule is None:
            raise Untraceable(f"np.{function.__name__}")
        return rule(self.code, *args, **kwargs)

    def primitive(self, function: Any, arguments: tuple[Any, ...], modes: Mapping[str, Any]) -> Any:
        """See isa/primitives.py."""
        rule = PRIMITIVES.get(function)
        if rule is None:
            return function.__wrapped__(*arguments, **modes)
        return rule(self.code, *arguments, **modes)


def lift(code: VectorCode, x: Any, dtype: DType, lanes: int) -> SymbolicArray:
    """Anything as a vector of a dtype."""
    if isinstance(x, SymbolicArray):
        v = x.astype(dtype)
        if v.lanes == lanes:
            return v
        if lanes % v.lanes:
            raise Untraceable("shapes")
        each = ", ".join(f"i32 {i * v.lanes // lanes}" for i in range(lanes)) if v.lanes > 1 else ""
        mask = f"<{each}>" if each else "zeroinitializer"
        text = f"shufflevector {v.type} {v.value}, {v.type} poison, <{lanes} x i32> {mask}"
        return SymbolicArray(code, code.emit(text), dtype, lanes)
    a = np.asarray(x)
    if a.size > 64 and (not any(a.strides) or (a == a.flat[0]).all()):
        a = a.reshape(-1)[:1]
    one = scalar_type(dtype)
    if a.size == 1:
        value = f"{one} {_element(x, a, dtype)}"
        return SymbolicArray(code, f"<{value}>" if lanes == 1 else f"splat ({value})", dtype, lanes)
    if a.size == lanes == code.width:
        items = [constant(v) for v in a.reshape(-1).astype(dtype)]
    elif a.shape[-1] == lanes // code.width:
        items = [constant(v) for v in np.tile(a.reshape(-1), code.width).astype(dtype)]
    else:
        raise Untraceable("an array of values")
    return SymbolicArray(code, "<" + ", ".join(f"{one} {i}" for i in items) + ">", dtype, lanes)


def _element(x: Any, a: Any, dtype: DType) -> str:
    with np.errstate(all="ignore"):
        if isinstance(x, int | np.integer) and dtype.kind in "iu":
            return constant(np.array(int(x) & ((1 << 8 * dtype.itemsize) - 1), f"u{dtype.itemsize}").view(dtype))
        return constant(a.astype(dtype).reshape(()))


def stand_in(x: Any) -> Any:
    """A value that numpy's rules of types see as they would the operand."""
    symbol: Any = x if isinstance(x, np.lib.mixins.NDArrayOperatorsMixin) else None
    return np.zeros(1, symbol.dtype) if symbol is not None else np.bool_(x) if isinstance(x, bool) else x
