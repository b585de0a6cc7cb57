"""The profiler's inner loops, in the subset of Python that ..native.schedule.loops translates: they run compiled where llvmlite is installed."""
