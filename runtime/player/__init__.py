"""The player: a recording as one HTML page without a network."""

from .page import fragment, page

__all__ = ["fragment", "page"]
