"""How long a launch takes, predicted: a model of time, apart from the exact counters."""

from .timed_counters import TimedCounters

__all__ = ["TimedCounters"]
