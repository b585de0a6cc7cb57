"""cuBLAS."""

from . import factors, matrices, products, vectors  # noqa: F401 - enter their answers
from .handles import CUBLAS as LIBRARY

__all__ = ["LIBRARY"]
