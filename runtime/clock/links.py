"""How devices are linked to the host and to each other, by compute capability; figures of the board that isa/profiles.py names.

PCI Express generations and NVLink rates are the vendor's published ones; numbers of copy engines are those of the boards' specifications (`asyncEngineCount`).
"""

from __future__ import annotations

from dataclasses import dataclass

from warplab.isa.profiles import DeviceProfile

LANE = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9}  # bytes a second and direction of a lane, by PCI Express generation
INTEGRATED = frozenset({(3, 2), (5, 3), (6, 2), (7, 2), (8, 7)})  # memory is the host's


@dataclass(frozen=True, slots=True)
class DeviceLink:
    """What connects a device."""

    pcie: int  # generation
    lanes: int = 16
    nvlink: float = 0.0  # bytes a second and direction, to one peer that all links lead to; 0: peers talk through PCI Express
    copy_engines: int = 2  # 0: no copy runs beside a kernel; 1: one direction at a time

    @property
    def host(self) -> float:
        """Bytes a second and direction to the host, as published."""
        return self.lanes * LANE[self.pcie]


LINKS = {
    (1, 0): DeviceLink(1, copy_engines=0), (1, 1): DeviceLink(2, copy_engines=1), (1, 2): DeviceLink(2, copy_engines=1),
    (1, 3): DeviceLink(2, copy_engines=1), (2, 0): DeviceLink(2), (2, 1): DeviceLink(2, copy_engines=1), (3, 0): DeviceLink(3, copy_engines=1),
    (3, 5): DeviceLink(2), (5, 0): DeviceLink(3, copy_engines=1), (6, 0): DeviceLink(3, nvlink=80e9), (7, 0): DeviceLink(3, nvlink=150e9),
    (8, 0): DeviceLink(4, nvlink=300e9), (8, 6): DeviceLink(4), (8, 9): DeviceLink(4), (9, 0): DeviceLink(5, nvlink=450e9),
}  # fmt: skip


def link_of(device: DeviceProfile) -> DeviceLink:
    """The link of a device; one without a row has that of the nearest older one."""
    return LINKS[max((c for c in LINKS if c <= device.capability), default=(1, 0))]
