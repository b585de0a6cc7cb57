"""What is made while the garbage collector is put off is not looked at when it comes back."""

import gc

from warplab.assembler.collector import collector_off


def test_objects_made_inside_are_old() -> None:
    with collector_off():
        assert not gc.isenabled()
        made = [[i] for i in range(1000)]
    assert gc.isenabled()
    young = {id(o) for o in gc.get_objects(generation=0)}
    assert not young & set(map(id, made))


def test_frozen_objects_stay_frozen() -> None:
    frozen = [[i] for i in range(1000)]
    gc.freeze()
    try:
        with collector_off():
            pass
        assert not set(map(id, frozen)).intersection(map(id, gc.get_objects()))
    finally:
        gc.unfreeze()
    assert set(map(id, frozen)) <= set(map(id, gc.get_objects()))
