"""Where every error of the command line ends: one message on standard error, one exit code, never a traceback."""

from __future__ import annotations

import os
import sys
import traceback
from enum import IntEnum

import click


class ExitCode(IntEnum):
    """What the shell learns."""

    OK = 0
    CHECK_FAILED = 1
    USAGE = 2
    PTX = 3
    FAULT = 4
    STEP_LIMIT = 5
    INTERNAL = 70  # sysexits.h EX_SOFTWARE


# Looked up among the loaded modules: an exception of a module that was not imported cannot have been raised.
EXITS: tuple[tuple[str, str, ExitCode], ...] = (
    ("warplab.assembler.link", "LinkError", ExitCode.PTX),
    ("warplab.assembler.diagnostics", "PtxError", ExitCode.PTX),
    ("warplab.assembler.objects", "ObjectError", ExitCode.PTX),
    ("warplab.interpreter.faults", "LimitReached", ExitCode.STEP_LIMIT),
    ("warplab.interpreter.faults", "ExecutionError", ExitCode.FAULT),
    ("warplab.runtime.errors", "UsageError", ExitCode.USAGE),
)


def exit_code(error: BaseException) -> ExitCode:
    """The code of the first row of EXITS that the error is an instance of."""
    for module, name, code in EXITS:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(error, kind):
            return code
    if isinstance(error, OSError):
        return ExitCode.USAGE
    return ExitCode.INTERNAL


def report(error: Exception) -> int:
    """Prints the error and returns the exit code."""
    code = exit_code(error)
    if code is not ExitCode.INTERNAL:
        text = str(error)
        click.echo(text if text.startswith(("error", "warning")) else f"error: {text}", err=True)
    else:
        click.echo(f"internal error: {type(error).__name__}: {error}", err=True)
        if os.environ.get("WARPLAB_TRACEBACK"):
            traceback.print_exception(error)
        else:
            click.echo("This is a fault of warplab itself; WARPLAB_TRACEBACK=1 shows where.", err=True)
    return code
