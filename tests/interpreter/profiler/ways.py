"""The ways in which the profiler's loops run: numpy's instead, the text of the loops as plain Python, and that text compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from warplab.interpreter.native.tiering import missing
from warplab.interpreter.profiler.loops import compiled
from warplab.interpreter.profiler.loops.compiled import CompiledLoop, Loops

needs_compiler = pytest.mark.skipif(bool(missing()), reason="needs llvmlite")
LOOPS = ["python", pytest.param("compiled", marks=needs_compiler)]
WAYS = pytest.mark.parametrize("by", ["numpy", *LOOPS])


class Elements:
    """An array whose elements are plain numbers, as compiled code sees them."""

    def __init__(self, array: Any) -> None:
        self.array = array.reshape(-1)

    def __getitem__(self, at: int) -> int:
        assert at >= 0
        return int(self.array[at])

    def __setitem__(self, at: int, value: int) -> None:
        assert at >= 0
        self.array[at] = value


class PlainLoop(CompiledLoop):
    """A loop as Python."""

    def __init__(self, text: Callable[..., int]) -> None:
        self.text = text

    def __call__(self, *arguments: Any) -> int:
        return self.text(*[Elements(a) if isinstance(a, np.ndarray) else a for a in arguments])


def go(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The profiler goes this way."""
    loops: Loops | None = None
    if by == "python":
        texts = {f.__name__: f for f in compiled.FUNCTIONS}
        loops = Loops(*[PlainLoop(texts[f.name]) for f in fields(Loops)])
    elif by == "compiled":
        loops = compiled.load(0, "native")
    monkeypatch.setattr(compiled, "_loaded", [loops])
