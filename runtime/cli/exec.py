"""`warplab exec`: an unmodified CUDA program, on modelled devices instead of GPUs."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import click


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--device", help="The device models: sm_90, or sm_90,sm_80:16G; also WARPLAB_DEVICES.")
@click.option("--devices", "count", type=click.IntRange(1, 64), help="The number of devices of the same model.")
@click.option(
    "--bounds",
    type=click.Choice(["device", "strict"]),
    help="Whether an access just outside of an allocation is allowed with a warning, as on a GPU "
    "(device, the default), or ends the launch (strict); also WARPLAB_BOUNDS.",
)
@click.option("--profile", type=click.Path(dir_okay=False), default="", help="Profiles every launch and writes one self-contained page.")
@click.option("--sanitize", "tool", type=click.Choice(["all", "memcheck", "synccheck"]), help="Runs every launch under a checker.")
@click.option("--fmad", help="Contracts products and sums to one multiply-add: none, f64 or all; also WARPLAB_FMAD.")
@click.pass_context
def exec_(
    ctx: click.Context, /, command: tuple[str, ...], device: str | None, count: int | None, bounds: str | None, profile: str, tool: str | None,
    fmad: str | None,
) -> None:  # fmt: skip
    """Runs COMMAND, any program that uses CUDA, without a GPU and without a driver.

    Its exit code is passed on. Linux only.
    """
    if device or count:
        os.environ["WARPLAB_DEVICES"] = ",".join([device or os.environ.get("WARPLAB_DEVICES") or "sm_90"] * (count or 1))
    if fmad:
        os.environ["WARPLAB_FMAD"] = fmad
    tools = (("memcheck", "synccheck") if tool == "all" else (tool,)) if tool else ()
    os.environ["WARPLAB_BOUNDS"] = bounds or os.environ.get("WARPLAB_BOUNDS") or ("strict" if "memcheck" in tools else "device")
    from ..exec.launcher import run
    from ..exec.sight import Sight

    code = run(command, Sight(os.path.abspath(profile) if profile else "", tools))
    if code < 0:  # ended by a signal: this process ends by it, too
        with suppress(OSError):  # of those that can't be handled
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    ctx.exit(code)
