"""The options that shape a launch, shared by `run` and `profile`: one list, the same words as in a `//@ run` directive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .errors import ExitCode
from .files import SOURCE, InputFile

if TYPE_CHECKING:
    from ..run.runner import Runner
    from ..run.runspec import RunSpec

F = TypeVar("F", bound=Callable[..., Any])
UNREADABLE = ("CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_INVALID_SOURCE", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION")

LAUNCH_OPTIONS = (
    click.option("--kernel", help="The entry to launch, where there are several."),
    click.option("--grid", help="Blocks: 4 or 4,2 or 4,2,1."),
    click.option("--block", help="Threads of a block."),
    click.option(
        "--arg",
        "args",
        multiple=True,
        help="[in:|out:|inout:][name=]VALUE, in .param order or by name; VALUE is a number, null, @file.npy or DTYPE[SHAPE][:INIT].",
    ),
    click.option("--shared", help="Bytes of dynamic shared memory."),
    click.option("--cooperative", is_flag=True, help="All blocks are resident together."),
    click.option("--cluster", help="Blocks of a cluster."),
    click.option("--set", "symbols", multiple=True, help="SYMBOL=VALUE: a .global or .const variable before the launch."),
    click.option("--device", help="The model to run on, such as sm_35 (sm_90); a size of memory may follow: sm_90:64M."),
    click.option("--schedule", help="A seed: another legal interleaving of lanes, warps and blocks."),
    click.option("--fmad", help="Products and sums that round once, as one multiply-add: none, f64 (default) or all, as ptxas does."),
    click.option("--max-steps", help="Ends the run after so many steps."),
    click.option("--timeout", help="Ends the run after so many seconds."),
)
CHECK_OPTIONS = (
    click.option("--expect", multiple=True, help="A numpy expression that must hold, or NAME=@file.npy."),
    click.option("--rtol", help="Relative tolerance of ==."),
    click.option("--atol", help="Absolute tolerance of ==."),
    click.option("--ulp", help="Tolerance of == in units in the last place."),
    click.option("--print", "show", multiple=True, help="An expression to print, such as c[:8]."),
    click.option("--dump", multiple=True, help="NAME=FILE.npy: writes a buffer to a file."),
)


def with_options(*groups: tuple[Callable[[F], F], ...]) -> Callable[[F], F]:
    """Adds options to a command, in the order in which the help shows them."""

    def add(f: F) -> F:
        for group in reversed(groups):
            for option in reversed(group):
                f = option(f)
        return f

    return add


def runs_of(sources: tuple[InputFile, ...], options: dict[str, Any]) -> list[RunSpec]:
    """What to run: the options where any launch option is given, else the .toml beside the file, else the file's directives."""
    from ..run.runspec import directives, from_options, from_toml

    given = {k: v for k, v in options.items() if v not in (None, (), False)}
    shaping = set(given) & {"kernel", "grid", "block", "args", "shared", "cooperative", "cluster", "expect"}
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
    for name in ("device", "schedule", "max_steps", "timeout", "fmad"):
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
