"""Findings of the checkers beside the player: each with a link to the step at which it was found."""

from __future__ import annotations

from collections.abc import Sequence

from warplab.interpreter.checkers.findings import Finding

from ..recording import Recording
from ..reports.findings import Place, as_html
from ..run.outcome import Outcome
from ..run.recorded import place_of, record
from ..run.runner import Runner
from .tabs import MOST, RECORDED, with_player


class PlayedFindings:
    """Runs that are recorded as they are checked."""

    def __init__(self) -> None:
        self.launches: list[Recording] = []

    def run(self, runner: Runner) -> Outcome:
        """Carries a run out."""
        made = record(runner, RECORDED)
        self.launches += [r for r in made.launches if r.step_count]
        return made.outcome

    def page(self, findings: Sequence[Finding], file: str) -> str:
        """The page with the findings and the player."""
        shown = self.launches[:MOST]
        places: dict[Finding, Place] = {}
        for f in findings:
            for n, rec in enumerate(shown, 1):
                place = place_of(rec, f)
                if place is not None:
                    places.setdefault(f, (n, *place))
        return as_html(findings, file, places, lambda name, report: with_player(name, report, shown))
