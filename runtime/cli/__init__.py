"""The command `warplab`: a table of subcommands, each imported when it is called.

A subcommand is a row of COMMANDS and a file beside this one; `warplab --help` imports click and nothing else that is big.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from . import colours, errors

# name: (file:click command in it, the line that `warplab --help` prints)
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("running.run:run", "Launches a kernel and checks the result."),
    "exec": ("running.exec:exec_", "Runs an unmodified CUDA program without a GPU."),
    "sanitize": ("running.sanitize:sanitize", "Runs a program under checkers: memory, uninitialised values, races, barriers."),
    "litmus": ("running.litmus:litmus", "Enumerates the outcomes that the memory model allows for a small program."),
    "record": ("recorded.record:record", "Records a launch: every value, access and wait, in a file."),
    "debug": ("recorded.debug:debug", "Debugs a recorded launch with cuda-gdb's commands, forwards and backwards."),
    "dap": ("recorded.dap:dap", "Debugs launches from an editor, over the Debug Adapter Protocol."),
    "lsp": ("lsp:lsp", "Checks, explains and changes PTX in editors: the Language Server Protocol."),
    "play": ("play:play", "Opens an editor in the browser, with runs, checkers, the player and labs."),
    "trace": ("recorded.trace:trace", "Prints what a thread or a warp executed, with the values it read and wrote."),
    "diff": ("recorded.diff:diff", "Shows the first store in which two runs differ, and where its value comes from."),
    "test": ("testing.test:test", "Runs golden tests."),
    "grade": ("testing.grade:grade", "Grades submissions of a lab."),
    "new": ("testing.new:new", "Writes the skeleton of a lab or a test."),
    "profile": ("measuring.profile:profile", "Profiles launches on a modelled device: counters, lines, roofline, advice."),
    "occupancy": ("measuring.occupancy:occupancy", "Prints how many blocks are resident on a multiprocessor, and what limits them."),
    "figure": ("measuring.figure:figure", "Draws banks, coalescing, occupancy, rooflines and divergence for given numbers."),
    "latency": ("measuring.latency:latency", "Prints how many warps hide the latency of arithmetic and memory, by device."),
    "devices": ("measuring.devices:devices", "Shows the device models."),
    "assemble": ("texts.assemble:assemble", "Writes PTX as an object file."),
    "disassemble": ("texts.disassemble:disassemble", "Prints an object file as PTX."),
    "link": ("texts.link:link", "Links PTX and object files into one, or lists where everything goes."),
    "check": ("texts.check:check", "Verifies PTX and reports errors and warnings."),
    "fmt": ("texts.fmt:fmt", "Formats PTX files in place."),
    "info": ("texts.info:info", "Reports parameters, memory, registers and barriers of functions."),
    "cfg": ("texts.cfg:cfg", "Draws the control flow of a function."),
    "isa": ("reference.isa:isa", "Looks instructions up in the reference."),
    "docs": ("reference.docs:docs", "Prints a page of the documentation."),
    "explain": ("reference.explain:explain", "Explains the code word of a diagnostic."),
    "reduce": ("testing.reduce:reduce", "Makes a PTX file smaller for as long as a command succeeds."),
    "dump": ("texts.dump:dump", "Prints a stage of the toolchain: tree, IR, flow, plan, or native code."),
    "completion": ("completing:completion", "Prints the completion script of a shell."),
}


def _spare_the_start() -> None:
    """What a short command would pay for and not use: a start takes half of the CPU time without it."""
    gc.set_threshold(10_000, 50)  # modules make many objects that stay: the collector would look at them again and again
    atexit.register(gc.freeze)  # and once more as the process ends, when all of them go anyway
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        # numpy's library starts a thread for each core, which spin for a while.  `os.environ` does not have this variable: a program that
        # a command starts for the user is given that.
        os.putenv("OPENBLAS_NUM_THREADS", "1")


class LazyGroup(click.Group):
    """Knows its subcommands by name and help; imports the one that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        file, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(f".{file}", __name__), name)
        assert isinstance(command, click.Command), cmd_name
        if not any(p.name == "color" for p in command.params):
            command.params.append(colours.option())
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] == ["help"]:  # `warplab help run` is `warplab run --help`
            args = [*args[1:2], "--help"]
            if len(args) == 1:
                click.echo(ctx.get_help())
                ctx.exit()
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as e:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            raise click.UsageError(f"{e.message} Did you mean {near[0]!r}?" if near else e.message, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        """Click would import every command for its help; the table has that already."""
        from click.shell_completion import CompletionItem

        options = click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(n, help=line) for n, (_, line) in COMMANDS.items() if n.startswith(incomplete)] + options

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *rest: Any, **extra: Any) -> Any:
        """As click does it, with one place for what goes wrong."""
        _spare_the_start()
        given = list(sys.argv[1:] if args is None else args)
        as_json = self._asks_for_json(given)
        settings = {**extra, "obj": as_json, "color": colours.wanted(), "standalone_mode": False}
        try:
            code = super().main(given, prog_name or "warplab", *rest, **settings)
        except (click.ClickException, click.Abort) as e:  # of the group's own options
            code = errors.report(e, as_json)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, BrokenPipeError):
            raise
        except (Exception, KeyboardInterrupt) as e:
            ctx.exit(errors.report(e, ctx.obj))

    def _asks_for_json(self, args: list[str]) -> bool:
        """Is there a --json that is the command's own?  `exec` hands it to the program."""
        own = args[: args.index("--")] if "--" in args else args
        name = next((a for a in own if a in COMMANDS), "")
        command = self.get_command(click.Context(self), name)
        return "--json" in own and (command is None or any("--json" in p.opts for p in command.params))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(None, "-V", "--version", package_name="warplab", prog_name="warplab", message="%(prog)s %(version)s")
def main() -> None:
    """A PTX toolchain: assembles PTX, runs it as an NVIDIA H200 does, and shows what happens inside.

    Files may be "-" for standard input. Exit codes: 0 good, 1 a check failed, 2 wrong usage, 3 errors in PTX, 4 device fault,
    5 step limit, 130 interrupted.
    """


main.params.append(colours.option())
