"""Many lanes change memory at once, as if one after the other in ascending order: memory = change(memory, operands).

Works on flat places; Access turns addresses into them.  Lanes that share a place are served together where the operation allows it:
by the ufunc's own accumulate, else by letting all of them try on the same value and going on behind the first that changed it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Change = Callable[..., Array]


def update(view: Array, place: Array, change: Change, operands: Sequence[Array], ufunc: np.ufunc | None, returns: bool) -> Array | None:
    """view[place] = change(view[place], *operands), lane after lane; gives what each lane found.  All arrays are flat and equally long."""
    n = place.size
    if n == 0:
        return view[place] if returns else None
    if n == 1 or _distinct(place):
        old = view[place]
        view[place] = change(old, *operands)
        return old
    if ufunc is not None and not returns:
        if place[0] == place[-1] and (place == place[0]).all():
            at = place[0]
            view[at] = ufunc(view[at], ufunc.reduce(operands[0], dtype=view.dtype))
        else:
            ufunc.at(view, place, operands[0])
        return None
    order = np.argsort(place, kind="stable")
    sorted_place = place[order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_place[1:] != sorted_place[:-1])))
    ends = np.append(starts[1:], n)
    most = int((ends - starts).max())
    sorted_operands = [o[order] for o in operands]
    old = np.empty(n, view.dtype)
    if most <= starts.size or most <= 8:
        _by_rank(view, sorted_place, starts, ends, change, sorted_operands, old)
    else:
        for s, e in zip(starts.tolist(), ends.tolist(), strict=True):
            at = sorted_place[s]
            part = [o[s:e] for o in sorted_operands]
            old[s:e], view[at] = _one_place(view[at], change, part, ufunc)
    out = np.empty(n, view.dtype)
    out[order] = old
    return out


def _distinct(place: Array) -> bool:
    if place.size < 2:
        return True
    steps = place[1:] > place[:-1]
    if steps.all():
        return True
    ordered = np.sort(place)
    return bool((ordered[1:] != ordered[:-1]).all())


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


def _one_place(value: Any, change: Change, operands: Sequence[Array], ufunc: np.ufunc | None) -> tuple[Array, Any]:
    """What each lane finds at one place that starts as `value`, and what it holds in the end."""
    n = operands[0].shape[0] if operands else 1
    dtype = np.asarray(value).dtype
    if ufunc is not None:
        run = np.empty(n + 1, dtype)
        run[0] = value
        run[1:] = operands[0]
        run = ufunc.accumulate(run, dtype=dtype)
        return run[:-1], run[-1]
    old = np.empty(n, dtype)
    i, window = 0, 32
    bits = f"u{dtype.itemsize}"
    while i < n:
        stop = min(n, i + window)
        held = np.full(stop - i, value, dtype)
        new = change(held, *[o[i:stop] for o in operands])
        changed = np.flatnonzero(np.ascontiguousarray(new).view(bits) != held.view(bits))
        if changed.size == 0:
            old[i:stop] = value
            i, window = stop, window * 4
            continue
        j = int(changed[0])
        old[i : i + j + 1] = value
        value = new[j]
        i, window = i + j + 1, max(8, min(window, 2 * (j + 1)))
    return old, value
