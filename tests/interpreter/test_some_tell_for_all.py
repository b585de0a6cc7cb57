"""Caches of L1 in which lines have to go or begin anew: where they are many and alike, a few of them tell what all miss; else each is followed."""

from dataclasses import replace

import pytest

from tests.bench.irregular import Irregular, irregular
from tests.interpreter.test_profiles_of_irregular_kernels import observed
from warplab.interpreter.observers import fresh_l1
from warplab.interpreter.observers.profile import KernelProfile

KERNELS = {x.name: x for x in irregular()}
BLOCKS = 66
HALF = "and.b32 %r14, %r2, 1; setp.eq.u32 %p3, %r14, 1; @%p3 shr.u32 %r5, %r5, {by};\nL: "  # odd blocks use a smaller table


def both(work: Irregular, monkeypatch: pytest.MonkeyPatch) -> tuple[KernelProfile, KernelProfile, bool]:
    """Its profile, the same with all caches followed, and whether some told for others."""
    told: list[bool] = []
    by_some = fresh_l1._by_some

    def noted(*given: object, **named: object) -> object:
        found = by_some(*given, **named)  # type: ignore[arg-type]
        told.append(found is not None)
        return found

    monkeypatch.setattr(fresh_l1, "_by_some", noted)
    usual = observed(work)
    monkeypatch.setattr(fresh_l1, "_by_some", lambda *given, **named: None)
    return usual, observed(work), any(told)


@pytest.mark.parametrize(
    "name",
    [
        *("gather in L2", "gather of 16 bytes", "in place", "gathers beside accesses in order", "linked list"),
        *("a field stored, another loaded in L1", "a field stored, another loaded in L2"),
    ],
)
def test_they_are_right_within_a_percent(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work = replace(KERNELS[name], blocks=BLOCKS)
    some, every, told = both(work, monkeypatch)
    assert told
    assert (some.dram_read, some.dram_written) == (every.dram_read, every.dram_written)
    for one, other in zip(some.sites, every.sites, strict=True):
        for a, b in zip(one.accesses, other.accesses, strict=True):
            assert (a.units, a.requests, a.kind) == (b.units, b.requests, b.kind)
            assert abs(a.hits - b.hits) <= 0.01 * b.units


@pytest.mark.parametrize(("by", "why"), [(3, "half of them hit more often"), (7, "half of them have room")])
def test_where_they_differ_each_is_followed(by: int, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work = KERNELS["gather in L2"]
    work = replace(work, blocks=BLOCKS, text=work.text.replace("L: ", HALF.format(by=by), 1))
    some, every, told = both(work, monkeypatch)
    assert not told
    for one, other in zip(some.sites, every.sites, strict=True):
        assert [replace(a, sample=None) for a in one.accesses] == [replace(a, sample=None) for a in other.accesses]


def test_few_are_all_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not both(replace(KERNELS["gather in L2"], blocks=20, threads=512), monkeypatch)[2]
