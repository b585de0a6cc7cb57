"""`warplab grade`: a lab's tests on submissions, each in a process that is watched."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import files
from ..colours import paint
from ..errors import ExitCode

if TYPE_CHECKING:
    from ...grading import Report

FORMATS = ("text", "json", "gradescope", "junit", "github", "markdown", "csv", "html")


@click.command()
@click.argument("lab", type=click.Path())
@click.argument("submissions", metavar="SUBMISSION...", nargs=-1, type=click.Path())
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="The form of the report.")
@click.option("--out", type=click.Path(), default="-", metavar="FILE", help="The file for the report; standard output by default.")
@click.option("--csv", "table", type=click.Path(), metavar="FILE", help="Also write a table of points.")
@click.option("--jobs", "-j", type=click.IntRange(1), default=1, help="The number of grading processes.")
@click.option(
    "--recordings", type=click.Path(file_okay=False), metavar="FOLDER",
    help="Also write a page for each visible test that a submission fails, which plays the launch; --format html links to it.",
)  # fmt: skip
@click.option(
    "--differences", is_flag=True,
    help="Also say, of each visible test that a submission fails, which store differs first from the reference's; lab.toml has to allow it.",
)  # fmt: skip
@click.option(
    "--students", type=click.Path(file_okay=False), metavar="FOLDER", help="Also write a page for each student; --format html links to it."
)
@click.option(
    "--results", type=click.Path(dir_okay=False), metavar="FILE",
    help="Keep the reports in a file: where a submission and the lab have not changed since, it is not graded again.",
)  # fmt: skip
@click.option("--regrade", multiple=True, metavar="NAME", help="With --results, grade this submission again; may be repeated.")
@click.option("--scheduler", metavar="ADDRESS", help="Grade on a Dask cluster, such as tcp://host:8786 (extra `cluster`).")
@click.option("--bundle", type=click.Path(), metavar="FILE.zip", help="Write Gradescope's autograder zip of the lab instead.")
@click.option("--handout", type=click.Path(), metavar="FILE.zip", help="Write a zip for students instead: no hidden tests, no reference.")
@click.option(
    "--selftest", is_flag=True, help="Grade the lab itself: reference, wrong submissions, and the reference without each instruction."
)
@click.option("--wheel", type=click.Path(exists=True), metavar="FILE.whl", help="A wheel of warplab to put into the bundle.")
@click.pass_context
def grade(
    ctx: click.Context, lab: str, submissions: tuple[str, ...], form: str, out: str, table: str | None, jobs: int,
    recordings: str | None, differences: bool, students: str | None, results: str | None, regrade: tuple[str, ...], scheduler: str | None,
    bundle: str | None, handout: str | None, selftest: bool, wheel: str | None,
) -> None:  # fmt: skip
    """Grades submissions of a lab.

    LAB is a folder with a lab.toml. A SUBMISSION is a .ptx file, a folder of them, or a folder with the files that the lab asks for.
    It is not trusted: it has limits on steps, memory and time, reads no files, and its own directives mean nothing.
    """
    from ...grading import find_submissions, load_lab
    from ...grading import grade as grade_local
    from ...grading.pages import class_page, write_student_pages
    from ...grading.report import FORMATS as WRITERS
    from ...grading.report import as_csv
    from ...grading.results import as_json, kept

    start = time.monotonic()
    reports: list[Report] = []
    found = load_lab(lab)
    if selftest:
        from ...grading.selftest import selftest as test_lab

        result = test_lab(found, jobs)
        click.echo(result)
        ctx.exit(ExitCode.OK if result.passed else ExitCode.CHECK_FAILED)
    if bundle is not None or handout is not None:
        from ...grading.bundle import write_bundle, write_handout

        if bundle is not None:
            names = write_bundle(found, Path(bundle), Path(wheel) if wheel else None)
            click.echo(f"{bundle}: {len(names)} files")
            if not any(name.endswith(".whl") for name in names):
                text = "note: this warplab was not installed from a wheel: give one with --wheel, or setup.sh installs warplab from a package index"
                click.echo(paint(text), err=True)
        if handout is not None:
            click.echo(f"{handout}: {len(write_handout(found, Path(handout)))} files")
        return
    handed_in = find_submissions(found, submissions)
    if not handed_in:
        raise click.UsageError("there is no submission", ctx)
    if regrade and results is None:
        raise click.UsageError("--regrade needs --results FILE, in which the other reports are kept", ctx)
    known = {} if results is None else kept(Path(results), found, handed_in, regrade)
    reports += known.values()
    new = [s for s in handed_in if s.name not in known]
    if scheduler is not None:
        from ...grading.cluster import grade_on_cluster

        stream = grade_on_cluster(found, new, scheduler)
    else:
        stream = grade_local(found, new, jobs) if new else iter(())
    for r in stream:
        reports.append(r)
        if len(new) > 1 and sys.stderr.isatty():
            click.echo(f"\r{len(reports)}/{len(handed_in)}", err=True, nl=len(reports) == len(handed_in))
    if results is not None:
        files.write(results, as_json(found, handed_in, sorted(reports, key=lambda r: r.name)) + "\n")
        click.echo(f"wrote {results}: {len(new)} graded, {len(known)} as before", err=True)
    order = {s.name: i for i, s in enumerate(handed_in)}
    reports.sort(key=lambda r: order[r.name])
    if differences:
        from ...grading.differences import with_differences

        reports = with_differences(found, handed_in, reports)
    pages = {}
    if recordings is not None:
        from ...grading.recordings import write_pages

        pages = write_pages(found, handed_in, reports, Path(recordings))
        click.echo(f"wrote {recordings}: {len(pages)} page{'' if len(pages) == 1 else 's'}", err=True)
    if students is not None:
        number = write_student_pages(found, reports, Path(students), pages)
        click.echo(f"wrote {students}: {number} page{'' if number == 1 else 's'}", err=True)
    if form == "html":
        beside = Path() if out == "-" else Path(out).parent
        text = class_page(found, handed_in, reports, beside, pages, Path(students) if students else None)
    else:
        text = WRITERS[form](reports)
    if form == "text" and out == "-":
        click.echo(paint(text.encode(errors="surrogateescape").decode(errors="replace")))  # names of files may be no text
    else:
        files.write(out, text + "\n")
    if table is not None:
        files.write(table, as_csv(reports))
    for path in (out, table or "-"):
        if path != "-":
            click.echo(f"wrote {path}", err=True)
    if len(reports) > 1 and form == "text" and out == "-":
        full = sum(r.passed for r in reports)
        click.echo(f"\n{len(reports)} submissions, {full} with all points, in {time.monotonic() - start:.1f} s")
    ctx.exit(ExitCode.OK if all(r.passed for r in reports) else ExitCode.CHECK_FAILED)
