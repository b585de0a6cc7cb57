"""cuRAND."""

from .generators import CURAND as LIBRARY

__all__ = ["LIBRARY"]
