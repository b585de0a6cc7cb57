"""`warplab profile`: launches as `warplab run` does and reports counters, lines, residency, roofline and advice."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import files
from .errors import ExitCode
from .files import SOURCE, Source
from .launching import LAUNCH_OPTIONS, runs_of, with_options

if TYPE_CHECKING:
    from warplab.interpreter.profiler import KernelProfile

SETS = ("basic", "full")


@click.command()
@click.argument("sources", metavar="FILES...", type=SOURCE, nargs=-1, required=True)
@with_options(LAUNCH_OPTIONS)
@click.option("--metrics", help="Only these counters, by either name, separated by commas.")
@click.option("--csv", "as_csv", is_flag=True, help="One row a launch and counter.")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
@click.option("--html", type=click.Path(dir_okay=False, allow_dash=True), help="Writes one self-contained page.")
@click.option("--trace", type=click.Path(dir_okay=False, allow_dash=True), help="Writes Chrome trace events, for ui.perfetto.dev.")
@click.option("--picture", type=int, multiple=True, metavar="LINE", help="Draws what a line's accesses touch.")
@click.option("--compare", type=SOURCE, metavar="FILE", help="Shows another file's profile beside this one.")
@click.pass_context
def profile(
    ctx: click.Context, /, sources: tuple[Source, ...], metrics: str | None, as_csv: bool, as_json: bool, html: str | None, trace: str | None,
    picture: tuple[int, ...], compare: Source | None, **options: Any,
) -> None:  # fmt: skip
    """Profiles the launches of a file on a modelled device.

    FILES and launch options are those of `warplab run`. --set basic (or full) chooses how many counters are shown.
    """
    words = options.pop("symbols")
    full = "full" in words
    options["symbols"] = tuple(w for w in words if w not in SETS)
    names = tuple(w.strip() for w in metrics.split(",")) if metrics else ()
    _check_names(names)
    profiles, code = measured(ctx, sources, options)
    others = measured(ctx, (compare,), options)[0] if compare is not None else []
    quiet = False
    if html:
        from ..reports.html import page

        files.write(html, page(profiles))
        quiet = True
    if trace:
        import json

        from ..reports.trace import trace as traced

        files.write(trace, json.dumps(traced(profiles)) + "\n")
        quiet = True
    if as_json:
        from ..reports.data import as_data

        files.print_json([as_data(p, names) for p in profiles])
    elif as_csv:
        click.echo(_csv(profiles, names, full), nl=False)
    elif picture:
        from ..reports.pictures import picture as drawn

        click.echo("\n\n".join(drawn(p, line) for p in profiles for line in picture))
    elif compare is not None:
        from ..reports.compare import comparison

        click.echo("\n\n".join(comparison(a, b, full) for a, b in zip(profiles, others, strict=False)))
    elif names:
        from ..reports.text import heading, metrics_table

        click.echo("\n\n".join(f"{heading(p)}\n{metrics_table(p, names=names)}" for p in profiles))
    elif not quiet:
        from ..reports.text import report

        click.echo(("\n\n" + "-" * 80 + "\n\n").join(report(p, full) for p in profiles))
    ctx.exit(code)


def measured(ctx: click.Context, sources: tuple[Source, ...], options: dict[str, Any]) -> tuple[list[KernelProfile], int]:
    """The profiles of all launches, and the exit code."""
    from ..errors import ApiError, UsageError
    from ..profiler import profiling
    from ..runner import Runner

    folder = Path(sources[0].name).parent if not sources[0].name.startswith("<") else Path()
    code = 0
    found: list[KernelProfile] = []
    try:
        specs = runs_of(sources, options)
        if not specs:
            raise UsageError(f"{sources[0].name} does not say how to launch it: give --grid, --block and --arg, or write //@ run comments")
        for spec in specs:
            whole = [*sources, *(SOURCE.convert(str(folder / m), None, None) for m in spec.modules)]
            with profiling() as p:
                outcome = Runner([s.data for s in whole], [s.name for s in whole], spec, folder).run()
            found += p.launches
            code = max(code, outcome.code)
            if outcome.failure:
                click.echo(outcome.failure, err=True)
            for m in outcome.mismatches:
                click.echo(f"FAILED {m.text}: {m.wrong} of {m.total} differ", err=True)
    except UsageError as e:
        raise click.UsageError(str(e), ctx) from None
    except ApiError as e:
        wrong = e.name == "CUDA_ERROR_INVALID_PTX"
        click.echo(e.message if wrong else f"error: {e}", err=True)
        ctx.exit(ExitCode.PTX if wrong else ExitCode.FAULT)
    return found, code


def _check_names(names: tuple[str, ...]) -> None:
    from warplab.interpreter.profiler.metrics import METRICS

    known = {n for m in METRICS for n in (m.name, m.plain)}
    for name in names:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1)
            raise click.BadParameter(
                f"no counter is called {name!r}." + (f" Did you mean {near[0]!r}?" if near else ""), param_hint="--metrics"
            )


def _csv(profiles: list[KernelProfile], names: tuple[str, ...], full: bool) -> str:
    from ..reports.text import chosen_metrics

    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["launch", "kernel", "grid", "block", "device", "metric", "name", "value"])
    for n, p in enumerate(profiles):
        values = p.metrics
        for m in chosen_metrics(full, names):
            where = [n, p.kernel, "x".join(map(str, p.grid)), "x".join(map(str, p.block)), p.device.name]
            rows.writerow([*where, m.name, m.plain, values[m.name]])
    return out.getvalue()
