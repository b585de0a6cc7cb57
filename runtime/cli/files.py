"""Files as the commands take and give them: `-` is standard input or output, a name that cannot be opened is wrong usage."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from ..sources import CPP, STDIN, program_of
from ..sources import InputFile as InputFile

Json = Mapping[str, "Json"] | Sequence["Json"] | str | int | float | bool | None


DEVICE_DEBUG = "warplab.device-debug"  # in the context of a command that has the option -G


if TYPE_CHECKING:
    SourceBase = click.ParamType[InputFile]
else:
    SourceBase = click.ParamType  # generic in type only, before click 8.4


class SourceType(SourceBase):
    """A file to read, or `-`; CUDA C++ is compiled, unless the command is about the text."""

    name = "file"

    def __init__(self, compiles: bool = True) -> None:
        self.compiles = compiles

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> InputFile:
        if isinstance(value, InputFile):
            return value
        path = str(value)
        try:
            if path == "-":
                return InputFile(STDIN, sys.stdin.buffer.read())
            with open(path, "rb") as file:
                data = file.read()
        except OSError as e:
            self.fail(f"{path}: {e.strerror}", param, ctx)
        if path.endswith(CPP) and not self.compiles:
            self.fail(f"{path} is CUDA C++: this command is about the text of PTX", param, ctx)
        if path.endswith(CPP):
            return InputFile(path, b"", data) if ctx is not None and ctx.resilient_parsing else compiled(path, data, ctx)
        return InputFile(path, data)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


SOURCE, PTX = SourceType(), SourceType(compiles=False)


def compiled(path: str, text: bytes, ctx: click.Context | None) -> InputFile:
    """The PTX of a file in CUDA C++, for the device that the command line names, else for that of its runs."""
    given = ctx.params.get("device") if ctx is not None else None
    from ..device.described import target_of

    device = target_of(given) if isinstance(given, str) else ""
    kernel = ctx.params.get("kernel") if ctx is not None else None
    made = program_of(path, text, device, ctx is not None and DEVICE_DEBUG in ctx.meta, kernel if isinstance(kernel, str) else "")
    if made.log:
        click.echo(made.log, err=True)
    return made


def write(path: str, data: bytes | str) -> None:
    """Writes a whole file, or standard output for `-`; a file appears complete or not at all.  An OSError names it."""
    try:
        _write(path, data)
    except OSError as e:
        if path != "-":
            e.filename = path
        raise


def _write(path: str, data: bytes | str) -> None:
    content = data.encode(errors="surrogateescape") if isinstance(data, str) else data
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    if os.path.exists(path) and not os.path.isfile(path):  # a device such as /dev/null cannot be replaced
        with open(path, "wb") as file:
            file.write(content)
        return
    path = os.path.realpath(path)  # of a link the file behind it
    partial = f"{path}.{os.getpid()}.partial"
    try:
        with open(partial, "wb") as file:
            file.write(content)
        if os.path.exists(path):
            shutil.copymode(path, partial)
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)


def plain(value: object) -> Json:
    """Values such as dataclasses.asdict gives, as JSON has them."""
    match value:
        case None | str() | int() | float():
            return value
        case Mapping():
            return {str(k): plain(v) for k, v in value.items()}
        case Iterable():
            return [plain(v) for v in value]
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def print_json(value: Json) -> None:
    """One JSON value on standard output."""
    json.dump(value, sys.stdout, indent=2)
    sys.stdout.write("\n")
