"""`warplab profile`: launches as `warplab run` does and reports counters, lines, residency, roofline and advice."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .. import completing, files
from ..colours import paint
from ..files import SOURCE, InputFile
from ..running.launching import runner_of, runs_of, with_options

if TYPE_CHECKING:
    from warplab.interpreter.profiler import KernelProfile

    from ...recording import Recording

SETS = ("basic", "full")


@click.command()
@click.argument("sources", metavar="FILES...", type=SOURCE, nargs=-1, required=True)
@with_options("launch")
@click.option(
    "--metrics",
    shell_complete=completing.counters,
    help="Only these counters, by their short or Nsight Compute names, separated by commas.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Prints one row per launch and counter.")
@click.option("--json", "as_json", is_flag=True, help="Prints the whole profile as JSON.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Writes the profile as one self-contained page, with a tab that plays the launches.",
)
@click.option("--trace", type=click.Path(dir_okay=False, allow_dash=True), help="Writes Chrome trace events, for ui.perfetto.dev.")
@click.option("--picture", type=int, multiple=True, metavar="LINE", help="Draws the addresses that the accesses of a line touch.")
@click.option(
    "--time/--no-time", "timed", default=None, help="Predict how long each launch takes (default: where that costs less than a second)."
)
@click.option("--compare", type=SOURCE, metavar="FILE", help="Shows another file's profile beside this one.")
@click.pass_context
def profile(
    ctx: click.Context, /, sources: tuple[InputFile, ...], metrics: str | None, html: str | None, trace: str | None, compare: InputFile | None,
    **options: Any,
) -> None:  # fmt: skip
    """Profiles the launches of a file on a modelled device.

    FILES and launch options are those of `warplab run`. --set basic (or full) chooses how many counters are shown.
    """
    words = options.pop("symbols")
    options["symbols"] = tuple(w for w in words if w not in SETS)
    names = _counters(metrics) if metrics else ()
    timed = True if _names_time(names) else options.pop("timed")
    options.pop("timed", None)
    view = View(options.pop("as_json"), options.pop("as_csv"), options.pop("picture"), names, "full" in words)
    profiles, code = measured(ctx, sources, options, timed)
    others = measured(ctx, (compare,), options, timed)[0] if compare is not None else None
    if html:
        from ...player import with_player
        from ...reports.page.html import page

        made = recorded(sources, options)
        files.write(html, page(profiles, others or (), tabs=lambda name, report: with_player(name, report, made)))
        _wrote(html)
    if trace:
        from ...reports.programs.trace import trace as traced

        files.write(trace, json.dumps(traced(profiles)) + "\n")
        _wrote(trace)
    if not (html or trace) or view.is_chosen or others is not None:
        text = view.text(profiles, others)
        click.echo(text if view.as_json or view.as_csv else paint(text), nl=False)
    ctx.exit(code)


def _wrote(path: str) -> None:
    if path != "-":
        click.echo(f"wrote {path}", err=True)


@dataclass(frozen=True, slots=True)
class View:
    """What of the profiles is printed."""

    as_json: bool
    as_csv: bool
    picture: tuple[int, ...]
    names: tuple[str, ...]  # of counters
    full: bool

    @property
    def is_chosen(self) -> bool:
        """Is anything but the whole report asked for?"""
        return bool(self.as_json or self.as_csv or self.picture or self.names)

    def text(self, profiles: list[KernelProfile], others: list[KernelProfile] | None) -> str:
        """The profiles as asked for; beside others where these are given."""
        from ...reports import compare, data, text
        from ...reports.drawn import pictures

        if self.as_json:
            return json.dumps([data.as_data(p, self.names) for p in profiles], indent=2) + "\n"
        if self.as_csv:
            return _csv(profiles, self.names, self.full)
        gap = "\n\n"
        if self.picture:
            parts = [pictures.picture(p, line) for p in profiles for line in self.picture]
        elif others is not None:
            parts = [compare.comparison(a, b, self.full) for a, b in zip(profiles, others, strict=False)]
        elif self.names:
            parts = [f"{text.heading(p)}\n{text.metrics_table(p, names=self.names)}" for p in profiles]
        else:
            parts, gap = [text.report(p, self.full) for p in profiles], "\n\n" + "-" * 80 + "\n\n"
        return gap.join(parts) + "\n"


def measured(
    ctx: click.Context, sources: tuple[InputFile, ...], options: dict[str, Any], timed: bool | None
) -> tuple[list[KernelProfile], int]:
    """The profiles of all launches, and the exit code; `timed`: with their predicted time, None: where that is quick."""
    from ...errors import UsageError
    from ...profiler import profiling

    code = 0
    found: list[KernelProfile] = []
    specs = runs_of(sources, options)
    if not specs:
        raise UsageError(f"{sources[0].name} does not say how to launch it: give --grid, --block and --arg, or write //@ run comments")
    for spec in specs:
        with profiling(time=timed) as p:
            outcome = runner_of(sources, spec).run()
        found += p.launches
        code = max(code, outcome.code)
        if outcome.failure:
            click.echo(outcome.failure, err=True)
        for m in outcome.mismatches:
            click.echo(f"FAILED {m.text}: {m.wrong} of {m.total} differ", err=True)
    return found, code


def recorded(sources: tuple[InputFile, ...], options: dict[str, Any]) -> list[Recording]:
    """The launches once more, recorded as far as a report shows them."""
    from ...device.output import quiet
    from ...player.tabs import RECORDED
    from ...run.recorded import record

    with quiet():
        return [r for spec in runs_of(sources, options) for r in record(runner_of(sources, spec), RECORDED).launches]


def _counters(text: str) -> tuple[str, ...]:
    """Nsight Compute's names of the counters in a list; blanks may be underscores, and a sum of budgets stands for what it adds."""
    from warplab.interpreter.profiler.metrics import METRICS, TIME_METRICS

    from ...golden.metrics import SUMS, plain_name

    metrics = METRICS + TIME_METRICS
    known: dict[str, tuple[str, ...]] = {plain_name(spelling).lower(): (m.name,) for m in metrics for spelling in (m.name, m.plain)}
    known |= {name: tuple(n for word in words.split() for n in known[word]) for name, words in SUMS.items()}
    found: list[str] = []
    for name in text.split(","):
        if (key := plain_name(name.strip()).lower()) not in known:
            from difflib import get_close_matches

            spelled = {plain_name(s).lower(): s for m in metrics for s in (m.name, m.plain)}
            longer = [k for k in known if k.startswith(key)]
            near = dict.fromkeys(longer[:3] or get_close_matches(key, known, 1))
            like = " or ".join(repr(spelled.get(k, k)) for k in near)
            raise click.BadParameter(
                f"no counter is called {name.strip()!r}." + f" Did you mean {like}?" * bool(near), param_hint="--metrics"
            )
        found += known[key]
    return tuple(found)


def _names_time(names: tuple[str, ...]) -> bool:
    """Is one of some counters a prediction?"""
    if not names:
        return False
    from warplab.interpreter.profiler.metrics import TIME_METRICS

    return any(m.name in names for m in TIME_METRICS)


def _csv(profiles: list[KernelProfile], names: tuple[str, ...], full: bool) -> str:
    from ...reports.text import chosen_metrics

    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["launch", "kernel", "grid", "block", "device", "metric", "name", "value"])
    for n, p in enumerate(profiles):
        values = p.metrics
        for m in chosen_metrics(full, names):
            where = [n, p.kernel, "x".join(map(str, p.grid)), "x".join(map(str, p.block)), p.device.name]
            rows.writerow([*where, m.name, m.plain, values[m.name]])
    return out.getvalue()
