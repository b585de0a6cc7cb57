"""A Dask cluster whose scheduler an option names."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import UsageError

ANSWER = 10.0  # seconds that a scheduler has to answer


def connected(address: str) -> Any:
    """A client of the scheduler at an address."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise UsageError("--scheduler needs the extra `cluster`: pip install 'warplab[cluster]'") from None
    try:
        return distributed.Client(address, timeout=ANSWER)
    except (OSError, ValueError) as e:  # a time-out is an OSError too
        raise UsageError(f"--scheduler {address}: no scheduler answers there ({e})") from None
