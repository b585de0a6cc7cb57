"""Expectations: numpy expressions over named buffers, `c == a + b`, evaluated on a white list of syntax.

There are no builtins, no attributes but array methods that compute, no names but the buffers, the functions below and the variables of a list
comprehension: an expression can't reach anything outside the arrays it names.  before(x) is what a buffer held before the first launch;
fma(a, b, c) is a * b + c rounded once; hex(x) shows integers in base 16.  Numpy's functions may have np. before their names.
"""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.floats.binary32 import fma32
from warplab.isa.floats.binary64 import fma64_nearest
from warplab.isa.ops import half

from ..errors import UsageError

Array = NDArray[Any]

_NUMPY = """
    abs absolute add all allclose any arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort argwhere array
    array_equal asarray atleast_1d atleast_2d average bincount bitwise_and bitwise_not bitwise_or bitwise_xor bool_ broadcast_to cbrt ceil
    choose clip column_stack concatenate convolve copysign correlate cos cosh count_nonzero cross cumprod cumsum deg2rad degrees diag
    diagonal diff digitize divide dot e einsum equal exp exp2 expand_dims expm1 eye fabs flatnonzero flip fliplr flipud float16 float32
    float64 floor floor_divide fmax fmin fmod full full_like gcd greater greater_equal heaviside histogram hstack hypot identity inf inner
    int16 int32 int64 int8 interp invert isclose isfinite isin isinf isnan kron lcm ldexp left_shift less less_equal linspace log log10
    log1p log2 logical_and logical_not logical_or logical_xor matmul max maximum mean median meshgrid min minimum mod moveaxis multiply nan
    nan_to_num nanmax nanmean nanmin nansum negative newaxis nextafter nonzero not_equal ones ones_like outer packbits pad percentile pi
    polyval positive power prod ptp quantile rad2deg radians ravel reciprocal remainder repeat reshape right_shift rint roll rot90 round
    searchsorted select sign signbit sin sinc sinh size sort spacing split sqrt square squeeze stack std subtract sum swapaxes take
    take_along_axis tan tanh tensordot tile trace transpose trapezoid tri tril triu true_divide trunc uint16 uint32 uint64 uint8 unique
    unpackbits unwrap vander var vdot vstack where zeros zeros_like
"""
_METHODS = """
    T accumulate all any argmax argmin argsort astype clip cumprod cumsum diagonal dot flatten max mean min nonzero outer prod ravel reduce
    repeat reshape round size shape squeeze std sum swapaxes take trace transpose var view
"""
METHODS = frozenset(_METHODS.split())
_NODES = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.Name, ast.Constant, ast.Subscript, ast.Slice, ast.Tuple,
    ast.List, ast.Attribute, ast.IfExp, ast.Load, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.keyword, ast.ListComp, ast.comprehension, ast.Store,
)  # fmt: skip
LOOPS = 2  # `for` of an expression's comprehensions
TURNS = 1 << 16  # turns of one of them over a range
DEEPEST = 100  # levels of an expression; Python's own functions recurse into them
LARGEST = 1 << 26  # elements that an expression may make of nothing


def _bounded(f: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kw: Any) -> Any:
        size = 1.0
        for a in args[:2]:
            for x in np.atleast_1d(a) if not isinstance(a, str) else ():
                size *= max(abs(float(x)), 1.0)
        if size > LARGEST:
            raise ValueError(f"more than {LARGEST} elements")
        return f(*args, **kw)

    return call


def _bounded_copies(f: Callable[..., Any]) -> Callable[..., Any]:
    def call(a: Any, n: Any, *rest: Any) -> Any:
        if np.size(a) * float(np.prod(np.abs(np.atleast_1d(n)), dtype=float)) > LARGEST:
            raise ValueError(f"more than {LARGEST} elements")
        return f(a, n, *rest)

    return call


def fma(a: Any, b: Any, c: Any) -> Array:
    """a * b + c, rounded once: what a kernel computes where its product and sum are contracted."""
    dtype = np.result_type(a, b, c)
    rounded: Callable[..., Array] | None = _FMA.get(dtype)
    if rounded is None:
        raise ValueError(f"fma computes with float16, float32 and float64; these arguments are {dtype}")
    x, y, z = np.broadcast_arrays(*(np.asarray(v, dtype) for v in (a, b, c)))
    return rounded(np.atleast_1d(x), np.atleast_1d(y), np.atleast_1d(z)).reshape(x.shape)


_FMA: dict[Any, Callable[..., Array]] = {
    np.dtype(np.float16): half.fma,
    np.dtype(np.float32): fma32,
    np.dtype(np.float64): fma64_nearest,
}


def _range(*ends: Any) -> Array:
    """Python's range, for comprehensions; its numbers are numpy's, of which no power is large."""
    size = len(range(*map(int, ends)))
    if size > TURNS:
        raise ValueError(f"a range of {size} numbers; {TURNS} are the most")
    return np.arange(*map(int, ends))


def _len(a: Any) -> Any:
    return np.int64(len(a))


def hexadecimal(a: Any) -> Array:
    """Integers in base 16, as texts."""
    numbers = np.asarray(a)
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"hex shows integers; these are {numbers.dtype}: x.view(uint32) has the bits of a float32")
    width = 2 * numbers.dtype.itemsize
    bits = numbers.view(f"u{numbers.dtype.itemsize}")
    return np.array([f"0x{n:0{width}x}" for n in bits.ravel().tolist()]).reshape(numbers.shape)


FUNCTIONS: dict[str, Any] = {
    "fma": fma,
    "hex": hexadecimal,
    "range": _range,
    "len": _len,
    "int": np.int64,
    "float": np.float64,
    "bool": np.bool_,
    "zip": zip,
    **{name: getattr(np, name) for name in _NUMPY.split()},
    **{name: _bounded(getattr(np, name)) for name in ("arange", "ones", "zeros", "full", "eye", "identity", "tri", "linspace")},
    **{name: _bounded_copies(getattr(np, name)) for name in ("tile", "repeat")},
}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far apart two numbers may be and still count as equal; all zero: bit for bit, but NaN equals NaN."""

    rtol: float = 0.0
    atol: float = 0.0
    ulp: int = 0


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One comparison that does not hold: how many elements, and the first."""

    text: str
    wrong: int
    total: int
    name: str  # the buffer on the left, "" where the comparison is not a plain one
    index: tuple[int, ...] | None
    got: str
    wanted: str

    @property
    def place(self) -> str:
        """The first element that differs, by its name."""
        return f"{self.name or 'element'}{list(self.index)}" if self.index else "the value"

    def __str__(self) -> str:
        return f"{self.wrong} of {self.total} differ; first {self.place}: got {self.got}, expected {self.wanted}"


@dataclass(frozen=True, slots=True)
class CompiledCode:
    """An expression, ready to run, and the names that it looks up."""

    code: CodeType
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expression:
    """What a text says: one value, or, where it is a single `a == b`, two values to be compared."""

    sides: tuple[CompiledCode, ...]
    left: str  # the name on the left of a comparison, "" where more than a name stands there


@functools.lru_cache(512)
def expression(text: str, option: str = "--expect") -> Expression:
    """The expression that an option's text stands for, or what in it is not allowed; many tests expect the same.

    Only --expect compares; --print shows what `a == b` yields.
    """
    said = f"{option} {text!r}"
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise UsageError(f"{said}: {getattr(e, 'msg', e)}") from None
    if _depth(tree) > DEEPEST:
        raise UsageError(f"{said}: the expression is nested deeper than {DEEPEST} levels")
    tree = _Plain(said).visit(tree)
    loops = 0
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise UsageError(f"{said}: {type(node).__name__} is not allowed")
        loops += isinstance(node, ast.comprehension)
        if loops > LOOPS:
            raise UsageError(f"{said}: more than {LOOPS} loops; numpy's functions work on whole arrays")
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and (node.id[0] == "_" or node.id in FUNCTIONS):
            raise UsageError(f"{said}: a variable cannot be called {node.id}")
        if isinstance(node, ast.Attribute) and node.attr not in METHODS:
            raise UsageError(f"{said}: .{node.attr} is not among the methods allowed: {' '.join(sorted(METHODS))}")
        if isinstance(node, ast.Constant) and not isinstance(node.value, int | float | str | None):
            raise UsageError(f"{said}: {node.value!r} is not allowed")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.left, ast.Constant):
            raise UsageError(f"{said}: a power of a constant is not allowed; write float64(x) ** y")
    body = tree.body
    compared = option == "--expect"
    if compared and isinstance(body, ast.Name | ast.Constant | ast.Subscript | ast.List | ast.Tuple):
        raise UsageError(
            f"{said}: that compares nothing; write {ast.unparse(body)} == VALUE, or a condition such as all({ast.unparse(body)} > 0)"
        )
    if compared and isinstance(body, ast.Compare) and len(body.ops) == 1 and isinstance(body.ops[0], ast.Eq):
        name = body.left.id if isinstance(body.left, ast.Name) else ""
        return Expression((_code(body.left, said), _code(body.comparators[0], said)), name)
    return Expression((_code(body, said),), "")


def _depth(tree: ast.AST) -> int:
    """The levels of a tree."""
    depth, level = 0, [tree]
    while level:
        depth, level = depth + 1, [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _code(node: ast.expr, said: str) -> CompiledCode:
    whole = ast.Expression(_Before().visit(node))
    try:
        code = compile(ast.fix_missing_locations(whole), "<expect>", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise UsageError(f"{said}: {e}") from None
    named: dict[type, set[str]] = {ast.Load: set(), ast.Store: set()}
    for n in ast.walk(whole):
        if isinstance(n, ast.Name):
            named[type(n.ctx)].add(n.id)
    return CompiledCode(code, tuple(sorted(named[ast.Load] - named[ast.Store])))


class _Plain(ast.NodeTransformer):
    """np.sum and numpy.sum become a name that no text can spell, and no array has."""

    def __init__(self, said: str) -> None:
        self.said = said

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """See ast.NodeTransformer."""
        if isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy"):
            if node.attr not in _NUMPY.split():
                near = get_close_matches(node.attr, _NUMPY.split(), 1)
                meant = f"; is np.{near[0]} meant?" if near else _listed()
                raise UsageError(f"{self.said}: np.{node.attr} is not allowed{meant}")
            return ast.copy_location(ast.Name(f"np {node.attr}", ast.Load()), node)
        return self.generic_visit(node)


class _Before(ast.NodeTransformer):
    """before(x) becomes a name that no text can spell."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """See ast.NodeTransformer."""
        if isinstance(node.func, ast.Name) and node.func.id == "before" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            return ast.Name(f"before {node.args[0].id}", ast.Load())
        return self.generic_visit(node)


def unknown_name(said: str, name: str, known: Iterable[str]) -> UsageError:
    """An expression names what is not there."""
    names = sorted(known)
    near = get_close_matches(name, [*names, *FUNCTIONS], 1)
    meant = f"; is {near[0]} meant?" if near else ""
    return UsageError(f"{said}: nothing is called {name!r}{meant} (the arrays: {' '.join(names) or 'none'}){'' if near else _listed()}")


def _listed() -> str:
    """All functions, for a message."""
    return "\n" + textwrap.fill(
        "the functions: " + " ".join(sorted({*FUNCTIONS, "before"})), 120, initial_indent="  ", subsequent_indent="  "
    )


def check_names(text: str, option: str, known: Iterable[str]) -> None:
    """Refuses an expression that can't be evaluated over arrays of these names."""
    names = set(known)
    for side in expression(text, option).sides:
        for name in side.names:
            if name.startswith("np "):
                continue
            if (plain := name.removeprefix("before ")) not in names and (plain != name or plain not in FUNCTIONS):
                raise unknown_name(f"{option} {text!r}", plain, names)


class Evaluator:
    """Expressions over one set of buffers, as they are now and as they were before."""

    def __init__(self, now: Mapping[str, Array], before: Mapping[str, Array]) -> None:
        self.now = now
        self.before = before

    def value(self, text: str, option: str = "--print") -> Any:
        """What an expression of an option that compares nothing yields."""
        return self._run(expression(text, option).sides[0], f"{option} {text!r}")

    def _run(self, code: CompiledCode, said: str) -> Any:
        names = {name: self._named(name, said) for name in code.names}
        try:  # numpy imports some of its own modules late; the text itself can name nothing but what is listed
            with np.errstate(all="ignore"):
                return eval(code.code, {"__builtins__": {"__import__": __import__}, **names})
        except UsageError:
            raise
        except Exception as e:
            raise UsageError(f"{said}: {e}") from None

    def _named(self, name: str, said: str) -> Any:
        if name.startswith("before "):
            found: Any = self.before.get(name.removeprefix("before "))
        elif name.startswith("np "):
            found = FUNCTIONS[name.removeprefix("np ")]
        else:
            found = self.now.get(name)
            if found is None:
                found = FUNCTIONS.get(name)
        if found is None:
            raise unknown_name(said, name, self.now)
        return found

    def check(self, text: str, tolerance: Tolerance) -> Mismatch | None:
        """None where the expectation holds, else its first mismatch."""
        said, found = f"--expect {text!r}", expression(text)
        if len(found.sides) == 2:
            got, expected = (np.asarray(self._run(side, text)) for side in found.sides)
            try:
                got, expected = np.broadcast_arrays(got, expected)
            except ValueError:
                raise UsageError(f"{said}: shapes {got.shape} and {expected.shape} do not fit") from None
            equal = agree(got, expected, tolerance)
            name = found.left if found.left in self.now else ""
        else:
            equal = np.asarray(self._run(found.sides[0], said))
            if equal.dtype != np.bool_:
                raise UsageError(f"{said}: that compares nothing, it yields {equal.dtype}; write a comparison such as {text} == VALUE")
            got, expected, name = equal, np.ones_like(equal), ""
        if equal.all():
            return None
        index = tuple(int(i) for i in np.argwhere(~np.atleast_1d(equal))[0])
        at = index if equal.ndim else ()
        return Mismatch(text, int((~equal).sum()), int(equal.size), name, at or None, show(got[at]), show(expected[at]))


def agree(got: Array, wanted: Array, tolerance: Tolerance) -> Array:
    """Element by element: equal within the tolerance."""
    with np.errstate(all="ignore"):
        equal = got == wanted
        if got.dtype.kind == "f" and wanted.dtype.kind == "f":
            equal = equal | (np.isnan(got) & np.isnan(wanted))
            if tolerance.ulp and got.dtype == wanted.dtype:
                equal = equal | (ulps_apart(got, wanted) <= tolerance.ulp)
        if tolerance.rtol or tolerance.atol:
            g, w = got.astype(np.float64), wanted.astype(np.float64)
            equal = equal | (np.abs(g - w) <= tolerance.atol + tolerance.rtol * np.abs(w))
    return np.asarray(equal, bool)


def ulps_apart(a: Array, b: Array) -> Array:
    """How many representable numbers lie between; infinitely many to a NaN."""
    kind = f"i{a.dtype.itemsize}"

    def ordered(x: Array) -> Array:
        bits = np.ascontiguousarray(x).view(kind).astype(np.int64)
        return np.where(bits < 0, np.int64(-(1 << 8 * a.dtype.itemsize - 1)) - bits, bits)

    apart: Array = np.abs(ordered(a) - ordered(b)).astype(np.float64)
    return np.where(np.isnan(a) | np.isnan(b), np.inf, apart)


def show(x: Any) -> str:
    """One number, exactly enough to tell it from its neighbours."""
    v = np.asarray(x)
    if v.dtype.kind == "u" and v.item() >= 1 << 16:
        return f"{v.item()} ({v.item():#x})"
    if v.dtype.kind != "f":
        return repr(v.item())
    number: Any = v[()]
    return np.format_float_positional(number, unique=True, trim="0") if 1e-5 < abs(float(number)) < 1e16 else str(number)
