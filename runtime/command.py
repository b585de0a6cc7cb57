"""The command `warplab` of this very installation, for a process that runs it beside itself."""

from __future__ import annotations

import os
import sys


def command(*words: str) -> list[str]:
    """`warplab` with these words."""
    return [sys.executable, "-c", "from warplab.runtime.cli import main; main()", *words]


def environment() -> dict[str, str]:
    """What the process needs to find this installation."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
