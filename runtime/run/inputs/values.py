"""Values as people write them on a command line or in a comment, `f32[1000]:arange`, as numpy arrays and parameter bytes.

VALUE   a number (typed by the .param)      null      @file.npy      @picture.png
        DTYPE[SHAPE]      DTYPE[SHAPE]:INIT
INIT    zeros ones fill(x) arange range(a,b,s) rand(seed) randn(seed) [1,2,3] @file.npy noinit

Colons may stand for the brackets, which a shell would have quoted: f32:1000:arange, u8:480x640, f32:64:rand:1.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warplab.isa.types import ScalarType

from ...errors import UsageError
from .png import read_png

Array = NDArray[np.generic]
POISON = 0xA5  # what an `out:` buffer holds before the launch
MAX_BYTES = 1 << 32

DTYPES = {
    **{f"{k}{n}": np.dtype(f"{'i' if k in 'si' else 'u'}{n // 8}") for k in "usib" for n in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "bf16": np.dtype(np.uint16), "pred": np.dtype(np.uint8),
}  # fmt: skip
_BUFFER = re.compile(r"^(?P<type>[a-z]+\d*)(?:\[(?P<shape>[^\]]*)\]|:(?P<plain>\d[\dx,]*))(?::(?P<init>.+))?$", re.S)
_CALL = re.compile(r"^(?P<name>[a-z]+)(?:\((?P<args>.*)\)|:(?P<plain>.+))?$", re.S)
_NUMBER = re.compile(r"^[-+]?(0[xX][0-9a-fA-F]+|0[fFdD][0-9a-fA-F]+|[\d.]+([eE][-+]?\d+)?|inf|nan|true|false)$")
_FLOATING = re.compile(r"[.einf]")
_ARGUMENT = re.compile(r"^(?:(?P<way>in|out|inout):)?(?:(?P<name>[A-Za-z_$%][\w$%]*)=)?(?P<value>.+)$", re.S)


@dataclass(frozen=True, slots=True)
class BufferValue:
    """An array in device memory."""

    type: str
    array: Array
    poisoned: bool = False  # starts as POISON, so that cells the kernel never writes stand out


@dataclass(frozen=True, slots=True)
class ScalarValue:
    """A number, typed by the parameter that takes it."""

    text: str


@dataclass(frozen=True, slots=True)
class NullValue:
    """A null pointer."""


Value = BufferValue | ScalarValue | NullValue


@dataclass(frozen=True, slots=True)
class Argument:
    """One --arg: which way it goes, its name, its value or the name of a buffer that is there already."""

    way: str  # "", in, out, inout
    name: str
    value: Value


def parse_argument(text: str, folder: Path | None = None) -> Argument:
    """`[in:|out:|inout:][name=]VALUE`; files are looked for here, then in `folder`; None forbids them."""
    m = _ARGUMENT.match(text.strip())
    if m is None:
        raise UsageError(f"--arg {text!r}: expected [in:|out:|inout:][name=]VALUE")
    way = m["way"] or ""
    try:
        value = parse_value(m["value"], folder, poison=way == "out")
    except UsageError as e:
        raise UsageError(f"--arg {text.strip()}: {e}") from None
    return Argument(way, m["name"] or "", value)


def parse_value(text: str, folder: Path | None = None, poison: bool = False) -> Value:
    """A value on its own."""
    text = text.strip()
    if text == "null":
        return NullValue()
    if text.startswith("@"):
        array = _load(text[1:], folder)
        return BufferValue(type_name(array.dtype), array)
    m = _BUFFER.match(text)
    if m is None:
        if not _NUMBER.match(text):
            raise UsageError(
                f"{text!r} is not a value; write a number, null, @file.npy, @picture.png, or DTYPE[SHAPE][:INIT] as in f32[1000]:arange "
                "or f32:1000:arange"
            )
        return ScalarValue(text)
    dtype = DTYPES.get(m["type"])
    if dtype is None:
        raise UsageError(f"{text!r}: no type is called {m['type']!r}; there are {' '.join(DTYPES)}")
    shape = _shape(m["plain"] or m["shape"], text)
    if prod(shape) * dtype.itemsize > MAX_BYTES:
        raise UsageError(f"{text!r} is larger than {MAX_BYTES >> 30} GiB")
    init = m["init"] or ("noinit" if poison else "zeros")
    return BufferValue(m["type"], _initial(init, shape, m["type"], dtype, text, folder), init == "noinit")


def _shape(text: str, whole: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(x) for x in text.replace("x", ",").split(",") if x.strip())
    except ValueError:
        raise UsageError(f"{whole!r}: the shape {text!r} is not a list of sizes") from None
    if not shape or min(shape) < 0:
        raise UsageError(f"{whole!r}: the shape {text!r} is not a list of sizes")
    return shape


class _Special(ast.NodeTransformer):
    """nan and inf are numbers, too."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(float(node.id)) if node.id in ("nan", "inf") else node


def _initial(init: str, shape: tuple[int, ...], type: str, dtype: np.dtype[np.generic], whole: str, folder: Path | None) -> Array:
    n = prod(shape)
    if init.startswith("@"):
        return _fit(_load(init[1:], folder), shape, type, whole)
    if init.startswith("["):
        try:
            return _fit(np.array(ast.literal_eval(_Special().visit(ast.parse(init, mode="eval")))), shape, type, whole)
        except (ValueError, SyntaxError, TypeError):
            raise UsageError(f"{whole!r}: {init!r} is not a list of numbers") from None
    m = _CALL.match(init)
    name = m["name"] if m else init
    words = (m["args"] or (m["plain"] or "").replace(":", ",")) if m else ""
    try:
        args = [float(x) if _FLOATING.search(x) else int(x, 0) for x in words.split(",") if x.strip()]
    except ValueError:
        raise UsageError(f"{whole!r}: {init!r} has an argument that is not a number") from None
    if name != "fill" and not np.isfinite(args).all():
        raise UsageError(f"{whole!r}: {init!r} has an argument that is not finite; fill(x) takes any number")
    match name, len(args):
        case "noinit", 0:
            return np.full(n * dtype.itemsize, POISON, np.uint8).view(dtype).reshape(shape)
        case "zeros", 0:
            return np.zeros(shape, dtype)
        case "ones", 0:
            return as_type(np.ones(shape), type)
        case "fill", 1:
            return _fit(np.array(args[0]), shape, type, whole)
        case "arange", 0:
            return as_type(np.arange(n).reshape(shape), type)
        case "range", 1 | 2 | 3:
            if args[2:] == [0]:
                raise UsageError(f"{whole!r}: the step of a range is not 0")
            return _fit(np.arange(*args), shape, type, whole)
        case "rand", 0 | 1:
            rng = np.random.default_rng(_seed(args, whole))
            if dtype.kind == "f" or type == "bf16":
                return as_type(rng.random(shape), type)
            return np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).reshape(shape).copy()
        case "randn", 0 | 1:
            return as_type(np.random.default_rng(_seed(args, whole)).standard_normal(shape), type)
        case _:
            raise UsageError(
                f"{whole!r}: no initial content is called {init!r}; there are zeros ones fill(x) arange range(a,b,s) rand(seed) "
                "randn(seed) [1,2,3] @file.npy noinit"
            )


def _seed(args: list[float], whole: str) -> int:
    if args and args[0] < 0:
        raise UsageError(f"{whole!r}: a seed is not negative")
    return int(args[0]) if args else 0


def _fit(array: Array, shape: tuple[int, ...], type: str, whole: str) -> Array:
    if type != "bf16" and DTYPES[type].kind in "iu" and array.dtype.kind == "f" and not np.isfinite(array).all():
        raise UsageError(f"{whole!r}: nan and inf are no values of {type}; take f32, or a number")
    if array.size == 1 or array.size == prod(shape):
        return np.ascontiguousarray(np.broadcast_to(as_type(array.reshape(shape if array.size > 1 else ()), type), shape))
    raise UsageError(f"{whole!r}: {array.size} values for {prod(shape)} elements")


def _load(name: str, folder: Path | None) -> Array:
    if folder is None:
        raise UsageError(f"@{name}: files may not be read here")
    path = Path(name) if Path(name).is_file() else folder / name
    if path.is_dir():
        raise UsageError(f"@{name} is a folder; write the name of a file")
    if not path.is_file():
        places = " or ".join(dict.fromkeys(str(p.absolute().parent) for p in (Path(name), path)))
        raise UsageError(f"@{name}: there is no such file in {places}")
    try:
        if name.lower().endswith(".png"):
            return read_png(path.read_bytes(), f"@{name}")
        array = np.load(path, allow_pickle=False)
    except OSError as e:
        raise UsageError(f"@{name}: {e.strerror}") from None
    except (ValueError, EOFError):
        raise UsageError(f"@{name} is not a .npy file of numbers") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iufb":
        raise UsageError(f"@{name}: not an array of numbers")
    return array


def as_type(array: Array, type: str) -> Array:
    """Numbers as the carrier of a PTX type; bf16 rounds to nearest even."""
    with np.errstate(all="ignore"):
        if type != "bf16":
            return array.astype(DTYPES[type])
        bits = array.astype(np.float32).view(np.uint32)
        return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


def as_numbers(array: Array, type: str) -> Array:
    """What a buffer holds, as numbers that numpy can compute with."""
    return (array.astype(np.uint32) << np.uint32(16)).view(np.float32) if type == "bf16" else array


def type_name(dtype: np.dtype[np.generic]) -> str:
    """The PTX name of a numpy dtype."""
    kind = {"i": "s", "u": "u", "f": "f", "b": "u"}[dtype.kind]
    return f"{kind}{dtype.itemsize * 8}"


def scalar_bytes(text: str, t: ScalarType, name: str) -> bytes:
    """A number as the bytes of the parameter or variable of that name."""
    word = {"true": "1", "false": "0"}.get(text.lower(), text)
    try:
        if word[:2].lower() in ("0f", "0d") and len(word) in (10, 18):
            return int(word[2:], 16).to_bytes((len(word) - 2) // 2, "little")[: t.bytes].ljust(t.bytes, b"\0")
        if t.kind == "f":
            return as_type(np.array(float(word)), t.name if t.name in DTYPES else "f32").tobytes()
        number = int(word, 0) if not re.search(r"[.]|[eE][-+]|inf|nan", word) or word[:2].lower() == "0x" else None
        if number is None:
            value = float(word)
            if t.kind == "b":  # an untyped parameter takes the bits of a float of its size
                return np.array(value).astype(f"f{t.bytes}").tobytes()
            number = int(value)
            if number != value:
                raise ValueError
    except (ValueError, OverflowError):
        raise UsageError(f"{name} has the type .{t.name}, and {text!r} is not a value of that type") from None
    if not -(1 << t.bits - 1) <= number < 1 << t.bits:
        raise UsageError(f"{name} has the type .{t.name}, and {text} is outside of its range")
    return (number & ((1 << t.bits) - 1)).to_bytes(t.bytes, "little")
