"""Operands of an instruction as slots of the register list, or as functions of it where bits must be cut, viewed or computed."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import (
    Address,
    Element,
    Function,
    Immediate,
    Minus,
    Negated,
    Operand,
    Pair,
    Plus,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)
from warplab.isa.spaces import LOCAL_BASE
from warplab.isa.types import TYPES, ScalarType

from ..vector.values import Shifted, plain
from .plan import Home

Array = NDArray[Any]
Get = Callable[[list[Any]], Any]
Set = Callable[[list[Any], Any], None]


class Symbols(Protocol):
    """Where the linker and loader put things."""

    def address(self, v: Variable) -> int:
        """A variable's address in its own space."""

    def function_address(self, f: Function) -> int:
        """What a function's address is as a value."""

    def generic(self, v: Variable) -> int:
        """A variable's generic address."""

    def resolve(self, f: Function) -> Function:
        """The definition of a declared function."""


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
    """Turns operands into slots and functions for one function's homes."""

    def __init__(self, homes: dict[int, Home], symbols: Symbols, frame: dict[int, int], first_constant: int) -> None:
        self.homes = homes
        self.symbols = symbols
        self.frame = frame
        self.constants: dict[tuple[int, str], int] = {}
        self.values: list[Array] = []
        self.first_constant = first_constant

    def constant(self, bits: int, dtype: np.dtype[Any]) -> int:
        """The slot of a constant."""
        key = (bits, dtype.str)
        slot = self.constants.get(key)
        if slot is None:
            slot = self.constants[key] = self.first_constant + len(self.values)
            raw = np.array([[bits & ((1 << 8 * dtype.itemsize) - 1)]], f"u{dtype.itemsize}")
            self.values.append(raw != 0 if dtype.kind == "b" else raw.view(dtype))
        return slot

    # ------------------------------------------------------------ sources

    def source(self, op: Operand, t: ScalarType, dtype: np.dtype[Any] | None = None) -> int | Get:
        """An operand read as type t (in another dtype of its size where the instruction does not mind)."""
        dtype = dtype or t.dtype
        match op:
            case Register():
                return self._register(op, t, dtype)
            case Immediate():
                if t.bits == 128:
                    low, high = (self.constant(int(op.value) >> s, np.dtype(np.uint64)) for s in (0, 64))
                    return lambda R: (R[low], R[high])
                if t.elements > 1:
                    whole = self.constant(immediate_bits(op, TYPES[f"b{t.bits}"] if op.kind == "int" else t), np.dtype(f"u{t.bytes}"))
                    return _unpack(whole, t)
                return self.constant(immediate_bits(op, t), dtype)
            case SpecialRegister():
                return self._special(op, dtype)
            case Negated():
                slot = self.homes[op.register.index].slot
                return lambda R: ~R[slot]
            case Minus():  # the meaning changes the sign
                return self.source(op.operand, t, dtype)
            case Plus():
                get = as_get(self.source(op.register, t, dtype))
                by = np.array([[op.offset & ((1 << 8 * dtype.itemsize) - 1)]], f"u{dtype.itemsize}").view(dtype)
                return lambda R: get(R) + by
            case Element():
                home = self.homes[op.register.index]
                if op.part in "xyzw":
                    return self._bits(home.slot + "xyzw".index(op.part), home.dtype, dtype, t)
                return self._register(op.register, t, dtype)
            case Variable() if op.register is not None:
                return self._register(op.register, t, dtype)
            case Variable():
                return self._variable(op, 0, dtype)
            case Symbol():
                if isinstance(op.target, Function):
                    return self.constant(self.symbols.function_address(op.target) + op.offset, dtype)
                if op.generic:
                    return self.constant(self.symbols.generic(op.target) + op.offset, dtype)
                return self._variable(op.target, op.offset, dtype)
            case Function():
                return self.constant(self.symbols.function_address(op), dtype)
            case Vector():
                return self.sources(op.elements, t)
            case Sink():
                return self.constant(0, dtype)
            case _:
                raise AssertionError(f"operand {op!r} as {t}")

    def sources(self, elements: tuple[Operand, ...], t: ScalarType) -> Get:
        """Several operands as a tuple."""
        gets = [as_get(self.source(e, t)) for e in elements]

        def get(R: list[Any]) -> tuple[Any, ...]:
            out: list[Any] = []
            for g in gets:
                v = g(R)
                out.extend(v) if type(v) is tuple else out.append(v)
            return tuple(out)

        return get

    def _variable(self, v: Variable, offset: int, dtype: np.dtype[Any]) -> int | Get:
        if id(v) in self.frame:
            at = self.frame[id(v)] + offset
            if v.space == "param" and dtype.itemsize == 8:  # addresses in .param are generic ones, for those of an entry lie elsewhere
                at += LOCAL_BASE
            return lambda R: np.array([[R[0].act.base + at]], dtype)
        if v.space == "param":
            at = offset
            return lambda R: np.array([[R[0].wave.launch.param_address(v) + at]], dtype)
        return self.constant(self.symbols.address(v) + offset, dtype)

    def _special(self, op: SpecialRegister, dtype: np.dtype[Any]) -> Get:
        name = op.name + ("." + op.component if op.component else "")

        def get(R: list[Any]) -> Array:
            v = R[0].special(name)
            out: Array = v if v.dtype == dtype else v.astype(dtype) if v.dtype.itemsize != dtype.itemsize else v.view(dtype)
            return out

        return get

    def _register(self, r: Register, t: ScalarType, dtype: np.dtype[Any]) -> int | Get:
        home = self.homes[r.index]
        slot = home.slot
        if r.vector > 1:
            parts = [as_get(self._bits(slot + i, home.dtype, dtype, t)) for i in range(r.vector)]
            return lambda R: tuple(p(R) for p in parts)
        if t.bits == 128:
            return lambda R: (R[slot], R[slot + 1])
        if t.elements > 1:
            return _unpack(slot, t)
        if home.pointer and home.dtype == dtype:
            return lambda R: plain(R[slot])
        if home.pointer:
            get = as_get(self._bits(slot, home.dtype, dtype, t))
            return lambda R: get({slot: plain(R[slot])})  # type: ignore[arg-type]
        return self._bits(slot, home.dtype, dtype, t)

    @staticmethod
    def _bits(slot: int, have: np.dtype[Any], want: np.dtype[Any], t: ScalarType) -> int | Get:
        if have == want:
            return slot
        if have.itemsize == want.itemsize:
            return lambda R: R[slot].view(want)
        unsigned, cut = np.dtype(f"u{have.itemsize}"), np.dtype(f"u{want.itemsize}")
        if have.kind == "b" or want.kind == "b":
            return lambda R: R[slot].astype(want)
        return lambda R: R[slot].view(unsigned).astype(cut).view(want)

    # ------------------------------------------------------------ addresses

    def address(self, op: Address, opaque: bool, bits: int = 64) -> Get:
        """Where an address operand points: a Shifted where the meaning only hands it on, else an array of u64."""
        base = op.base
        offset = op.offset
        if isinstance(base, Element):
            get = as_get(self.source(base, TYPES[f"u{base.register.type.bits}"]))
        elif isinstance(base, Register) or (isinstance(base, Variable) and base.register is not None):
            r = base if isinstance(base, Register) else base.register
            assert r is not None
            home = self.homes[r.index]
            slot = home.slot
            if home.pointer and opaque:
                if offset == 0:
                    return lambda R: R[slot]

                def moved(R: list[Any]) -> Shifted:
                    v = R[slot]
                    if type(v) is not Shifted:
                        v = R[slot] = Shifted(v)
                    return v.moved(offset)

                return moved
            unsigned = np.dtype(f"u{home.dtype.itemsize}")
            get = (lambda R: plain(R[slot])) if home.dtype == unsigned else (lambda R: plain(R[slot]).view(unsigned))
        elif base is None:
            get = as_get(self.constant(0, np.dtype(np.uint64)))
        elif isinstance(base, Function):
            get = as_get(self.constant(self.symbols.function_address(base), np.dtype(np.uint64)))
        else:
            found = self._variable(base, offset, np.dtype(np.uint64))
            return as_get(found)
        if opaque:
            return lambda R: Shifted(get(R), offset)
        delta = np.uint64(offset & (2**64 - 1))
        return lambda R: get(R).astype(np.uint64) + delta

    # ------------------------------------------------------------ destinations

    def target(self, op: Operand, t: ScalarType) -> int | Set | None:
        """Where a result of type t goes; None for `_`."""
        match op:
            case Sink():
                return None
            case Register():
                return self._write(op, t)
            case Variable() if op.register is not None:
                return self._write(op.register, t)
            case Element() if op.part in "xyzw":
                home = self.homes[op.register.index]
                return self._convert(home.slot + "xyzw".index(op.part), home.dtype, t, None)
            case Element():  # a video selector, which the meaning itself applies
                return self._write(op.register, t)
            case Vector():
                return self.targets(op.elements, t)
            case Pair():
                return self._pair(op, t)
            case _:
                raise AssertionError(f"destination {op!r}")

    def targets(self, elements: tuple[Operand, ...], t: ScalarType) -> Set:
        """Where the elements of a tuple go."""
        sets = [as_set(self.target(e, t)) for e in elements]
        if t.bits == 128:

            def put_halves(R: list[Any], values: Any) -> None:
                for i, s in enumerate(sets):
                    s(R, values[2 * i : 2 * i + 2])

            return put_halves

        def put(R: list[Any], values: Any) -> None:
            for s, v in zip(sets, values, strict=False):
                s(R, v)

        return put

    def _pair(self, op: Pair, t: ScalarType) -> Set:
        first, second = as_set(self.target(op.first, t)), as_set(self.target(op.second, TYPES["pred"]))

        def put(R: list[Any], v: Any) -> None:
            first(R, v[0])
            second(R, v[1])

        return put

    def _write(self, r: Register, t: ScalarType) -> int | Set:
        home = self.homes[r.index]
        slot = home.slot
        if r.vector > 1:
            parts = [as_set(self._convert(slot + i, home.dtype, t, None)) for i in range(r.vector)]

            def put(R: list[Any], values: Any) -> None:
                for s, v in zip(parts, values, strict=True):
                    s(R, v)

            return put
        if t.bits == 128:

            def put_both(R: list[Any], v: Any) -> None:
                R[slot], R[slot + 1] = v

            return put_both
        if t.elements > 1:
            whole = np.dtype(f"u{t.bytes}")
            inner = self._convert(slot, home.dtype, TYPES[f"b{t.bits}"], None)
            finish = as_set(inner)
            return lambda R, v: finish(R, pack(v, whole))
        return self._convert(slot, home.dtype, t, None)

    @staticmethod
    def _convert(slot: int, have: np.dtype[Any], t: ScalarType, _: None) -> int | Set:
        dtype = t.dtype
        if dtype == have:
            return slot
        if dtype.itemsize == have.itemsize:

            def view(R: list[Any], v: Any) -> None:
                R[slot] = v if v.dtype == have else v.view(have)

            return view
        extended = np.dtype(f"{'i' if t.kind == 's' else 'u'}{have.itemsize}")

        def extend(R: list[Any], v: Any) -> None:
            if v.dtype.kind == "f":
                v = v.view(f"u{v.dtype.itemsize}")
            R[slot] = v.astype(extended).view(have)

        return extend


def as_get(source: int | Get) -> Get:
    """A source as a function."""
    if isinstance(source, int):
        slot = source
        return lambda R: R[slot]
    return source


def as_set(target: int | Set | None) -> Set:
    """A target as a function."""
    if target is None:
        return lambda R, v: None
    if isinstance(target, int):
        slot = target

        def put(R: list[Any], v: Any) -> None:
            R[slot] = v

        return put
    return target


def _unpack(slot: int, t: ScalarType) -> Get:
    element = np.dtype(f"u{t.dtype.itemsize}")

    def get(R: list[Any]) -> Array:
        v = np.ascontiguousarray(plain(R[slot]))
        return v.view(element).reshape(*v.shape, t.elements).view(t.dtype)

    return get


def pack(v: Array, whole: np.dtype[Any]) -> Array:
    """An array with an axis of elements as one with whole containers."""
    return np.ascontiguousarray(v).view(f"u{v.dtype.itemsize}").view(whole)[..., 0]
