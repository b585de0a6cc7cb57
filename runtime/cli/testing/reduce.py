"""`warplab reduce`: a smaller PTX file for which a command still succeeds."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from warplab.assembler.reduce import Smaller, reduced

from .. import files
from ..errors import ExitCode

PLACE = "{}"


@click.command()
@click.argument("source", metavar="FILE", type=files.PTX)
@click.option("--test", "command", metavar="COMMAND", required=True, help="A shell command that succeeds for the file; {} is its name.")
@click.option("--output", "-o", metavar="PATH", help="Where to write the smallest file (default: NAME.reduced.ptx).")
@click.option("--timeout", metavar="SECONDS", type=click.FloatRange(0, min_open=True), default=60.0, show_default=True,
              help="A command that takes longer has failed.")  # fmt: skip
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def reduce(source: files.InputFile, command: str, output: str | None, timeout: float, quiet: bool) -> None:
    """Makes a PTX file smaller for as long as a command succeeds.

    The command gets the name of a candidate in the place of {}, or behind it. Functions, blocks, statements, guards, operands and words are left
    out or become simpler; PTX without errors stays so. The output file always holds the smallest so far, also after Ctrl-C.
    """
    text = source.text()
    target = output or ("-" if source.is_stdin else f"{Path(source.name).stem}.reduced.ptx")
    with tempfile.TemporaryDirectory(prefix="warplab-reduce-") as folder:
        candidate = Path(folder, "stdin.ptx" if source.is_stdin else Path(source.name).name)

        def holds(smaller: str) -> bool:
            candidate.write_text(smaller, encoding="utf-8", errors="surrogateescape")
            return _succeeds(_with_name(command, str(candidate)), timeout)

        if not holds(text):
            click.echo(f"error: the command does not succeed for {source.name} itself: {_with_name(command, source.name)}", err=True)
            click.get_current_context().exit(ExitCode.CHECK_FAILED)
        _shrink(text, holds, target, quiet)


def _shrink(text: str, holds: Callable[[str], bool], target: str, quiet: bool) -> None:
    """Writes each smaller text to the output file; standard output gets the last one."""
    last = Smaller(text, "", 0)
    try:
        for last in reduced(text, holds):
            if target != "-":
                files.write(target, last.text)
            if not quiet and last.pass_name:
                click.echo(f"{len(last.text.splitlines()):7} lines {len(last.text):8} bytes  {last.pass_name}", err=True)
    finally:
        if target == "-":
            files.write(target, last.text)
        lines = f"{len(text.splitlines())} lines became {len(last.text.splitlines())}"
        click.echo(f"{lines}; the command ran {last.tries + 1} times" + (f"; written to {target}" if target != "-" else ""), err=True)


def _with_name(command: str, path: str) -> str:
    """The command about a file."""
    name = shlex.quote(path)
    return command.replace(PLACE, name) if PLACE in command else f"{command} {name}"


def _succeeds(command: str, timeout: float) -> bool:
    """Does a shell command end in time with exit code 0? What it started ends with it."""
    process = subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ,
        start_new_session=True,
    )
    try:
        return process.wait(timeout) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
