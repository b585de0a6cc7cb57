"""Two profiles side by side: every counter that either has, and what became of it."""

from __future__ import annotations

from warplab.interpreter.profiler import KernelProfile
from warplab.interpreter.profiler.metrics import TIME_METRICS

from .tables import number, table
from .text import chosen_metrics, heading

HEAD = ["counter", "A", "B", "A to B"]


def change(a: float, b: float) -> str:
    """How b differs from a.

    >>> change(4, 2), change(2, 5), change(3, 3), change(0, 7)
    ('/ 2', 'x 2.5', '=', 'new')
    """
    if a == b:
        return "="
    if not a:
        return "new"
    if not b:
        return "gone"
    return f"x {number(b / a)}" if b > a else f"/ {number(a / b)}"


def comparison(a: KernelProfile, b: KernelProfile, full: bool = False) -> str:
    """A table with both values of each counter."""
    return "\n\n".join([f"A  {heading(a)}\nB  {heading(b)}", table(HEAD, changes(a, b, full))])


def changes(a: KernelProfile, b: KernelProfile, full: bool = False) -> list[list[str]]:
    """The rows of that table: a counter, both values, and the change."""
    one, two = a.metrics, b.metrics
    return [[m.plain, number(one[m.name]), number(two[m.name]), change(one[m.name], two[m.name])]
            for m in (*(TIME_METRICS[:3] if a.time and b.time else ()), *chosen_metrics(full)) if one[m.name] or two[m.name]]  # fmt: skip
