"""From DWARF's bytes to functions, scopes, variables and types, with pyelftools, which the extra `debug` brings."""

from __future__ import annotations

import inspect
import io
from importlib import import_module
from typing import TYPE_CHECKING, Any

from warplab.assembler.demangle import short_name

from .sections import DebugSections
from .types import DEEPEST, VOID, LocatedAt, SourceMember, SourceScope, SourceVariable, VariableType

if TYPE_CHECKING:
    from collections.abc import Iterator

ENCODINGS = {2: "bool", 4: "float", 5: "signed", 6: "char", 7: "unsigned", 8: "char", 16: "char"}
ALWAYS = 1 << 62  # behind every address of the code


class DwarfReader:
    """Reads one module."""

    def __init__(self, sections: DebugSections) -> None:
        elf: Any = import_module("elftools.dwarf.dwarfinfo")
        given: dict[str, Any] = {}
        for name in list(inspect.signature(elf.DWARFInfo.__init__).parameters)[2:]:
            raw = sections.bytes.get("." + name.removesuffix("_sec"))
            given[name] = None if raw is None else elf.DebugSectionDescriptor(io.BytesIO(raw), name, 0, len(raw), 0)
        self.dwarf: Any = elf.DWARFInfo(elf.DwarfConfig(little_endian=True, machine_arch="x64", default_address_size=8), **given)
        self.types: dict[int, VariableType] = {}

    def functions(self) -> list[SourceScope]:
        """Every function that has code."""
        out = []
        for unit in self.dwarf.iter_CUs():
            for die in _functions(unit.get_top_DIE()):
                scope = self._scope(die, 0)
                if scope.ranges:
                    out.append(scope)
        return out

    def globals(self) -> list[SourceVariable]:
        """The variables outside of functions."""
        return [v for unit in self.dwarf.iter_CUs() for die in _globals(unit.get_top_DIE()) if (v := self._variable(die)) is not None]

    # ------------------------------------------------------------ scopes

    def _scope(self, die: Any, depth: int) -> SourceScope:
        out = SourceScope(self._ranges(die), name=self._name(die))
        for child in die.iter_children() if depth < DEEPEST else ():
            match child.tag:
                case "DW_TAG_variable" | "DW_TAG_formal_parameter":
                    if (v := self._variable(child)) is not None:
                        out.variables.append(v)
                case "DW_TAG_lexical_block" | "DW_TAG_inlined_subroutine":
                    inner = self._scope(child, depth + 1)
                    inner.ranges = inner.ranges or out.ranges
                    out.scopes.append(inner)
        return out

    def _ranges(self, die: Any) -> list[tuple[int, int]]:
        low, high = (die.attributes.get(f"DW_AT_{name}_pc") for name in ("low", "high"))
        if low is not None and high is not None:
            end = high.value if high.form == "DW_FORM_addr" else low.value + high.value
            return [(low.value, end)]
        if (at := die.attributes.get("DW_AT_ranges")) is None:
            return []
        base = self._base(die)
        return [(r.begin_offset + base, r.end_offset + base) for r in self.dwarf.range_lists().get_range_list_at_offset(at.value, die.cu)]

    @staticmethod
    def _base(die: Any) -> int:
        """The address that lists of a unit count from."""
        low = die.cu.get_top_DIE().attributes.get("DW_AT_low_pc")
        return 0 if low is None else int(low.value)

    def _variable(self, die: Any) -> SourceVariable | None:
        origin = _origin(die)
        name, type = self._name(die), origin.attributes.get("DW_AT_type")
        if not name or type is None:
            return None
        space = die.attributes.get("DW_AT_address_class") or origin.attributes.get("DW_AT_address_class")
        line = origin.attributes.get("DW_AT_decl_line")
        return SourceVariable(
            name, self.type(origin.get_DIE_from_attribute("DW_AT_type")), self._places(die), None if space is None else space.value,
            die.tag == "DW_TAG_formal_parameter", 0 if line is None else line.value,
        )  # fmt: skip

    def _places(self, die: Any) -> list[LocatedAt]:
        at = die.attributes.get("DW_AT_location")
        if at is None:
            constant = die.attributes.get("DW_AT_const_value")
            if constant is None or not isinstance(constant.value, int):
                return []
            return [LocatedAt(0, ALWAYS, bytes([0x0E]) + (constant.value & ((1 << 64) - 1)).to_bytes(8, "little") + b"\x9f")]
        if isinstance(at.value, list):
            return [LocatedAt(0, ALWAYS, bytes(at.value))]
        lists, base = self.dwarf.location_lists(), self._base(die)
        if lists is None:
            return []
        return [
            LocatedAt(e.begin_offset + base, e.end_offset + base, bytes(e.loc_expr))
            for e in lists.get_location_list_at_offset(at.value, die) if hasattr(e, "loc_expr")
        ]  # fmt: skip

    @staticmethod
    def _name(die: Any) -> str:
        name = _origin(die).attributes.get("DW_AT_name")
        return "" if name is None else name.value.decode(errors="replace")

    # ------------------------------------------------------------ types

    def type(self, die: Any) -> VariableType:
        """A type."""
        found = self.types.get(die.offset)
        if found is None:
            found = self.types[die.offset] = VariableType("void", "void")
            self._fill(found, die)
        return found

    def _target(self, die: Any) -> VariableType:
        return self.type(die.get_DIE_from_attribute("DW_AT_type")) if "DW_AT_type" in die.attributes else VOID

    def _fill(self, t: VariableType, die: Any) -> None:
        size = die.attributes.get("DW_AT_byte_size")
        t.name, t.size = self._name(die), 0 if size is None else int(size.value)
        match die.tag:
            case "DW_TAG_base_type":
                t.kind, t.encoding = "base", ENCODINGS.get(die.attributes["DW_AT_encoding"].value, "unsigned")
            case "DW_TAG_pointer_type":
                t.kind, t.target = "pointer", self._target(die)
            case "DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type":
                t.kind, t.target = "reference", self._target(die)
            case "DW_TAG_typedef" | "DW_TAG_volatile_type" | "DW_TAG_restrict_type" | "DW_TAG_atomic_type":
                t.kind, t.target = "alias", self._target(die)
            case "DW_TAG_const_type":
                t.kind, t.target = "alias", self._target(die)
                t.name = f"const {t.target}" if t.target.kind not in ("pointer", "array") else ""
            case "DW_TAG_structure_type" | "DW_TAG_class_type" | "DW_TAG_union_type":
                t.kind, t.keyword = "struct", die.tag.removeprefix("DW_TAG_").removesuffix("_type").removesuffix("ure")
                t.members = [m for child in die.iter_children() if (m := self._member(child)) is not None]
                t.variants = {value: m for child in die.iter_children() for value, m in self._variants(child)}
            case "DW_TAG_array_type":
                counts = [_count(child) for child in die.iter_children() if child.tag == "DW_TAG_subrange_type"]
                self._array(t, self._target(die), counts)
            case "DW_TAG_enumeration_type":
                t.kind = "enum"
                scope = f"{t.name}::" if "DW_AT_enum_class" in die.attributes else ""
                for c in die.iter_children():
                    if c.tag == "DW_TAG_enumerator":
                        name = short_name(self._name(c))
                        t.names[c.attributes["DW_AT_const_value"].value] = name if "::" in name else scope + name

    @staticmethod
    def _array(t: VariableType, element: VariableType, counts: list[int]) -> None:
        for count in reversed(counts[1:]):
            element = VariableType("array", target=element, count=count)
        t.kind, t.target, t.count, t.size = "array", element, counts[0] if counts else 0, 0

    def _variants(self, die: Any) -> Iterator[tuple[int, SourceMember]]:
        """The values of the member that says which other member holds, and these members."""
        for variant in die.iter_children() if die.tag == "DW_TAG_variant_part" else ():
            value = variant.attributes.get("DW_AT_discr_value")
            for child in variant.iter_children() if value is not None else ():
                if (m := self._member(child)) is not None:
                    yield value.value, m

    def _member(self, die: Any) -> SourceMember | None:
        if die.tag not in ("DW_TAG_member", "DW_TAG_inheritance") or "DW_AT_type" not in die.attributes:
            return None
        at = die.attributes.get("DW_AT_data_member_location")
        if at is None and ("DW_AT_external" in die.attributes or "DW_AT_declaration" in die.attributes):
            return None  # static
        value = 0 if at is None else at.value
        offset = _uleb(value[1:]) if isinstance(value, list) else int(value)
        return SourceMember(self._name(die), self._target(die), offset, die.tag == "DW_TAG_inheritance", _bits(die))


def _bits(die: Any) -> tuple[int, int] | None:
    """The bits of a bit field, from the lowest bit of the member's first byte on."""
    count, first, size = (die.attributes.get(f"DW_AT_{n}") for n in ("bit_size", "data_bit_offset", "byte_size"))
    if count is None:
        return None
    low = 0 if first is None else first.value
    if first is None and (high := die.attributes.get("DW_AT_bit_offset")) is not None and size is not None:
        low = size.value * 8 - high.value - count.value
    return (low, count.value) if 0 <= low < 64 and 0 < count.value <= 64 else None


def _uleb(raw: list[int]) -> int:
    out = 0
    for n, byte in enumerate(raw):
        out |= (byte & 0x7F) << 7 * n
        if byte < 0x80:
            break
    return out


def _count(die: Any) -> int:
    count, last = die.attributes.get("DW_AT_count"), die.attributes.get("DW_AT_upper_bound")
    if count is not None:
        return int(count.value) if isinstance(count.value, int) else 0
    return int(last.value) + 1 if last is not None and isinstance(last.value, int) and 0 <= last.value < 1 << 32 else 0


def _origin(die: Any) -> Any:
    """What an inlined or separately defined thing is an instance of."""
    for _ in range(DEEPEST):
        name = next((n for n in ("DW_AT_abstract_origin", "DW_AT_specification") if n in die.attributes), None)
        if name is None:
            break
        die = die.get_DIE_from_attribute(name)
    return die


def _functions(die: Any) -> Iterator[Any]:
    for child in die.iter_children():
        if child.tag == "DW_TAG_subprogram":
            yield child
        elif child.tag in ("DW_TAG_namespace", "DW_TAG_structure_type", "DW_TAG_class_type"):
            yield from _functions(child)


def _globals(die: Any) -> Iterator[Any]:
    for child in die.iter_children():
        if child.tag == "DW_TAG_variable":
            yield child
        elif child.tag == "DW_TAG_namespace":
            yield from _globals(child)
