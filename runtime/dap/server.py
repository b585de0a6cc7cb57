"""Serves a client on a pair of streams.  A thread of its own reads, so that a launch that is under way can be ended."""

from __future__ import annotations

import _thread
import queue
import threading
from collections.abc import Callable
from typing import BinaryIO

from . import code, evaluation, frames, lifecycle, motion, sources, variables  # noqa: F401  they fill the table of requests
from .adapter import Adapter, Loader
from .breakpoints import ClientStops
from .framing import BadMessage, ByteSource, Message, read_message, write_message

ENDING = ("disconnect", "terminate")
PATIENCE = 1.0  # seconds that a launch has to end by itself when the client leaves


def adapter(send: Callable[[Message], None], load: Loader) -> Adapter:
    """A new client's debugger."""
    out = Adapter(send, load)
    out.breakpoints = ClientStops(out)
    return out


class Connection:
    """A client."""

    def __init__(self, source: ByteSource, target: BinaryIO, load: Loader) -> None:
        self.source, self.target = source, target
        self.adapter = adapter(self._send, load)
        self.messages: queue.SimpleQueue[Message | BadMessage | None] = queue.SimpleQueue()
        self.busy = threading.Event()
        self.interrupting = False

    def _send(self, message: Message) -> None:
        try:
            write_message(self.target, message)
        except (OSError, ValueError):  # the client is gone; what it sent last is still read
            self.adapter.over = True

    def serve(self) -> None:
        """Until the client leaves."""
        threading.Thread(target=self._read, daemon=True).start()
        while not self.adapter.over:
            try:
                message = self.messages.get()
                if message is None:
                    return
                if isinstance(message, BadMessage):
                    self.adapter.say(str(message), "stderr")
                    continue
                self.busy.set()
                self.adapter.handle(message)
                self.busy.clear()
            except KeyboardInterrupt:
                self.busy.clear()
                if not self.interrupting:
                    raise
            self.interrupting = False

    def _read(self) -> None:
        while True:
            message: Message | BadMessage | None
            try:
                message = read_message(self.source)
            except BadMessage as e:
                message = e
            except (OSError, ValueError):
                message = None
            self.messages.put(message)
            if message is None or (isinstance(message, dict) and message.get("command") in ENDING):
                timer = threading.Timer(PATIENCE, self._interrupt)
                timer.daemon = True
                timer.start()
            if message is None:
                return

    def _interrupt(self) -> None:
        """Ends what has taken long, since the client leaves."""
        if self.busy.is_set():
            self.interrupting = True
            _thread.interrupt_main()


def serve(source: ByteSource, target: BinaryIO, load: Loader) -> None:
    """Serves one client."""
    Connection(source, target, load).serve()
