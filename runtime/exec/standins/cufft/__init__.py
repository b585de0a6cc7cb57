"""cuFFT."""

from . import transforms  # noqa: F401 - enters its answers
from .plans import CUFFT as LIBRARY

__all__ = ["LIBRARY"]
