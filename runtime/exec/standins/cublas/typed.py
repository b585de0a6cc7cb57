"""Functions that exist for each type of numbers: one answer for all of them."""

from __future__ import annotations

from collections.abc import Callable

from ....api.libraries import spelled
from ...handlers.special import HandledCall
from ..memory import LETTERS, NumberType
from .handles import CUBLAS, both

MOST = {"uplo": 1, "side": 1, "diag": 1, "trans": 2, "transa": 2, "transb": 2}  # the last value of each enumeration
Typed = Callable[[HandledCall, NumberType, str], None]


def typed(*patterns: str) -> Callable[[Typed], Typed]:
    """Enters an answer to functions whose names say the type behind "cublas"; it gets the type, and the name without both and without _v2."""

    def enter(work: Typed) -> Typed:
        for name in (name for pattern in patterns for name in spelled(pattern)):
            base = name.removeprefix("cublas").removeprefix("I").removesuffix("_v2")
            _answer(work, name, LETTERS[base[0].upper()], base[1:])
        return work

    return enter


def _answer(work: Typed, name: str, kind: NumberType, base: str) -> None:
    @CUBLAS.answers(*both(name))
    def answer(c: HandledCall) -> None:
        for word, most in MOST.items():
            CUBLAS.check(0 <= c.given.get(word, 0) <= most)
        work(c, kind, base)
