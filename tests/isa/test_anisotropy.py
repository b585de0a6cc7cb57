"""The samples of anisotropic filtering against plain Python, one lane at a time."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from warplab.isa.textures.anisotropy import Axis, axis, limit, samples

PARTS = st.integers(-64, 64)


def one_lane(ratio: int, direction: tuple[int, int], weight: int, farther: int, far: bool) -> Iterator[tuple[int, int, int]]:
    """Where the samples of a lane lie, and their weights, as far as these are not 0."""
    if far and farther < 256:
        ratio += farther - 256
    if math.floor(256 / 2 ** (ratio % 256 / 256) + 0.5) == 128:  # as of the next power of two
        ratio += 1
    if ratio <= 0:
        yield 0, 0, weight
        return
    stretch = 64 if far else math.floor(64 * 2 ** (farther / 256) + 0.25)
    octave, inverse = ratio >> 8, math.floor(256 / 2 ** ((ratio & 255) / 256) + 0.5)
    half = 256 if octave < 2 else 512
    inner = half if not octave else inverse >> max(octave - 2, 0)
    apart = 128 if octave else 256 - inverse
    step = [math.floor(apart * d / 128 + 0.5) * stretch // 64 for d in direction]
    given = {1: 0, -1: 0}
    for pair in range(math.ceil(half / inner)):
        part = Fraction(min(inner * (pair + 1), half) * weight, 256)
        for sign, so_far in ((1, math.floor(part + Fraction(1, 2))), (-1, math.ceil(part - Fraction(1, 2)))):
            if so_far > given[sign]:
                yield sign * (4 * pair + 2) * step[0], sign * (4 * pair + 2) * step[1], so_far - given[sign]
            given[sign] = so_far


@settings(max_examples=100, deadline=None)
@example([(511, (64, 0)), (767, (45, -45)), (255, (-3, 64)), (300, (60, 20))], 128, False)
@example([(511 + 56, (64, 0)), (767, (45, -45)), (255, (-3, 64)), (300, (60, 20))], 200, True)
@given(st.lists(st.tuples(st.integers(-300, 1024), st.tuples(PARTS, PARTS)), min_size=1, max_size=6), st.integers(0, 256), st.booleans())
def test_samples_are_those_of_each_lane(lanes: list[tuple[int, tuple[int, int]]], farther: int, far: bool) -> None:
    ratio, directions = np.array([r for r, _ in lanes]), np.array([d for _, d in lanes])
    weight = farther if far else 256 - farther
    probes = list(samples(Axis(ratio, (directions[:, 0], directions[:, 1])), np.array([weight]), np.array([farther]), far=far))
    for lane, (r, d) in enumerate(lanes):
        found = [tuple(int(np.broadcast_to(x, len(lanes))[lane]) for x in (*p.moved, p.weight)) for p in probes]
        expected = list(one_lane(r, d, weight, farther, far))
        assert [x for x in found if x[2]] == [x for x in expected if x[2]]
        extra = int(np.broadcast_to(probes[0].extra, len(lanes))[lane])
        assert sum(x[2] for x in found) == weight << extra


@pytest.mark.parametrize(
    ("gradient", "direction"), [((4.0, 0.0), (64, 0)), ((0.0, -3.0), (0, -64)), ((1.0, 1.0), (45, 45)), ((5.0, 0.1), (64, 0))]
)
def test_an_axis_runs_along_the_gradient(gradient: tuple[float, float], direction: tuple[int, int]) -> None:
    found = axis([np.array([x]) for x in gradient], np.array([256])).direction
    assert tuple(int(x[0]) for x in found) == direction


def test_degrees_that_the_unit_does_not_know_count_as_the_next_lower_one() -> None:
    assert [limit(n) for n in (0, 1, 2, 3, 4, 5, 7, 9, 11, 15, 17)] == [0, 0, 256, 256, 512, 512, 656, 768, 848, 912, 1024]
