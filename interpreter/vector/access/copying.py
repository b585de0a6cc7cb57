"""An asynchronous copy as observers know it, from the instruction that issues it to the accesses that it makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...plan.plan import Site
from ..ports import WavePort


class Copying:
    """What some lanes have issued together."""

    __slots__ = ("after", "group", "site")

    def __init__(self, site: Site, group: str = "", after: str = "") -> None:
        self.site = site
        self.group = group  # that each lane closes next
        self.after = after  # the groups that it comes after

    def named(self, wave: WavePort, work: Callable[..., Any]) -> Callable[..., Any]:
        """The work, whose accesses name this copy."""

        def named(*given: Any) -> Any:
            before, wave.copying = wave.copying, self
            try:
                more = work(*given)
            finally:
                wave.copying = before
            return None if more is None else self.named(wave, more)

        return named
