"""Texels that a launch writes through a surface and fetches through a texture: what the fetch gives is undefined.

The caches that serve textures do not follow what the same launch writes; a later launch sees it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..faults import Fault
from ..observe import TexelAccess
from ..plan.plan import Site
from ..values import Array
from .findings import Finding, Findings

HELP = "fetch it in a later launch"


@dataclass(slots=True, eq=False)
class _Written:
    """The places that one instruction has written."""

    site: Site
    places: Array  # in ascending order


class WrittenTexels:
    """The texels that the surfaces of one launch have changed."""

    def __init__(self, tool: str, findings: Findings) -> None:
        self._tool, self._findings = tool, findings
        self._written: dict[int, _Written] = {}

    def begin(self) -> None:
        """A launch starts."""
        self._written.clear()

    def texels(self, access: TexelAccess) -> None:
        """Lanes access texels."""
        if access.space == "texture":
            for written in self._written.values():
                self._fetched(access, written)
        elif access.kind != "ld":
            places = _places(access)[_active(access)]
            before = self._written.get(id(access.site))
            if before is None:
                self._written[id(access.site)] = _Written(access.site, np.unique(places))
            else:
                before.places = np.union1d(before.places, places)

    def _fetched(self, access: TexelAccess, written: _Written) -> None:
        hit = np.isin(_places(access), written.places) & _active(access)
        if not hit.any():
            return
        g, launch = access.group, access.group.wave.launch
        lanes = hit.any(axis=0).ravel()
        texel, *at = np.unravel_index(int(hit.argmax()), hit.shape)
        who = Fault("", "")
        lane = int(np.broadcast_to(g.geometry.lane, g.geometry.shape)[tuple(at)])
        launch.name_fault(g.wave.first, g.wave.count, who, lane)
        x, y, z = (int(part[(texel, *at)]) for part in (access.column, access.row, access.slice))
        self._findings.add(
            Finding(
                self._tool, "written-texel", f"the texel in column {x}, row {y}, slice {z} was written through a surface by this launch; "
                "a fetch of it is undefined", "texture", access.site.instruction.span.line, written.site.instruction.span.line, launch.name,
                who.block, who.thread, count=int(lanes.sum()), instruction=launch.text_of(access.site), source=launch.source_of(access.site),
                other_instruction=launch.text_of(written.site), other_source=launch.source_of(written.site), help=HELP,
            )
        )  # fmt: skip


def _active(access: TexelAccess) -> Array:
    """Which texels are accessed."""
    there: Array = access.there if access.mask is None else access.there & access.mask
    return there


def _places(access: TexelAccess) -> Array:
    """Where the texels lie in the memory of this process: the same place for every image that shares them."""
    levels = access.image.levels
    start = np.array([level.ctypes.data for level in levels])
    slice, row, column = (np.array([level.strides[axis] for level in levels]) for axis in (0, 1, 2))
    n = access.level
    out: Array = start[n] + access.slice * slice[n] + access.row * row[n] + access.column * column[n]
    return out
