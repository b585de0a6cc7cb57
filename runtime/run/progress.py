"""A line on a terminal that says how far a long launch is; it comes after two seconds and is gone when the launch is over."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TextIO

from warplab.interpreter.launch import Launch

WAIT = 2.0  # seconds before anything is shown
STEP = 0.25
ERASE = "\r\x1b[K"


def words(launch: Launch, seconds: float) -> str:
    """`vecadd: block 300 of 4096, 1.2 M steps, 3 s`."""
    steps = launch.steps
    shown = f"{steps / 1e6:.1f} M" if steps >= 1_000_000 else f"{steps / 1e3:.0f} k" if steps >= 1000 else str(steps)
    begun = launch.next_block
    blocks = f"block {begun} of {launch.blocks}, " if launch.blocks > 1 else ""
    return f"{launch.name}: {blocks}{shown} steps, {seconds:.0f} s"


class Progress:
    """Watches the launches of a context while it is entered, from a thread of its own; does nothing where stderr is no terminal."""

    def __init__(self, out: TextIO | None = None, wait: float = WAIT, step: float = STEP) -> None:
        self.out = sys.stderr if out is None else out
        self.wait, self.step = wait, step
        self._launch: Launch | None = None
        self._since = 0.0
        self._shown = False
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, launch: Launch) -> None:
        """A launch begins; the one before it is over."""
        self._since = time.monotonic()
        self._launch = launch

    def __enter__(self) -> Progress:
        if self.out.isatty():
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if self._shown:
            self._write(ERASE)

    def _run(self) -> None:
        begun = time.monotonic()
        while not self._over.wait(self.step):
            launch, now = self._launch, time.monotonic()
            if launch is not None and now - begun >= self.wait:
                self._shown = True
                self._write(ERASE + words(launch, now - self._since))

    def _write(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()
