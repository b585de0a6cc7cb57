"""The special registers of PTX ISA section 10: type, components, what they need, and which types mov and cvt may read them as.

>>> register("%tid.x").type, register("%clock64").mov_types, register("%tid")
('u32', ('b64', 'u64', 's64'), None)
"""

import functools
from dataclasses import dataclass

from .facts import Need

COMPONENTS = ("x", "y", "z", "w")


@dataclass(frozen=True, slots=True)
class SpecialRegisterRow:
    """One special register; of a vector, each component reads as the scalar type."""

    name: str
    type: str  # pred, u32 or u64
    need: Need
    doc: str
    vector: bool = False
    narrow: tuple[int, ...] = ()  # further widths in bits that mov reads it in

    @property
    def bits(self) -> int:
        return {"pred": 1, "u32": 32, "u64": 64}[self.type]

    @property
    def mov_types(self) -> tuple[str, ...]:
        """The types of mov that may read it: its own width in any kind, and the narrow ones, which cut it off."""
        if self.type == "pred":
            return ("pred",)
        return tuple(f"{kind}{bits}" for bits in (*self.narrow, self.bits) for kind in "bus")

    @property
    def cvt_types(self) -> tuple[str, ...]:
        """The source types of cvt that may read it: integers of at least 16 bits, no wider than itself."""
        return tuple(f"{kind}{bits}" for bits in (16, 32, 64) if bits <= self.bits for kind in "us")


_OLD = (16,)  # the registers of PTX 1.0 were 16 bits wide then


def _rows() -> list[SpecialRegisterRow]:
    row = SpecialRegisterRow
    cluster = Need(7.8, 90)
    rows = [
        row("%tid", "u32", Need(), "The thread's place in its CTA.", True, _OLD),
        row("%ntid", "u32", Need(), "The CTA's extent in threads.", True, _OLD),
        row("%laneid", "u32", Need(1.3), "The thread's lane, 0 to WARP_SZ - 1."),
        row("%warpid", "u32", Need(1.3), "The warp's number in its CTA."),
        row("%nwarpid", "u32", Need(2.0, 20), "How many warp numbers there are."),
        row("%ctaid", "u32", Need(), "The CTA's place in the grid.", True, _OLD),
        row("%nctaid", "u32", Need(), "The grid's extent in CTAs.", True, _OLD),
        row("%smid", "u32", Need(1.3), "The multiprocessor that runs the thread."),
        row("%nsmid", "u32", Need(2.0, 20), "How many multiprocessor numbers there are."),
        row("%gridid", "u64", Need(), "The launch's number.", False, (16, 32)),
        row("%is_explicit_cluster", "pred", cluster, "Whether the launch names a cluster size."),
        row("%clusterid", "u32", cluster, "The cluster's place in the grid.", True),
        row("%nclusterid", "u32", cluster, "The grid's extent in clusters.", True),
        row("%cluster_ctaid", "u32", cluster, "The CTA's place in its cluster.", True),
        row("%cluster_nctaid", "u32", cluster, "The cluster's extent in CTAs.", True),
        row("%cluster_ctarank", "u32", cluster, "The CTA's rank in its cluster."),
        row("%cluster_nctarank", "u32", cluster, "How many CTAs the cluster has."),
        row("%clock", "u32", Need(), "A cycle counter."),
        row("%clock_hi", "u32", Need(5.0, 20), "The upper half of %clock64."),
        row("%clock64", "u64", Need(2.0, 20), "A cycle counter."),
        row("%globaltimer", "u64", Need(3.1, 30), "Nanoseconds of a global clock."),
        row("%globaltimer_lo", "u32", Need(3.1, 30), "The lower half of %globaltimer."),
        row("%globaltimer_hi", "u32", Need(3.1, 30), "The upper half of %globaltimer."),
        row("%total_smem_size", "u32", Need(4.1, 20), "Bytes of shared memory of the CTA, static and dynamic."),
        row("%aggr_smem_size", "u32", Need(8.1, 90), "The same, with what the system reserves."),
        row("%dynamic_smem_size", "u32", Need(4.1, 20), "Bytes of dynamic shared memory of the launch."),
        row("%current_graph_exec", "u64", Need(8.0, 50), "The device graph that is running, 0 outside of one."),
    ]
    masks = {"eq": "equal to", "le": "less than or equal to", "lt": "less than", "ge": "greater than or equal to", "gt": "greater than"}
    rows += [row(f"%lanemask_{op}", "u32", Need(2.0, 20), f"A bit for each lane {text} the thread's own.") for op, text in masks.items()]
    for name in ("begin", "end", "cap", "0", "1"):
        text = "A boundary of the shared memory that the system reserves."
        rows.append(row(f"%reserved_smem_offset_{name}", "u32", Need(7.6, 80), text))
    for i in range(8):
        rows.append(row(f"%pm{i}", "u32", Need(1.3) if i < 4 else Need(3.0, 20), f"Performance monitor counter {i}."))
        rows.append(row(f"%pm{i}_64", "u64", Need(4.0, 50), f"Performance monitor counter {i}."))
    rows += [row(f"%envreg{i}", "u32", Need(), "Read-only, set by the driver.") for i in range(32)]
    return rows


SPECIAL: dict[str, SpecialRegisterRow] = {row.name: row for row in _rows()}


@functools.cache
def register(name: str) -> SpecialRegisterRow | None:
    """The scalar special register of that name, such as %laneid or %tid.x; None where there is none."""
    base, _, component = name.partition(".")
    found = SPECIAL.get(base)
    if found is None or found.vector != (component in COMPONENTS) or (component and not found.vector):
        return None
    return found
