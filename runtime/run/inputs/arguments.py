"""Arguments of a launch: which is meant for which parameter, and its bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from warplab.assembler.demangle import short_name
from warplab.assembler.ir import Variable

from ...errors import UsageError
from ...reports.tables import counted
from .memory import RunMemory
from .tensor_maps import MAP_BYTES
from .values import Argument, BufferValue, NullValue, ScalarValue, scalar_bytes

GENERATED = re.compile(
    r"_param_\d+$"
)  # nvcc and clang name parameters so; a person who names them by the source's names gives them in order


def in_order(
    given: Sequence[Argument | str], formals: Sequence[tuple[Variable, int]], kernel: str, memory: RunMemory
) -> list[Argument | str]:
    """An argument for each parameter: by name, else in turn."""
    names = [v.name for v, _ in formals]
    by_name: dict[str, Argument | str] = {}
    in_turn: list[Argument | str] = []
    for a in given:
        if isinstance(a, Argument) and a.name in names and isinstance(a.name, str):
            if a.name in by_name:
                raise UsageError(f"--arg {a.name}=... is given twice")
            by_name[a.name] = a
            continue
        if isinstance(a, Argument) and a.name and isinstance(a.value, ScalarValue) and not any(GENERATED.search(n) for n in names):
            raise UsageError(f"{kernel} has no parameter {a.name}; its parameters are {', '.join(names) or 'none'}")
        in_turn.append(a)
    for n in names:  # a texture, a surface or a tensor map is the argument of its name
        b = memory.buffers.get(n)
        if n in memory.maps or (b is not None and b.texels is not None and n not in given):
            by_name.setdefault(n, n)
    rest = iter(in_turn)
    said = ", ".join(map(plain_name, names))
    out = []
    for n in names:
        a = by_name.get(n) or next(rest, None)  # type: ignore[assignment]
        if a is None:
            raise UsageError(
                f"{short_name(kernel)} has {counted(len(names), 'parameter')} ({said}), and no value is given for {plain_name(n)}"
            )
        out.append(a)
    if list(rest):
        raise UsageError(
            f"{short_name(kernel)} has {counted(len(names), 'parameter')} ({said}), and {counted(len(given), 'argument')} are given"
        )
    return out


def parameter_bytes(formal: Variable, arg: Argument | str, memory: RunMemory) -> bytes:
    """What a parameter gets."""
    if isinstance(arg, str) and arg in memory.maps and (formal.dims or arg == formal.name):
        return _tensor_map(memory, formal, memory.maps[arg])
    if isinstance(arg, str):
        return memory.buffers[arg].address.to_bytes(8, "little")
    match arg.value:
        case BufferValue() as value:
            raw = value.array.tobytes()
            if formal.dims and len(raw) == formal.size:
                return raw  # a structure by value
            if formal.dims:
                how = "--tensormap gives it a tensor map" if formal.size == MAP_BYTES else f"give it an array of {formal.size} bytes"
                raise UsageError(f"parameter {plain_name(formal.name)} has {formal.size} bytes by value, the array has {len(raw)}: {how}")
            if formal.size != memory.pointer_bytes or formal.type.kind == "f":
                raise UsageError(
                    f"parameter {plain_name(formal.name)} is a .{formal.type.name}, not a pointer: give it a number, not an array"
                )
            short = plain_name(formal.name)
            name = arg.name or (formal.name if short in memory.buffers else short)
            return memory.add(name, arg.way, value).address.to_bytes(formal.size, "little")
        case NullValue():
            return bytes(formal.size)
        case ScalarValue(text):
            if formal.dims:
                raise UsageError(f"parameter {plain_name(formal.name)} has {formal.size} bytes: give it an array with @file.npy")
            return scalar_bytes(text, formal.type, plain_name(formal.name))


def _tensor_map(memory: RunMemory, formal: Variable, words: bytes) -> bytes:
    """A tensor map as an argument: the map itself, or where a pointer is wanted its address."""
    if formal.size == len(words):
        return words
    if formal.size != 8:
        raise UsageError(f"parameter {plain_name(formal.name)} has {formal.size} bytes; a tensor map has {len(words)}, its address has 8")
    address = memory.context.allocate(len(words))
    memory.context.bytes_at(address, len(words))[:] = np.frombuffer(words, np.uint8)
    return address.to_bytes(8, "little")


def plain_name(parameter: str) -> str:
    """A parameter's name for people: compilers write the kernel's before the number."""
    found = GENERATED.search(parameter)
    return parameter if found is None else found[0].lstrip("_")
