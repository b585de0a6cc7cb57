"""The command `warplab`: a table of subcommands, each imported when it is called.

A subcommand is a row of COMMANDS and a file beside this one; `warplab --help` imports click and nothing else that is big.
"""

from __future__ import annotations

import gc
from importlib import import_module

import click

from . import errors

# name: (file:click command in it, the line that `warplab --help` prints)
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("run:run", "Launches a kernel and checks the result."),
    "exec": ("exec:exec_", "Runs an unmodified CUDA program without a GPU."),
    "sanitize": ("sanitize:sanitize", "Runs a program under checkers: memory, uninitialised values, races, barriers."),
    "litmus": ("litmus:litmus", "Enumerates the outcomes that the memory model allows for a small program."),
    "test": ("test:test", "Runs golden tests."),
    "grade": ("grade:grade", "Grades submissions of a lab."),
    "new": ("new:new", "Writes the skeleton of a lab or a test."),
    "profile": ("profile:profile", "Profiles launches on a modelled device: counters, lines, roofline, advice."),
    "occupancy": ("occupancy:occupancy", "Prints how many blocks are resident on a multiprocessor, and what limits them."),
    "devices": ("devices:devices", "Shows the device models."),
    "assemble": ("assemble:assemble", "Writes PTX as an object file."),
    "disassemble": ("disassemble:disassemble", "Prints an object file as PTX."),
    "link": ("link:link", "Links PTX and object files into one, or lists where everything goes."),
    "check": ("check:check", "Verifies PTX and reports errors and warnings."),
    "fmt": ("fmt:fmt", "Formats PTX files in place."),
    "info": ("info:info", "Reports parameters, memory, registers and barriers of functions."),
    "cfg": ("cfg:cfg", "Draws the control flow of a function."),
    "isa": ("isa:isa", "Looks instructions up in the reference."),
    "docs": ("docs:docs", "Prints a page of the documentation."),
    "explain": ("explain:explain", "Explains the code word of a diagnostic."),
    "dump": ("dump:dump", "Prints a stage of the toolchain: tree, IR, flow or plan."),
    "completion": ("completion:completion", "Prints the completion script of a shell."),
}


class LazyGroup(click.Group):
    """Knows its subcommands by name and help; imports the one that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        file, _, name = COMMANDS[cmd_name][0].partition(":")
        gc.disable()  # modules make many objects that stay: the collector would look at them again and again
        command = getattr(import_module(f".{file}", __name__), name)
        gc.enable()
        assert isinstance(command, click.Command), cmd_name
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
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

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as e:
            ctx.exit(errors.report(e))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="warplab", prog_name="warplab", message="%(prog)s %(version)s")
def main() -> None:
    """A PTX toolchain: assembles PTX, runs it as an NVIDIA H200 does, and shows what happens inside.

    Files may be "-" for standard input. Exit codes: 0 good, 1 a check failed, 2 wrong usage, 3 errors in PTX, 4 device fault,
    5 step limit.
    """
