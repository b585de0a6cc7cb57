"""A device of one's own: a compute capability with other figures, in words.

    sm_20,registers=16384,shared_memory=16K,bandwidth=200G

The words name fields of a `DeviceProfile`, classes of `throughput.CLASSES`, and what follows from fields.  `device_profile` makes the profile, whose
`words` make it again; `words_of` says the same of a table, as a TOML file holds it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import isfinite
from typing import Any

from .profiles import DeviceProfile, profile
from .throughput import CLASSES, Rate

_BINARY = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_DECIMAL = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NUMBER = re.compile(r"(\d+(?:\.\d*)?(?:e\d+)?)([KMGT]?)", re.I)


@dataclass(frozen=True, slots=True)
class OwnField:
    """A figure that words may give: its range and how it is written."""

    least: float
    most: float
    example: str
    decimal: bool = False  # may it have a fraction, and is its K 1000?
    parts: int = 1  # numbers, with / between them


def _size(least: int, most: str, example: str) -> OwnField:
    return OwnField(least, int(most[:-1]) * _BINARY[most[-1]], example)


FIELDS: dict[str, OwnField] = {
    "multiprocessors": OwnField(1, 4096, "16"),
    "clock_mhz": OwnField(1, 100_000, "1150", decimal=True),
    "memory_bandwidth": OwnField(1e6, 1e15, "200G", decimal=True),
    "max_grid": OwnField(1, 2**31 - 1, "65535/65535/1", parts=3),
    "max_block": OwnField(1, 1024, "512/512/64", parts=3),
    "max_threads_per_block": OwnField(1, 1024, "512"),
    "max_blocks": OwnField(1, 256, "8"),
    "max_warps": OwnField(1, 256, "48"),
    "registers": _size(32, "16M", "16K"),
    "registers_per_block": _size(32, "16M", "16K"),
    "max_registers_per_thread": OwnField(1, 255, "63"),
    "shared": _size(0, "16M", "16K"),
    "shared_per_block": _size(0, "16M", "16K"),
    "shared_per_block_optin": _size(0, "16M", "16K"),
    "shared_reserved_per_block": _size(0, "1M", "1K"),
    "register_unit": OwnField(1, 65536, "256"),
    "warp_granularity": OwnField(1, 16, "2"),
    "shared_unit": OwnField(1, 65536, "128"),
    "l1_size": _size(0, "16M", "48K"),
    "texture_cache": _size(0, "16M", "12K"),
    "constant_cache": _size(0, "16M", "8K"),
    "l2_cache": _size(0, "16G", "768K"),
    "local_per_thread": _size(0, "16M", "512K"),
    "warp_schedulers": OwnField(1, 16, "2"),
    "arithmetic_latency": OwnField(1, 1000, "22"),
    "warps_per_latency_clock": OwnField(0.01, 64, "1", decimal=True),
    "memory_latency": OwnField(1, 100_000, "400/800", parts=2),
    "barriers": OwnField(16, 1024, "64"),
}
# The same by a shorter name, and what is worked out.
SHORT = {"shared_memory": "shared", "bandwidth": "memory_bandwidth", "clock": "clock_mhz"}
PEAK = OwnField(1e6, 1e18, "1500G", decimal=True)  # FLOP/s of f32: sets the clock
MAX_THREADS = OwnField(32, 256 * 32, "1536")  # resident on a multiprocessor: sets max_warps
RATE = OwnField(0, 65536, "32")
F32 = OwnField(1, 65536, "32")  # no GPU is without
NAMES = ("name", *FIELDS, *SHORT, "peak", "max_threads", *CLASSES)


def target_part(words: str) -> str:
    """The target that words begin with.

    >>> target_part("sm_20:64M,registers=16384")
    'sm_20'
    """
    return words.partition(",")[0].partition(":")[0].strip()


def device_profile(words: str) -> DeviceProfile:
    """The profile of a target, or of a device of one's own; ValueError says what is wrong with the words.

    >>> d = device_profile("sm_20,registers=16384,shared_memory=16K,bandwidth=200G,peak=1500G")
    >>> d.registers, d.shared_per_block, d.ridge, device_profile(d.words) == d
    (16384, 16384, 7.5, True)
    """
    target, *changes = words.split(",")
    base = profile(target.strip())
    if not changes:
        return base
    given: dict[str, Any] = {}
    for change in changes:
        name, is_value, text = (part.strip() for part in change.partition("="))
        field = SHORT.get(name, name)
        if not is_value:
            raise ValueError(f"{change.strip()!r} has no value: write a name and a value, as in registers=16384")
        if name not in NAMES:
            raise _unknown(name)
        if field in given:
            raise ValueError(f"{name} is given twice")
        given[field] = text if name == "name" else _value(name, text)
    return _made(base, given, ",".join([target.strip(), *(c.strip() for c in changes)]))


def words_of(table: Mapping[str, Any]) -> str:
    """The words of a table: `base`, the target that it begins with, and names with values; a table in it holds names, too.

    >>> words_of({"base": "sm_20", "shared_memory": "16K", "throughput": {"f32": 32}, "max_grid": [65535, 65535, 1]})
    'sm_20,shared_memory=16K,f32=32,max_grid=65535/65535/1'
    """
    base = table.get("base")
    if not isinstance(base, str):
        raise ValueError('write the compute capability that the device is like: base = "sm_20"')
    return ",".join([base, *_pairs({k: v for k, v in table.items() if k != "base"})])


def _pairs(table: Mapping[str, Any]) -> list[str]:
    out: list[str] = []
    for name, value in table.items():
        if isinstance(value, Mapping):
            out += _pairs(value)
            continue
        text = "/".join(map(str, value)) if isinstance(value, list) else str(value)
        if "," in text:
            raise ValueError(f"{name} = {text!r}: write it without a comma")
        out.append(f"{name}={text}")
    return out


def _unknown(name: str) -> ValueError:
    near = get_close_matches(name, NAMES, 2, 0.6)
    said = f"did you mean {' or '.join(near)}?" if near else f"it has {' '.join(NAMES)}"
    return ValueError(f"a device has no {name!r}; {said}")


def _value(name: str, text: str) -> float | int | tuple[float | int, ...]:
    of = {"peak": PEAK, "max_threads": MAX_THREADS, "f32": F32}.get(name) or FIELDS.get(SHORT.get(name, name), RATE)
    parts = text.split("/")
    found = tuple(n for n in (_number(part.strip(), name, of) for part in parts) if n is not None)
    if len(found) != len(parts) or len(parts) != of.parts:
        kind = "a number" if of.parts == 1 else f"{of.parts} numbers with / between them"
        raise ValueError(f"{name}={text}: write {kind}, as in {name}={of.example}")
    for n in found:
        if not of.least <= n <= of.most:
            raise ValueError(f"{name}={text}: write a number from {_shown(of.least)} to {_shown(of.most)}, as in {name}={of.example}")
    return found if of.parts > 1 else found[0]


def _number(text: str, name: str, of: OwnField) -> float | int | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    unit = match[2].upper()
    if of.decimal:
        number = float(match[1]) * _DECIMAL[unit] / (1e6 if name in ("clock", "clock_mhz") and unit else 1)
        return number if isfinite(number) else None
    if unit not in _BINARY or not float(match[1]).is_integer():
        return None
    return int(float(match[1])) * _BINARY[unit]


def _shown(n: float) -> str:
    return f"{n:,.0f}" if n >= 1 or n == 0 else str(n)


def _made(base: DeviceProfile, given: dict[str, Any], words: str) -> DeviceProfile:
    rates = tuple((c, Rate(n, str(n) if n else "none", False)) for c in CLASSES if (n := given.pop(c, None)) is not None)
    if (threads := given.pop("max_threads", None)) is not None:
        if threads % base.warp_size or "max_warps" in given:
            raise ValueError(f"max_threads={threads}: write a multiple of {base.warp_size}, and no max_warps beside it")
        given["max_warps"] = threads // base.warp_size
    peak, title = given.pop("peak", None), given.pop("name", "") or words.partition(",")[2].replace(",", ", ")
    if "memory_bandwidth" in given:
        given["memory_bandwidth"] = round(given["memory_bandwidth"])
    made = replace(base, **_followed(base, given) | given, device=title, words=words, own_rates=rates)
    if peak is not None:
        if "clock_mhz" in given:
            raise ValueError("peak and clock say the same: the peak is 2 x f32 x multiprocessors x clock; give one of them")
        made = replace(made, clock_mhz=peak / (2e6 * made.throughput("f32") * made.multiprocessors))
    _check(made)
    return made


def _followed(base: DeviceProfile, given: Mapping[str, Any]) -> dict[str, Any]:
    """Limits that no device can keep when another one changes."""
    out: dict[str, Any] = {}
    if (shared := given.get("shared")) is not None:
        reserved = given.get("shared_reserved_per_block", base.shared_reserved_per_block)
        out["shared_per_block_optin"] = min(base.shared_per_block_optin, max(0, shared - reserved))
        out["shared_per_block"] = min(base.shared_per_block, out["shared_per_block_optin"])
        out["shared_configs"] = (*(size for size in base.shared_configs if size < shared), shared)
        out["l1_and_shared"] = base.l1_and_shared + max(0, shared - base.shared)
        if base.shared == base.shared_per_block_optin:  # no device of the generation has more than a block may use
            out["shared_per_block"] = out["shared_per_block_optin"] = shared
    if (optin := given.get("shared_per_block_optin")) is not None:
        out["shared_per_block"] = min(out.get("shared_per_block", base.shared_per_block), optin)
    if (l1 := given.get("l1_size")) is not None:  # beside shared memory, as nothing of which they are parts is given
        shared = given.get("shared", base.shared)
        out |= {"l1_and_shared": l1 + shared, "shared_configs": (shared,)}
    if (registers := given.get("registers")) is not None:
        out["registers_per_block"] = registers if base.registers == base.registers_per_block else min(base.registers_per_block, registers)
    threads = given.get("max_threads_per_block", base.max_threads_per_block)
    if (warps := given.get("max_warps")) is not None and "max_threads_per_block" not in given:
        threads = out["max_threads_per_block"] = min(threads, warps * base.warp_size)
    out["max_block"] = tuple(min(n, threads) for n in base.max_block)
    return out


def _check(d: DeviceProfile) -> None:
    """Refuses a device that contradicts itself."""
    pairs = (
        ("shared_per_block", "shared_per_block_optin"), ("shared_per_block_optin", "shared"), ("registers_per_block", "registers"),
        ("register_unit", "registers"), ("shared_reserved_per_block", "shared"),
    )  # fmt: skip
    for less, more in pairs:
        if (a := getattr(d, less)) > (b := getattr(d, more)) and b:
            raise ValueError(f"{less}={a} is more than {more}={b}")
    if d.max_threads_per_block > d.max_threads:
        raise ValueError(
            f"max_threads_per_block={d.max_threads_per_block} is more than max_warps={d.max_warps} hold: {d.max_threads} threads"
        )
    if max(d.max_block) > d.max_threads_per_block:
        raise ValueError(f"max_block={'/'.join(map(str, d.max_block))} has more than max_threads_per_block={d.max_threads_per_block}")
    if d.memory_latency[0] > d.memory_latency[1]:
        raise ValueError("memory_latency: write the shorter one first, as in 400/800")
