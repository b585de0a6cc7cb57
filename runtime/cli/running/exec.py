"""`warplab exec`: an unmodified CUDA program, on modelled devices instead of GPUs."""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import Any

import click

from warplab.interpreter.checkers.tools import NAMES

from ...run.options import OPTIONS, of_group
from ..recorded.debug import converse, debugger_options
from .launching import with_options


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--device", help="The device models: sm_90, or sm_90,sm_80:16G, also with figures of their own; also WARPLAB_DEVICES.")
@click.option("--devices", "count", type=click.IntRange(1, 64), help="The number of devices of the same model.")
@click.option(
    "--device-rules-only",
    flag_value="1",
    help="Also runs code for newer devices, under the limits and memory rules of the device; also WARPLAB_DEVICE_RULES_ONLY.",
)
@click.option(
    "--bounds",
    type=click.Choice(["device", "strict"]),
    help="Whether an access just outside of an allocation is allowed with a warning, as on a GPU "
    "(device, the default), or ends the launch (strict); also WARPLAB_BOUNDS.",
)
@click.option(
    "--clock",
    type=click.Choice(["model", "host"]),
    help="What CUDA events tell: the time that the device model predicts (model, the default), or this machine's (host); also WARPLAB_CLOCK.",
)
@click.option(
    "--profile",
    type=click.Path(dir_okay=False),
    default="",
    help="Puts host calls, copies and launches on a timeline, profiles every launch, and writes one self-contained page, or text (.txt) or data (.json).",
)
@click.option(
    "--sanitize",
    "tool",
    default="",
    metavar="TOOLS",
    help=f"Runs every launch under checkers: all, or {NAMES}.",
)
@click.option("--strict", is_flag=True, help=OPTIONS["--strict"].help)
@click.option("--on-error", "goes_on", type=click.Choice(["stop", "continue"]), default="stop", help=OPTIONS["--on-error"].help)
@with_options("watched")
@click.option(
    "--error-exitcode",
    type=click.IntRange(0, 255),
    default=0,
    metavar="N",
    help="The exit code if the program succeeds, but a fault was reported, a launch was refused, or a checker found an error.",
)
@click.option(
    "--log", type=click.Path(dir_okay=False), default="", help="Writes every call and every launch as a trace for ui.perfetto.dev."
)
@click.option("--stacks", is_flag=True, help="The log and the profile tell of each launch which calls of the program were under way.")
@click.option(
    "--junit",
    type=click.Path(dir_okay=False),
    default="",
    metavar="FILE",
    help="Writes how each launch ended, and what checkers found, as JUnit's XML; says how many there were.",
)
@click.option(
    "--no-stand-ins", is_flag=True, help="Does not replace cuBLAS and NVIDIA's other libraries by stand-ins, which compute with numpy."
)
@click.option(
    "--record",
    type=click.Path(file_okay=False),
    default="",
    help="Writes every launch into a folder, as a test with inputs and outputs for warplab test.",
)
@click.option(
    "--debug", is_flag=True, help="When the program has ended, opens the debugger on the launch that failed, or on the one of --launch."
)
@click.option(
    "--recording", default="", type=click.Path(dir_okay=False), help="Writes this launch to a file for warplab debug, and opens nothing."
)
@click.option("--launch", default="", metavar="N|KERNEL|KERNEL:N", help="The launch to debug, by its number, its kernel, or both.")
@debugger_options
@click.option("--engine", help="The engine that executes launches: numpy, native or auto; also WARPLAB_ENGINE.")
@click.option(
    "--threads",
    type=click.IntRange(1),
    help="Threads of this machine that a launch may run on if its blocks do not synchronize with each other; also WARPLAB_THREADS.",
)
@click.option(
    "--schedule",
    metavar="SEED",
    help="A seed that chooses another legal interleaving of lanes, warps and blocks; 7@12,15 stops lanes mostly before lines 12 and 15; "
    "also WARPLAB_SCHEDULE.",
)
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), help="Ends a launch after this number of seconds; also WARPLAB_TIMEOUT."
)
@click.option(
    "--fmad", help="Which products and sums become one multiply-add: all (default), as by ptxas; f64; or none; also WARPLAB_FMAD."
)
@click.pass_context
def exec_(
    ctx: click.Context, /, command: tuple[str, ...], device: str | None, count: int | None, bounds: str | None, profile: str, tool: str,
    strict: bool, goes_on: str, error_exitcode: int, log: str, record: str, debug: bool, recording: str, launch: str, scripts: tuple[str, ...],
    lines: tuple[str, ...], batch: bool, tui: bool, junit: str, stacks: bool, no_stand_ins: bool, **said: Any,
) -> None:  # fmt: skip
    """Runs COMMAND, any program that uses CUDA, without a GPU and without a driver.

    Its exit code is passed on. Linux only.
    """
    for option, path in {"--profile": profile, "--log": log, "--record": record, "--recording": recording, "--junit": junit}.items():
        if path and not os.path.isdir(folder := os.path.dirname(os.path.abspath(path))):
            raise click.UsageError(f"{option} {path}: there is no folder {folder}", ctx)
    if stacks and not log and not profile:
        raise click.UsageError("--stacks: the calls are told in the log or the profile: name one by --log or --profile", ctx)
    if device or count:
        os.environ["WARPLAB_DEVICES"] = ",".join([device or os.environ.get("WARPLAB_DEVICES") or "sm_90"] * (count or 1))
    watched = {option.field: said.pop(option.field) for option in of_group("watched")}
    os.environ.update({f"WARPLAB_{name.upper()}": str(value) for name, value in said.items() if value is not None})
    tools = _checked(ctx, tool)
    os.environ["WARPLAB_BOUNDS"] = bounds or os.environ.get("WARPLAB_BOUNDS") or ("strict" if "memcheck" in tools else "device")
    from ...errors import UsageError
    from ...exec.launcher import NOT_EXECUTABLE, NOT_FOUND, run
    from ...exec.observers.sight import Sight
    from ...run.runspec import from_options
    from ...run.sanitized import sanitizer_of

    places = (os.path.abspath(path) if path else "" for path in (profile, log, record))
    try:
        checks = from_options({**watched, "strict": strict, "goes_on": goes_on})
        sanitizer_of("all", checks, None)  # a mistake in them is told before the program begins
    except UsageError as e:
        raise click.UsageError(str(e), ctx) from None
    report = os.path.abspath(junit) if junit else ""
    sight = Sight(next(places), tools, checks, next(places), next(places), junit=report, error_code=error_exitcode, stacks=stacks)
    if not debug and not recording:
        _end(ctx, run(command, sight, not no_stand_ins))
        return
    from ...exec.observers.kept import ChosenLaunch, kept_in

    sight.chosen = ChosenLaunch.of(launch) if launch else None
    with TemporaryDirectory(prefix="warplab-") as folder:
        sight.keep = folder
        code = run(command, sight, not no_stand_ins)
        found = kept_in(folder)
        if not found and code in (NOT_FOUND, NOT_EXECUTABLE):  # which is said already
            _end(ctx, code)
        if not found:
            raise click.UsageError("the program launches nothing" if not launch else f"the program has no launch {launch}", ctx)
        if recording:
            shutil.move(found[0], recording)
            _end(ctx, code)
            return
        from ...recording import Recording

        made = [Recording.load(p) for p in found]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the program has ended: interrupts are for the debugger
    ctx.exit(converse(made, 0, scripts, lines, batch, tui))


def _end(ctx: click.Context, code: int) -> None:
    """Ends as the program has ended."""
    if code < 0:  # by a signal: this process ends by it, too
        with suppress(OSError):  # of those that can't be handled
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    ctx.exit(code)


def _checked(ctx: click.Context, tool: str) -> tuple[str, ...]:
    """The tools that an option names, where all that the environment says of launches can be had."""
    from ...device.launches.engines import usual_options
    from ...device.modules.loading import contraction
    from ...errors import UsageError

    try:
        usual_options()
        contraction()
        if not tool:
            return ()
        from ...device.launches.sanitizing import tools_of

        return tools_of(tool)
    except UsageError as e:
        raise click.UsageError(str(e), ctx) from None
