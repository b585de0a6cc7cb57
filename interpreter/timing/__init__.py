"""How long a launch takes, predicted: a model of time, apart from the exact counters."""

from .timed_counters import QuicklyTimedCounters, SampledTime, TimedCounters

__all__ = ["QuicklyTimedCounters", "SampledTime", "TimedCounters"]
