"""Names of places in memory, and gaps between variables of a stack."""

from dataclasses import replace

import pytest

from warplab.assembler.ir import Span, Variable
from warplab.interpreter.memory.objects import Gap, Named, Placed, nearest, object_of
from warplab.interpreter.memory.spaces import SharedSpace
from warplab.isa.types import TYPES

TILE = Named("tile", 4096, 4, (32, 32))
FLAG = Named("flag", 4, 4)


@pytest.mark.parametrize(("object", "offset", "text"), [
    (TILE, 68, "`tile[0][17]`, 68 bytes into the 4096 bytes of tile"),
    (TILE, 4096 + 132, "`tile[33][1]`, 132 bytes after the 4096 bytes of tile"),
    (TILE, -4, "`tile[-1][31]`, 4 bytes before tile"),
    (FLAG, 1, "1 byte into the 4 bytes of flag"),
])  # fmt: skip
def test_a_place_has_a_name(object: Named, offset: int, text: str) -> None:
    assert object.at(offset) == text


@pytest.mark.parametrize(("address", "name"), [(0, "tile"), (4100, "tile"), (4199, "flag"), (4203, "flag"), (9000, "flag")])
def test_the_nearest_object(address: int, name: str) -> None:
    assert nearest([Placed(0, TILE), Placed(4200, FLAG)], address).endswith((f" of {name}", f" before {name}"))


def test_a_static_variable_of_a_function_goes_by_its_own_name() -> None:
    tile = Variable("_ZZ5scalePfPKfiE4tile", "shared", TYPES["f32"], 1, (32,), 4, "", Span(0, 0, 1, 1))
    assert object_of(tile).at(-4) == "`tile[-1]`, 4 bytes before tile; tile has 32 elements of f32"
    assert object_of(replace(tile, name="tile")).at(0).startswith("`tile[0]`")


def test_an_index_below_zero_in_shared_memory() -> None:
    space = SharedSpace(1, 128, objects=[Placed(0, Named("tile", 128, 4, (32,)))])
    assert space.complain(0xFFFFFFFC, 4, False).nearest == "`tile[-1]`, 4 bytes before tile"
    space = SharedSpace(1, 128, objects=[Placed(0, Named("tile", 128, 1, (128,), "b8"))])  # as nvcc declares an array of floats
    assert space.complain(0xFFFFFFFC, 4, False).nearest.startswith("`tile[-1]`, 4 bytes before tile")


def test_nothing_is_near() -> None:
    assert nearest([], 4) == ""


def test_a_gap_moves_with_its_object() -> None:
    gap = Gap(8, 12, FLAG, 4).moved(100)
    assert gap.holds(105, 109) and gap.holds(111, 115) and not gap.holds(104, 108) and not gap.holds(112, 116)
    assert gap.object.at(108 - gap.origin) == "0 bytes after the 4 bytes of flag"
