"""Occupancy against the size of blocks, registers and shared memory, as the occupancy calculator draws it."""

from __future__ import annotations

from warplab.isa.occupancy import Occupancy, block_limits
from warplab.isa.occupancy import occupancy as resident
from warplab.isa.profiles import KIB, DeviceProfile

from ..errors import UsageError
from ..reports.drawn.charts import HEIGHT, WIDTH, Points, chart
from ..reports.drawn.svg import svg
from ..reports.tables import number, percent
from .figure import Figure
from .lanes import model

TICKS = 8


def occupancy(threads: int = 256, *, registers: int = 32, shared: int = 0, device: str | DeviceProfile = "sm_90") -> Figure:
    """The resident warps of one multiprocessor if blocks, registers per thread or bytes of shared memory per block were others; rings mark what is given."""
    d = model(device)
    for name, value, most in (
        ("threads", threads, d.max_threads_per_block),
        ("registers", registers, d.max_registers_per_thread),
        ("shared", shared, d.shared),
    ):
        if not 0 <= value <= most or (name != "shared" and not value):
            raise UsageError(f"--{name} {value}: {d.name} has {0 if name == 'shared' else 1} to {most:,}")
    o = resident(d, threads, registers, shared, shared_limit=d.shared)
    says = f"{number(o.blocks)} blocks of {threads} threads on a multiprocessor of {d.name}: {percent(o.fraction)}, bound by {' and '.join(o.limiters)}"

    def share(threads: int = threads, registers: int = registers, shared: int = shared) -> float:
        limits = block_limits(d, threads, registers, shared, shared_limit=d.shared)
        return 100 * Occupancy(d, threads, registers, shared, limits, (), ()).fraction  # for a point of a chart, not what would change it

    sizes = range(d.warp_size, d.max_threads_per_block + 1, d.warp_size)
    numbers = range(1, d.max_registers_per_thread + 1)
    amounts = range(0, d.shared + 1, d.shared_unit)
    charts: tuple[tuple[str, Points, float, float], ...] = (
        ("threads per block", [(n, share(threads=n)) for n in sizes], threads, d.max_threads_per_block),
        (
            "registers per thread",
            [(n, share(registers=n)) for n in numbers],
            registers,
            -(-d.max_registers_per_thread // TICKS) * TICKS,
        ),
        ("KiB of shared memory per block", [(n / KIB, share(shared=n)) for n in amounts], shared / KIB, d.shared / KIB),
    )
    body = "".join(
        chart(
            says if not n else "", across, "%", {d.name: points}, [end * k / TICKS for k in range(TICKS + 1)], range(0, 101, 25),
            steps=True, spots=[(x, share())], alone=False,
        ).replace("<svg ", f'<svg y="{n * HEIGHT}" ', 1)
        for n, (across, points, x, end) in enumerate(charts)
    )  # fmt: skip
    return Figure(svg(WIDTH, HEIGHT * len(charts), body, says, alone=True), says)
