"""`warplab trace`: what a thread or a warp executed, with the values that each instruction read and wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .. import files
from ..files import SOURCE, InputFile, print_json
from .recordings import recording_options, recordings

if TYPE_CHECKING:
    from ...recording import Recording


@click.command()
@click.argument("sources", metavar="FILES...", type=SOURCE, nargs=-1, required=True)
@click.option("--thread", metavar="[BLOCK:]THREAD", help="A thread: 37, or 2:37 of block 2; coordinates are written 1,0:5,3.")
@click.option("--warp", metavar="[BLOCK:]WARP", help="A warp: 0, or 2:0 of block 2.")
@click.option("--lanes", is_flag=True, help="Draws the lanes of the warp over time, as SVG.")
@click.option("--accesses", is_flag=True, help="Prints a table of what each thread of the warp accesses, a column a step.")
@click.option(
    "--cycles",
    type=click.IntRange(1),
    metavar="N",
    help="Shows which warp each scheduler issues in the first N busy cycles, predicted; -o x.svg draws it.",
)
@click.option("--of", "objects", multiple=True, metavar="NAME", help="Only accesses to this array or variable.")
@click.option(
    "--output", "-o", default="-", type=click.Path(dir_okay=False, allow_dash=True), help="The file to write (default: standard output)."
)
@click.option("--json", "as_json", is_flag=True, help="Prints the trace as JSON.")
@recording_options
@click.pass_context
def trace(
    ctx: click.Context, /, sources: tuple[InputFile, ...], thread: str | None, warp: str | None, lanes: bool, accesses: bool,
    cycles: int | None, objects: tuple[str, ...], output: str, as_json: bool, limit: str, blocks: str | None, launch: int | None, **options: Any,
) -> None:  # fmt: skip
    """Prints the instructions of a thread with the values that each read and wrote, or those of a warp with the lanes that execute them.

    The launch is given as for `warplab run`, or FILES is a recording of `warplab record`.
    """
    if cycles is not None:
        _cycles(ctx, sources, launch, options, cycles, output, as_json)
        return
    from ...recording import tracing

    made, number = recordings(sources, limit, blocks, launch, options)
    rec = made[number]
    if thread is not None and not (warp or lanes or accesses):
        lane = _lane(rec, thread)
        if as_json:
            print_json(tracing.thread_rows(rec, lane))
            return
        files.write(output, "\n".join(tracing.thread_text_rows(rec, lane)) + "\n")
        return
    who = rec.warp_of(_lane(rec, thread) if thread is not None else _lane(rec, warp or "0", 32))
    if accesses:
        if as_json:
            steps, table = tracing.access_table(rec, who, objects)
            print_json({"steps": steps, "threads": {str(k): {str(s): what for s, what in row.items()} for k, row in table.items()}})
            return
        text = "\n".join(tracing.access_text(rec, who, objects)) + "\n"
    elif lanes:
        text = tracing.lanes_picture(rec, who)
    elif as_json:
        print_json(tracing.warp_rows(rec, who))
        return
    else:
        text = "\n".join(tracing.warp_text_rows(rec, who)) + "\n"
    files.write(output, text)


def _cycles(
    ctx: click.Context, sources: tuple[InputFile, ...], launch: int | None, options: dict[str, Any], count: int, output: str, as_json: bool
) -> None:
    """What the schedulers of a multiprocessor issue."""
    from ...reports.issues import issue_data, issue_picture, issue_rows, issue_text
    from ..measuring.profile import measured

    profiles, code = measured(ctx, sources, options, True)
    number = launch or len(profiles)
    if not 0 < number <= len(profiles):
        raise click.UsageError(f"there is no launch {number}: the file makes {len(profiles)}")
    t = profiles[number - 1].time
    if t is None:
        raise click.UsageError("nothing was executed")
    if as_json:
        print_json(issue_data(issue_rows(t, count)))
    else:
        files.write(output, issue_picture(t, count) if output.endswith(".svg") else issue_text(t, count) + "\n")
    ctx.exit(code)


def _lane(rec: Recording, text: str, times: int = 1) -> int:
    """A lane of `37`, `2:37` or `1,0:5,3`; a warp's first one."""
    block, colon, own = text.rpartition(":")
    parts = [part.split(",") for part in ((block if colon else "0"), own)]
    if (
        not all(x.strip().isdecimal() for part in parts for x in part)
        or any(len(p) > 3 for p in parts)
        or (times > 1 and len(parts[1]) > 1)
    ):
        raise click.UsageError(f"{text!r}: write a number, or BLOCK:NUMBER")
    found: list[Any] = []
    for part in parts:
        numbers = [int(x) for x in part]
        found.append(numbers[0] if len(numbers) == 1 else (*numbers, 0, 0)[:3])
    return rec.lane(found[0], found[1] * times)
