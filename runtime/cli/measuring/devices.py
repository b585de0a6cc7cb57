"""`warplab devices`: the models, one line each, all that is known of some, or the guide's tables of them."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import click

from .. import completing
from ..files import Json, print_json

if TYPE_CHECKING:
    from warplab.isa.profiles import DeviceProfile


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completing.devices)
@click.option(
    "--table", type=click.Choice(["features", "specifications", "throughput"]), help="A table of the CUDA guide, devices as columns."
)
@click.option("--json", "as_json", is_flag=True, help="Reports as JSON.")
def devices(names: tuple[str, ...], table: str | None, as_json: bool) -> None:
    """Shows the device models, or some of them: NAME is sm_90, 9.0, a newer target, or a device of one's own.

    --table compares them: features, technical specifications, operations a clock by class of instruction.
    """
    from warplab.isa.own_devices import device_profile, target_part
    from warplab.isa.profiles import PROFILES, profile_note

    from ...device.described import model_of
    from ...errors import UsageError

    try:
        words = [model_of(name)[0] for name in names]
    except UsageError as e:
        models_are = "" if "," in "".join(names) else f" (the models: {' '.join(PROFILES)})"
        raise click.UsageError(f"{e}{models_are}") from None
    models = [device_profile(name) for name in words] or list(PROFILES.values())
    notes = [f"note: {note}" for note in map(profile_note, map(target_part, words)) if note and not as_json]
    if notes:
        click.echo("\n".join(notes))
    if table is not None:
        from ...reports.devices import device_table, device_table_json, device_table_text

        made = device_table(table, dict.fromkeys(models))
        print_json(device_table_json(made)) if as_json else click.echo(device_table_text(made))
    elif as_json:
        print_json(facts(models[0]) if len(names) == 1 else [facts(m) for m in models])
    elif names:
        click.echo("\n\n".join(_properties(m) for m in models))
    else:
        click.echo(_overview(models))


def _overview(models: list[DeviceProfile]) -> str:
    """A line for each model."""
    width = max(len(p.device) for p in models)
    lines = [f"{'name':7} {'device':{width}} {'SMs':>4} {'warps':>6} {'registers':>10} {'shared/SM':>10} {'L2':>9}"]
    for p in models:
        shared, l2 = f"{p.shared >> 10} KiB", f"{p.l2_cache >> 10} KiB"
        lines.append(f"{p.name:7} {p.device:{width}} {p.multiprocessors:4} {p.max_warps:6} {p.registers:10,} {shared:>10} {l2:>9}")
    return "\n".join(lines)


def _properties(model: DeviceProfile) -> str:
    """All that is known of a model, a line each."""
    lines = [
        f"{f.name.removesuffix('_mhz').replace('_', ' '):28} {_shown(f.name, getattr(model, f.name))}"
        for f in fields(model)
        if f.name != "own_rates"
    ]
    lines += [f"{name + ' throughput':28} {rate.text}" for name, rate in model.rates.items()]
    return "\n".join(lines)


# Fields that count bytes.
_BYTES = frozenset(
    "shared shared_per_block shared_per_block_optin shared_reserved_per_block shared_configs l1_and_shared l1_size texture_cache constant_cache "
    "l2_cache local_per_thread constant_memory".split()
)


def _shown(name: str, value: object) -> str:
    """A field with its unit, for people."""
    if isinstance(value, tuple):
        joint = "." if name == "capability" else ", "
        return joint.join(_shown(name, v) for v in value)
    if name == "clock_mhz" and isinstance(value, int | float):
        return f"{value:,.6g} MHz"
    if not isinstance(value, int) or isinstance(value, bool):
        return {True: "yes", False: "no", None: "none"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)
    if name in _BYTES and value % 1024 == 0:
        return f"{value >> 20:,} MiB" if value and value % (1 << 20) == 0 else f"{value >> 10:,} KiB"
    if name in _BYTES:
        return f"{value:,} bytes"
    if name == "memory_bandwidth":
        return f"{value / 1e9:,.0f} GB/s"
    return f"{value:,}"


def facts(model: DeviceProfile) -> dict[str, Json]:
    """A model's fields as plain values, and its throughputs by class of instruction."""
    from warplab.isa.throughput import CLASSES

    out: dict[str, Json] = {}
    for f in (f for f in fields(model) if f.name != "own_rates"):
        value = getattr(model, f.name)
        out[f.name] = value if isinstance(value, int | float | str) or value is None else ", ".join(str(x) for x in value)
    out["throughput"] = {name: model.throughput(name) for name in CLASSES}
    return out
