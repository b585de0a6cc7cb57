"""`warplab devices`: the models, one line each, or all that is known of one."""

from __future__ import annotations

from dataclasses import fields

import click

from . import completing
from .files import Json, print_json


@click.command()
@click.argument("name", required=False, shell_complete=completing.devices)
@click.option("--json", "as_json", is_flag=True, help="Reports as JSON.")
def devices(name: str | None, as_json: bool) -> None:
    """Shows the device models, or one of them: NAME is sm_90, 9.0 or a newer target."""
    from warplab.isa.profiles import PROFILES, profile, profile_note

    if name is None:
        if as_json:
            print_json([facts(p) for p in PROFILES.values()])
            return
        width = max(len(p.device) for p in PROFILES.values())
        click.echo(f"{'name':7} {'device':{width}} {'SMs':>4} {'warps':>6} {'registers':>10} {'shared/SM':>10} {'L2':>9}")
        for p in PROFILES.values():
            shared, l2 = f"{p.shared >> 10} KiB", f"{p.l2_cache >> 10} KiB"
            click.echo(f"{p.name:7} {p.device:{width}} {p.multiprocessors:4} {p.max_warps:6} {p.registers:10,} {shared:>10} {l2:>9}")
        return
    try:
        model = profile(name)
    except ValueError as e:
        raise click.UsageError(f"{e} (the models: {' '.join(PROFILES)})") from None
    if as_json:
        print_json(facts(model))
        return
    if note := profile_note(name):
        click.echo(f"note: {note}")
    for f in fields(model):
        click.echo(f"{f.name.removesuffix('_mhz').replace('_', ' '):28} {_shown(f.name, getattr(model, f.name))}")


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
    if not isinstance(value, int) or isinstance(value, bool):
        return {True: "yes", False: "no", None: "none"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)
    if name in _BYTES and value % 1024 == 0:
        return f"{value >> 20:,} MiB" if value and value % (1 << 20) == 0 else f"{value >> 10:,} KiB"
    if name in _BYTES:
        return f"{value:,} bytes"
    if name == "memory_bandwidth":
        return f"{value / 1e9:,.0f} GB/s"
    return f"{value:,} MHz" if name == "clock_mhz" else f"{value:,}"


def facts(model: object) -> dict[str, Json]:
    """A model's fields as plain values."""
    out: dict[str, Json] = {}
    for f in fields(model):  # type: ignore[arg-type]
        value = getattr(model, f.name)
        out[f.name] = value if isinstance(value, int | float | str) or value is None else ", ".join(str(x) for x in value)
    return out
