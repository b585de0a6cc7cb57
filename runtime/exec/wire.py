"""What the program and its server say to each other: requests and replies of fixed size over a socket, see stub.c."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

AUDIT, ANSWER = 0x7FFF_FFFF, 0x7FFF_FFFE  # numbers of requests that no exported function has
RETURN, SYSCALL, CALL = 0, 1, 2  # kinds of replies
REQUEST = struct.Struct("<II8QQQ4dQ")
REPLY = struct.Struct("<QQ6Q")
MASK = (1 << 64) - 1


class Disconnected(Exception):
    """The thread at the other end is gone."""


@dataclass(slots=True)
class WireRequest:
    """A call: its number, the registers that hold arguments, where those on the stack begin, and where a structure is returned."""

    number: int
    tid: int
    registers: tuple[int, ...]
    stack: int
    result: int
    floats: tuple[float, ...]
    data: int  # where the library's data block stands


def read_request(raw: bytes) -> WireRequest:
    """A request from its bytes."""
    number, tid, *rest = REQUEST.unpack(raw)
    return WireRequest(number, tid, tuple(rest[:8]), rest[8], rest[9], tuple(rest[10:14]), rest[14])


def receive(connection: socket.socket, flags: int = 0) -> WireRequest:
    """The next request."""
    try:
        raw = connection.recv(REQUEST.size, flags)
    except ConnectionError:
        raise Disconnected from None
    if len(raw) != REQUEST.size:
        raise Disconnected
    return read_request(raw)


def send(connection: socket.socket, kind: int, target: int, *arguments: int) -> None:
    """A reply."""
    values = [a & MASK for a in arguments] + [0] * (6 - len(arguments))
    try:
        connection.send(REPLY.pack(kind, target & MASK, *values), socket.MSG_NOSIGNAL)
    except ConnectionError:
        raise Disconnected from None
