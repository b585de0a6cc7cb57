"""Names of places in memory, and gaps between variables of a stack."""

import pytest

from warplab.interpreter.memory.objects import Gap, Named, Placed, nearest

TILE = Named("tile", 4096, 4, (32, 32))
FLAG = Named("flag", 4, 4)


@pytest.mark.parametrize(("object", "offset", "text"), [
    (TILE, 68, "`tile[0][17]`, 68 bytes into the 4096 bytes of tile"),
    (TILE, 4096 + 132, "`tile[33][1]`, 132 bytes after the 4096 bytes of tile"),
    (TILE, -4, "`tile[-1][31]`, 4 bytes before the 4096 bytes of tile"),
    (FLAG, 1, "1 bytes into the 4 bytes of flag"),
])  # fmt: skip
def test_a_place_has_a_name(object: Named, offset: int, text: str) -> None:
    assert object.at(offset) == text


@pytest.mark.parametrize(("address", "name"), [(0, "tile"), (4100, "tile"), (4199, "flag"), (4203, "flag"), (9000, "flag")])
def test_the_nearest_object(address: int, name: str) -> None:
    assert nearest([Placed(0, TILE), Placed(4200, FLAG)], address).endswith(f" of {name}")


def test_nothing_is_near() -> None:
    assert nearest([], 4) == ""


def test_a_gap_moves_with_its_object() -> None:
    gap = Gap(8, 12, FLAG, 4).moved(100)
    assert gap.holds(105, 109) and gap.holds(111, 115) and not gap.holds(104, 108) and not gap.holds(112, 116)
    assert gap.object.at(108 - gap.origin) == "0 bytes after the 4 bytes of flag"
