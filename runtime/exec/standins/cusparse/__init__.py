"""cuSPARSE."""

from . import products  # noqa: F401 - enters its answers
from .descriptors import CUSPARSE as LIBRARY

__all__ = ["LIBRARY"]
