"""How far a long launch is: a line on a terminal, which comes after two seconds and is gone when the launch is over.

If no block ends for ten seconds, a note says what the launch executes; it stays, and comes without a terminal, too.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TextIO

from warplab.assembler.demangle import short_name
from warplab.interpreter.launch import Launch

WAIT = 2.0  # seconds before anything is shown
PATIENCE = 10.0  # seconds in which a block should end
STEP = 0.25
ERASE = "\r\x1b[K"
HELP = "  help: --timeout S and --max-steps N end such a launch; Ctrl-C shows the line it is at"


def words(launch: Launch, seconds: float) -> str:
    """`vecadd: 300 of 4096 blocks have ended, at line 12, 1.2 M steps, 3 s`."""
    return f"{short_name(launch.name)}: {launch.progress()}, {seconds:.0f} s"


class Progress:
    """Watches the launches of a context while it is entered, from a thread of its own; does nothing where stderr is not a terminal."""

    def __init__(self, out: TextIO | None = None, wait: float = WAIT, step: float = STEP, patience: float = PATIENCE) -> None:
        self.out = sys.stderr if out is None else out
        self.wait, self.step, self.patience = wait, step, patience
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
        terminal = self.out.isatty()
        begun = time.monotonic()
        launch: Launch | None = None
        ended, ended_at, noted = 0, begun, False
        while not self._over.wait(self.step):
            now = time.monotonic()
            if launch is not self._launch:
                launch, ended, ended_at, noted = self._launch, 0, now, False
            if launch is None:
                continue
            if launch.ended_blocks() > ended:
                ended, ended_at = launch.ended_blocks(), now
            if not noted and now - ended_at >= self.patience:
                noted = True
                erase = ERASE if self._shown else ""
                self._write(f"{erase}note: {words(launch, now - self._since)}: no block has ended for {self.patience:.0f} s\n{HELP}\n")
            if terminal and now - begun >= self.wait:
                self._shown = True
                self._write(ERASE + words(launch, now - self._since))

    def _write(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()
