"""Enums and structures from compact tables: a class is made when it is first looked up.

enums    NAME PREFIX: A B=5 C            members PREFIXA = 0, PREFIXB = 5, PREFIXC = 6
         NAME PREFIX < OTHER: -A +B=7    those of OTHER, another table's, in this one's spelling, but for those named
         NAME PREFIX = OTHER:            the members of OTHER
structs  struct NAME field:type ...      type is a basic one of layout.py, an enum, a handle, a structure; type[4]; type* for a list
         union NAME field:type ...       of structures; bytes[8]; |field: at the place of the field before
         handle NAME ...                 number u64 NAME ...            alias NAME=OTHER ...            ending _ST NAME ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Annotated, Any

from . import layout

Find = Callable[[str], Any]


def camel(name: str) -> str:
    """MAX_THREADS as MaxThreads."""
    return "".join(part[:1].upper() + part[1:].lower() for part in name.split("_"))


def members(words: list[str]) -> dict[str, int]:
    """A B=5 C as names and numbers: one more than the one before where none is given."""
    out: dict[str, int] = {}
    number = -1
    for word in words:
        name, _, value = word.partition("=")
        number = int(value) if value else number + 1
        out[name] = number
    return out


class ClassTable:
    """Classes by name; its attribute() and names() serve as a module's __getattr__ and __dir__."""

    module: str
    lines: Mapping[str, object]

    def get(self, name: str) -> type[Any] | None:
        """A class by name."""
        raise NotImplementedError

    def attribute(self, name: str) -> Any:
        """A class by name, as a module's attribute."""
        found = self.get(name)
        if found is None:
            raise AttributeError(f"module {self.module!r} has no attribute {name!r}")
        return found

    def names(self) -> list[str]:
        """Every name."""
        return sorted(self.lines)


class Enums(ClassTable):
    """The enums of a table; `source` finds those of another table by name."""

    def __init__(self, module: str, text: str, source: Enums | None = None) -> None:
        self.module = module
        self.source = source
        self.lines: dict[str, str] = {line.split(" ", 1)[0]: line for line in text.replace("\n    ", " ").splitlines() if line}
        self._made: dict[str, type[IntEnum]] = {}

    def get(self, name: str) -> type[IntEnum] | None:
        """An enum by name."""
        if name not in self.lines:
            return None
        found = self._made.get(name)
        if found is None:
            _, values = self.read(name)
            make: Callable[..., type[IntEnum]] = IntEnum  # type: ignore[assignment]  # the functional form gives a class
            found = self._made[name] = make(name, values, module=self.module)
        return found

    def read(self, name: str) -> tuple[str, dict[str, int]]:
        """(prefix, members with it) of an enum."""
        head, _, rest = self.lines[name].partition(":")
        _, prefix, *base = head.split(" ")
        prefix = "" if prefix == "-" else prefix
        words = rest.split()
        if base and base[0] == "=":
            return self.read(base[1])
        if not base:
            return prefix, {prefix + n: v for n, v in members(words).items()}
        assert self.source is not None
        theirs, values = self.source.read(base[1])
        out = {prefix + camel(n.removeprefix(theirs)): v for n, v in values.items()}
        for word in words:
            if word[0] == "-":
                del out[prefix + word[1:]]
        out |= {prefix + n: v for n, v in members([w[1:] for w in words if w[0] == "+"]).items()}
        return prefix, dict(sorted(out.items(), key=lambda item: item[1]))


class Structs(ClassTable):
    """The handles and structures of a table; `find` knows the enums and whatever else a field may be."""

    def __init__(self, module: str, text: str, find: Find) -> None:
        self.module = module
        self.find = find
        self.lines: dict[str, tuple[str, list[str]]] = {}
        for line in text.replace("\n    ", " ").splitlines():
            kind, *words = line.split()
            if kind in ("struct", "union"):
                self.lines[words[0]] = kind, words[1:]
            elif kind == "number":
                self.lines |= {n: (kind, [words[0]]) for n in words[1:]}
            elif kind == "ending":  # NAME_ST is another name of NAME
                self.lines |= {n + words[0]: ("alias", [n]) for n in words[1:]}
            else:
                self.lines |= {n: (kind, [other]) for n, _, other in (w.partition("=") for w in words)}
        self._made: dict[str, type[Any]] = {}

    def get(self, name: str) -> type[Any] | None:
        """A class by name."""
        if name not in self.lines:
            return None
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> type[Any]:
        kind, words = self.lines[name]
        if kind == "alias":
            found = self.get(words[0])
            assert found is not None, words
            return found
        space: dict[str, Any] = {"__module__": self.module}
        if kind in ("handle", "number"):
            space["__slots__"] = ()
            if kind == "handle":
                return type(name, (layout.Handle,), space)
            return type(name, (layout.NumberHandle,), space | {"c_type": self._type(words[0]).__metadata__[0]})
        fields = [w.partition(":") for w in words]
        space["__annotations__"] = {field.removeprefix("|"): self._type(kind) for field, _, kind in fields}
        space["_overlaid"] = frozenset(field[1:] for field, _, _ in fields if field[0] == "|")
        return type(name, (layout.Struct if kind == "struct" else layout.Union,), space)

    def _type(self, text: str) -> Any:
        m = re.fullmatch(r"(\w+)(?:\[(\d+)\]|(\*))?", text)
        assert m is not None, text
        if m[1] == "bytes":
            return Annotated[bytes, int(m[2])]
        inner = self.get(m[1]) or getattr(layout, m[1], None) or self.find(m[1])
        assert inner is not None, text
        return Annotated[list[inner], "pointer" if m[3] else int(m[2])] if m[2] or m[3] else inner  # type: ignore[valid-type]
