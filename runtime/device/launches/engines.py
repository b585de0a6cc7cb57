"""How launches run where nobody says otherwise: by which engine, in which order, for how long.

The engine is numpy, machine code of the host, or, by itself, what is faster.  WARPLAB_ENGINE, WARPLAB_THREADS, WARPLAB_SCHEDULE and
WARPLAB_TIMEOUT say it for a process.
"""

from __future__ import annotations

import os
import sys

from warplab.interpreter.launch import Options
from warplab.interpreter.native.tiering import missing
from warplab.interpreter.seeds import seed_of

from ...errors import UsageError

ENGINES = ("auto", "numpy", "native")
VARIABLE = "WARPLAB_ENGINE"
THREADS, SCHEDULE, TIMEOUT = "WARPLAB_THREADS", "WARPLAB_SCHEDULE", "WARPLAB_TIMEOUT"


def engine_of(word: str = "") -> str:
    """An engine by its name; without one, what WARPLAB_ENGINE says, else auto."""
    name = word or os.environ.get(VARIABLE, "") or ENGINES[0]
    if name not in ENGINES:
        raise UsageError(f"{VARIABLE if not word else 'the engine'} is {name!r}; there are {', '.join(ENGINES[:-1])} and {ENGINES[-1]}")
    if name == "native" and (wanted := missing()):
        raise UsageError(f"the native engine needs {wanted}: pip install --upgrade 'warplab[native]'")
    return name


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def threads_of(given: int | None = None) -> int:
    """How many threads a launch may run on: as many as are given, else what WARPLAB_THREADS says, else one for each processor."""
    word = os.environ.get(THREADS, "")
    if given is not None or not word:
        return given or cores()
    if not word.isdecimal() or not int(word):
        raise UsageError(f"{THREADS} is {word!r}: write a number, 1 or more")
    return int(word)


def usual_options() -> Options:
    """What the environment asks of launches."""
    out = Options(engine=engine_of(), threads=threads_of())
    try:
        if seed := os.environ.get(SCHEDULE):
            out.schedule = seed_of(seed)
    except ValueError:
        raise UsageError(f"{SCHEDULE} is {seed!r}: write a seed such as 7, or a seed and lines of the PTX such as 7@12,15") from None
    try:
        if seconds := os.environ.get(TIMEOUT):
            out.max_seconds = float(seconds)
    except ValueError:
        raise UsageError(f"{TIMEOUT} is {seconds!r}: write the seconds that a launch may take") from None
    return out
