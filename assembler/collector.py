"""Python's collector of reference cycles, put off while much is made and little is thrown away."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_frozen = False  # had somebody frozen objects, when this was last asked?


@contextmanager
def collector_off() -> Iterator[None]:
    """No collections inside: the collector would look at a big module again and again, and find no cycles."""
    global _frozen
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _frozen = _frozen or gc.get_freeze_count() > 0  # which counts them one by one: once is enough
            if not _frozen:  # all that is alive goes to the oldest generation, without a look at each object
                gc.freeze()
                gc.unfreeze()
            gc.enable()
