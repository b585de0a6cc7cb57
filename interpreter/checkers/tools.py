"""The tools that check launches: one row for each.  A tool is imported when a run asks for it."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .checker import CheckedRun, Checker

# The module of each tool, as import_module takes it; its class is a Checker that has the tool's name.  A run calls the checkers in this order.
TOOLS = {
    "memcheck": ".memcheck",
    "initcheck": ".initcheck.checker",
    "racecheck": ".racecheck.checker",
    "synccheck": ".synccheck",
}
NAMES = ", ".join(TOOLS)


def checkers_of(tools: Collection[str], run: CheckedRun) -> list[Checker]:
    """A checker for each of the named tools."""
    return [getattr(import_module(module, __package__), tool.capitalize())(run) for tool, module in TOOLS.items() if tool in tools]
