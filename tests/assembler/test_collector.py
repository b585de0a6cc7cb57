"""What is made while the garbage collector is put off is not looked at when it comes back."""

import gc
from collections.abc import Iterator

import pytest

from warplab.assembler import collector
from warplab.assembler.collector import collector_off


@pytest.fixture(autouse=True)
def nothing_is_frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a program that freezes nothing; afterwards what was there is frozen again, for all tests."""
    monkeypatch.setattr(collector, "_frozen", False)
    gc.unfreeze()
    yield
    gc.freeze()


def test_objects_made_inside_are_old() -> None:
    with collector_off():
        assert not gc.isenabled()
        made = [[i] for i in range(1000)]
    assert gc.isenabled()
    young = {id(o) for o in gc.get_objects(generation=0)}
    assert not young & set(map(id, made))


def test_frozen_objects_stay_frozen() -> None:
    """Whether there are any is asked once: the answer takes as long as they are many."""
    frozen = [[i] for i in range(1000)]
    gc.freeze()
    for _ in range(2):
        with collector_off():
            assert not gc.isenabled()
        assert gc.isenabled() and not set(map(id, frozen)).intersection(map(id, gc.get_objects()))
    gc.unfreeze()
    assert set(map(id, frozen)) <= set(map(id, gc.get_objects()))
