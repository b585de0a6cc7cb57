"""`warplab dap`: the debugger for editors, which speak the Debug Adapter Protocol to it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ...dap.adapter import Loaded
    from ...dap.arguments import RequestArguments


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Listens on a port of this machine (0: any) instead of standard input; one client after another.",
)
def dap(port: int | None) -> None:
    """Debugs launches from an editor: VS Code, Neovim, Emacs and others.

    The editor starts this command and speaks the Debug Adapter Protocol over its standard input and output.
    """
    from ...dap.server import serve

    if port is None:
        # a stream without a buffer: the thread that waits for it must not hold a lock when the process ends
        with (
            os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0) as source,
            os.fdopen(os.dup(sys.stdout.fileno()), "wb") as target,
            _no_output(),
        ):
            serve(source, target, load)
        return
    _listen(port)


def _listen(port: int) -> None:
    import socket

    from ...dap.server import serve

    with socket.create_server(("127.0.0.1", port)) as listening:
        click.echo(f"listening on 127.0.0.1:{listening.getsockname()[1]}", err=True)
        while True:
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as source, connection.makefile("wb") as target, _no_output():
                serve(source, target, load)
                with suppress(OSError):  # the client has closed it
                    connection.shutdown(socket.SHUT_RDWR)  # the thread that reads still has it


@contextmanager
def _no_output() -> Iterator[None]:
    """Nothing but the protocol goes to standard output: what a launch prints is an event."""
    before, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    try:
        yield
    finally:
        sys.stdout = before


def load(args: RequestArguments, say: Callable[[str, str], None]) -> Loaded:
    """Launches what a client names, as `warplab debug` does: `program` is its FILE, `args` are its options; or `command` under `exec`."""
    from ...dap.adapter import Loaded
    from ...errors import UsageError
    from .debug import debug
    from .recordings import recordings

    base = args.text("cwd", "") or os.getcwd()
    if "command" in args.values:
        return _executed(args, base, say)
    files = [os.path.join(base, f) for f in (args.text("program"), *args.words("files"))]
    with _told(say):
        try:
            with debug.make_context("debug", [*files, *args.words("args")]) as ctx:
                given: dict[str, Any] = ctx.params
                for name in ("scripts", "lines", "batch"):
                    given.pop(name)
                made, number = recordings(given.pop("files"), given.pop("limit"), given.pop("blocks"), given.pop("launch"), given)
        except click.ClickException as e:
            raise UsageError(e.format_message()) from None
        except click.exceptions.Exit:
            raise UsageError("`args` are the options of a launch, such as --grid 4") from None
    return Loaded(made, number)


def _executed(args: RequestArguments, base: str, say: Callable[[str, str], None]) -> Loaded:
    """Runs a whole program under `warplab exec`, to its end; the launch that failed or is named is debugged."""
    import subprocess
    from tempfile import TemporaryDirectory

    from ...command import command, environment
    from ...dap.adapter import Loaded
    from ...errors import UsageError
    from ...recording import Recording

    with TemporaryDirectory(prefix="warplab-") as folder:
        made = Path(folder) / "launch.wlrec"
        words = ["exec", "--recording", str(made), *args.words("args"), "--", *args.words("command")]
        process = subprocess.Popen(
            command(*words), cwd=base, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env=environment(),
        )  # fmt: skip
        last = ""
        with process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    last = line.strip() or last
                    say(line, "stdout")
            except BaseException:
                process.terminate()
                raise
        if not made.exists():
            raise UsageError(last or f"{' '.join(args.words('command'))} launches nothing")
        return Loaded([Recording.load(made)], 0)


class _Teller(io.TextIOBase):
    """A stream whose lines become events."""

    def __init__(self, say: Callable[[str, str], None], category: str) -> None:
        self._say, self._category = say, category

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError("this stream is of text")  # click tries whether it takes bytes
        if text:
            self._say(text, self._category)
        return len(text)


@contextmanager
def _told(say: Callable[[str, str], None]) -> Iterator[None]:
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Teller(say, "stdout"), _Teller(say, "stderr")
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
