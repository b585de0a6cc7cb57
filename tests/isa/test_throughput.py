"""Operations a clock: the guide's table, cell by cell where its editions print it, and the features that the cells imply."""

import pytest

from warplab.isa.profiles import PROFILES, profile
from warplab.isa.throughput import CLASSES, DERIVED, rates

# Class -> operations a clock of 1.3, 2.0, 2.1, 3.0, 3.5, 5.2, 6.0, 6.1, 7.0, 7.5, 8.0, 8.6, 9.0, as the guide has them; 0: none, or several instructions.
DEVICES = "1.3 2.0 2.1 3.0 3.5 5.2 6.0 6.1 7.0 7.5 8.0 8.6 9.0".split()
PUBLISHED = {
    "f32": (8, 32, 48, 192, 192, 128, 64, 128, 64, 64, 64, 128, 128),
    "f64": (1, 16, 4, 8, 64, 4, 32, 4, 32, 2, 32, 2, 64),
    "special": (2, 4, 8, 32, 32, 32, 16, 32, 16, 16, 16, 16, 16),
    "add": (8, 32, 48, 160, 160, 128, 64, 128, 64, 64, 64, 64, 64),
    "multiply": (2, 16, 16, 32, 32, 0, 0, 0, 64, 64, 64, 64, 64),
    "shift": (8, 16, 16, 32, 64, 64, 32, 64, 64, 64, 64, 64, 64),
    "population": (0, 16, 16, 32, 32, 32, 16, 32, 16, 16, 16, 16, 16),
    "shuffle": (0, 0, 0, 32, 32, 32, 32, 32, 32, 16, 32, 32, 32),
}


@pytest.mark.parametrize("kind", PUBLISHED)
def test_as_published(kind: str) -> None:
    assert tuple(profile(d).throughput(kind) for d in DEVICES) == PUBLISHED[kind]


@pytest.mark.parametrize(("kind", "feature"), [("f16", "half"), ("f64", "f64"), ("shuffle", "shuffle"), ("vote", "vote"), ("reduce", "warp_reduction"), ("tensor", "tensor_cores")])  # fmt: skip
def test_a_device_has_a_rate_where_it_has_the_feature(kind: str, feature: str) -> None:
    assert {n: p.throughput(kind) > 0 for n, p in PROFILES.items()} == {n: p.has(feature) for n, p in PROFILES.items()}


def test_every_figure_that_is_not_printed_says_where_it_is_from() -> None:
    columns = [rates(p.capability) for p in PROFILES.values()]
    assert {c for column in columns for c, rate in column.items() if rate.derived} == set(DERIVED)
    assert all(list(column) == list(CLASSES) for column in columns)
