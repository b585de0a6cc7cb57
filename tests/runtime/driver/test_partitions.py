"""Multiprocessors as a resource, and how an H100 splits them into groups."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from warplab.runtime import cudart as rt
from warplab.runtime import driver as cu

from ..conftest import Host
from ..ptx import HEAD

POINTER = ctypes.c_void_p
KERNEL = f"""{HEAD}.visible .entry smid(.param .u64 p) {{
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r2, %smid;
    st.global.u32 [%rd1], %r2;
    ret;
}}"""
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


def split(host: Host, whole: object, *groups: tuple[int, int, int]) -> tuple[list[int], int]:
    """The sizes of groups and of what remains; each group: multiprocessors, how many together, flags."""
    wanted = []
    for count, together, flags in groups:
        g = cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS()
        g.smCount, g.coscheduledSmCount, g.flags = count, together, flags
        wanted.append(g)
    made, rest = host("cuDevSmResourceSplit", len(wanted), whole, 0, wanted)
    assert [g.smCount for g in wanted] == [m.sm.smCount for m in made]
    return [m.sm.smCount for m in made], rest.sm.smCount


def test_groups_as_they_are_asked_for(host: Host) -> None:
    whole = host("cuDeviceGetDevResource", 0, SM)
    assert split(host, whole, (16, 8, 0), (4, 2, 0)) == ([16, 4], 112)
    assert split(host, whole, (0, 0, 0)) == ([120], 12), "as many groups of eight as lie within the parts of the device"
    assert split(host, whole, (0, 2, 0)) == ([132], 0)
    assert split(host, whole, (20, 8, 1), (0, 2, 1)) == ([20, 112], 0), "filled up from any place"
    for group in ((12, 8, 0), (136, 8, 0), (128, 8, 0), (64, 64, 0), (3, 0, 1)):
        with pytest.raises(AssertionError, match="INVALID_RESOURCE_CONFIGURATION"):
            split(host, whole, group)


def green(host: Host, count: int) -> tuple[Any, Any]:
    """A green context of so many multiprocessors, and a stream of it."""
    whole = host("cuDeviceGetDevResource", 0, SM)
    (group,), _, _ = host("cuDevSmResourceSplitByCount", 1, whole, 0, count)
    made = host("cuGreenCtxCreate", host("cuDevResourceGenerateDesc", [group], 1), 0, 1)
    return made, host("cuGreenCtxStreamCreate", made, 1, 0)


def test_a_green_context_has_what_it_was_made_of(host: Host) -> None:
    made, stream = green(host, 24)
    context = host("cuCtxFromGreenCtx", made)
    found = host("cuGreenCtxGetDevResource", made, SM), host("cuCtxGetDevResource", context, SM), host("cuStreamGetDevResource", stream, SM)
    assert [r.sm.smCount for r in found] == [24, 24, 24]
    assert int(host("cuStreamGetGreenCtx", stream)) == int(made) and int(host("cuStreamGetGreenCtx", 0)) == 0
    assert int(host("cuStreamGetCtx_v2", stream)[1]) == int(made)
    other, _ = green(host, 8)
    assert host("cuGreenCtxGetId", made) != host("cuGreenCtxGetId", other)
    host("cuCtxPushCurrent", context)
    assert int(host("cuCtxGetCurrent")) == int(context)
    assert host("cuStreamGetDevResource", host("cuStreamCreate", 1), SM).sm.smCount == 24, "streams that are made while it is current"
    assert host("cuStreamGetDevResource", 0, SM).sm.smCount == 24
    host("cuCtxPopCurrent")
    assert host("cuStreamGetDevResource", 0, SM).sm.smCount == 132
    host("cuGreenCtxDestroy", made)
    assert host.code("cuStreamSynchronize", stream) == "CONTEXT_IS_DESTROYED"
    assert host.code("cuGreenCtxGetId", made) == "INVALID_CONTEXT"


def test_kernels_of_a_green_context_share_memory_and_code_but_not_multiprocessors(host: Host) -> None:
    f, at = host.function("smid", KERNEL), host.upload(np.zeros(256, np.uint32))
    _, stream = green(host, 8)
    assert host.code("cuLaunchKernel", f, 256, 1, 1, 1, 1, 1, 0, stream, ((at,), (POINTER,)), 0) == "SUCCESS"
    host("cuStreamSynchronize", stream)
    assert sorted(set(host.download(at, np.zeros(256, np.uint32)).tolist())) == list(range(8))
    most = host("cuOccupancyMaxActiveBlocksPerMultiprocessor", f, 1024, 0)
    cooperative = (1, 1, 1024, 1, 1, 0, stream, ((at,), (POINTER,)))
    assert host.code("cuLaunchCooperativeKernel", f, 8 * most, *cooperative) == "SUCCESS"
    assert host.code("cuLaunchCooperativeKernel", f, 8 * most + 1, *cooperative) == "COOPERATIVE_LAUNCH_TOO_LARGE"


def test_events_of_a_green_context(host: Host) -> None:
    made, stream = green(host, 8)
    event = host("cuEventCreate", 2)
    host("cuGreenCtxRecordEvent", made, event)
    host("cuGreenCtxWaitEvent", made, event)
    assert host.code("cuEventQuery", event) == "SUCCESS" and host.code("cuStreamQuery", stream) == "SUCCESS"


def test_what_no_green_context_is_made_of(host: Host) -> None:
    whole = host("cuDeviceGetDevResource", 0, SM)
    assert host.code("cuDevResourceGenerateDesc", [], 0) == "INVALID_VALUE"
    assert host.code("cuDevResourceGenerateDesc", [cu.CUdevResource()], 1) == "INVALID_RESOURCE_TYPE"
    described = host("cuDevResourceGenerateDesc", [whole], 1)
    assert host.code("cuGreenCtxCreate", described, 0, 0) == "INVALID_VALUE"
    assert host.code("cuGreenCtxCreate", 1234, 0, 1) == "INVALID_VALUE"
    assert host.code("cuGreenCtxStreamCreate", host("cuGreenCtxCreate", described, 0, 1), 0, 0) == "INVALID_VALUE"


def test_the_runtime_makes_green_contexts_too() -> None:
    _, whole = rt.cudaDeviceGetDevResource(0, 1)
    code, groups, _ = rt.cudaDevSmResourceSplit(1, whole, 0, [group := rt.cudaDevSmResourceGroupParams()])
    assert code == 0 and group.smCount == groups[0].sm.smCount == 120
    code, made = rt.cudaGreenCtxCreate(rt.cudaDevResourceGenerateDesc(groups, 1)[1], 0, 0)
    assert code == 0
    code, stream = rt.cudaExecutionCtxStreamCreate(made, 1, 0)
    assert code == 0 and rt.cudaStreamGetDevResource(stream, 1)[1].sm.smCount == 120
    assert rt.cudaExecutionCtxGetDevResource(made, 1)[1].sm.smCount == 120
    assert rt.cudaExecutionCtxDestroy(made)[0] == 0
