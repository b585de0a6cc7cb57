"""The options that shape a launch, shared by `run` and `profile`: one list, the same words as in a `//@ run` directive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..run.options import OPTIONS
from .errors import ExitCode
from .files import SOURCE, InputFile

if TYPE_CHECKING:
    from ..run.runner import Runner
    from ..run.runspec import RunSpec

F = TypeVar("F", bound=Callable[..., Any])
UNREADABLE = ("CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_INVALID_SOURCE", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION")

LAUNCH_OPTIONS = (
    "kernel grid block arg tex surf tensormap shared cooperative cluster set device engine schedule poison fmad max-steps timeout"
)
SCHEDULES = "schedules"
CHECK_OPTIONS = "expect rtol atol ulp print dump"
SANITIZE = "sanitize"


def with_options(*groups: str) -> Callable[[F], F]:
    """Adds options to a command, in the order in which the help shows them."""

    def add(f: F) -> F:
        for name in reversed(" ".join(groups).split()):
            field, kind, text = OPTIONS[f"--{name}"]
            alone: dict[str, Any] = {"is_flag": False, "flag_value": "all"} if kind == "word" else {"is_flag": kind == "flag"}
            f = click.option(f"--{name}", field, multiple=kind == "many", help=text, **alone)(f)
        return f

    return add


def runs_of(sources: tuple[InputFile, ...], options: dict[str, Any]) -> list[RunSpec]:
    """What to run: the options where any launch option is given, else the .toml beside the file, else the file's directives."""
    from ..run.runspec import directives, from_options, from_toml

    given = {k: v for k, v in options.items() if v not in (None, (), False)}
    shaping = set(given) & {
        "kernel",
        "grid",
        "block",
        "args",
        "textures",
        "surfaces",
        "tensor_maps",
        "shared",
        "cooperative",
        "cluster",
        "expect",
    }
    if shaping:
        return [from_options(given)]
    first = sources[0]
    specs: list[RunSpec] = []
    beside = Path(first.name).with_suffix(".toml")
    if not first.name.startswith("<") and beside.is_file():
        specs = from_toml(beside)
    elif not first.is_object:
        specs = directives(first.data.decode(errors="replace"))
    return [_override(s, given) for s in specs]


def _override(spec: RunSpec, given: dict[str, Any]) -> RunSpec:
    from dataclasses import replace

    from ..run.runspec import from_options

    one = from_options(given)
    changes: dict[str, Any] = {}
    for name in ("device", "engine", "schedule", "schedules", "poison", "max_steps", "timeout", "fmad", "sanitize"):
        if name in given:
            changes[name] = getattr(one, name)
    for name in ("symbols", "show", "dump"):
        if name in given:
            changes[name] = (*getattr(spec, name), *getattr(one, name))
    if {"rtol", "atol", "ulp"} & set(given):
        changes["tolerance"] = one.tolerance
    return replace(spec, **changes)


def folder_of(files: tuple[InputFile, ...]) -> Path:
    """Where a run finds its other files: beside the first one."""
    return Path() if files[0].name.startswith("<") else Path(files[0].name).parent


def runner_of(files: tuple[InputFile, ...], spec: RunSpec) -> Runner:
    """What carries a run out: the program of the files and of the modules that the run names."""
    from ..run.runner import Runner

    folder = folder_of(files)
    whole = [*files, *(SOURCE.convert(str(folder / m), None, None) for m in spec.modules)]
    return Runner([f.data for f in whole], [f.name for f in whole], spec, folder)


@contextmanager
def reported(ctx: click.Context) -> Iterator[None]:
    """Ends the command with a message where the run can't be had."""
    from ..errors import ApiError, UsageError

    try:
        yield
    except UsageError as e:
        raise click.UsageError(str(e), ctx) from None
    except ApiError as e:
        if e.name not in UNREADABLE:
            click.echo(f"error: {e}", err=True)
            ctx.exit(ExitCode.FAULT)
        click.echo(e.message if e.message.startswith("error") else f"error: {e.message}", err=True)
        ctx.exit(ExitCode.PTX)
