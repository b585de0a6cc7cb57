"""Observers of launches, from Python: every launch inside `with observing(make):` gets an observer of its own, whichever API launches.

Who wants to know only when a launch begins and ends, and with what, says so by `with watching(watch):`; that leaves the launch's speed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, TypeVar

from warplab.interpreter.observe import Observer
from warplab.isa.profiles import DeviceProfile

T = TypeVar("T", bound=Observer)
Watch = Callable[..., AbstractContextManager[object]]  # takes a context, and what its launch() takes

_makers: list[Callable[[DeviceProfile], Any]] = []  # of the blocks that are open


@contextmanager
def observing(make: Callable[[DeviceProfile], T]) -> Iterator[list[T]]:
    """Gives each launch of the block the observer that `make` returns for the device's profile; yields the list of them."""
    made: list[T] = []

    def one(profile: DeviceProfile) -> T:
        made.append(make(profile))
        return made[-1]

    _makers.append(one)
    try:
        yield made
    finally:
        _makers.remove(one)


def observers_of(profile: Callable[[], DeviceProfile]) -> Sequence[Observer]:
    """The observers of one launch; they ask for the profile of the device."""
    return [make(profile()) for make in _makers]


_watches: list[Watch] = []
_NOTHING = nullcontext()
_alone: list[Watch] = []  # those that have to see launches one by one


@contextmanager
def watching(watch: Watch, *, alone: bool = False) -> Iterator[None]:
    """Runs each launch of the block inside what `watch` returns for its context, kernel, shape and parameter block.

    `alone`: no other work may run between its begin and its end.
    """
    lists = (_watches, _alone) if alone else (_watches,)
    for one in lists:
        one.append(watch)
    try:
        yield
    finally:
        for one in lists:
            one.remove(watch)


def watches_alone() -> bool:
    """Does something have to see launches one by one?"""
    return bool(_alone)


def watched(*launch: Any) -> AbstractContextManager[object]:
    """Everything that watches one launch."""
    if not _watches:
        return _NOTHING
    out = ExitStack()
    for watch in _watches:
        out.enter_context(watch(*launch))
    return out
