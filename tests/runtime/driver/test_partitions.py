"""Multiprocessors as a resource, and how an H100 splits them into groups."""

from __future__ import annotations

import pytest

from warplab.runtime import cudart as rt
from warplab.runtime import driver as cu

from ..conftest import Host

SM = cu.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
# As an H100 with 132 multiprocessors answered: flags, the least of a group -> the groups, multiprocessors of each, what remains.
RECORDED = {
    (0, 0): (15, 8, 12), (0, 8): (15, 8, 12), (0, 9): (8, 16, 4), (0, 17): (5, 24, 12), (0, 66): (1, 72, 60), (0, 100): (1, 104, 28),
    (0, 132): (1, 132, 0), (1, 2): (66, 2, 0), (1, 3): (33, 4, 0), (1, 9): (13, 10, 2), (1, 17): (7, 18, 6), (1, 66): (2, 66, 0),
    (2, 2): (15, 8, 12), (2, 20): (5, 24, 12), (4, 16): (8, 16, 4),
}  # fmt: skip


@pytest.mark.parametrize(("flags", "least"), RECORDED)
def test_groups_are_those_of_an_h100(host: Host, flags: int, least: int) -> None:
    whole = host("cuDeviceGetDevResource", 0, SM)
    assert (whole.sm.smCount, whole.sm.minSmPartitionSize, whole.sm.smCoscheduledAlignment) == (132, 8, 8)
    count, size, rest = RECORDED[flags, least]
    none, found, remains = host("cuDevSmResourceSplitByCount", 0, whole, flags, least)
    assert (none, found, remains.sm.smCount, int(remains.type)) == ([], count, rest, int(rest > 0))
    groups, found, remains = host("cuDevSmResourceSplitByCount", 2, whole, flags, least)
    assert [g.sm.smCount for g in groups] == [size] * min(2, count) and remains.sm.smCount == 132 - size * len(groups)


def test_what_cannot_be_split(host: Host) -> None:
    whole = host("cuStreamGetDevResource", 0, SM)
    assert host.code("cuDevSmResourceSplitByCount", 0, whole, 0, 133) == "INVALID_RESOURCE_CONFIGURATION"
    assert host.code("cuDevSmResourceSplitByCount", 0, whole, 3, 8) == "INVALID_VALUE"
    assert host.code("cuDeviceGetDevResource", 0, 2) == "INVALID_RESOURCE_TYPE"
    (group,), _, _ = host("cuDevSmResourceSplitByCount", 1, whole, 0, 8)
    assert host.code("cuDevSmResourceSplitByCount", 1, group, 0, 8) == "INVALID_VALUE", "a group is not split again"


def test_the_runtime_knows_them_too() -> None:
    _, context = rt.cudaDeviceGetExecutionCtx(0)
    _, whole = rt.cudaExecutionCtxGetDevResource(context, rt.cudaDevResourceType.cudaDevResourceTypeSm)
    assert whole.sm.smCount == rt.cudaDeviceGetDevResource(0, 1)[1].sm.smCount == 132
    assert rt.cudaDevSmResourceSplitByCount(0, whole, 0, 2)[2] == 15
