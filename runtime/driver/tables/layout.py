"""Handles and C structures as the CUDA bindings show them: attributes of Python values over memory in C's layout.

A subclass of Struct or Union names its fields as annotations; getPtr() is the address of the C structure behind them.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Annotated, Any, ClassVar, get_args, get_origin

char = Annotated[int, ctypes.c_char]
i16 = Annotated[int, ctypes.c_short]
u16 = Annotated[int, ctypes.c_ushort]
u8 = Annotated[int, ctypes.c_ubyte]
i32 = Annotated[int, ctypes.c_int]
u32 = Annotated[int, ctypes.c_uint]
i64 = Annotated[int, ctypes.c_longlong]
u64 = Annotated[int, ctypes.c_ulonglong]
usize = Annotated[int, ctypes.c_size_t]
f32 = Annotated[float, ctypes.c_float]
f64 = Annotated[float, ctypes.c_double]
pointer = Annotated[int, ctypes.c_void_p]


class Handle:
    """What a call gives to stand for an object; only its number counts."""

    __slots__ = ("_cell",)
    c_type: ClassVar[type[Any]] = ctypes.c_void_p

    def __init__(self, init_value: object = 0) -> None:
        self._cell = self.c_type(int(init_value or 0))  # type: ignore[call-overload]

    def __int__(self) -> int:
        return int(self._cell.value or 0)

    def __eq__(self, other: object) -> bool:
        return int(self) == int(other) if isinstance(other, int) or type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(int(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {int(self):#x}>"

    def getPtr(self) -> int:
        """The address of the handle."""
        return ctypes.addressof(self._cell)


class NumberHandle(Handle):
    """A device or a device address."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {int(self)}>"


def address_of(value: object) -> int:
    """The address that a host pointer argument means: a number, a handle, a ctypes object, a buffer, or None."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    if isinstance(value, Handle):
        return int(value)
    if isinstance(value, ctypes._Pointer):
        return ctypes.cast(value, ctypes.c_void_p).value or 0
    if isinstance(value, ctypes.c_void_p | ctypes.c_size_t | ctypes.c_ulonglong):
        return value.value or 0
    if isinstance(value, ctypes.Array | ctypes.Structure | ctypes._SimpleCData):
        return ctypes.addressof(value)
    interface = getattr(value, "__array_interface__", None)
    if isinstance(interface, dict):
        return int(interface["data"][0])
    if hasattr(value, "__int__"):
        return int(value)
    return _buffer_address(value)


class _PyBuffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]  # fmt: skip


def _buffer_address(value: object) -> int:
    view = _PyBuffer()
    api = ctypes.pythonapi
    api.PyObject_GetBuffer(ctypes.py_object(value), ctypes.byref(view), 0)
    try:
        return int(view.buf or 0)
    finally:
        api.PyBuffer_Release(ctypes.byref(view))


class _Field:
    """One attribute of a structure."""

    def __init__(self, name: str, kind: object) -> None:
        self.name = name
        self.count = 0
        self.nested: type[_Base] | None = None
        self.list_of: type[_Base] | None = None
        self.convert: Any = int
        self.enum: type[IntEnum] | None = None
        self.ctype: Any = self._read(kind)

    def _read(self, kind: object) -> Any:
        if get_origin(kind) is Annotated:
            first, *rest = get_args(kind)
            if get_origin(first) is list:  # Annotated[list[T], n]: an array; Annotated[list[T], "pointer"]: a pointer to some
                inner = get_args(first)[0]
                if rest[0] == "pointer":
                    self.list_of = inner
                    return ctypes.c_void_p
                self.count = rest[0]
                return self._read(inner) * self.count
            if first is bytes:
                self.count = rest[0]
                return ctypes.c_char * self.count
            self.convert = float if first is float else int
            return rest[0]
        assert isinstance(kind, type)
        if issubclass(kind, IntEnum):
            self.enum = kind
            return ctypes.c_int
        if issubclass(kind, Handle):
            self.convert = kind
            return kind.c_type
        assert issubclass(kind, _Base), kind
        self.nested = kind
        return kind.c_type

    def _at(self, owner: _Base) -> int:
        return ctypes.addressof(owner._raw) + int(getattr(owner.c_type, self.name).offset)

    def _value(self, raw: Any) -> Any:
        if self.enum is not None:
            return self.enum(raw)
        return self.convert(0 if raw is None else raw)

    def __get__(self, owner: _Base | None, _: type | None = None) -> Any:
        if owner is None:
            return self
        raw = getattr(owner._raw, self.name)
        if self.nested is not None and not self.count:
            return self.nested._over(raw, owner)
        if self.list_of is not None:
            return owner._kept.get(self.name, [])
        if self.count:
            if self.ctype is ctypes.c_char * self.count:
                raw = ctypes.string_at(self._at(owner), self.count)
                return raw.split(b"\0", 1)[0] if self.name == "name" else raw
            return [self._value(v) for v in raw]
        return self._value(raw)

    def __set__(self, owner: _Base, value: Any) -> None:
        if self.nested is not None:
            ctypes.memmove(self._at(owner), value.getPtr(), ctypes.sizeof(self.nested.c_type))
        elif self.list_of is not None:
            owner._kept[self.name] = list(value)
            block = (self.list_of.c_type * max(len(value), 1))()
            for n, v in enumerate(value):
                ctypes.memmove(ctypes.addressof(block) + n * ctypes.sizeof(self.list_of.c_type), v.getPtr(), ctypes.sizeof(v.c_type))
            owner._kept["*" + self.name] = block
            setattr(owner._raw, self.name, ctypes.addressof(block))
        elif self.count:
            target = getattr(owner._raw, self.name)
            if isinstance(value, bytes):
                ctypes.memmove(self._at(owner), value.ljust(self.count, b"\0"), self.count)
            else:
                for n, v in enumerate(value):
                    target[n] = float(v) if self.convert is float else int(v)
        elif self.ctype is ctypes.c_void_p:
            if not isinstance(value, int | Handle | None):
                owner._kept[self.name] = value  # the memory must live as long as the structure names it
            setattr(owner._raw, self.name, address_of(value))
        else:
            setattr(owner._raw, self.name, float(value) if self.convert is float else int(value))


def _c_type(name: str, kind: Any, fields: list[tuple[str, Any]], overlaid: frozenset[str]) -> Any:
    """The ctypes class of a structure."""
    places: list[list[tuple[str, Any]]] = []
    for field in fields:
        if field[0] in overlaid:
            places[-1].append(field)
        else:
            places.append([field])
    unions = [type(f"{name}_{p[0][0]}", (ctypes.Union,), {"_fields_": p}) for p in places if len(p) > 1]
    words = [p[0] if len(p) == 1 else (f"_{p[0][0]}", next(u for u in unions if u.__name__ == f"{name}_{p[0][0]}")) for p in places]
    return type(name, (kind,), {"_anonymous_": [w for w, t in words if t in unions], "_fields_": words})


class _Base:
    c_type: ClassVar[type[Any]]
    _kind: ClassVar[type[Any]]
    _names: ClassVar[tuple[str, ...]] = ()
    _overlaid: ClassVar[frozenset[str]] = frozenset()  # fields that share the place of the one before

    def __init_subclass__(cls) -> None:
        notes = inspect.get_annotations(cls)
        if not notes:
            return
        fields = [_Field(name, kind) for name, kind in notes.items()]
        cls._names = tuple(notes)
        cls.c_type = _c_type(cls.__name__, cls._kind, [(f.name, f.ctype) for f in fields], cls._overlaid)
        for f in fields:
            setattr(cls, f.name, f)

    def __init__(self, _ptr: int = 0) -> None:
        self._raw = self.c_type.from_address(_ptr) if _ptr else self.c_type()
        self._kept: dict[str, Any] = {}

    @classmethod
    def _over(cls, raw: Any, owner: _Base) -> Any:
        out = cls.__new__(cls)
        out._raw = raw
        out._kept = owner._kept.setdefault("/" + cls.__name__, {})
        return out

    def getPtr(self) -> int:
        """The address of the C structure."""
        return ctypes.addressof(self._raw)

    def _lines(self, indent: str) -> Iterator[str]:
        for name in self._names:
            try:
                value = getattr(self, name)
            except ValueError:
                value = "<ValueError>"
            if isinstance(value, _Base):
                yield f"{indent}{name} :"
                yield from value._lines(indent + "    ")
            else:
                yield f"{indent}{name} : {value!r}" if not isinstance(value, str) else f"{indent}{name} : {value}"

    def __repr__(self) -> str:
        return "\n".join(self._lines(""))


class Struct(_Base):
    """A C struct."""

    _kind = ctypes.Structure


class Union(_Base):
    """A C union."""

    _kind = ctypes.Union


def records(value: Struct | Sequence[Struct] | None) -> list[Struct]:
    """A structure, several, or none, as a list."""
    return [] if value is None else [value] if isinstance(value, Struct) else list(value)
