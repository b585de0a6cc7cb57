"""What stands outside of instructions: the module's head, variables, functions, declarations, what debuggers read."""

from .budgets import budgets
from .functions import functions, unresolved
from .header import header
from .parameters import parameters
from .variables import variables

__all__ = ["budgets", "functions", "header", "parameters", "unresolved", "variables"]
