"""Where in the program a fault was made."""

from __future__ import annotations

from ..faults import ExecutionError, Fault
from .function import Step, VectorSegment
from .group import Group


def explain(e: ExecutionError, g: Group, segment: VectorSegment, step: Step | None) -> None:
    """Adds the instruction to a fault: the step that raised it, or what ends the segment."""
    if not isinstance(e, Fault) or e.instruction:
        return
    site = segment.plan.site if step is None else segment.plan.ops[segment.steps.index(step)].site
    if site is not None:
        g.wave.launch.locate(e, site)
    if e.block is None:
        g.blame(e, g.active)
