"""Operands in their places: why one does not fit."""

from .addresses import HANDLES, is_narrow
from .kinds import Misfit, described
from .operand_errors import misfit

__all__ = ["HANDLES", "Misfit", "described", "is_narrow", "misfit"]
