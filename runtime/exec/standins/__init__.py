"""Stand-ins for NVIDIA's libraries of mathematics: the same functions, computed by numpy on the memory of the modelled devices."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calls import StandIn


def load(library: str) -> StandIn:
    """Enters the answers of a library; a program that calls none of its functions does not pay for them."""
    out: StandIn = import_module(f"{__name__}.{library}").LIBRARY
    return out
