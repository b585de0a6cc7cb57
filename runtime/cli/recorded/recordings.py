"""Where the commands about recordings get them: a file that `warplab record` wrote, or a run that is recorded."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...run.options import OPTIONS, of_group, parsed
from ..files import DEVICE_DEBUG, InputFile
from ..running.launching import runner_of, runs_of, with_options

if TYPE_CHECKING:
    from ...recording import Recording
    from ...run.recorded import RecordedRun

F = TypeVar("F", bound=Callable[..., Any])
SUFFIX = ".wlrec"


def recording_options(f: F) -> F:
    """The options of a launch, and those of its recording."""
    f = click.option(
        "--launch", type=click.IntRange(1), help="Which launch of the run; by default the one that ends early, else the last."
    )(f)
    f = click.option(
        "--run", "run_number", type=click.IntRange(1), help="Which run of the file, where it describes several; by default all of them."
    )(f)
    f = click.option("--blocks", metavar="17,40-47", help="Records these blocks only, by their places in the grid, x first.")(f)
    f = click.option(
        "--record-limit", "limit", metavar="SIZE", default="1G", show_default=True,
        help="Memory for a recording. A launch that needs more is recorded in fewer blocks: the one that matters, or the first ones.",
    )(f)  # fmt: skip
    f = click.option(
        "-G", is_flag=True, is_eager=True, expose_value=False, callback=_debugs,
        help="Compiles CUDA C++ as nvcc -G does: variables have names in the debugger, and nothing is optimized.",
    )(f)  # fmt: skip
    return with_options("launch", "checkers", "findings")(f)


def _debugs(ctx: click.Context, param: click.Parameter, given: bool) -> None:
    if given:
        ctx.meta[DEVICE_DEBUG] = True


def is_recording(files: tuple[InputFile, ...]) -> bool:
    """Does the command line name a recording?"""
    return files[0].name.endswith(SUFFIX)


def recorded_runs(files: tuple[InputFile, ...], limit: str, blocks: str | None, options: dict[str, Any]) -> list[RecordedRun]:
    """Every run of the files, recorded."""
    from ...device.described import bytes_of
    from ...run.recorded import record

    given = dict(options)
    number = given.pop("run_number", None)
    specs = runs_of(files, given)
    if number is not None and number > len(specs):
        raise click.UsageError(f"--run {number}: the file describes {len(specs)} run{'' if len(specs) == 1 else 's'}")
    specs = specs if number is None else specs[number - 1 : number]
    if not specs:
        raise click.UsageError("nothing says how to launch this file: give --grid, --block and --arg, or a //@ run comment")
    chosen = None if blocks is None else numbers(blocks)
    return [record(runner_of(files, spec), bytes_of(limit), chosen) for spec in specs]


def recordings(
    files: tuple[InputFile, ...], limit: str, blocks: str | None, launch: int | None, options: dict[str, Any]
) -> tuple[list[Recording], int]:
    """The recordings that a command line names, and which of them is meant."""
    from ...errors import UsageError
    from ...recording import Recording

    if is_recording(files):
        made = [Recording.load(Path(f.name)) for f in files]
    else:
        runs = recorded_runs(files, limit, blocks, options)
        made = [r for run in runs for r in run.launches]
        if not made:
            raise UsageError(next((run.outcome.failure for run in runs if run.outcome.failure), "the run launches nothing"))
    if launch is not None and launch > len(made):
        raise UsageError(f"there is no launch {launch}; there are {len(made)}")
    made = [r for r in made if r.step_count] or made
    if not made[0].step_count:
        raise UsageError("the recording holds no step" + (": " + made[0].track.ended if made[0].track.ended else ""))
    default = next((n for n, r in enumerate(made) if r.track.ended), len(made) - 1)
    return made, default if launch is None else min(launch, len(made)) - 1


def numbers(text: str) -> list[int]:
    """`17,40-47` as numbers."""
    out: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()) or (dash and int(high) - int(low) > 1 << 20):
            raise click.UsageError(f"--blocks {text}: write numbers and ranges, such as 17,40-47")
        out += range(int(low), (int(high) if dash else int(low)) + 1)
    return out


def changed(options: dict[str, Any], words: str) -> dict[str, Any]:
    """Options as other words of a command line change them."""
    given = parsed(shlex.split(words), "--with")
    if others := [option.name for option in OPTIONS.values() if option.field in given and option.group != "launch"]:
        raise click.UsageError(f"--with: {others[0]} is no option of a launch; those are {' '.join(o.name for o in of_group('launch'))}")
    many = {option.field for option in OPTIONS.values() if option.kind == "many"}
    return {**options, **{field: (*options.get(field, ()), *value) if field in many else value for field, value in given.items()}}
