"""`warplab run`: launches the kernels of a file as its options, its .toml or its `//@ run` comments say, and checks what comes out."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import click

from ..colours import paint
from ..errors import ExitCode
from ..files import SOURCE, InputFile, print_json
from .launching import runner_of, runs_of, with_options

if TYPE_CHECKING:
    from warplab.assembler.ir import Variable

    from ...run.exhaustive import ExhaustiveOrders
    from ...run.outcome import Outcome, RunBuffer
    from ...run.runner import Runner
    from ...run.runspec import RunSpec
    from ...run.schedules import Orders

LARGE = 200_000  # bytes of PTX that are not looked through again for them
SHOWN = 16  # elements of a buffer that are printed unasked
ASSERTIONS = 32  # lines of failed asserts that are printed


@click.command()
@click.argument("files", type=SOURCE, nargs=-1, required=True)
@with_options("launch", "orders", "outcome", "checkers", "findings", "watched")
@click.option(
    "--origin",
    type=click.Choice(["nan", "inf", "uninitialised"]),
    help="Shows where the first NaN, infinity or unwritten register came from.",
)
@click.option("--json", "as_json", is_flag=True, help="Reports as JSON.")
@click.pass_context
def run(ctx: click.Context, /, files: tuple[InputFile, ...], origin: str | None, as_json: bool, **options: Any) -> None:
    """Launches a kernel and checks the result.

    Several FILES are linked; without options the `//@ run` comments of the first file, or the .toml beside it, say what to do.
    """
    from ...run.checked import SmallRun
    from ...run.progress import Progress
    from ...run.schedules import in_orders, look_in_other_orders

    code = 0
    hint = f"not checked for races: warplab sanitize {' '.join(f.name for f in files)}"
    reports = []
    specs = runs_of(files, options)
    if not specs:
        _propose(files)
        ctx.exit(ExitCode.USAGE)
    for spec in specs:
        runner = runner_of(files, spec)
        small = SmallRun(runner)
        with Progress() as progress:
            runner.context.observe = small.watching(progress.watch)
            outcome, born = (runner.run(), []) if origin is None else _run_with_origin(runner, origin)
        tools = "none" if _is_litmus(files) else spec.sanitize or small.check()
        look_in_other_orders(runner, outcome)
        orders = in_orders(runner, outcome) if spec.schedules else None
        code = max(code, outcome.code, ExitCode.CHECK_FAILED if orders and orders.is_fault else ExitCode.OK)
        if as_json:
            checkers = [t for t in tools.split() if t != "none"]
            reports.append(_report(runner, outcome, spec, orders) | {"checkers": checkers} | ({"origin": born} if origin else {}))
        else:
            _tell(runner, outcome, spec, "" if tools else hint)
            hint = hint if tools else ""
            _tell_orders(runner, orders, spec)
            click.echo("\n".join(born), nl=bool(born))
        _dump(outcome, spec)
    if not as_json:
        _doubts(files)
    if as_json:
        print_json(reports)
    ctx.exit(code)


def _run_with_origin(runner: Runner, kind: str) -> tuple[Outcome, list[str]]:
    """Carries a run out, and says where a bad value was born."""
    from ...recording.slices import origin
    from ...recording.telling import origin_lines
    from ...run.recorded import record

    recorded = record(runner)
    for rec in recorded.launches:
        if (found := origin(rec, kind)) is not None:
            return recorded.outcome, origin_lines(rec, kind, found)
    return recorded.outcome, origin_lines(recorded.launches[-1], kind, None) if recorded.launches else []


def _is_litmus(files: tuple[InputFile, ...]) -> bool:
    """Do conditions say which outcomes races may have?"""
    return any(re.search(rb"^\s*//@\s*(allows|forbids)\b", f.data, re.M) for f in files)


def _doubts(files: tuple[InputFile, ...]) -> None:
    """What is legal and will hardly do on a GPU, whatever came out here: a line each."""
    from warplab.assembler import check

    from ...run.outcome import DOUBTFUL

    for source in files:
        if source.is_object or source.cpp or len(source.data) > LARGE:
            continue
        for d in check(source.data, None, source.name, DOUBTFUL):
            if d.code != "unresolved":  # another file has it, as the program was linked
                click.echo(paint(f"{d.severity}[{d.code}]: {source.name}:{d.span.line}: {d.message}"), err=True)


# ---------------------------------------------------------------- saying what came out


def _tell(runner: Runner, outcome: Outcome, spec: RunSpec, hint: str) -> None:
    from ...reports.tables import counted
    from ...run.outcome import describe_launches

    what = describe_launches(runner.trail)
    if outcome.findings or outcome.suppressed:
        from warplab.interpreter.checkers.findings import as_text

        click.echo(paint(as_text(outcome.findings, suppressed=outcome.suppressed)), err=True)
    if outcome.failure:
        _fault(outcome, what)
        return
    _show(runner, spec)
    for m in outcome.mismatches:
        click.echo(paint(f"FAILED {what}: {m.text}"), err=True)
        click.echo(f"  {m}", err=True)
        if who := _writer(runner, m.name, m.index):
            click.echo(f"  {who}", err=True)
    passed = f"{counted(outcome.checked, 'check')} passed" if outcome.checked and not outcome.mismatches else ""
    if outcome.errors and not outcome.mismatches:
        errors = f"the checkers found {counted(len(outcome.errors), 'error')}"
        click.echo(paint(f"FAILED {what}: {f'{passed}, but ' if passed else ''}{errors}"), err=True)
        if not spec.sanitize:
            click.echo("  help: --sanitize none runs it without checkers", err=True)
    elif passed:
        click.echo(paint(f"ok     {what}: {passed}{f'; {hint}' if hint else ''}"))
    if not outcome.checked and not spec.show:
        if not outcome.errors:
            click.echo(f"done   {what}{f': {hint}' if hint else ''}")
        for b in outcome.buffers.values():
            if b.way in ("out", "inout") or b.changed:
                click.echo(f"  {b.name} = {_preview(b)}")


def _tell_orders(runner: Runner, orders: Orders | ExhaustiveOrders | None, spec: RunSpec) -> None:
    """How the outcomes of other orders compare."""
    from ...run.outcome import describe_launches

    if orders is None:
        return
    what = describe_launches(runner.trail)
    if orders.findings:
        from warplab.interpreter.checkers.findings import as_text

        click.echo(paint(as_text(orders.findings)), err=True)
    if orders.difference is None:
        click.echo(f"orders {what}: {orders}")
        return
    click.echo(paint(f"{'DIFFERS' if orders.is_fault else 'orders'} {what}: {orders}"), err=orders.is_fault)
    if orders.is_fault and not spec.sanitize:
        click.echo("  help: warplab sanitize says which accesses nothing orders", err=True)


def _fault(outcome: Outcome, what: str) -> None:
    """What ended the launch; the messages of asserts once each, as CUDA writes them."""
    lines = outcome.failure.splitlines()
    if outcome.assertions:
        for line in outcome.assertions[:ASSERTIONS]:
            click.echo(line, err=True)
        if len(outcome.assertions) > ASSERTIONS:
            click.echo(f"... and {len(outcome.assertions) - ASSERTIONS} more", err=True)
        lines = lines[lines[0] in outcome.assertions :]
    click.echo(paint("\n".join([f"FAULT  {what}", *lines])), err=True)


def _shown(runner: Runner, spec: RunSpec) -> dict[str, Any]:
    """The values of --print by their expressions."""
    from ...run.expect import Evaluator

    now, before = runner.numbers()
    return {text: Evaluator(now, before).value(text) for text in spec.show}


def _show(runner: Runner, spec: RunSpec) -> None:
    import numpy as np

    for text, value in _shown(runner, spec).items():
        click.echo(f"{text} = {np.array2string(np.asarray(value), separator=', ', threshold=1000)}")


def _preview(b: RunBuffer) -> str:
    import numpy as np

    from ...run.inputs.values import as_numbers

    assert b.after is not None
    flat = as_numbers(b.after, b.type).ravel()
    cells = (
        [str(x) for x in flat[:SHOWN].tolist()]
        if flat.dtype.kind != "f"
        else [np.format_float_positional(x, trim="0", precision=6) for x in flat[:SHOWN]]
    )
    if b.unwritten is not None:
        cells = ["--" if u else c for c, u in zip(cells, b.unwritten.ravel()[:SHOWN].tolist(), strict=True)]
    more = f", ... {flat.size} in all" if flat.size > SHOWN else ""
    note = ""
    if b.unwritten is not None and b.unwritten.any():
        note = f"   ({int(b.unwritten.sum())} cells were never written, shown as --)"
    return f"[{', '.join(cells)}{more}]{note}"


def _writer(runner: Runner, name: str, index: tuple[int, ...] | None) -> str:
    """Which thread wrote a wrong element: the run is repeated with an observer of its address."""
    b = runner.outcome.buffers.get(name)
    if b is None or index is None or b.texels is not None:  # an array has no addresses
        return ""
    from ...run.schedules import again
    from ...run.watchpoint import last_writer

    return str(last_writer(again(runner, runner.spec.schedule), name, index) or "no thread wrote it")


def _report(runner: Runner, outcome: Outcome, spec: RunSpec, orders: Orders | ExhaustiveOrders | None) -> dict[str, Any]:
    from dataclasses import asdict

    import numpy as np

    from warplab.interpreter.checkers.findings import as_json

    used = asdict(runner.context.used) | {
        "left_to_numpy": dict(runner.context.used.left_to_numpy)
    }  # asdict makes pairs of a Counter's items
    shown = {} if outcome.failure else {text: np.asarray(value).tolist() for text, value in _shown(runner, spec).items()}
    return {
        "code": outcome.code, "checked": outcome.checked, "error": outcome.error, "failure": outcome.failure, "line": spec.line,
        "engine": used, "printed": shown, "assertions": outcome.assertions,
        "findings": as_json([*outcome.findings, *(orders.findings if orders else ())]),
        **({"orders": orders.as_json()} if orders else {}),
        "mismatches": [{"expect": m.text, "wrong": m.wrong, "of": m.total, "buffer": m.name, "index": list(m.index or ()), "got": m.got, "wanted": m.wanted}
                       for m in outcome.mismatches],
        "buffers": {b.name: {"type": b.type, "shape": list(b.before.shape), "changed": b.changed,
                             "unwritten": 0 if b.unwritten is None else int(b.unwritten.sum())} for b in outcome.buffers.values()},
    }  # fmt: skip


def _dump(outcome: Outcome, spec: RunSpec) -> None:
    import numpy as np

    from ...run.inputs.png import picture, write_png
    from ...run.inputs.values import as_numbers
    from ...run.preflight import dumped

    for text in spec.dump:
        name, path = dumped(text)
        b = outcome.buffers.get(name)
        if b is None or b.after is None:
            continue
        if path.suffix == ".png":
            path.write_bytes(write_png(picture(as_numbers(b.after, b.type), name)))
        else:
            np.save(path, b.after)


def _propose(files: tuple[InputFile, ...]) -> None:
    """A file that says nothing of how to launch it: its kernels, and a command line to start from."""
    from warplab.assembler.demangle import cpp_name

    from ...device.context import DeviceContext
    from ...run.inputs.arguments import GENERATED, plain_name

    module = DeviceContext("sm_90").load([f.data for f in files], [f.name for f in files])
    if not module.program.kernels:
        click.echo(paint(f"error: {' and '.join(f.name for f in files)} has no .entry to launch"), err=True)
    for kernel in module.program.kernels.values():
        cpp = cpp_name(kernel.name)
        click.echo(f"{cpp or kernel.name} takes" + ("" if kernel.parameters else " no parameters"))
        words = ["warplab", "run", *(f.name for f in files), "--kernel", cpp.name if cpp else kernel.name, "--grid", "1", "--block", "32"]
        types = cpp.parameter_types if cpp is not None else []
        for i, (v, offset) in enumerate(kernel.parameters):
            size = f"[{v.size}]" if v.dims else ""
            of_cpp = types[i] if len(types) == len(kernel.parameters) else ""
            click.echo(f"  {plain_name(v.name):30} .{v.type.name}{size}  at byte {offset}{f', {of_cpp}' if of_cpp else ''}")
            words += ["--arg", ("" if GENERATED.search(v.name) else f"{v.name}=") + _example(v, of_cpp)]
        click.echo("try\n  " + shlex.join(words))


POINTED = {
    "float": "f32", "double": "f64", "int": "s32", "unsigned int": "u32", "long": "s64", "long long": "s64", "unsigned long": "u64",
    "unsigned long long": "u64", "short": "s16", "unsigned short": "u16", "char": "u8", "unsigned char": "u8", "signed char": "s8",
    "__half": "f16", "__nv_bfloat16": "bf16",
}  # fmt: skip


def _example(v: Variable, of_cpp: str) -> str:
    """A value to begin with: for a pointer an array of what C++ says that it points to."""
    pointed = of_cpp.partition("*")[0].removesuffix(" const")
    if of_cpp.endswith(("*", "* const", "* __restrict")) and pointed in POINTED:
        return f"{POINTED[pointed]}:32"
    if v.type.bytes == 8 and v.type.kind in "bu" and (not of_cpp or "*" in of_cpp):
        return "f32:32"
    return "32" if v.type.is_integer else "1.0"
