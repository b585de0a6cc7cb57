"""Messages on a stream, whole and damaged, and the command itself over its two ways."""

import io
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warplab.runtime.dap.framing import BadMessage, read_message, write_message

from .editor import ROOT, VECADD

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "importroot"), os.environ.get("PYTHONPATH", "")])}
COMMAND = [sys.executable, "-c", "from warplab.runtime.cli import main; main()", "dap"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(), x, max_size=3)
)


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=4))
def test_what_is_written_is_read(messages: list[dict[str, Any]]) -> None:
    stream = io.BytesIO()
    for m in messages:
        write_message(stream, m)
    stream.seek(0)
    assert [read_message(stream) for _ in messages] == messages
    assert read_message(stream) is None


def test_headers_are_read_in_any_spelling() -> None:
    raw = b'\r\ncontent-length:  9\r\nContent-Type: application/vscode-jsonrpc\r\n\r\n{"a": 17}Content-Length: 2\n\n{}'
    stream = io.BytesIO(raw)
    assert read_message(stream) == {"a": 17}
    assert read_message(stream) == {}


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"Content-Length: x\r\n\r\n", "without Content-Length"),
        (b"Content-Length: -5\r\n\r\n", "without Content-Length"),
        (b"\xff\xfe hello\r\n\r\n", "without Content-Length"),
        (b"Content-Length: 3\r\n\r\n{a}", "not JSON"),
        (b"Content-Length: 2\r\n\r\n\xff\xff", "not JSON"),
        (b"Content-Length: 2\r\n\r\n[]", "not an object"),
        (b"Content-Length: 200000\r\n\r\n" + b"[" * 200000, "not JSON"),
        (b"Content-Length: 99999999\r\n\r\n" + b" " * 99999999, "longer than"),
    ],
    ids=["word", "negative", "bytes", "text", "encoding", "list", "nested", "long"],
)
def test_a_damaged_message_is_refused_and_the_next_one_read(raw: bytes, why: str) -> None:
    stream = io.BytesIO(raw)
    stream.seek(0, io.SEEK_END)
    write_message(stream, {"seq": 1})
    stream.seek(0)
    with pytest.raises(BadMessage, match=why):
        read_message(stream)
    assert read_message(stream) == {"seq": 1}


@pytest.mark.parametrize("raw", [b"", b"Content-Length: 10\r\n\r\n{}", b"Content-Len", b"Content-Length: 4\r\n"])
def test_a_stream_that_ends_within_a_message_is_over(raw: bytes) -> None:
    assert read_message(io.BytesIO(raw)) is None


def converse(source: BinaryIO, target: BinaryIO) -> list[dict[str, Any]]:
    """Debugs a launch over a pair of streams, with rubbish in between; all that the adapter says."""
    requests: list[tuple[str, dict[str, Any]]] = [
        ("initialize", {"adapterID": "warplab"}), ("launch", {"program": str(VECADD)}),
        ("setBreakpoints", {"source": {"path": str(VECADD)}, "breakpoints": [{"line": 46}]}), ("configurationDone", {}), ("disconnect", {}),
    ]  # fmt: skip
    said: list[dict[str, Any]] = []
    for n, (command, arguments) in enumerate(requests, 1):
        target.write(b"Content-Length: 1\r\n\r\n?")
        write_message(target, {"seq": n, "type": "request", "command": command, "arguments": arguments})
        over = "stopped" if command == "configurationDone" else n  # who leaves earlier ends the launch
        while (message := read_message(source)) is not None:
            said.append(message)
            if over in (message.get("request_seq"), message.get("event")):
                break
    while (message := read_message(source)) is not None:
        said.append(message)
    return said


def check(said: list[dict[str, Any]]) -> None:
    """The launch was debugged."""
    assert [m["command"] for m in said if m["type"] == "response"] == [
        "initialize",
        "launch",
        "setBreakpoints",
        "configurationDone",
        "disconnect",
    ]
    assert all(m["success"] for m in said if m["type"] == "response")
    (stopped,) = [m["body"] for m in said if m.get("event") == "stopped"]
    assert stopped["reason"] == "breakpoint"
    assert [m["seq"] for m in said] == list(range(1, len(said) + 1))


def test_standard_input_and_output() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        check(converse(process.stdout, process.stdin))
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_port() -> None:
    with subprocess.Popen([*COMMAND, "--port", "0"], stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(b":")[2])
        for _ in range(2):  # one client after another
            with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rwb") as both:
                check(converse(both, both))  # type: ignore[arg-type]
        process.kill()


def test_a_launch_that_is_under_way_ends_when_the_client_leaves(tmp_path: Path) -> None:
    endless = tmp_path / "endless.ptx"
    endless.write_text(
        "//@ run --grid 1 --block 32\n.version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry k() { .reg .u32 %r; mov.u32 %r, 0; again: add.u32 %r, %r, 3; bra again; }\n"
    )
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdin is not None and process.stdout is not None
        write_message(process.stdin, {"seq": 1, "type": "request", "command": "initialize", "arguments": {}})
        assert read_message(process.stdout) is not None
        write_message(process.stdin, {"seq": 2, "type": "request", "command": "launch", "arguments": {"program": str(endless)}})
        write_message(process.stdin, {"seq": 3, "type": "request", "command": "disconnect"})
        process.stdin.flush()
        said = []
        while (message := read_message(process.stdout)) is not None:
            said.append(message)
        assert process.wait(60) == 0
    launched, left = [m for m in said if m["type"] == "response"]
    assert not launched["success"] and left["success"], json.dumps(said)
