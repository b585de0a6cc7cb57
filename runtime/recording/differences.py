"""The first store in which two recordings differ: their threads are compared, store for store."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.types import TYPES

from .memory import Changes
from .questions import Cell, Recording
from .slices import Link, link, why
from .telling import link_lines, number, thread_text

Array = NDArray[Any]
SHOWN = 8  # instructions of a slice


@dataclass(frozen=True, slots=True)
class DifferingStore:
    """One recording's store; None where the thread stores nothing more."""

    step: int
    lane: int
    cell: Cell
    value: Any


@dataclass(frozen=True, slots=True)
class StoreDifference:
    """The first store that differs: the nth one of a thread."""

    nth: int
    first: DifferingStore | None
    second: DifferingStore | None


def difference(a: Recording, b: Recording) -> StoreDifference | None:
    """The first store to global memory, in the order of the first recording, that differs; None: all are alike."""
    one, other = (r.bytes.issued["global"] for r in (a, b))
    sides = []
    for rec, c in ((a, one), (b, other)):
        lane = _common(rec, c.lane)
        order = np.lexsort((np.arange(lane.size), lane))
        own = lane[order]
        starts = np.flatnonzero(np.diff(own, prepend=-1))
        counts = np.diff(np.append(starts, own.size))
        nth = np.arange(own.size) - np.repeat(starts, counts)
        sides.append((order, own, nth, _places(rec, c)[order]))
    (order_a, lane_a, nth_a, place_a), (order_b, lane_b, nth_b, place_b) = sides
    key_a, key_b = lane_a * (1 << 32) + nth_a, lane_b * (1 << 32) + nth_b
    at = np.searchsorted(key_b, key_a)
    found = at < key_b.size
    found[found] = key_b[at[found]] == key_a[found]
    differs = ~found
    ka, kb = np.flatnonzero(found), at[found]
    wrong = (one.bits[order_a[ka]] != other.bits[order_b[kb]]) | (one.size[order_a[ka]] != other.size[order_b[kb]])
    wrong |= (place_a[ka] != place_b[kb]).any(axis=1) if len(ka) else False
    differs[ka[wrong]] = True
    if differs.any():
        k = int(np.flatnonzero(differs)[np.argmin(order_a[differs])])
        n = int(np.searchsorted(key_b, key_a[k]))
        same = n < key_b.size and key_b[n] == key_a[k]
        return StoreDifference(int(nth_a[k]), _side(a, one, int(order_a[k])), _side(b, other, int(order_b[n])) if same else None)
    extra = ~np.isin(key_b, key_a)
    if extra.any():
        k = int(np.flatnonzero(extra)[np.argmin(order_b[extra])])
        return StoreDifference(int(nth_b[k]), None, _side(b, other, int(order_b[k])))
    return None


def _common(rec: Recording, lane: Array) -> Array:
    """Lanes by their blocks' places in the grid, which do not depend on clusters."""
    block, thread = np.divmod(lane, rec.threads)
    x, y, _ = rec.track.grid
    b = rec.track.blocks[block].astype(np.int64)
    out: Array = (b[:, 0] + x * (b[:, 1] + y * b[:, 2])) * 1024 + thread
    return out


def _places(rec: Recording, c: Changes) -> Array:
    """Where stores go: which object, and which of its bytes; addresses themselves may differ between two runs."""
    objects = sorted((o for o in rec.track.objects if o.space == "global"), key=lambda o: o.start)
    starts = np.array([o.start for o in objects], np.int64)
    n = np.searchsorted(starts, c.address, side="right") - 1
    return np.stack([n, np.where(n >= 0, c.address - starts[np.maximum(n, 0)] if starts.size else c.address, c.address)], axis=1)


def _side(rec: Recording, c: Changes, k: int) -> DifferingStore:
    address, lane = int(c.address[k]), int(c.lane[k])
    access = rec.track.accesses[int(c.access[k])]
    type = rec.type_at("global", address, access.type)
    t = TYPES[type]
    kind = t.dtype if t.elements == 1 and t.dtype.itemsize == c.size[k] else np.dtype(f"u{c.size[k]}")
    value = np.array([c.bits[k]]).astype(f"u{c.size[k]}").view(kind)[0]
    return DifferingStore(int(c.step[k]), lane, Cell(rec.name_of("global", address), "global", 0, address, type), value)


def slice_of(rec: Recording, side: DifferingStore) -> list[Link]:
    """The store and the instructions that its value comes from."""
    first = link(rec, side.step, side.lane)
    out = [first]
    for s in first.read:
        if s.step is not None and s.name not in first.instruction.bases:
            out += why(rec, s.name, s.lane, side.step) if s.name.startswith("%") else []
    return list({(x.step, x.lane): x for x in out}.values())


def told(a: Recording, b: Recording, d: StoreDifference | None, names: tuple[str, str]) -> list[str]:
    """A difference in words: both stores, and what differs in their slices."""
    if d is None:
        return ["all stores are alike"]
    out = []
    slices = [[] if s is None else slice_of(r, s) for r, s in ((a, d.first), (b, d.second))]
    for rec, side, name in ((a, d.first, names[0]), (b, d.second, names[1])):
        if side is None:
            out.append(f"{name}: the thread has no store number {d.nth + 1}")
            continue
        i = rec.columns.instruction(min(side.step, rec.step_count - 1))
        out.append(f"{name}: {side.cell.name} = {number(side.value)}, store number {d.nth + 1} of {thread_text(rec, side.lane)}")
        out.append(f"  step {side.step}, line {i.line}: {i.text}")
    ways = [_keyed(links) for links in slices]
    alike = {key for key, one in ways[0].items() if key in ways[1] and _values(one) == _values(ways[1][key])}
    for rec, way, name in ((a, ways[0], names[0]), (b, ways[1], names[1])):
        shown = [one for key, one in way.items() if key not in alike]
        if not shown:
            continue
        out.append(f"{name}:")
        near, far = (shown, []) if len(shown) <= SHOWN else (shown[:2], shown[2 - SHOWN :])
        for one in near:
            out += link_lines(rec, one)
        if far:
            out.append(f"  ... {len(shown) - SHOWN} instructions between")
        for one in far:
            out += link_lines(rec, one)
    if alike:
        out.append(f"{len(alike)} instructions behind these values are alike in both, and not shown")
    return out


def _keyed(links: list[Link]) -> dict[tuple[str, int], Link]:
    """The instructions of a slice by their text and how often that has come before."""
    seen: Counter[str] = Counter()
    out = {}
    for one in reversed(links):
        seen[one.instruction.text] += 1
        out[one.instruction.text, seen[one.instruction.text]] = one
    return dict(reversed(out.items()))


def _values(x: Link) -> list[bytes]:
    return [np.asarray(v).tobytes() for _, v in x.written] + [
        np.asarray(s.value).tobytes() for s in x.read if s.name not in x.instruction.bases
    ]
