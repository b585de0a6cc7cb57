"""`warplab record`: launches a program as `warplab run` does, and writes all that it did to a file, or to a page that plays it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import ExitCode
from ..files import SOURCE, InputFile
from .recordings import SUFFIX, is_recording, recording_options, recordings

if TYPE_CHECKING:
    from ...recording import Recording


@click.command()
@click.argument("files", type=SOURCE, nargs=-1, required=True)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), help=f"The file to write (default: run{SUFFIX}, or none where --html is given)."
)
@click.option(
    "--html", type=click.Path(dir_okay=False), metavar="PAGE",
    help="Writes a page that plays the recording in a browser, without a network. A recording of more than 30 MB is shown in its first blocks.",
)  # fmt: skip
@recording_options
@click.pass_context
def record(
    ctx: click.Context, /, files: tuple[InputFile, ...], output: str | None, html: str | None, limit: str, blocks: str | None,
    launch: int | None, **options: Any,
) -> None:  # fmt: skip
    """Records a launch whole: every value that every lane wrote, each access to memory, where lanes diverged and waited.

    The launch is given as for `warplab run`, or FILES is a recording. `warplab debug`, `trace` and `diff` read the file.
    """
    if is_recording(files) and (output is not None or html is None):
        raise click.UsageError(f"{files[0].name} is a recording already: warplab debug {files[0].name}", ctx)
    made, number = recordings(files, limit, blocks, launch, options)
    rec = made[number]
    if output is not None or html is None:
        output = output or f"run{SUFFIX}"
        rec.save(output)
        _wrote(output, rec)
    if html is not None:
        from ...player import page

        shown = made if launch is None else [rec]
        Path(html).write_text(page(shown, sources=not is_recording(files)), encoding="utf-8")
        _wrote(html, rec, f"{len(shown)} launches, " if len(shown) > 1 else "")
    t = rec.track
    if t.kept_blocks is not None:
        click.echo(f"  {int(t.kept_blocks.sum())} of {t.kept_blocks.size} blocks are recorded; --record-limit and --blocks choose them")
    if t.stopped:
        click.echo("  the limit was reached; what follows is not recorded: raise --record-limit")
    if t.ended:
        click.echo(f"  the launch ended early: {t.ended.splitlines()[0]}")
    ctx.exit(ExitCode.OK)


def _wrote(path: str, rec: Recording, several: str = "") -> None:
    from warplab.assembler.demangle import short_name

    size = Path(path).stat().st_size
    click.echo(f"wrote {path}: {several}{short_name(rec.track.kernel)}, {rec.step_count} steps, {size / 1e6:.1f} MB")
