"""How long a launch takes, predicted: a model of time, apart from the exact counters."""

from .timed_counters import QuicklyTimedCounters, TimedCounters

__all__ = ["QuicklyTimedCounters", "TimedCounters"]
