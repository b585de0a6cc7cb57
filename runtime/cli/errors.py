"""Where every error of the command line ends: one message on standard error, one exit code, never a traceback; JSON where it is asked for."""

from __future__ import annotations

import os
import sys
import traceback
from enum import IntEnum

import click

from . import files
from .colours import paint


class ExitCode(IntEnum):
    """What the shell learns."""

    OK = 0
    CHECK_FAILED = 1
    USAGE = 2
    PTX = 3
    FAULT = 4
    STEP_LIMIT = 5
    INTERRUPTED = 130  # as shells say it of SIGINT
    INTERNAL = 70  # sysexits.h EX_SOFTWARE


# Looked up among the loaded modules: an exception of a module that was not imported cannot have been raised.
EXITS: tuple[tuple[str, str, ExitCode], ...] = (
    ("warplab.assembler.link", "LinkError", ExitCode.PTX),
    ("warplab.assembler.diagnostics", "PtxError", ExitCode.PTX),
    ("warplab.assembler.objects", "ObjectError", ExitCode.PTX),
    ("warplab.interpreter.faults", "LimitReached", ExitCode.STEP_LIMIT),
    ("warplab.interpreter.faults", "ExecutionError", ExitCode.FAULT),
    ("warplab.runtime.errors", "UsageError", ExitCode.USAGE),
    ("warplab.runtime.errors", "ApiError", ExitCode.FAULT),
)

# names of an ApiError that is about the PTX
UNREADABLE = ("CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_INVALID_SOURCE", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
              "NVRTC_ERROR_COMPILATION")  # fmt: skip
NO_COMMAND: type | tuple[()] = getattr(click.exceptions, "NoArgsIsHelpError", ())  # since click 8.2; its message is the help


def exit_code(error: BaseException) -> ExitCode:
    """The code of the first row of EXITS that the error is an instance of."""
    for module, name, code in EXITS:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(error, kind):
            return ExitCode.PTX if getattr(error, "name", "") in UNREADABLE else code
    match error:
        case KeyboardInterrupt() | click.Abort():
            return ExitCode.INTERRUPTED
        case click.ClickException() | OSError():
            return ExitCode.USAGE
    return ExitCode.INTERNAL


def report(error: BaseException, as_json: bool = False) -> int:
    """Prints the error and returns the exit code."""
    code = exit_code(error)
    message = _message(error, code)
    if as_json:
        found = _diagnostics(error)
        text = message if not found else f"{len(found)} errors in the PTX" if len(found) > 1 else found[0]["message"]
        files.print_json({"error": {"kind": code.name.lower(), "code": int(code), "message": text, "diagnostics": found}})
    else:
        if isinstance(error, NO_COMMAND):
            click.echo(message, err=True)
            return int(code)
        if isinstance(error, click.UsageError) and error.ctx is not None:
            click.echo(error.ctx.get_usage(), err=True)
        click.echo(paint(message if message.startswith(("error", "warning", "internal", "interrupted")) else f"error: {message}"), err=True)
    if code is ExitCode.INTERNAL and os.environ.get("WARPLAB_TRACEBACK"):
        traceback.print_exception(error)
    return int(code)


def _message(error: BaseException, code: ExitCode) -> str:
    match error:
        case click.ClickException():
            return error.format_message()
        case click.Abort():
            return str(error.__cause__ or "") or "interrupted"
        case KeyboardInterrupt():
            return str(error) or "interrupted"
        case OSError(strerror=str(why), filename=str(path)):
            return f"{path}: {why}"
    if code is ExitCode.INTERNAL:
        return f"internal error: {type(error).__name__}: {error}\nThis is a fault of warplab itself; WARPLAB_TRACEBACK=1 shows where."
    return str(getattr(error, "message", error) if code is ExitCode.PTX else error)


def _diagnostics(error: BaseException) -> list[dict[str, files.Json]]:
    """The errors in PTX that an error consists of."""
    at: BaseException | None = error
    while at is not None and not hasattr(at, "diagnostics"):
        at = at.__context__
    return [] if at is None else [{k: files.plain(v) for k, v in d.to_json().items()} for d in at.diagnostics if d.severity == "error"]
