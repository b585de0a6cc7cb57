"""Many lanes change memory at once, as if one after the other in ascending order: memory = change(memory, operands).

Works on flat places; WaveMemory turns addresses into them.  Lanes that share a place are served together where the operation allows it:
by the ufunc's own accumulate, for all places at once if it has an inverse, else by a guess of what each of them finds.  The change is
then made on all guessed values at once, which proves them as far as each comes out as the next was guessed: the first is known, and so
from each that is right the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.ports import Shortcut

Array = NDArray[Any]
Change = Callable[..., Array]

# What takes an operation of integers back.
INVERSES: dict[np.ufunc, np.ufunc] = {np.add: np.subtract, np.bitwise_xor: np.bitwise_xor}


def update(view: Array, place: Array, change: Change, operands: Sequence[Array], shortcut: Shortcut | None, returns: bool) -> Array | None:
    """view[place] = change(view[place], *operands), lane after lane; gives what each lane found.

    All arrays are flat and equally long; where places have several elements that change together, view, operands and result have rows.
    """
    n = place.size
    if n == 0:
        return view[place] if returns else None
    at = int(place[0])
    same = n > 1 and at == place[-1] and bool((place == at).all())
    if n == 1 or bool((place[1:] > place[:-1]).all()):
        return _distinct(view, place, change, operands)
    if isinstance(shortcut, np.ufunc) and not returns:
        if same:
            view[at] = shortcut(view[at], shortcut.reduce(operands[0], dtype=view.dtype))
        else:
            shortcut.at(view, place, operands[0])
        return None
    if same and n > 8 and view.ndim == 1:
        old = np.empty(n, view.dtype)
        _one_place(view[at : at + 1], change, operands, shortcut or _unchanged, old)
        return old
    order, sorted_place = _ordered(place)
    starts = np.flatnonzero(np.concatenate(([True], sorted_place[1:] != sorted_place[:-1])))
    if starts.size == n:
        return _distinct(view, place, change, operands)
    ends = np.append(starts[1:], n)
    most = int((ends - starts).max())
    sorted_operands = [o[order] for o in operands]
    old = np.empty((n, *view.shape[1:]), view.dtype)
    if isinstance(shortcut, np.ufunc) and shortcut in INVERSES:
        _by_difference(view, sorted_place, starts, ends, shortcut, sorted_operands[0], old)
    elif most <= starts.size or most <= 8 or view.ndim > 1:
        _by_rank(view, sorted_place, starts, ends, change, sorted_operands, old)
    else:
        for s, e in zip(starts.tolist(), ends.tolist(), strict=True):
            _one_place(view[sorted_place[s] :][:1], change, [o[s:e] for o in sorted_operands], shortcut or _unchanged, old[s:e])
    out = np.empty_like(old)
    out[order] = old
    return out


def _distinct(view: Array, place: Array, change: Change, operands: Sequence[Array]) -> Array:
    """No two lanes share a place."""
    old: Array = view[place]
    view[place] = change(old, *operands)
    return old


def _ordered(place: Array) -> tuple[Array, Array]:
    """The lanes in the order of their places, those of one place in ascending order, and their places.

    Numbers of place and lane together are sorted many times as fast as places are in a stable way.
    """
    least, bits = int(place.min()), place.size.bit_length()
    if int(place.max()) - least >> 63 - bits:
        order = np.argsort(place, kind="stable")
        return order, place[order]
    keys = (place - least).astype(np.int64) << bits | np.arange(place.size)
    keys.sort()
    return keys & (1 << bits) - 1, (keys >> bits) + least


def _by_difference(view: Array, place: Array, starts: Array, ends: Array, ufunc: np.ufunc, operand: Array, old: Array) -> None:
    """One scan over the lanes of all places: what a lane finds there differs from what the first one finds by what came in between."""
    inverse = INVERSES[ufunc]
    run = ufunc.accumulate(operand, dtype=view.dtype)
    before = inverse(run, operand)
    first = inverse(view[place[starts]], before[starts])
    old[:] = ufunc(before, np.repeat(first, ends - starts))
    view[place[starts]] = ufunc(first, run[ends - 1])


def _by_rank(view: Array, place: Array, starts: Array, ends: Array, change: Change, operands: Sequence[Array], old: Array) -> None:
    """First the first lane of every place, then the second of each, and so on."""
    at, stop = starts.copy(), ends
    while at.size:
        where = place[at]
        found = view[where]
        old[at] = found
        view[where] = change(found, *[o[at] for o in operands])
        at = at + 1
        more = at < stop
        at, stop = at[more], stop[more]


def _unchanged(first: Array, *operands: Array) -> Array:
    """The guess for operations that mostly leave what they find, such as compare and swap."""
    return np.repeat(first, operands[0].size + 1)


def _one_place(memory: Array, change: Change, operands: Sequence[Array], shortcut: Shortcut, old: Array) -> None:
    """Changes the one element of `memory`, lane after lane; what each of them finds goes to `old`."""
    n = old.size
    if isinstance(shortcut, np.ufunc):
        run = shortcut.accumulate(np.concatenate((memory, operands[0])), dtype=memory.dtype)
        old[:], memory[:] = run[:-1], run[-1:]
        return
    bits = f"u{memory.dtype.itemsize}"
    at, window = 0, 32
    while at < n:
        stop = min(n, at + window)
        part = [o[at:stop] for o in operands]
        run = shortcut(memory, *part)
        new = np.ascontiguousarray(change(run[:-1], *part))
        wrong = np.flatnonzero(new.view(bits) != run[1:].view(bits))
        right = int(wrong[0]) + 1 if wrong.size else stop - at  # so many found what was guessed
        old[at : at + right] = run[:right]
        memory[:] = new[right - 1 : right]
        at += right
        window = max(8, min(window, 2 * right)) if wrong.size else window * 16
