"""What textures give, in 572 experiments, against the H200 recordings of tests/data/textures.

h200.npz: `cases`, one experiment a line of JSON, lzma-packed; `inputs`, words of 32 bits, to which the experiments point by position.  An
experiment has the array (its contents are made by contents()), how it is read, the operands, and the CRC-32 of what the H200 gave.
"""

import json
import lzma
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warplab.isa.notation import FORMS, Form
from warplab.isa.textures.fetch import fetch, gather
from warplab.isa.textures.lanes import typed
from warplab.isa.textures.request import Request
from warplab.isa.textures.resources import Image, Sampler, TexelFormat, Texture

Bits = NDArray[Any]
RECORDED = np.load(Path(__file__).parents[1] / "data" / "textures" / "h200.npz")
CASES = [json.loads(line) for line in lzma.decompress(RECORDED["cases"].tobytes()).decode().splitlines()]
INPUTS: Bits = RECORDED["inputs"]
PARTS = 6
LAYERED, CUBE, SPARSE = 1, 4, 64  # flags of arrays; nothing is mapped to the sparse ones
INTEGER, NORMALIZED, SRGB, NO_TRILINEAR, SEAMLESS = 1, 2, 16, 32, 64  # flags of textures
FORMATS = {"UNSIGNED_INT8": "u1", "UNSIGNED_INT16": "u2", "UNSIGNED_INT32": "u4", "SIGNED_INT8": "i1", "SIGNED_INT16": "i2", "SIGNED_INT32": "i4",
           "HALF": "f2", "FLOAT": "f4"}  # fmt: skip


def words(seed: int, count: int) -> Bits:
    """splitmix64."""
    z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Bits = z ^ (z >> np.uint64(31))
    return mixed


def contents(kind: str, seed: Any, dtype: np.dtype[Any], count: int) -> Bits:
    """What an array held."""
    if kind == "data":
        return np.array(seed, np.uint32).view(dtype)
    if kind == "ramp":
        i = np.arange(count * dtype.itemsize)
        return (i * 7 + 13 + i // 256).astype(np.uint8).view(dtype)
    if kind in ("bits", "low"):
        found: Bits = words(seed, -(-count * dtype.itemsize // 8)).view(np.uint8)[: count * dtype.itemsize].view(dtype)
        if kind == "low":
            found = found >> 2
        return found
    if kind in ("zero", "same"):
        return np.full(count, 0 if kind == "zero" else seed, dtype)
    numbers: Bits = np.arange(count, dtype=np.int64) + seed
    if kind in ("index", "codes"):
        numbers = numbers.astype(dtype) if kind == "index" else numbers.astype(f"u{dtype.itemsize}").view(dtype)
        return numbers
    w = words(seed, count)
    if kind == "unit":
        fractions: Bits = (w >> np.uint64(40)).astype(np.float64) * 2.0**-24
        return fractions.astype(dtype)
    bits_, bias, man, reach = ("u4", 127, 23, 20) if dtype.itemsize == 4 else ("u2", 15, 10, 10)
    exponent = (w >> np.uint64(40)) % np.uint64(2 * reach + 1) + np.uint64(bias - reach)
    out: Bits = (
        (w & np.uint64((1 << man) - 1)) | exponent << np.uint64(man) | (w >> np.uint64(63)) << np.uint64(8 * dtype.itemsize - 1)
    ).astype(bits_)
    if kind == "special":
        top, sign, one = (2 * bias + 1) << man, 1 << (8 * dtype.itemsize - 1), 1 << man
        table = [top, sign | top, top | one >> 1, sign | top | 3, 0, sign, 1, sign | (one - 1), top - 1, sign | (top - 1), one, bias << man]
        pick = (w >> np.uint64(30)) & np.uint64(3) == 0
        out[pick] = np.array(table, bits_)[((w >> np.uint64(32)) % np.uint64(len(table)))[pick].astype(int)]
    out = out.view(dtype)
    return out


def image(a: dict[str, Any]) -> Image:
    w, h, d = a["dims"]
    dtype, flags = np.dtype(FORMATS[a["format"]]), a.get("flags", 0)
    texel = TexelFormat(dtype.kind.replace("i", "s"), dtype.itemsize * 8, a["channels"])
    levels = []
    for k in range(max(a.get("levels", 0), 1)):
        rows, slices = max(h >> k, 1), max(d if flags & (LAYERED | CUBE) else d >> k, 1)
        shape = slices, rows, max(w >> k, 1), a["channels"]
        kind, seed = a["fill"] if not flags & SPARSE else ("zero", 0)
        levels.append(contents(kind, seed if kind == "data" else seed + k, dtype, int(np.prod(shape))).reshape(shape))
    linear = a.get("kind") == "linear" and not h
    return Image(texel, w, h, d, tuple(levels), bool(flags & LAYERED), bool(flags & CUBE), linear, not flags & SPARSE)


def sampler(t: dict[str, Any]) -> Sampler:
    modes = t.get("address", ["clamp"])
    flags = t.get("flags", 0)
    return Sampler(
        tuple(modes[min(k, len(modes) - 1)] for k in range(3)), t.get("filter", "point"), t.get("mip_filter", "point"),
        bool(flags & NORMALIZED), bool(flags & INTEGER), bool(flags & SRGB), bool(flags & SEAMLESS), t.get("bias", 0.0),
        tuple(t.get("clamp", (0.0, 0.0))), t.get("anisotropy", 0), tuple(t.get("border", (0.0,) * 4)), bool(flags & NO_TRILINEAR),
    )  # fmt: skip


def results(case: dict[str, Any]) -> Bits:
    """What the case's instruction gives, as it was recorded: lane after lane, channel after channel."""
    n, kind = case["n"], np.float32 if case["ctype"] == "f32" or "gradients" in case else np.int32

    def operand(place: Any, dtype: Any) -> Bits:
        return np.full(1, place["bits"], np.uint32).view(dtype) if isinstance(place, dict) else INPUTS[place : place + n].view(dtype)

    coords: list[Any] = list(case["coords"])
    sample = operand(coords.pop(0), np.uint32) if case["geom"].endswith("ms") else None
    layer = operand(coords.pop(0), np.uint32) if case["geom"].startswith("a") else None
    gradients = [[operand(x, np.float32) for x in v] for v in case.get("gradients", [])]
    request = Request(
        case["geom"].removeprefix("a").removesuffix("ms"), [operand(c, kind) for c in coords], layer,
        operand(case["level"], kind) if "level" in case else None, (gradients[0], gradients[1]) if gradients else None,
        [operand(x, np.int32) for x in case.get("offset", [])], sample,
    )  # fmt: skip
    texture = Texture(image(case["array"]), sampler(case["texture"]))
    fetched = gather(texture, request, "rgba".index(case["comp"])) if case["op"] == "tld4" else fetch(texture, request)
    dtype = case["dtype"]
    channels = np.stack([np.broadcast_to(c, (n, *c.shape[1:])) for c in typed(fetched.channels, dtype)], axis=1)
    words = np.ascontiguousarray(channels).view(np.uint16 if dtype == "f16" else np.uint32).reshape(-1)
    group, kept = case.get("keep", (1, 1))
    return words.reshape(-1, group)[:, :kept].reshape(-1)


def form(case: dict[str, Any]) -> Form:
    """The row of the case's instruction: of two with one spelling, the second takes nothing but a value to compare with."""
    mip = [word for word, field in (("base", "base"), ("level", "level"), ("grad", "gradients")) if field in case]
    component = [case["comp"]] if "comp" in case else []
    words = (*mip, *component, case["geom"], f"v{2 if case['dtype'] == 'f16x2' else 4}", case["dtype"], case["ctype"])
    rows = [row for row in FORMS[case["op"]] if row.match(words) is not None]
    return rows["compare" in case and "offset" not in case]


@pytest.mark.parametrize("part", range(PARTS))
def test_recorded(part: int) -> None:
    with np.errstate(all="ignore"):
        wrong = [case["name"] for case in CASES[part::PARTS] if zlib.crc32(results(case).tobytes()) != case["crc"]]
    assert not wrong


def test_the_recordings_hold_every_geometry_and_format() -> None:
    assert {case["geom"] for case in CASES} >= {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"}
    assert {case["array"]["format"] for case in CASES} == set(FORMATS)
    assert {case["op"] for case in CASES} == {"tex", "tld4"}
