"""cuBLASLt."""

from . import descriptors, products  # noqa: F401 - enter their answers
from .handles import LIBRARY

__all__ = ["LIBRARY"]
