"""The options of a run: of `warplab run` and the commands that launch as it does, of a `//@ run` comment, and of a launch file.

A row says all of an option: its words, the field of the specification that it sets, how its text is read, what the help says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from warplab.interpreter.checkers.tools import NAMES
from warplab.interpreter.seeds import seed_of

from ..errors import UsageError

Dim3 = tuple[int, int, int]
EXHAUSTIVE = "exhaustive"  # of --schedules


def text(option: str, value: Any) -> Any:
    """A word as it is."""
    return str(value)


def dim3(option: str, value: str | int | Sequence[int]) -> Dim3:
    """`4`, `4,2`, `(4,2,1)` or `4x2`."""
    if isinstance(value, int):
        values = [value]
    elif isinstance(value, str):
        try:
            values = [int(x, 0) for x in value.strip().strip("()").replace("x", ",").split(",") if x.strip()]
        except ValueError:
            raise UsageError(f"{option} {value!r}: write 4, 4,2 or 4,2,1") from None
    else:
        values = [int(x) for x in value]
    if not 1 <= len(values) <= 3 or min(values) < 1:
        raise UsageError(f"{option} {value!r}: write one to three numbers from 1 up, as in 4 or 4,2")
    x, y, z = [*values, 1, 1][:3]
    return x, y, z


def whole(least: int | None = None, most: int | None = None) -> Callable[[str, Any], int]:
    """Reads whole numbers in a range."""

    def read(option: str, value: Any) -> int:
        return int(_ranged(option, value, lambda v: int(str(v), 0), least, most))

    return read


def real(option: str, value: Any) -> float:
    """A number that is not negative."""
    return _ranged(option, value, float, 0, None)


def _ranged(option: str, value: Any, convert: Callable[[Any], float], least: int | None, most: int | None) -> float:
    try:
        found = convert(value)
    except ValueError:
        raise UsageError(f"{option} {value!r} is not a number") from None
    if least is not None and not found >= least:
        raise UsageError(f"{option} {value}: write {f'{least} or more' if least else 'a number that is not negative'}")
    if most is not None and found > most:
        raise UsageError(f"{option} {value}: write {most} or less")
    return found


def _tools(option: str, value: str) -> str:
    from ..device.launches.sanitizing import tools_of  # here, since each start of the command line would pay for what is behind it

    return "none" if value == "none" else " ".join(tools_of(value))


def _goes_on(option: str, value: str) -> bool:
    if value not in ("stop", "continue"):
        raise UsageError(f"{option} {value}: write stop or continue")
    return value == "continue"


def _seed(option: str, value: Any) -> int:
    try:
        return seed_of(str(value))
    except ValueError:
        raise UsageError(f"{option} {value!r}: write a seed such as 7, or a seed and lines of the PTX such as 7@12,15") from None


def _schedules(option: str, value: Any) -> int | str:
    return EXHAUSTIVE if value == EXHAUSTIVE else whole(1, 1000000)(option, value)


def _leak_check(option: str, value: str) -> str:
    if value not in ("no", "full"):
        raise UsageError(f"{option} {value}: write no or full")
    return value


def _fmad(option: str, value: str) -> str:
    from ..device.modules.loading import contraction

    return contraction(value)


@dataclass(frozen=True, slots=True)
class RunOption:
    """One option."""

    name: str
    field: str  # of a LaunchSpec, a Tolerance or a RunSpec
    group: str  # launch, orders, outcome, checkers, findings, watched: a command that launches takes some of them
    part: str  # what it describes: the launch, its data, the setting, the tolerance of checks, or a report
    help: str
    kind: str = "one"  # "one" value, "many", a "flag", or a "word" that may stand alone
    read: Callable[[str, Any], Any] = text

    @property
    def key(self) -> str:
        """Its name in a launch file."""
        return self.name.removeprefix("--").replace("-", "_")

    def value(self, given: Any) -> Any:
        """What is given, as the field has it."""
        if self.kind == "flag":
            return bool(given)
        return tuple(map(str, given)) if self.kind == "many" else self.read(self.name, given)  # a launch file may hold numbers


OPTIONS = {
    option.name: option
    for option in (
        RunOption("--kernel", "kernel", "launch", "launch", help="The entry to launch, if there are several."),
        RunOption("--grid", "grid", "launch", "launch", read=dim3, help="Blocks of the grid: 4 or 4,2 or 4,2,1."),
        RunOption("--block", "block", "launch", "launch", read=dim3, help="Threads per block, in the same form."),
        RunOption("--arg", "args", "launch", "launch", kind="many",
                  help="[in:|out:|inout:][name=]VALUE, in the order of the parameters or by name. VALUE is a number, null, @file.npy or "
                  "DTYPE[SHAPE][:INIT]."),
        RunOption("--tex", "textures", "launch", "data", kind="many",
                  help="NAME=VALUE[,filter=linear][,address=wrap/clamp][,normalized][,levels=all]...: a texture of @picture.png, of an array "
                  "as in --arg, or of the array of another texture or surface."),
        RunOption("--surf", "surfaces", "launch", "data", kind="many",
                  help="NAME=VALUE[,channels=4][,level=1]...: a surface, in the form of --tex; --expect and --print use NAME."),
        RunOption("--tensormap", "tensor_maps", "launch", "data", kind="many",
                  help="[out:]NAME=VALUE[,box=64/64][,swizzle=128][,fill=nan]...: a tensor map of an array as in --arg, or of another map's "
                  "array."),
        RunOption("--shared", "shared", "launch", "launch", read=whole(0), help="Bytes of dynamic shared memory."),
        RunOption("--cooperative", "cooperative", "launch", "launch", kind="flag", help="All blocks are resident together."),
        RunOption("--cluster", "cluster", "launch", "launch", read=dim3, help="Blocks per cluster."),
        RunOption("--set", "symbols", "launch", "data", kind="many",
                  help="SYMBOL=VALUE: sets a .global or .const variable before the launch."),
        RunOption("--device", "device", "launch", "setting",
                  help="The device model, such as sm_35 (default: sm_90), with a memory size and figures of its own, if any: sm_90:64M,registers=16384; "
                  "or a .toml file of these."),
        RunOption("--device-rules-only", "device_rules_only", "launch", "setting", kind="flag",
                  help="Also runs code for newer devices, under the limits and memory rules of the device."),
        RunOption("--l1", "l1", "launch", "setting",
                  help="The size of the L1 cache on devices where the host chooses how L1 and shared memory share one memory: 16K."),
        RunOption("--banks", "banks", "launch", "setting", read=whole(),
                  help="Bytes of a word in a bank of shared memory on devices of 3.x: 4 (default) or 8."),
        RunOption("--engine", "engine", "launch", "setting",
                  help="The engine that executes launches: numpy, native (machine code of this processor, extra `native`), or auto (the faster"
                  " one)."),
        RunOption("--threads", "threads", "launch", "setting", read=whole(1),
                  help="Threads of this machine that a launch may run on if its blocks do not synchronize with each other (default: all cores)."),
        RunOption("--schedule", "schedule", "launch", "setting", read=_seed,
                  help="A seed that chooses another legal interleaving of lanes, warps and blocks; 7@12,15 stops lanes mostly before lines 12"
                  " and 15."),
        RunOption("--poison", "poison", "launch", "setting", read=whole(),
                  help="A seed: fills registers, shared and local memory with garbage instead of zeros."),
        RunOption("--fmad", "fmad", "launch", "setting", read=_fmad,
                  help="Which products and sums become one multiply-add: all (default), as by ptxas; f64; or none."),
        RunOption("--max-steps", "max_steps", "launch", "setting", read=whole(1), help="Ends the run after this number of steps."),
        RunOption("--timeout", "timeout", "launch", "setting", read=real, help="Ends the run after this number of seconds."),
        RunOption("--schedules", "schedules", "orders", "setting", read=_schedules,
                  help="Also runs this number of seeds, and shows the first one whose outcome differs; exhaustive: all orders of a small "
                  "launch, or two that differ."),
        RunOption("--scheduler", "scheduler", "orders", "setting",
                  help="With --schedules exhaustive, orders are gone through on a Dask cluster, such as tcp://host:8786 (extra `cluster`)."),
        RunOption("--expect", "expect", "outcome", "data", kind="many", help="A numpy expression that must hold, or NAME=@file.npy."),
        RunOption("--rtol", "rtol", "outcome", "tolerance", read=real, help="Relative tolerance of ==."),
        RunOption("--atol", "atol", "outcome", "tolerance", read=real, help="Absolute tolerance of ==."),
        RunOption("--ulp", "ulp", "outcome", "tolerance", read=whole(0), help="Tolerance of == in units in the last place."),
        RunOption("--print", "show", "outcome", "report", kind="many", help="An expression to print, such as c[:8]."),
        RunOption("--dump", "dump", "outcome", "report", kind="many",
                  help="NAME=FILE.npy or NAME=FILE.png: writes a buffer to a file; FILE.png alone writes the buffer of that name."),
        RunOption("--sanitize", "sanitize", "checkers", "setting", kind="word", read=_tools,
                  help=f"Runs the launches under checkers: all, some of {NAMES}, or none."),
        RunOption("--strict", "strict", "findings", "setting", kind="flag",
                  help="Under checkers, what CUDA C++ leaves undefined is an error, even where PTX defines it."),
        RunOption("--on-error", "goes_on", "findings", "setting", read=_goes_on,
                  help="Under checkers, what follows a launch that ends in a device error: stop (default) or continue with the next launch."),
        RunOption("--leak-check", "leak_check", "watched", "setting", read=_leak_check,
                  help="full: memcheck looks for memory that kernels have not freed, as it does if all tools are named; no: it does not."),
        RunOption("--kernel-regex", "kernel_regex", "watched", "setting",
                  help="Checkers watch the kernels in whose names this regular expression is found."),
        RunOption("--kernel-regex-exclude", "kernel_regex_exclude", "watched", "setting",
                  help="Checkers do not watch the kernels in whose names this regular expression is found."),
        RunOption("--launch-skip", "launch_skip", "watched", "setting", read=whole(0),
                  help="Checkers do not watch the first N launches of such kernels."),
        RunOption("--launch-count", "launch_count", "watched", "setting", read=whole(1),
                  help="Checkers watch N launches, and none of those that follow."),
        RunOption("--suppressions", "suppressions", "watched", "setting", kind="many",
                  help="A file with findings that are not reported: see --generate-suppressions of `warplab sanitize`."),
    )
}  # fmt: skip


def of_group(group: str) -> list[RunOption]:
    """The options of a group, in the order of the help."""
    return [option for option in OPTIONS.values() if option.group == group]


def parsed(words: Sequence[str], where: str) -> dict[str, Any]:
    """The options that words give, by field."""
    given: dict[str, Any] = {}
    rest = list(words)
    while rest:
        name, eq, value = rest.pop(0).partition("=")
        option = OPTIONS.get(name)
        if option is None:
            near = get_close_matches(name, OPTIONS, 1, 0.7)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"{where}: no option is called {name}{meant} (the options: {' '.join(OPTIONS)})")
        if option.kind == "flag":
            given[option.field] = True
        elif option.kind == "word" and not eq:  # its value may be missing
            given[option.field] = rest.pop(0) if rest and not rest[0].startswith("--") else "all"
        else:
            if not eq and not rest:
                raise UsageError(f"{where}: {name} needs a value")
            value = value if eq else rest.pop(0)
            given[option.field] = (*given.get(option.field, ()), value) if option.kind == "many" else value
    return given
