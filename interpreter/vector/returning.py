"""Lanes return from a function: their results go to the node of the call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plan.plan import Home
from .group import EXIT, Group
from .values import Value, plain

if TYPE_CHECKING:
    from .wave import Wave


def ret(wave: Wave, g: Group) -> int | None:
    """Lanes return from a function; from the entry they end."""
    if g.stop() == EXIT:
        return EXIT
    act = g.act
    if act.caller is None:
        wave.exit(g)
        return None
    p = g.parent
    assert p is not None and g.selection is not None
    for source, target, size in act.copies:
        wave.local.copy(g.geometry, source, target, size)
    if not p.node_return:
        _return_early(wave, g)
        return None
    if g.geometry.n == p.geometry.n and p.absorbed == 0:
        for callee, home in act.returns:
            p.R[home.slot] = _as_kept(g.R[callee], home)
            p.dirty |= 1 << home.slot
        p.absorbed = g.geometry.n
    else:
        for callee, home in act.returns:
            p.hand_in(home.slot, g.selection, _as_kept(g.R[callee], home))
        p.handed_in.append(g.selection)
        p.absorbed += g.geometry.n
    wave.settle(p)
    return None


def _return_early(wave: Wave, g: Group) -> None:
    """Lanes return from below a join that they will not see: their results go straight to the node of the call."""
    selection, n = g.selection, g.geometry.n
    assert selection is not None
    passed: list[Group] = []
    p = g.parent
    assert p is not None
    while not p.node_return:
        passed.append(p)
        assert p.selection is not None and p.parent is not None
        selection = p.selection.then(selection)
        p = p.parent
    for callee, home in g.act.returns:
        p.hand_in(home.slot, selection, _as_kept(selection.conform(g.fetch(callee), g.geometry.shape), home))
    p.handed_in.append(selection)
    p.absorbed += n
    if not wave.withdraw(passed, n):
        wave.settle(p)


def _as_kept(value: Value, home: Home) -> Value:
    """A callee's result as the caller keeps the register it goes to."""
    if home.pointer:
        return value
    v = plain(value)
    return v if v.dtype == home.dtype else v.view(home.dtype)
