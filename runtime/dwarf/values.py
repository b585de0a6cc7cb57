"""Values of the source: a type at a place, its members and elements, and how gdb prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..recording.telling import number
from .places import AtAddress, InBytes, NotThere, ThreadAt, Where
from .types import VariableType

MOST_SHOWN = 200  # elements of an array
NESTED = 6  # structures in one another that are shown
FLOATS = {2: np.float16, 4: np.float32, 8: np.float64}


@dataclass(frozen=True, slots=True)
class SourceValue:
    """A variable, a member, an element, or what a pointer points to."""

    thread: ThreadAt
    type: VariableType
    where: Where
    bits: tuple[int, int] | None = None  # of a bit field

    # ------------------------------------------------------------ parts

    @property
    def active(self) -> SourceValue:
        """The value itself; of a variable that has several types the one that it holds now."""
        t = self.type.plain
        if not t.variants:
            return self
        chosen = int(SourceValue(self.thread, t.members[0].type, self.where.moved(t.members[0].offset)).scalar()) if t.members else 0
        m = t.variants.get(chosen)
        if m is None:
            raise NotThere("not written yet")
        return SourceValue(self.thread, m.type, self.where.moved(m.offset))

    def member(self, name: str) -> SourceValue:
        """A member; through a reference or a pointer, too."""
        t = self.type.plain
        if t.kind in ("pointer", "reference"):
            return self.pointed().member(name)
        m = t.member(name)
        if m is None:
            known = " ".join(m.name for m in t.members if m.name) or "none"
            raise UsageError(f"{self.type} has no member {name}; there are {known}")
        return SourceValue(self.thread, m.type, self.where.moved(m.offset), m.bits)

    def element(self, index: int) -> SourceValue:
        """An element of an array, or of what a pointer points to."""
        t = self.type.plain
        if t.variants:
            return self.active.element(index)
        if t.kind == "reference":
            return self.pointed().element(index)
        if t.kind == "pointer":
            return SourceValue(self.thread, t.of, self.pointed().where.moved(index * max(t.of.bytes, 1)))
        if t.kind != "array":
            raise UsageError(f"{self.type} is no array and no pointer")
        if t.count and not 0 <= index < t.count:
            raise UsageError(f"[{index}] is not one of the {t.count} elements")
        return SourceValue(self.thread, t.of, self.where.moved(index * t.of.bytes))

    def pointed(self) -> SourceValue:
        """What a pointer or a reference points to."""
        t = self.type.plain
        if t.kind == "array":
            return self.element(0)
        if t.kind not in ("pointer", "reference"):
            raise UsageError(f"{self.type} is no pointer")
        address = int.from_bytes(self.thread.read(self.where, 8).tobytes(), "little")
        return SourceValue(self.thread, t.of, self.thread.generic(address))

    def address(self) -> SourceValue:
        """A pointer to it."""
        if not isinstance(self.where, AtAddress):
            raise UsageError("it is in a register, and has no address")
        return SourceValue(self.thread, VariableType("pointer", target=self.type), InBytes(self.where.generic.to_bytes(8, "little")))

    def parts(self) -> Iterator[tuple[str, SourceValue]]:
        """Members or elements with their names; of a pointer to a structure those of the structure, of another one what it points to."""
        t = self.type.plain
        match t.kind:
            case "struct":
                for m in t.members:
                    yield m.name or f"<{m.type}>", SourceValue(self.thread, m.type, self.where.moved(m.offset), m.bits)
            case "array":
                for k in range(t.count):
                    yield f"[{k}]", self.element(k)
            case "reference":
                yield from self.pointed().parts()
            case "pointer" if t.of.plain.kind == "struct":
                yield from self.pointed().parts()
            case "pointer" if t.of.bytes:
                yield "*", self.pointed()

    @property
    def has_parts(self) -> bool:
        """Is something inside?"""
        t = self.type.plain
        while t.kind == "reference":
            t = t.of.plain
        return bool((t.kind == "struct" and t.members) or (t.kind == "array" and t.count) or (t.kind == "pointer" and t.of.bytes))

    # ------------------------------------------------------------ values

    def scalar(self) -> Any:
        """A number; of a pointer or an array the address."""
        t = self.type.plain
        if t.variants:
            return self.active.scalar()
        if t.kind == "reference":
            return self.pointed().scalar()
        if t.kind == "array" and isinstance(self.where, AtAddress):
            return np.uint64(self.where.generic)
        if t.kind not in ("base", "enum", "pointer"):
            raise UsageError(f"{self.type} is not a number")
        out: Any = numbers(t, self.thread.read(self.where, t.bytes), self.bits)[0]
        return out

    def text(self, form: str = "", depth: int = 0) -> str:
        """As gdb prints it."""
        try:
            return self._text(form, depth)
        except NotThere as e:
            return f"<{e}>"
        except RecursionError:  # a damaged type that consists of itself
            return "{...}"

    def _text(self, form: str, depth: int) -> str:
        t = self.type.plain
        if t.variants:
            return self.active._text(form, depth)
        if t.kind == "struct":
            if depth >= NESTED:
                return "{...}"
            return "{" + ", ".join(f"{name} = {part.text(form, depth + 1)}" for name, part in self.parts()) + "}"
        if t.kind == "array":
            return self._array(form, depth) if depth < NESTED else "{...}"
        if t.kind == "reference":
            inner = self.pointed()
            return (
                f"@{inner.where.generic:#x}: {inner.text(form, depth)}" if isinstance(inner.where, AtAddress) else inner.text(form, depth)
            )
        value = self.scalar()
        if form:
            return number(value, form)
        if t.kind == "pointer":
            at = int(value)
            where = self.thread.generic(at)
            named = self.thread.rec.name_of(where.space, where.address)
            known = "" if "[0x" in named else f" <{named}>"
            return f"({self.type}) {at:#x}{known}" if not depth else f"{at:#x}{known}"
        if t.kind == "enum":
            return t.names.get(int(value)) or t.names.get(int(value) & ((1 << 8 * t.bytes) - 1)) or str(int(value))
        if t.encoding == "bool":
            return "true" if value else "false"
        if t.encoding == "char" and t.bytes == 1:
            return f"{int(value)} {chr(int(value) & 0xFF)!r}"
        return number(value)

    def _array(self, form: str, depth: int) -> str:
        t = self.type.plain
        element = t.of.plain
        if element.encoding == "char" and element.bytes == 1 and not form:
            text = self.thread.read(self.where, min(t.bytes, MOST_SHOWN)).tobytes().split(b"\0")[0].decode("latin-1")
            return '"' + text.encode("unicode_escape").decode().replace('"', '\\"') + '"'
        shown = [self.element(k).text(form, depth + 1) for k in range(min(t.count, MOST_SHOWN))]
        return "{" + ", ".join(shown) + (", ..." if t.count > MOST_SHOWN else "") + "}"


def numbers(t: VariableType, raw: NDArray[np.uint8], bits: tuple[int, int] | None = None) -> NDArray[Any]:
    """Bytes as the numbers of a base type, an enumeration or a pointer; `bits`: of a bit field."""
    size = t.bytes
    if size not in (1, 2, 4, 8):
        raise UsageError(f"{t} has {size} bytes")
    if t.encoding == "float" and size in FLOATS:
        return raw.view(FLOATS[size])
    is_signed = t.encoding in ("signed", "char") or t.kind == "enum"
    values = raw.view(f"{'i' if is_signed else 'u'}{size}")
    if bits is not None:
        first, count = bits
        shifted = raw.view(f"u{size}").astype(np.uint64) << np.uint64(64 - first - count)
        return (shifted.view(np.int64) if is_signed else shifted) >> (64 - count)
    return values.astype(np.bool_) if t.encoding == "bool" else values
