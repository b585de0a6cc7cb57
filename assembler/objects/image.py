"""Initial values of variables as bytes: what memory holds at the start, and which places wait for an address."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from ..ir import Initial, Symbol, Variable, leaves_of
from .elf import ObjectError

_FORMATS = {2: "<e", 4: "<f", 8: "<d"}
BIGGEST = 1 << 28  # bytes of one initialised variable; a few characters of text can ask for any amount


def image(variable: Variable) -> tuple[bytearray, dict[int, Symbol]]:
    """The variable's bytes, and the symbols whose address belongs at an offset.

    As with ptxas a short inner list is not padded: what follows it closes up, and the zeros come last.
    """
    if variable.initial is None:
        return bytearray(), {}
    if variable.size > BIGGEST:
        raise ObjectError(f"{variable.name}: {variable.size} initialised bytes are more than {BIGGEST}")
    data, symbols = bytearray(variable.size), dict[int, Symbol]()
    size = variable.type.bytes
    for i, value in enumerate(leaves_of(variable.initial)):
        if isinstance(value, Symbol):
            symbols[i * size] = value
        else:
            data[i * size : (i + 1) * size] = _bytes(value, variable.type.kind, size)
    if len(data) != variable.size:
        raise ObjectError(f"{variable.name} has more initial values than elements")
    return data, symbols


def values(variable: Variable, data: bytes, symbols: Mapping[int, Symbol]) -> Initial:
    """The initial value that gives these bytes: nested as the dimensions are, without the zeros at its end."""
    size, kind = variable.type.bytes, variable.type.kind
    if size == 0 or not data or len(data) != variable.size or any(at % size for at in symbols):
        raise ObjectError(f"damaged: the initial value of {variable.name} does not fit its type")
    floats = kind == "f" and variable.type.elements == 1 and size in _FORMATS
    filled = max(len(data.rstrip(b"\0")), *(at + size for at in symbols), 1)
    row = variable.vector * size  # a vector is written whole
    found: list[Initial] = []
    for at in range(0, filled + -filled % row, size):
        raw = data[at : at + size]
        number = struct.unpack(_FORMATS[size], raw)[0] if floats else int.from_bytes(raw, "little", signed=kind == "s")
        found.append(symbols.get(at, number))
    for n in reversed([*variable.dims, *([variable.vector] if variable.vector > 1 else [])]):
        found = [tuple(found[i : i + n]) for i in range(0, len(found), n)]
    return found[0]


def _bytes(value: int | float, kind: str, size: int) -> bytes:
    """One element: an int modulo its width, a float in the format of a floating-point type or of an untyped one of its width."""
    if isinstance(value, float) and kind in "fb" and size in _FORMATS:
        try:
            return struct.pack(_FORMATS[size], value)
        except OverflowError:
            return struct.pack(_FORMATS[size], float("inf") if value > 0 else float("-inf"))
    return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")
