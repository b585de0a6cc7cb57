"""Records: names and types for the words of one array.

A class lists the fields of a record in order.  As Python, an object is the place of a record in an array of words; translated (loops.py), it is that place
as a number, and `group.pc` is a load.  A field holds a number, the place of another record (0: none), or the place of an array; with `Annotated[.., n]` that
record or array lies there, in n words.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from operator import index
from typing import Annotated, Any, ClassVar, Generic, Self, SupportsIndex, TypeVar, get_args, get_origin, get_type_hints, overload

T = TypeVar("T")


class Array(Generic[T]):
    """Numbers, or places of records, one after another."""

    def __init__(self, holder: Any, at: int, of: Any) -> None:
        self.words, self.at, self.of = holder.words, at, of

    def __index__(self) -> int:
        return self.at

    def part(self, count: int) -> Any:
        """The first words, as an array."""
        return self.words[self.at : self.at + count]

    def __add__(self, by: int) -> Self:
        return type(self)(self, self.at + by, self.of)

    def __gt__(self, other: Array[T]) -> bool:
        return self.at > other.at

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Iterator[T]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return (self._element(i) for i in range(at.start or 0, at.stop))
        return self._element(at)

    def _element(self, at: int) -> Any:
        found = index(self.words[self.at + at])
        return found if self.of is int else self.of(self, found)

    def __setitem__(self, at: int, value: T) -> None:
        self.words[self.at + at] = index(value)  # type: ignore[arg-type]


class RecordTable(Array[T]):
    """Records one after another."""

    def _element(self, at: int) -> Any:
        return self.of(self, self.at + at * self.of.SIZE)


class RecordField:
    """A field: how far it is from the beginning of its record, and what it holds."""

    def __init__(self, offset: int, of: Any, in_place: bool) -> None:
        self.offset, self.of, self.in_place = offset, of, in_place
        self.make: Any = None if of is int else get_origin(of) or of
        self.arguments = get_args(of)

    def __get__(self, record: Record | None, owner: type) -> Any:
        if record is None:
            return self
        at = record.at + self.offset
        if self.make is None:
            return index(record.words[at])
        return self.make(record, at if self.in_place else index(record.words[at]), *self.arguments)

    def __set__(self, record: Record, value: Any) -> None:
        record.words[record.at + self.offset] = index(value)


class Record:
    """A record."""

    SIZE: ClassVar[int] = 0
    FIELDS: ClassVar[dict[str, RecordField]] = {}
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, holder: Any, at: SupportsIndex) -> None:
        self.words: Any = holder.words
        self.at = index(at)

    def __init_subclass__(cls) -> None:
        cls.FIELDS = dict(cls.FIELDS)
        for name, hint in get_type_hints(cls, localns={cls.__name__: cls}, include_extras=True).items():
            if name in cls.FIELDS or get_origin(hint) is ClassVar or name == "masks":
                continue
            in_place = get_origin(hint) is Annotated
            of, size = get_args(hint) if in_place else (hint, 1)
            cls.FIELDS[name] = RecordField(cls.SIZE, of, in_place)
            setattr(cls, name, cls.FIELDS[name])
            cls.SIZE += size

    @classmethod
    def place(cls, name: str) -> int:
        """How far a field is from the beginning, or a "field.field" of a record in place."""
        first, _, rest = name.partition(".")
        field = cls.FIELDS[first]
        return field.offset + (field.of.place(rest) if rest else 0)

    @classmethod
    def places(cls, *names: str) -> list[int]:
        """The same of several."""
        return [cls.place(name) for name in names]

    def __index__(self) -> int:
        return self.at

    def __bool__(self) -> bool:
        return self.at != 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.at == other.at


class Root(Record):
    """The record at the beginning of the words; beside them there are masks of lanes."""

    masks: Any

    def __init__(self, words: Any, masks: Any) -> None:
        self.words, self.at, self.masks = words, 0, masks

    @classmethod
    def with_arrays(cls, make: Callable[[int], Any], masks: Any, sizes: dict[str, int]) -> Self:
        """One with arrays of so many words behind it, one after another."""
        root = cls(make(cls.SIZE + sum(sizes.values())), masks)
        at = cls.SIZE
        for name, size in sizes.items():
            setattr(root, name, at)
            at += size
        return root


# ---------------------------------------------------------------- the same as numbers


class RecordLowering(ast.NodeTransformer):
    """A function over records as one over words `S` and masks `F`."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.globals = f.__globals__
        self.types = _hints(f)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The whole function."""
        parameters: list[ast.arg] = []
        for a in node.args.args:
            if _is_record(self.types.get(a.arg), Root):
                parameters += [ast.arg("S", _name("Words")), ast.arg("F", _name("Masks"))]
            else:
                parameters.append(ast.arg(a.arg, a.annotation if self.types.get(a.arg) is Any else None))
        node.args.args = parameters
        node.body = self.block(node.body)
        return node

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements."""
        found = [self.visit(s) for s in statements]
        return [s for x in found for s in (x if isinstance(x, list) else [x])]

    def visit(self, node: ast.AST) -> Any:
        """A statement, or an expression as a number."""
        return self.typed(node)[0] if isinstance(node, ast.expr) else super().visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """Names get the types of their values."""
        value, of = self.typed(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.types.setdefault(target.id, of)
        return ast.Assign([self.visit(t) for t in node.targets], value)

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        """A loop over a part of an array is one over the numbers of its elements."""
        if not isinstance(node.iter, ast.Subscript):
            return [ast.For(node.target, self.visit(node.iter), self.block(node.body), [])]
        assert isinstance(node.target, ast.Name) and isinstance(node.iter.slice, ast.Slice) and node.iter.slice.upper is not None
        array, number, part = f"{node.target.id}.array", f"{node.target.id}.number", node.iter.slice
        base, self.types[array] = self.typed(node.iter.value)
        element = self.visit_Assign(ast.Assign([node.target], ast.Subscript(_name(array), _name(number))))
        bounds = [self.visit(x) for x in (part.lower, part.upper) if x is not None]
        loop = ast.For(ast.Name(number, ast.Store()), ast.Call(_name("range"), bounds, []), [element, *self.block(node.body)], [])
        return [ast.Assign([ast.Name(array, ast.Store())], base), loop]

    def typed(self, e: ast.expr) -> tuple[ast.expr, Any]:
        """An expression as a number, and what that stands for."""
        match e:
            case ast.Name(n):
                return e, self.types.get(n, int)
            case ast.Attribute(ast.Name(n), "SIZE"):
                return ast.Constant(self.globals[n].SIZE), int
            case ast.Attribute(value, name):
                base, of = self.typed(value)
                if not _is_record(of, Record):
                    return e, int  # a constant of a module
                if name in ("words", "masks"):
                    return _name("S" if name == "words" else "F"), Any
                field: RecordField = of.FIELDS[name]
                at = _sum(ast.Constant(0) if _is_record(of, Root) else base, ast.Constant(field.offset))
                return (at if field.in_place else _word(at)), field.of
            case ast.Subscript(array, number):
                base, of = self.typed(array)
                if of is Any:
                    return ast.Subscript(base, self.visit(number)), int
                element = get_args(of)[0]
                if get_origin(of) is RecordTable:
                    return _sum(base, ast.BinOp(self.visit(number), ast.Mult(), ast.Constant(element.SIZE))), element
                return _word(_sum(base, self.visit(number))), element
            case ast.BinOp(left, op, right):
                base, of = self.typed(left)
                return ast.BinOp(base, op, self.visit(right)), of
            case ast.Call(ast.Name(n) as f, arguments):
                called = self.globals.get(n)
                if _is_record(called, Record):
                    return self.visit(arguments[1]), called
                given: list[ast.expr] = []
                for a in arguments:
                    value, of = self.typed(a)
                    given += [_name("S"), _name("F")] if _is_record(of, Root) else [value]
                return ast.Call(f, given, []), _hints(called).get("return", int) if inspect.isfunction(called) else int
        return super().generic_visit(e), int  # type: ignore[return-value]


def _hints(f: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(f, include_extras=True)


def _is_record(of: Any, kind: type[Record]) -> bool:
    return inspect.isclass(of) and issubclass(of, kind)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _word(at: ast.expr) -> ast.expr:
    return ast.Subscript(_name("S"), at)


def _sum(a: ast.expr, b: ast.expr) -> ast.expr:
    match a, b:
        case ast.Constant(int(x)), ast.Constant(int(y)):
            return ast.Constant(x + y)
        case _, ast.Constant(0):
            return a
    return ast.BinOp(a, ast.Add(), b)
