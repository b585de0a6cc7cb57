"""Makes PTX smaller while a property of it stays true."""

from .search import Smaller, reduced

__all__ = ["Smaller", "reduced"]
