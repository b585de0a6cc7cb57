"""The reference caches: replacement, and the steps through L1 that an H200 recorded."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.interpreter.reference_caches import L1, L2, Cache, line_words, sectors_within, whole_sectors
from warplab.interpreter.rules.policies import empties_l1, load_policy, store_policy

LANES = np.arange(32)
STEPS = json.loads((Path(__file__).parents[1] / "data/memory/l1_steps.json").read_text())["launches"]
LOADS = {
    "ld.u32": (4, ()),
    "ld.u8": (1, ()),
    "ld.u16": (2, ()),
    "ld.v4": (16, ()),
    "ldcg": (4, ("cg",)),
    "ldvol": (4, ("volatile",)),
    "ldlu": (4, ("lu",)),
    "ldna": (4, ("L1::no_allocate",)),
    "ldacq": (4, ("acquire", "gpu")),
    "cpacg": (16, ("cg",)),
}
STORES = {"st.u32": 4, "st.u8": 1, "st.u16": 2, "st.v2": 8, "st.v4": 16, "stna": 4, "strls": 4}
ATOMICS = {"red": (), "atom": (), "atomacq": ("acquire", "gpu"), "atomrls": ("release", "gpu")}
FENCES = {
    "membar": ("membar", ("gl",)),
    "fencesccta": ("fence", ("sc", "cta")),
    "fencecluster": ("fence", ("acq_rel", "cluster")),
}


def replay(launch: dict) -> int:
    l1, hits = L1(1, 64 * 1024), 0
    warps = launch["warps"]
    where = np.zeros(warps, dtype=np.int64)
    lane = np.tile(LANES, (warps, 1))
    for step in launch["steps"]:
        operation, _, chosen = step.partition("@")
        operation, _, offset = operation.partition("+")
        warp = np.arange(warps)[:, None]
        active = {"": lane >= 0, "s": lane % 8 == 0, "one": lane == 3, "w0": lane + warp * 32 < 32, "w1": lane + warp * 32 >= 32}[chosen]
        addresses = lane * launch["stride"] + int(offset or 0)
        if operation in LOADS:
            width, modifiers = LOADS[operation]
            hits += int(l1.load(where, addresses, active, width, load_policy(modifiers)).sum())
            if empties_l1("ld", modifiers):
                l1.empty(0)
        elif operation in STORES:
            policy = store_policy(["L1::no_allocate"] if operation == "stna" else [])
            l1.store(where, addresses, active, STORES[operation], policy)
        elif operation in ATOMICS:
            l1.atomic(where, addresses, active, 4)
            if empties_l1("atom", ATOMICS[operation]):
                l1.empty(0)
        elif empties_l1(*FENCES[operation]):
            l1.empty(0)
    return hits


@pytest.mark.parametrize("launch", STEPS, ids=lambda launch: f"{' '.join(launch['steps'])}/{launch['stride']}")
def test_steps_find_what_the_h200_found(launch: dict) -> None:
    assert replay(launch) == launch["hits"]


def test_least_recently_used_goes_first() -> None:
    cache = Cache(3 * 128)
    for line in (1, 2, 3, 1, 4):
        cache.put(line, 0xFF)
    assert [line for line in range(6) if cache.words(line)] == [1, 3, 4]
    cache.drop(3)
    assert cache.words(3) == 0
    cache.clear()
    assert not any(cache.words(line) for line in range(6))


def test_sets_are_chosen_by_line_number() -> None:
    cache = Cache(4 * 128, ways=2)
    for line in (0, 2, 4):
        cache.put(line, 1)
    cache.put(1, 1)
    assert [line for line in range(6) if cache.words(line)] == [1, 2, 4]


def test_a_cache_of_no_size_holds_nothing() -> None:
    cache = Cache(0)
    cache.put(1, 1)
    cache.drop(1)
    assert cache.words(1) == 0


def test_words_and_sectors() -> None:
    warp, line, words = line_words(np.array([[0, 4, 128] + [0] * 29]), np.array([[True] * 3 + [False] * 29]), 4)
    assert (warp.tolist(), line.tolist(), words.tolist()) == ([0, 0], [0, 1], [3, 1])
    assert whole_sectors(0x101) == 0xFFFF
    assert sectors_within(0x301, 0x2FF) == 1


def test_multiprocessors_share_nothing_but_l2() -> None:
    l1, l2 = L1(2, 1024), L2(4096)
    addresses, active = np.zeros((2, 32), dtype=np.int64), np.ones((2, 32), dtype=bool)
    assert l1.load(np.array([0, 1]), addresses, active, 4).tolist() == [0, 0]
    assert l1.load(np.array([0, 0]), addresses, active, 4).tolist() == [1, 1]
    l1.empty(0)
    assert l1.load(np.array([0, 1]), addresses, active, 4).tolist() == [0, 1]
    l1.empty()
    assert l1.load(np.array([1, 1]), addresses, active, 4).tolist() == [0, 1]
    assert l2.touch(addresses, active, 4).tolist() == [0, 1]
    assert l2.touch(addresses + 64, active, 4, write=True).tolist() == [0, 1]


def test_a_whole_cache_is_read_again_for_nothing_when_one_line_too_small() -> None:
    lanes = np.arange(9)[:, None] * 128 + np.zeros(32, dtype=np.int64)
    active = np.ones((9, 32), dtype=bool)
    for lines, found in ((8, 8), (9, 0)):
        l1 = L1(1, 8 * 128)
        where = np.zeros(lines, dtype=np.int64)
        l1.load(where, lanes[:lines], active[:lines], 4)
        assert l1.load(where, lanes[:lines], active[:lines], 4).sum() == found
