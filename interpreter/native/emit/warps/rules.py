"""The compiled forms of meanings that work on whole warps, by the meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...trace.code import VectorCode


class Warp(Protocol):
    """What an emitter offers."""

    width: int
    code: VectorCode

    @property
    def members(self) -> str:
        """The lanes that execute the instruction, as a number of 32 bits."""

    def constant(self, value: Any) -> Any:
        """The number that a symbol always is; None where it is not one."""

    def refuse(self, lanes: str) -> None:
        """Leaves the pass to numpy where a bit is set."""


Rule = Callable[..., Any]
RULES: dict[Any, Rule] = {}


def rule(meaning: Any) -> Callable[[Rule], Rule]:
    """Registers the compiled form of a meaning."""

    def register(f: Rule) -> Rule:
        RULES[meaning] = f
        return f

    return register
