"""Tables of all devices, as the CUDA guide prints them: features (F-1), technical specifications (F-2), throughput of arithmetic (5-1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from warplab.isa.profiles import FEATURES, PROFILES, DeviceProfile
from warplab.isa.throughput import CLASSES, DERIVED, NOTES

TABLES = ("features", "specifications", "throughput")


@dataclass(frozen=True, slots=True)
class DeviceTable:
    title: str
    rows: dict[str, tuple[str, ...]]  # title of the row -> a cell for each device
    devices: tuple[DeviceProfile, ...]
    notes: tuple[str, ...] = ()


def size(count: int) -> str:
    """Bytes, in the greatest unit that divides them."""
    for unit, bits in (("M", 20), ("K", 10)):
        if count and count % (1 << bits) == 0:
            return f"{count >> bits}{unit}"
    return str(count)


def power(count: int) -> str:
    return "2^31-1" if count == 2**31 - 1 else str(count)


# Row of table F-2 -> what a device has there.
SPECIFICATIONS: dict[str, Callable[[DeviceProfile], str]] = {
    "grid, x": lambda d: power(d.max_grid[0]),
    "grid, y": lambda d: str(d.max_grid[1]),
    "grid, z": lambda d: str(d.max_grid[2]),
    "block, x and y": lambda d: str(d.max_block[0]),
    "block, z": lambda d: str(d.max_block[2]),
    "threads per block": lambda d: str(d.max_threads_per_block),
    "warp size": lambda d: str(d.warp_size),
    "resident blocks": lambda d: str(d.max_blocks),
    "resident warps": lambda d: str(d.max_warps),
    "resident threads": lambda d: str(d.max_threads),
    "registers": lambda d: size(d.registers),
    "registers per block": lambda d: size(d.registers_per_block),
    "registers per thread": lambda d: str(d.max_registers_per_thread),
    "shared memory": lambda d: size(d.shared),
    "shared memory per block": lambda d: size(d.shared_per_block),
    "the same, by opt-in": lambda d: size(d.shared_per_block_optin),
    "shared memory banks": lambda d: str(d.shared_banks),
    "local memory per thread": lambda d: size(d.local_per_thread),
    "constant memory": lambda d: size(d.constant_memory),
    "constant cache": lambda d: size(d.constant_cache),
    "texture cache": lambda d: size(d.texture_cache),
    "textures of a kernel": lambda d: str(d.max_textures),
    "surfaces of a kernel": lambda d: str(d.max_surfaces),
    "instructions of a kernel": lambda d: f"{d.max_instructions // 1_000_000} million",
    "bytes of parameters": lambda d: str(d.max_parameters),
    "warp schedulers": lambda d: str(d.warp_schedulers),
    "latency of arithmetic, clocks": lambda d: str(d.arithmetic_latency),
    "barrier, threads a clock": lambda d: str(d.barrier_throughput),
    "latency of memory, clocks": lambda d: "-".join(str(n) for n in d.memory_latency),
}


def device_table(name: str, devices: Iterable[DeviceProfile] = PROFILES.values()) -> DeviceTable:
    """One of `TABLES`, with the given devices as columns."""
    chosen = tuple(devices)
    if name == "features":
        rows = {f.replace("_", " "): tuple("yes" if d.has(f) else "-" for d in chosen) for f in FEATURES}
        return DeviceTable("Features (guide, table F-1)", rows, chosen)
    if name == "specifications":
        rows = {title: tuple(cell(d) for d in chosen) for title, cell in SPECIFICATIONS.items()}
        return DeviceTable("Technical specifications of a multiprocessor (guide, table F-2)", rows, chosen)
    rows = {title: tuple(d.rates[c].text for d in chosen) for c, title in CLASSES.items()}
    marks = tuple(f"~ {CLASSES[c]}: {where}" for c, where in DERIVED.items() if any(d.rates[c].derived for d in chosen))
    return DeviceTable(
        "Operations a clock and multiprocessor (guide, table 5-1)",
        rows,
        chosen,
        (*marks, *(NOTES[d.capability] for d in chosen if d.capability in NOTES)),
    )


def device_table_text(table: DeviceTable) -> str:
    """The table for people; neighbours that have the same in all rows share a column, as in the guide."""
    spans: list[tuple[int, int]] = []
    for n in range(len(table.devices)):
        alone = table.devices[n].words or table.devices[n - 1].words
        if spans and not alone and all(cells[n] == cells[n - 1] for cells in table.rows.values()):
            spans[-1] = (spans[-1][0], n)
        else:
            spans.append((n, n))
    own = {d: "*" * n for n, d in enumerate((d for d in table.devices if d.words), 1)}
    names = [f"{d.capability[0]}.{d.capability[1]}{own.get(d, '')}" for d in table.devices]
    heads = [names[a] if a == b else f"{names[a]}-{names[b]}" for a, b in spans]
    short = {"several": "n*"} if any("several" in cells for cells in table.rows.values()) else {}
    lines = [[title, *(short.get(cells[a], cells[a]).replace("none", "-") for a, _ in spans)] for title, cells in table.rows.items()]
    lines.insert(0, ["compute capability", *heads])
    widths = [max(len(line[n]) for line in lines) for n in range(len(heads) + 1)]
    text = [line[0].ljust(widths[0]) + "".join(f"  {c:>{w}}" for c, w in zip(line[1:], widths[1:], strict=True)) for line in lines]
    notes = [f"{mark} {d.device}" for d, mark in own.items()]
    notes += ["n* takes several instructions of other rows"] * bool(short) + list(table.notes)
    return "\n".join([table.title, "", *text, *([""] if notes else []), *notes])


def device_table_json(table: DeviceTable) -> dict[str, dict[str, str]]:
    """Row -> device -> cell."""
    return {title: {d.words or d.name: cell for d, cell in zip(table.devices, cells, strict=True)} for title, cells in table.rows.items()}
