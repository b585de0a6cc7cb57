"""Messages of the protocol on a stream of bytes: a header with the length of the text, an empty line, and the text, which is JSON."""

from __future__ import annotations

import json
from typing import Any, BinaryIO, Protocol

Message = dict[str, Any]
LONGEST = 1 << 26  # bytes of a message
LONGEST_LINE = 1 << 12  # bytes of a line of a header
PIECE = 1 << 16  # bytes that are read at once


class ByteSource(Protocol):
    """A stream to read, with a buffer or without."""

    def read(self, size: int, /) -> bytes | None:
        """Some bytes, at most so many; none at the end."""

    def readline(self, size: int, /) -> bytes:
        """A line, or the beginning of a long one."""


class BadMessage(Exception):
    """What came is no message; what follows it can still be read."""


def read_message(stream: ByteSource) -> Message | None:
    """The next message; None at the end of the stream, BadMessage where it can't be read."""
    length, seen = -1, False
    while True:
        line = stream.readline(LONGEST_LINE)
        if not line:
            return None
        text = line.strip()
        if not text:
            if not seen:
                continue  # empty lines between messages
            break
        seen = True
        name, _, value = text.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit() and len(value.strip()) < 18:
            length = int(value)
    if length < 0:
        raise BadMessage("a message begins without Content-Length")
    if length > LONGEST:
        while length > 0 and _exactly(stream, min(length, PIECE)) is not None:
            length -= PIECE
        raise BadMessage(f"a message of {length} bytes is longer than {LONGEST}")
    raw = _exactly(stream, length)
    return None if raw is None else _parsed(raw)


def _exactly(stream: ByteSource, length: int) -> bytes | None:
    """So many bytes, which may come in pieces; None where the stream ends before."""
    pieces = []
    while length > 0:
        piece = stream.read(min(length, PIECE))
        if not piece:
            return None
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _parsed(raw: bytes) -> Message:
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError) as e:
        raise BadMessage(f"a message is not JSON: {e}") from None
    if not isinstance(message, dict):
        raise BadMessage("a message is not an object of JSON")
    return message


def write_message(stream: BinaryIO, message: Message) -> None:
    """Writes a message."""
    raw = json.dumps(message, separators=(",", ":"), ensure_ascii=True).encode()
    stream.write(b"Content-Length: %d\r\n\r\n" % len(raw) + raw)
    stream.flush()
