"""Profiles from Python: `with profiling() as p:` leaves one frozen profile of each launch in `p.launches`.

It works on every context that launches inside the block, whichever API gave the launch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warplab.interpreter.observers import Counters, KernelProfile
from warplab.interpreter.observers.profile import show_with

from .context import Context

if TYPE_CHECKING:
    from warplab.interpreter.launch import Launch

    from .kernels import KernelHandle, Shape


@dataclass(slots=True, eq=False)
class Profiling:
    """What was launched so far."""

    launches: list[KernelProfile] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Profiling of {len(self.launches)} launches>"

    def _repr_html_(self) -> str:
        from .reports.html import page

        return page(self.launches, fragment=True)


def _page(profile: KernelProfile) -> str:
    from .reports.html import page

    return page([profile], fragment=True)


show_with(_page)


def observe(launch: Launch, counters: Counters) -> None:
    """Makes a launch that was not observed tell an observer what it does."""
    launch.observers = (*launch.observers, counters)
    launch.entry = launch.kernel.plan(launch.kernel.function, True)


@contextmanager
def profiling() -> Iterator[Profiling]:
    """Profiles every launch of the block; one that faults is left with what it did until then."""
    found = Profiling()
    original = Context.launch

    def launch(self: Context, handle: KernelHandle, shape: Shape, parameters: bytes) -> None:
        seen: list[tuple[Launch, Counters]] = []
        before = self.observe

        def listen(launched: Launch) -> None:
            if before is not None:
                before(launched)
            counters = Counters(self.profile)
            observe(launched, counters)
            seen.append((launched, counters))

        self.observe = listen
        try:
            original(self, handle, shape, parameters)
        finally:
            self.observe = before
            for launched, counters in seen:
                if counters.profile is None:
                    counters.end(launched)
                assert counters.profile is not None
                found.launches.append(counters.profile)

    Context.launch = launch  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Context.launch = original  # type: ignore[method-assign]
