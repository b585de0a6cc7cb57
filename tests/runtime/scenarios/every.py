"""All scenarios by their names: each file adds its own to the table."""

from . import boxes, code, contexts, core, faults, launches, memory, output, runtime, streams
from .notes import SCENARIOS

__all__ = ["SCENARIOS", "boxes", "code", "contexts", "core", "faults", "launches", "memory", "output", "runtime", "streams"]
