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
        click.echo(f"{'name':7} {'device':22} {'SMs':>4} {'warps':>6} {'registers':>10} {'shared/SM':>10} {'L2':>9}")
        for p in PROFILES.values():
            shared, l2 = f"{p.shared >> 10} KB", f"{p.l2_cache >> 10} KB"
            click.echo(f"{p.name:7} {p.device:22} {p.multiprocessors:4} {p.max_warps:6} {p.registers:10} {shared:>10} {l2:>9}")
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
    for key, value in facts(model).items():
        click.echo(f"{key.replace('_', ' '):28} {value}")


def facts(model: object) -> dict[str, Json]:
    """A model's fields as plain values."""
    out: dict[str, Json] = {}
    for f in fields(model):  # type: ignore[arg-type]
        value = getattr(model, f.name)
        out[f.name] = value if isinstance(value, int | float | str) or value is None else ", ".join(str(x) for x in value)
    return out
