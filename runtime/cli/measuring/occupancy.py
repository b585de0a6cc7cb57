"""`warplab occupancy`: how many blocks per multiprocessor holds, what limits them, and the next steps up and down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .. import completing, files
from ..colours import paint
from ..files import SOURCE, InputFile

if TYPE_CHECKING:
    from warplab.isa.occupancy import Occupancy


@click.command()
@click.argument("source", metavar="[FILE]", type=SOURCE, required=False)
@click.option("--kernel", shell_complete=completing.kernels, help="The entry, if FILE has several.")
@click.option("--threads", "--block", type=click.IntRange(1), default=256, show_default=True, help="Threads per block.")
@click.option("--registers", type=click.IntRange(0), help="Registers per thread (estimated if FILE is given).")
@click.option(
    "--shared", type=click.IntRange(0), default=0, help="Bytes of shared memory per block, in addition to those that FILE declares."
)
@click.option(
    "--device",
    default="sm_90",
    show_default=True,
    shell_complete=completing.devices,
    help="The model, such as sm_35, or a device of one's own.",
)
@click.option("--json", "as_json", is_flag=True, help="Reports as JSON.")
def occupancy(
    source: InputFile | None, kernel: str | None, threads: int, registers: int | None, shared: int, device: str, as_json: bool
) -> None:
    """Prints how many blocks of a kernel are resident on one multiprocessor.

    Without FILE, --threads, --registers and --shared describe the kernel.
    """
    from warplab.isa.occupancy import occupancy as resident
    from warplab.isa.own_devices import device_profile

    from ...device.described import model_of
    from ...errors import UsageError

    try:
        model = device_profile(model_of(device)[0])
    except UsageError as e:
        raise click.BadParameter(str(e), param_hint="--device") from None
    barriers = 1
    if source is not None:
        registers, static, barriers = _described(source, kernel, registers)
        shared += static
    found = resident(
        model, threads, 32 if registers is None else registers, shared, shared_limit=max(model.shared_per_block, shared), barriers=barriers
    )
    if as_json:
        files.print_json(_data(found))
    else:
        click.echo(paint(_text(found)))


def _described(source: InputFile, kernel: str | None, registers: int | None) -> tuple[int, int, int]:
    """(registers, static shared memory, barriers) of a kernel of a file."""
    from warplab.interpreter.ptxas.register_count import barriers_of, kernel_registers

    from ...device.context import DeviceContext
    from ...names import chosen, listed

    kernels = DeviceContext("sm_90").load([source.data], [source.name]).program.kernels
    if kernel is None and len(kernels) == 1:
        kernel = next(iter(kernels))
    if kernel is None:
        raise click.UsageError(f"choose one of the kernels with --kernel: {listed(kernels) or 'there is none'}")
    k = kernels[chosen(kernels, kernel)]
    return registers if registers is not None else kernel_registers(k), k.static_shared, barriers_of(k)


def _text(o: Occupancy) -> str:
    from ...reports.tables import number, percent, table

    head = (
        f"{o.profile.name} ({o.profile.device}): {o.threads} threads, {o.registers} registers, {o.shared} B shared\n"
        f"{number(o.blocks)} block{'' if o.blocks == 1 else 's'}, {o.warps} of {o.profile.max_warps} warps: {percent(o.fraction)}"
    )
    rows = [[name, str(blocks), "limits" if name in o.limiters else ""] for name, blocks in o.limits.items()]
    steps = "\n".join(f"  {s}" for s in o.sentences)
    return "\n\n".join(filter(None, [head, table(["resource", "blocks", ""], rows), steps]))


def _data(o: Occupancy) -> files.Json:
    return {
        "device": o.profile.name, "threads": o.threads, "registers": o.registers, "shared": o.shared,
        "blocks": o.blocks, "warps": o.warps, "fraction": o.fraction, "limits": {str(k): v for k, v in o.limits.items()},
        "limiters": list(o.limiters),
        "costs": [{"resource": s.resource, "value": s.value, "blocks": s.blocks} for s in o.costs],
        "gains": [{"resource": s.resource, "value": s.value, "blocks": s.blocks} for s in o.gains],
    }  # fmt: skip
