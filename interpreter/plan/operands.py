"""Operands of an instruction as the sources and targets of a plan: slots, or what must be made of their bits."""

from __future__ import annotations

import struct
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warplab.assembler import ir
from warplab.assembler.ir import (
    Element,
    Function,
    Immediate,
    Minus,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)
from warplab.isa.spaces import LOCAL_BASE
from warplab.isa.types import TYPES, ScalarType

from .plan import (
    AddressSource,
    Convert,
    DType,
    Each,
    FrameAddress,
    Home,
    Not,
    Pack,
    Packed,
    ParameterAddress,
    PlusConstant,
    Pointer,
    ScalarConstant,
    SlotAs,
    Source,
    Special,
    Target,
    Tuple,
)

_U64 = np.dtype(np.uint64)
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


class Symbols(Protocol):
    """Where the linker and loader put things."""

    def address(self, v: Variable) -> int:
        """A variable's address in its own space."""

    def function_address(self, f: Function) -> int:
        """What a function's address is as a value."""

    def generic(self, v: Variable) -> int:
        """A variable's generic address."""

    @property
    def constants_at(self) -> int:
        """The upper half of the addresses of constant variables, of which a register of 32 bits holds the lower half."""

    def resolve(self, f: Function) -> Function:
        """The definition of a declared function."""

    @property
    def gap(self) -> int:
        """Bytes to leave between variables, for checkers."""


def immediate_bits(op: Immediate, t: ScalarType) -> int:
    """A literal as the bits of a type."""
    mask = (1 << t.bits) - 1
    if op.kind == "int" and not (t.kind == "f" and isinstance(op.value, float)):
        if t.kind == "f" and t.name in ("f32", "f64"):
            return int.from_bytes(struct.pack("<f" if t.bits == 32 else "<d", float(op.value)), "little")
        return int(op.value) & mask
    if op.kind == "f32":
        bits = int(op.value)
        if t.bits in (32, 64):  # where a double is wanted, ptxas takes the bits of 0f... as they stand
            return bits
        value = struct.unpack("<f", struct.pack("<I", bits))[0]
    elif isinstance(op.value, int):
        if t.bits == 64:
            return int(op.value)
        value = struct.unpack("<d", struct.pack("<Q", int(op.value)))[0]
    else:
        value = op.value
    if t.bits == 64:
        return int.from_bytes(struct.pack("<d", value), "little")
    if t.bits == 32:
        with np.errstate(all="ignore"):
            return int(np.float32(value).view(np.uint32))
    with np.errstate(all="ignore"):
        return int(np.float16(value).view(np.uint16))


class Operands:
    """Turns the operands of one function's instructions into sources and targets."""

    def __init__(self, homes: dict[int, Home], symbols: Symbols, frame: dict[int, int], first_constant: int, is_entry: bool) -> None:
        self.homes = homes
        self.symbols = symbols
        self.frame = frame  # id(Variable) -> offset
        self.constants: dict[tuple[int, str], int] = {}
        self.values: list[NDArray[Any]] = []
        self.first_constant = first_constant
        self.is_entry = is_entry

    def constant(self, bits: int, dtype: DType) -> int:
        """The slot of a constant."""
        key = (bits, dtype.str)
        slot = self.constants.get(key)
        if slot is None:
            slot = self.constants[key] = self.first_constant + len(self.values)
            raw = np.array([[bits & ((1 << 8 * dtype.itemsize) - 1)]], _UNSIGNED[dtype.itemsize])
            self.values.append(raw != 0 if dtype.kind == "b" else raw.view(dtype))
        return slot

    # ------------------------------------------------------------ sources

    def source(self, op: Operand, t: ScalarType, dtype: DType | None = None) -> Source:
        """An operand read as type t (in another dtype of its size where the instruction does not mind)."""
        dtype = dtype or t.dtype
        match op:
            case Register():
                return self._register(op, t, dtype)
            case Immediate():
                return self._immediate(op, t, dtype)
            case SpecialRegister():
                return Special(op.name + ("." + op.component if op.component else ""), dtype)
            case Negated():
                return Not(self.homes[op.register.index].slot)
            case Minus():  # the meaning changes the sign
                return self.source(op.operand, t, dtype)
            case ir.Plus():
                return PlusConstant(self.source(op.register, t, dtype), op.offset, dtype)
            case Element(part="x" | "y" | "z" | "w"):
                home = self.homes[op.register.index]
                return _bits(home.slot + "xyzw".index(op.part), home.dtype, dtype)
            case Element():
                return self._register(op.register, t, dtype)
            case Variable(register=Register() as register):
                return self._register(register, t, dtype)
            case Variable():
                return self._variable(op, 0, dtype)
            case Symbol(target=Function() as f):
                return self.constant(self.symbols.function_address(f) + op.offset, dtype)
            case Symbol(target=Variable() as v):
                return self.constant(self.symbols.generic(v) + op.offset, dtype) if op.generic else self._variable(v, op.offset, dtype)
            case Function():
                return self.constant(self.symbols.function_address(op), dtype)
            case Vector():
                return self.sources(op.elements, t)
            case Sink():
                return self.constant(0, dtype)
            case _:
                raise AssertionError(f"operand {op!r} as {t}")

    def sources(self, elements: tuple[Operand, ...], t: ScalarType) -> Tuple:
        """Several operands as a tuple."""
        return Tuple(tuple([self.source(e, t) for e in elements]))

    def _immediate(self, op: Immediate, t: ScalarType, dtype: DType) -> Source:
        if t.bits == 128:
            return Tuple((self.constant(int(op.value), _U64), self.constant(int(op.value) >> 64, _U64)))
        if t.elements > 1:
            return Packed(self.constant(immediate_bits(op, TYPES[f"b{t.bits}"] if op.kind == "int" else t), _UNSIGNED[t.bytes]), t)
        return self.constant(immediate_bits(op, t), dtype)

    def _variable(self, v: Variable, offset: int, dtype: DType) -> Source:
        if id(v) in self.frame:
            is_generic = (
                v.space == "param" and dtype.itemsize == 8
            )  # addresses in .param are generic ones, for those of an entry lie elsewhere
            return FrameAddress(self.frame[id(v)] + offset, dtype, LOCAL_BASE if is_generic else 0)
        if v.space == "param":
            return ParameterAddress(v, offset, dtype)
        return self.constant(self.symbols.address(v) + offset, dtype)

    def _register(self, r: Register, t: ScalarType, dtype: DType) -> Source:
        home = self.homes[r.index]
        slot = home.slot
        if r.vector > 1:
            return Tuple(tuple([_bits(slot + i, home.dtype, dtype) for i in range(r.vector)]))
        if t.bits == 128:
            return Tuple((slot, slot + 1))
        if t.elements > 1:
            return Packed(slot, t)
        return SlotAs(slot, home.dtype, dtype, True) if home.pointer else _bits(slot, home.dtype, dtype)

    # ------------------------------------------------------------ addresses

    def address(self, op: ir.Address, opaque: bool, space: str) -> Source:
        """Where an address operand points."""
        base = op.base
        source: Source
        if isinstance(base, Variable) and base.register is not None:
            base = base.register
        if isinstance(base, Register | Element) and _bits_of(base) == 32 and (start := self._start(space)):
            return AddressSource(self.source(base, TYPES["u32"]), op.offset + start, False)
        if isinstance(base, Element):
            source = self.source(base, TYPES[f"u{base.register.type.bits}"])
        elif isinstance(base, Register):
            home = self.homes[base.index]
            if home.pointer and opaque:
                return Pointer(home.slot, op.offset)
            source = SlotAs(home.slot, home.dtype, _UNSIGNED[home.dtype.itemsize], True)
        elif base is None:
            source = self.constant(0, _U64)
        elif isinstance(base, Function):
            source = self.constant(self.symbols.function_address(base), _U64)
        else:
            return self._variable(base, op.offset, _U64)
        return AddressSource(source, op.offset, opaque)

    def _start(self, space: str) -> int:
        """What the generic address of something in a space has in front of the 32 bits that a register holds."""
        if space == "const":
            return self.symbols.constants_at
        return LOCAL_BASE if space.startswith("param") and not self.is_entry else 0

    def number(self, op: Operand) -> ScalarConstant:
        """A constant operand."""
        assert isinstance(op, Immediate)
        return ScalarConstant(int(op.value))

    # ------------------------------------------------------------ destinations

    def target(self, op: Operand, t: ScalarType) -> Target:
        """Where a result of type t goes."""
        match op:
            case Sink():
                return None
            case Register():
                return self._write(op, t)
            case Variable(register=Register() as register):
                return self._write(register, t)
            case Element(part="x" | "y" | "z" | "w"):
                home = self.homes[op.register.index]
                return _convert(home.slot + "xyzw".index(op.part), home.dtype, t)
            case Element():  # a video selector, which the meaning itself applies
                return self._write(op.register, t)
            case Vector():
                return self.targets(op.elements, t)
            case Pair():
                return Each((self.target(op.first, t), self.target(op.second, TYPES["pred"])))
            case _:
                raise AssertionError(f"destination {op!r}")

    def targets(self, elements: tuple[Operand, ...], t: ScalarType) -> Each:
        """Where the elements of a tuple go."""
        return Each(tuple([self.target(e, t) for e in elements]), t.bits == 128)

    def _write(self, r: Register, t: ScalarType) -> Target:
        home = self.homes[r.index]
        slot = home.slot
        if r.vector > 1:
            return Each(tuple([_convert(slot + i, home.dtype, t) for i in range(r.vector)]))
        if t.bits == 128:
            return Each((slot, slot + 1))
        return Pack(slot, home.dtype, t) if t.elements > 1 else _convert(slot, home.dtype, t)


def _bits_of(base: Register | Element) -> int:
    return (base.register if isinstance(base, Element) else base).type.bits


def _bits(slot: int, kept: DType, wanted: DType) -> Source:
    return slot if kept == wanted else SlotAs(slot, kept, wanted)


def _convert(slot: int, kept: DType, t: ScalarType) -> Target:
    return slot if kept == t.dtype else Convert(slot, kept, t)
