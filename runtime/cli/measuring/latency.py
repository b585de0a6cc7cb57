"""`warplab latency`: how many warps hide the latency of arithmetic and of memory, on every device."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from .. import files
from ..colours import paint
from ..files import SOURCE, InputFile
from ..running.launching import with_options

if TYPE_CHECKING:
    from warplab.interpreter.profiler import KernelProfile
    from warplab.isa.profiles import DeviceProfile


@click.command()
@click.argument("sources", metavar="FILES...", type=SOURCE, nargs=-1, required=True)
@with_options("launch")
@click.option("--json", "as_json", is_flag=True, help="Prints JSON.")
@click.pass_context
def latency(ctx: click.Context, /, sources: tuple[InputFile, ...], as_json: bool, **options: Any) -> None:
    """Prints how many warps a multiprocessor needs to hide latencies: latency x instructions a cycle, over the instructions that are independent.

    FILES and launch options are those of `warplab run`. What is independent, and how often memory is loaded, is read off the predicted machine code.
    """
    from warplab.isa.profiles import PROFILES

    from .profile import measured

    profiles, code = measured(ctx, sources, options, True)
    devices = list(dict.fromkeys([*PROFILES.values(), *(p.device for p in profiles)]))
    if as_json:
        files.print_json([_data(p, devices) for p in profiles])
    else:
        click.echo(paint("\n\n".join(_text(p, devices) for p in profiles)))
    ctx.exit(code)


def warps_needed(latency: float, rate: float, independent: float) -> int:
    """Warps that keep so many instructions a cycle coming, where each warp has some independent ones under way.

    >>> warps_needed(22, 1, 1), warps_needed(22, 1, 2), warps_needed(22, 0.25, 1), warps_needed(600, 1, 15), warps_needed(600, 0.25, 15)
    (22, 11, 6, 40, 10)
    """
    return max(1, math.ceil(latency * rate / independent - 1e-9))


def _row(p: KernelProfile, d: DeviceProfile) -> dict[str, int | float | str | None]:
    t = p.time
    rate, (low, high) = d.warps_per_latency_clock, d.memory_latency
    parallelism, ratio = (t.parallelism, t.ratio) if t is not None else (1.0, 0.0)
    return {
        "device": d.words or d.name,
        "latency": d.arithmetic_latency,
        "rate": rate,
        "one": warps_needed(d.arithmetic_latency, rate, 1),
        "own": warps_needed(d.arithmetic_latency, rate, parallelism),
        "memory_low": warps_needed(low, rate, ratio) if ratio else None,
        "memory_high": warps_needed(high, rate, ratio) if ratio else None,
        "most": d.max_warps,
    }


def _data(p: KernelProfile, devices: list[DeviceProfile]) -> files.Json:
    t = p.time
    found = {"parallelism": t.parallelism, "ratio": t.ratio} if t is not None else {}
    return {"kernel": p.kernel, **found, "devices": [_row(p, d) for d in devices]}


def _text(p: KernelProfile, devices: list[DeviceProfile]) -> str:
    from ...reports.tables import number, table
    from ...reports.text import heading

    t = p.time
    if t is None:
        return f"{heading(p)}\nnothing was executed"
    said = [
        heading(p),
        f"{number(round(t.parallelism, 2))} independent instructions on average: the instructions of a block of code over its longest chain",
        f"{number(round(t.ratio, 1))} instructions for each load from global memory" if t.ratio else "no loads from global memory",
    ]
    rows, seen = [], set[tuple[object, ...]]()
    for d in devices:
        row = _row(p, d)
        key = tuple(row.values())[1:]
        if key in seen and not d.words:
            continue  # as a device above
        seen.add(key)
        memory = f"{row['memory_low']} to {row['memory_high']}" if t.ratio else ""
        rows.append(
            [
                str(row["device"]),
                str(row["latency"]),
                number(d.warps_per_latency_clock),
                str(row["one"]),
                str(row["own"]),
                memory,
                str(row["most"]),
            ]
        )
    head = ["device", "latency", "a cycle", "warps, one chain", "this kernel", "memory", "at most"]
    return "\n".join(said) + "\n\n" + table(head, rows)
