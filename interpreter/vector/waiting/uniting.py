"""Groups that have come to one place on different ways go on as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lanes import Geometry, Selection
from ...values import plain
from ..convergence import joins_above, withdraw
from ..group import Group, Join


def gathered(groups: Sequence[Group]) -> list[Group]:
    """Groups that go on, those at one place as one."""
    if len(groups) < 2:
        return list(groups)
    by_place: dict[tuple[object, ...], list[Group]] = {}
    for g in groups:
        by_place.setdefault(_place_of(g), []).append(g)
    return [g[0] if len(g) == 1 else _united(g) for g in by_place.values()]


def _united(groups: Sequence[Group]) -> Group:
    """Several groups at one place as one; it stands below the nearest join that is above all of them."""
    first = groups[0]
    tops = [_call_of(g) for g in groups]
    if any(c is not tops[0] for c in tops):
        common: Join | None = _united_calls([c for c in tops if c is not None])
    else:
        chains = [_ancestors(g) for g in groups]
        common = next((a for a in chains[0] if a is None or all(any(a is b for b in c) for c in chains[1:])), None)
        tops = [common] * len(groups)
    lanes = [np.broadcast_to(g.geometry.lane, g.geometry.shape).ravel() for g in groups]
    order = np.argsort(np.concatenate(lanes), kind="stable")
    everyone = np.concatenate(lanes)[order]
    threads = first.wave.launch.threads
    geometry = Geometry((everyone // threads)[None, :], (everyone % threads)[None, :], threads)
    out = Group(first.wave, geometry, first.act, first.act.function.fresh_registers(), first.pc)
    out.parent = common
    live = first.act.function.live_in[first.pc]
    out.dirty = live
    while live:
        low = live & -live
        live ^= low
        s = low.bit_length() - 1
        values = [plain(v) for g in groups if (v := g.fetch_or_none(s)) is not None]
        if len(values) != len(groups):
            continue
        if all(v.size == 1 for v in values) and all(v[0, 0] == values[0][0, 0] for v in values[1:]):
            out.R[s] = values[0]
            continue
        whole = np.concatenate([np.broadcast_to(v, g.geometry.shape).ravel() for v, g in zip(values, groups, strict=True)])
        out.R[s] = whole[order][None, :]
    if common is not None:
        shape = common.group.geometry.shape
        place = np.broadcast_to(common.group.geometry.lane, shape).ravel()
        out.selection = Selection.of_lanes(shape, np.searchsorted(place, everyone).astype(np.intp))
    for g, top in zip(groups, tops, strict=True):
        passed = []
        for join in joins_above(g):
            if join is top:
                break
            passed.append(join)
        withdraw(passed, g.geometry.n)
    return out


def _united_calls(calls: Sequence[Join]) -> Join:
    """The joins of calls from one place, all of whose lanes are about to be one group, as one."""
    for c in calls:
        c.group.pc = c.pc
    out = _united([c.group for c in calls])
    return Join(out, out.pc, out.geometry.n, is_call=True)


def _ancestors(g: Group) -> list[Join | None]:
    return [*joins_above(g), None]


def _place_of(g: Group) -> tuple[object, ...]:
    """Where a group is, with the places of the calls that it is in; a call is told from others where some of its lanes are elsewhere."""
    out: list[object] = [id(g.act.function), g.act.base, g.pc]
    c = _call_of(g)
    while c is not None and c.group.geometry.n == g.geometry.n and not c.arrived:
        out += [id(c.group.act.function), c.group.act.base, c.pc]
        c = _call_of(c.group)
    return (*out, c)


def _call_of(g: Group) -> Join | None:
    """The join of the call that a group's lanes return from."""
    return next((join for join in joins_above(g) if join.is_call), None)
