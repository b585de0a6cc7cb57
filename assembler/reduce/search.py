"""The search: which changes keep the property?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..diagnostics import PtxError
from ..ir import Module
from ..parse import parse
from ..verify import check
from .edits import Change, applied
from .passes import PASSES, lines


class Smaller(NamedTuple):
    """A smaller text with the property."""

    text: str  # the smallest so far
    pass_name: str
    tries: int  # how often the property was asked for


class Reducer:
    """One reduction: the text, the property, and what was tried."""

    def __init__(self, text: str, holds: Callable[[str], bool], valid_only: bool) -> None:
        self.text = text
        self.holds = holds
        self.valid_only = valid_only
        self.tries = 0
        self.failed: set[int] = set()  # hashes of texts without the property

    def keeps(self, text: str) -> bool:
        """Has another text the property? Text that is no valid PTX is not tried, nor is a text twice."""
        if text == self.text or hash(text) in self.failed:
            return False
        if not self.valid_only or valid(text):
            self.tries += 1
            if self.holds(text):
                return True
        self.failed.add(hash(text))
        return False

    def run(self, changes: list[Change]) -> Iterator[None]:
        """Makes the changes that keep the property, from the last to the first, as many at once as go; a step for each text that is kept."""
        base, taken = self.text, list[Change]()
        size = len(changes)
        while size:
            left = list[Change]()
            for end in range(len(changes), 0, -size):
                chunk = changes[max(end - size, 0) : end]
                text = applied(base, taken + chunk)
                if self.keeps(text):
                    self.text = text
                    taken += chunk
                    yield
                else:
                    left = chunk + left
            changes, size = left, min(size, len(left)) // 2


def valid(text: str) -> bool:
    """Is it PTX without errors?"""
    return not any(d.severity == "error" for d in check(text))


def reduced(text: str, holds: Callable[[str], bool]) -> Iterator[Smaller]:
    """Smaller and smaller texts with the property, which the first has. Valid PTX stays valid."""
    reducer = Reducer(text, holds, valid(text))
    before = ""
    while reducer.text != before:
        before = reducer.text
        for name, changes in _passes(reducer):
            for _ in reducer.run(changes):
                yield Smaller(reducer.text, name, reducer.tries)
    yield Smaller(reducer.text, "", reducer.tries)


def _passes(reducer: Reducer) -> Iterator[tuple[str, list[Change]]]:
    """The changes of each pass in turn, of the text as it is then."""
    for one in PASSES:
        module = _module(reducer.text)
        if module is None:
            yield "lines", list(lines(reducer.text))
            return
        yield one.__name__.replace("_", " "), [c for c in one(module) if c]


def _module(text: str) -> Module | None:
    """The module, if the text can be parsed."""
    try:
        module = parse(text)
        for f in module.functions.values():
            _ = f.body
    except PtxError:
        return None
    return module
