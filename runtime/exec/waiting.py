"""What waits while launches only spin: calls of the program, and a thread of the server's own, which sees what the program writes without a call."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

from ..device.graphs.pending import QUEUE
from .process import HostProgram

SHORTEST, LONGEST = 0.001, 0.02  # seconds between two looks
PATIENCE = 10.0  # seconds without a call and without any work of the program's, after which nobody changes anything any more


class WaitingCalls:
    """The waiting calls of one program."""

    def __init__(self, program: HostProgram, lock: threading.Lock) -> None:
        self.program = program
        self.lock = lock  # of the model: free while somebody waits
        self.calls = 0  # that were answered
        self.waiting = 0  # threads of the program whose calls wait
        self.looks = False  # does the server's own thread look?

    def others_run(self) -> Iterator[bool]:
        """See Host.patience: gives up when no other thread is left, or when all of them have slept for long."""
        before, since, pause = None, time.monotonic(), SHORTEST
        self.waiting += 1
        try:
            while self._threads() > self.waiting:
                now = self.calls, self._ticks()
                if now != before:
                    before, since = now, time.monotonic()
                elif time.monotonic() - since > PATIENCE:
                    return
                self.lock.release()
                time.sleep(pause)
                self.lock.acquire()
                pause = min(pause * 1.2, LONGEST)
                yield True
        finally:
            self.waiting -= 1

    def answered(self) -> None:
        """A call was answered, under the lock."""
        self.calls += 1
        if QUEUE.pieces and not self.looks and not self.program.copies_itself:
            self.looks = True
            threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        """As long as launches spin, the program may write what they wait for, and wait itself for what they write then, without a call."""
        pause = SHORTEST
        while True:
            time.sleep(pause)
            with self.lock:
                if not QUEUE.pieces:
                    self.looks = False
                    return
                before = QUEUE.changes
                QUEUE.progress(speaks=False)
            pause = SHORTEST if QUEUE.changes != before else min(pause * 1.2, LONGEST)

    def _threads(self) -> int:
        """How many threads the program has."""
        with suppress(OSError):
            return len(os.listdir(f"/proc/{self.program.pid}/task"))
        return 0

    def _ticks(self) -> int:
        """The processor time that it has used."""
        with suppress(OSError), open(f"/proc/{self.program.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
            return int(fields[11]) + int(fields[12])
        return 0
