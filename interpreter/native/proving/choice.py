"""Which observed launches run on trial: those that compiled code could prove, once their events have cost as much time as the compiler takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...launch import Launch
from ...observe import Observer
from ..tiering import EngineChoice
from ..tiers.notes import notes_of


@dataclass(slots=True)
class ProofChoice:
    """What is known about the proofs of one kernel."""

    engine: EngineChoice
    failed: bool = False  # has one not been proved?  Then the next ones are not likely to be

    def proves(self, launch: Launch, observers: Sequence[Observer]) -> bool:
        """Runs a launch, if compiled code can prove that its observers would find nothing; False: it has to run with its events."""
        if self.failed or not self.engine.ready(launch, None):
            return False
        from .trial import proved  # here, since it loads llvmlite

        self.failed = not proved(launch, self.engine.program, observers)
        if not self.failed:
            self.engine.notes.count(launch, None)
        return not self.failed

    def ran(self, launch: Launch, seconds: float) -> None:
        """A launch has run with its events, which took so long."""
        self.engine.notes.seconds += seconds
        self.engine.notes.count(launch, seconds)


def proof_choice(launch: Launch, observers: Sequence[Observer]) -> ProofChoice | None:
    """What is known about the proofs of a launch's kernel; None if they would not stand for all events, or there may be none."""
    o = launch.options
    if not any(x.hears_all for x in observers) or not all(x.takes_proof(launch) for x in observers):
        return None
    if o.engine == "numpy" or o.schedule is not None or o.lockstep or launch.cluster_size > 1 or o.cooperative or o.max_steps is not None:
        return None
    key = "proof", launch.lowering
    found: ProofChoice | None = launch.kernel.codes.get(key)
    if found is None:
        found = launch.kernel.codes[key] = ProofChoice(EngineChoice(notes_of(launch, " proof"), proving=True))
    return found
