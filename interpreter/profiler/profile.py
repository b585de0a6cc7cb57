"""The profile of a launch.

`KernelProfile.metrics` maps the names that Nsight Compute gives these counters to numbers; metrics.py explains them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cached_property

from .metrics import metrics_of
from .sites import LineProfile, by_line
from .totals import LaunchTotals


class KernelProfile(LaunchTotals):
    """One launch on one device."""

    def __repr__(self) -> str:
        return f"<KernelProfile of {self.kernel}, {self.blocks} blocks of {self.block_threads} on {self.device.name}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KernelProfile):
            return NotImplemented
        names = [f.name for f in fields(self) if f.compare]
        return self.sites == other.sites and all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def metrics(self) -> dict[str, float]:
        """Nsight Compute's names (nvprof's for devices before 7.0, where they differ) and their values."""
        return metrics_of(self)

    def lines(self, module: str | None = None) -> tuple[LineProfile, ...]:
        """By line of the PTX text, of one module or of all."""
        return by_line((s.line, s) for s in self.sites if module in (None, s.module))

    def source_lines(self) -> dict[str, tuple[LineProfile, ...]]:
        """By line of each source file that .loc names."""
        files = dict.fromkeys(s.source[0] for s in self.sites if s.source)
        return {f: by_line((s.source[1], s) for s in self.sites if s.source and s.source[0] == f) for f in files}

    def _repr_html_(self) -> str:
        """What notebooks show: the page that `show_with` was given, else the counters."""
        return _view[0](self) if _view else _plain(self)


_view: list[Callable[[KernelProfile], str]] = []


def show_with(view: Callable[[KernelProfile], str]) -> None:
    """Says how profiles look as HTML: pages belong to a layer above this one."""
    _view[:] = [view]


def _plain(p: KernelProfile) -> str:
    rows = "".join(f"<tr><td>{name}</td><td>{value:g}</td></tr>" for name, value in p.metrics.items() if value)
    return f"<table><caption>{p.kernel}</caption>{rows}</table>"
