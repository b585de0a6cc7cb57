"""The player: a recording as one HTML page without a network."""

from .page import page
from .tabs import with_player

__all__ = ["page", "with_player"]
