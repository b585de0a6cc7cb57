"""Python's collector of reference cycles, put off while much is made and little is thrown away."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_off() -> Iterator[None]:
    """No collections inside: the collector would look at a big module again and again, and find no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # all that is alive goes to the oldest generation, without a look at each object
                gc.freeze()
                gc.unfreeze()
            gc.enable()
