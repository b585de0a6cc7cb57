"""`warplab record`: launches a program as `warplab run` does, and writes all that it did to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .errors import ExitCode
from .files import SOURCE, InputFile
from .recordings import SUFFIX, is_recording, recorded_runs, recording_options


@click.command()
@click.argument("files", type=SOURCE, nargs=-1, required=True)
@click.option("--output", "-o", default=f"run{SUFFIX}", show_default=True, type=click.Path(dir_okay=False), help="The file to write.")
@recording_options
@click.pass_context
def record(
    ctx: click.Context, /, files: tuple[InputFile, ...], output: str, limit: str, blocks: str | None, launch: int | None, **options: Any
) -> None:
    """Records a launch whole: every value that every lane wrote, each access to memory, where lanes diverged and waited.

    The launch is given as for `warplab run`. `warplab debug`, `trace` and `diff` read the file.
    """
    if is_recording(files):
        raise click.UsageError(f"{files[0].name} is a recording already: warplab debug {files[0].name}", ctx)
    runs = recorded_runs(files, limit, blocks, options)
    run = next((r for r in runs if r.outcome.failure), runs[-1])
    rec = run.chosen(launch)
    rec.save(output)
    t = rec.track
    from warplab.assembler.demangle import short_name

    size = Path(output).stat().st_size
    click.echo(f"wrote {output}: {short_name(t.kernel)}, {rec.step_count} steps, {size / 1e6:.1f} MB")
    if t.kept_blocks is not None:
        click.echo(f"  {int(t.kept_blocks.sum())} of {t.kept_blocks.size} blocks are recorded; --record-limit and --blocks choose them")
    if t.stopped:
        click.echo("  the limit was reached; what follows is not recorded: raise --record-limit")
    if t.ended:
        click.echo(f"  the launch ended early: {t.ended.splitlines()[0]}")
    ctx.exit(ExitCode.OK)
