"""When compiled code is worth its compilation, and the compiler beside the numpy engine."""

import atexit
from collections.abc import Callable

_at_end: list[Callable[[], None]] = []


def at_end(f: Callable[[], None]) -> Callable[[], None]:
    """A function that is called before this process ends."""
    _at_end.append(f)
    return f


@atexit.register
def end() -> None:
    """Does what is left to do; a process that ends without further ado calls it, too."""
    while _at_end:
        _at_end.pop()()
