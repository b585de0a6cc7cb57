"""Initial values of variables as bytes: what memory holds at the start, and which places wait for an address."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from .elf import ObjectError
from .ir import Initial, Symbol, Variable

_FORMATS = {2: "<e", 4: "<f", 8: "<d"}
BIGGEST = 1 << 28  # bytes of one initialised variable; a few characters of text can ask for any amount


def image(variable: Variable) -> tuple[bytearray, dict[int, Symbol]]:
    """The variable's bytes, and the symbols whose address belongs at an offset."""
    if variable.initial is not None and variable.size > BIGGEST:
        raise ObjectError(f"{variable.name}: {variable.size} initialised bytes are more than {BIGGEST}")
    data = bytearray(variable.size if variable.initial is not None else 0)
    symbols: dict[int, Symbol] = {}
    if variable.initial is not None:
        _fill(variable, variable.initial, _shape(variable), 0, data, symbols)
    return data, symbols


def values(variable: Variable, data: bytes, symbols: Mapping[int, Symbol]) -> Initial:
    """The initial value that gives these bytes: nested as the dimensions are, without zeros at the end of each array."""
    size, kind = variable.type.bytes, variable.type.kind
    if size == 0 or not data or len(data) != variable.size or any(at % size for at in symbols):
        raise ObjectError(f"damaged: the initial value of {variable.name} does not fit its type")
    floats = kind == "f" and variable.type.elements == 1 and size in _FORMATS
    zero: Initial = 0.0 if floats else 0
    found: list[Initial | None] = []  # None stands for zeros
    for at in range(0, len(data), size):
        raw = data[at : at + size]
        number = _float(raw) if floats else int.from_bytes(raw, "little", signed=kind == "s")
        found.append(symbols.get(at) or (number if any(raw) else None))
    if variable.vector > 1:  # a vector is written whole
        n = variable.vector
        groups = (found[i : i + n] for i in range(0, len(found), n))
        found = [None if all(e is None for e in g) else tuple(zero if e is None else e for e in g) for g in groups]
        zero = (zero,) * n
    for n in reversed(variable.dims):
        found = [_row(found[i : i + n], zero) for i in range(0, len(found), n)]
        zero = (zero,)
    return zero if found[0] is None else found[0]


def _shape(variable: Variable) -> tuple[int, ...]:
    return variable.dims + ((variable.vector,) if variable.vector > 1 else ())


def _fill(variable: Variable, value: Initial, shape: tuple[int, ...], at: int, data: bytearray, symbols: dict[int, Symbol]) -> None:
    if isinstance(value, tuple):
        stride = variable.type.bytes
        for n in shape[1:]:
            stride *= n
        for i, part in enumerate(value):
            _fill(variable, part, shape[1:], at + i * stride, data, symbols)
    elif isinstance(value, Symbol):
        symbols[at] = value
    else:
        size = variable.type.bytes
        data[at : at + size] = scalar_bytes(value, variable.type.kind, size)


def scalar_bytes(value: int | float, kind: str, size: int) -> bytes:
    """One element: an int modulo its width, a float in the format of a floating-point type or of an untyped one of its width."""
    if isinstance(value, float) and kind in "fb" and size in _FORMATS:
        try:
            return struct.pack(_FORMATS[size], value)
        except OverflowError:
            return struct.pack(_FORMATS[size], float("inf") if value > 0 else float("-inf"))
    return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")


def _float(raw: bytes) -> float:
    number: float = struct.unpack(_FORMATS[len(raw)], raw)[0]
    return number


def _row(elements: list[Initial | None], zero: Initial) -> Initial | None:
    while elements and elements[-1] is None:
        elements.pop()
    return tuple(zero if e is None else e for e in elements) if elements else None
