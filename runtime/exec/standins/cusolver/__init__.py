"""cuSOLVER."""

from . import dense  # noqa: F401 - enters its answers
from .handles import CUSOLVER as LIBRARY

__all__ = ["LIBRARY"]
