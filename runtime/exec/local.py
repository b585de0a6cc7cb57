"""What a thread of the program knows, so that it answers the calls around a launch without the server: `struct thread` of stub.c."""

from __future__ import annotations

import struct

from ..cudart.api import RUNTIME
from .process import KeptMemory

STATE = struct.Struct("<Ii")  # its first fields: has no call failed?  The thread's device
PLACE_AT = STATE.size  # where the <<<>>> stands that was prepared last
DEPTH, LAUNCH = 8, struct.Struct("<7Q")
SIZE = PLACE_AT + 8 + 8 + DEPTH * LAUNCH.size


class ThreadRecord:
    """The record of one thread, in memory that program and server see; the server writes it while the thread waits."""

    def __init__(self, kept: KeptMemory) -> None:
        self.address = kept.add(bytes(SIZE))
        self._bytes = kept.view(self.address, SIZE)
        self.clear()

    def clear(self) -> None:
        """For a new thread."""
        self._bytes[:] = bytes(SIZE)
        self._told = False, -1
        STATE.pack_into(self._bytes, 0, *self._told)

    def tell(self, asked_device: bool) -> None:
        """What the thread may know now; of its device once it has asked for that and got it."""
        known = self._told[1] >= 0 or asked_device
        now = RUNTIME.is_calm, RUNTIME.device if known else -1
        if now != self._told:
            self._told = now
            STATE.pack_into(self._bytes, 0, *now)

    @property
    def place(self) -> int:
        """Where the <<<>>> stands that was prepared last."""
        return int.from_bytes(self._bytes[PLACE_AT : PLACE_AT + 8], "little")

    def forget_place(self) -> None:
        """It was launched."""
        self._bytes[PLACE_AT : PLACE_AT + 8] = bytes(8)
