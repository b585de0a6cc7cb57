"""One litmus test of herd's format: the outcomes that the model allows, and whether the condition holds."""

from __future__ import annotations

from dataclasses import dataclass

from warplab.interpreter.litmus.candidate import Values
from warplab.interpreter.litmus.events import Location, NotModelled, Traces
from warplab.interpreter.litmus.model import outcomes
from warplab.interpreter.litmus.ways import settled
from warplab.interpreter.litmus.why import Explanation, explained

from ...errors import UsageError
from .conditions import HerdCondition
from .program import HerdTest, register, signed
from .threads import names, ways

Outcome = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HerdReport:
    """What came of a test."""

    test: HerdTest
    names: tuple[str, ...]
    outcomes: tuple[Outcome, ...]  # that the model allows, of those that the condition speaks of
    bounded: bool  # ways with more loads than the model looks at were left out
    explanation: Explanation | None = None  # of the outcome on which the condition hangs, if it was asked for

    @property
    def condition(self) -> HerdCondition:
        """What the test claims."""
        return self.test.condition

    def decides(self, outcome: Outcome) -> bool:
        """Does the condition hang on this outcome?"""
        return self.condition.decides(dict(zip(self.names, outcome, strict=True)))

    @property
    def deciding(self) -> Outcome | None:
        """The first outcome that settles the condition, if one is allowed."""
        return next((o for o in self.outcomes if self.decides(o)), None)

    @property
    def passed(self) -> bool:
        """Does the condition hold?"""
        return (self.deciding is not None) is self.condition.allows


def traces(test: HerdTest) -> tuple[list[Traces], bool]:
    """All ways through the threads, and whether some were left out."""
    try:
        return settled(lambda values: ways(test, values), {})
    except NotModelled as e:
        raise UsageError(f"the model does not cover {e}") from None


def location_of(test: HerdTest, name: str) -> Location:
    """Where the value of a name stands."""
    thread, colon, of = name.partition(":")
    return register(int(thread[1:]), of) if colon else test.places[name].location


def name_of(test: HerdTest, location: Location, address: str) -> str:
    """What the test calls a location; the name of a second address is itself."""
    return address or next(name for name, place in test.places.items() if place.location == location)


def judge_herd(test: HerdTest, *, explain: bool = False) -> HerdReport:
    """Enumerates what the model allows."""
    threads, bounded = traces(test)
    asked = names(test)
    places = [location_of(test, name) for name in asked]
    try:
        found = outcomes(threads, test.first, places)
    except NotModelled as e:
        raise UsageError(f"the model does not cover {e}") from None
    told = sorted(tuple(map(signed, o)) for o in found)
    counted = tuple(o for o in told if test.condition.counts(dict(zip(asked, o, strict=True))))

    def decides(values: Values) -> bool:
        return test.condition.decides({name: signed(values[place]) for name, place in zip(asked, places, strict=True)})

    return HerdReport(test, asked, counted, bounded, explained(threads, test.first, places, decides) if explain else None)
