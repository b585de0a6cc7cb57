"""Launches that may overlap the one before them, and the events that such launches record."""

from __future__ import annotations

import ctypes

import numpy as np

from warplab.runtime import driver as cu

from ..conftest import Host
from ..ptx import HEAD

POINTER = ctypes.c_void_p
Attribute = cu.CUlaunchAttributeID
# adds 1 behind what came before; tells the kernel behind it that it may begin
TEXT = f"""{HEAD}.visible .entry k(.param .u64 p) {{
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    griddepcontrol.launch_dependents;
    ld.param.u64 %rd1, [p];
    griddepcontrol.wait;
    ld.global.u32 %r1, [%rd1];
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}}"""
# spins until the word is 1
SPINS = f"""{HEAD}.visible .entry k(.param .u64 p) {{
    .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %p;
    ld.param.u64 %rd1, [p];
again:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.ne.u32 %p, %r1, 1;
    @%p bra again;
    ret;
}}"""


def config(stream: object, *attributes: object) -> object:
    """One thread in a stream."""
    out = cu.CUlaunchConfig()
    out.gridDimX, out.gridDimY, out.gridDimZ, out.blockDimX, out.blockDimY, out.blockDimZ = 1, 1, 1, 1, 1, 1
    out.hStream, out.attrs, out.numAttrs = stream, list(attributes), len(attributes)
    return out


def serialization() -> object:
    """The launch may begin when the one before it says so."""
    out = cu.CUlaunchAttribute()
    out.id = Attribute.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    out.value.programmaticStreamSerializationAllowed = 1
    return out


def recording(event: object, begun: bool = False) -> object:
    """The launch records an event, when its blocks have begun or have triggered it."""
    out = cu.CUlaunchAttribute()
    if begun:
        out.id = Attribute.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
        v = out.value.launchCompletionEvent
        v.event = event
        out.value.launchCompletionEvent = v
    else:
        out.id = Attribute.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
        p = out.value.programmaticEvent
        p.event, p.triggerAtBlockStart = event, 1
        out.value.programmaticEvent = p
    return out


def test_a_chain_of_launches_that_may_overlap(host: Host) -> None:
    f, at, stream = host.function("k", TEXT), host.upload(np.zeros(1, np.uint32)), host("cuStreamCreate", 1)
    for _ in range(3):
        host("cuLaunchKernelEx", config(stream, serialization()), f, ((at,), (POINTER,)), 0)
    host("cuStreamSynchronize", stream)
    assert host.download(at, np.zeros(1, np.uint32)).tolist() == [3]


def test_events_that_launches_record(host: Host) -> None:
    """One is reached when the blocks have begun, so it is not held up by a kernel that spins; the other is, at the latest, at its end."""
    spins, f = host.function("k", SPINS), host.function("k", TEXT)
    at, (one, two) = host.upload(np.zeros(1, np.uint32)), (host("cuStreamCreate", 1) for _ in range(2))
    begun, triggered = (host("cuEventCreate", 2) for _ in range(2))
    host("cuLaunchKernelEx", config(one, recording(begun, True), recording(triggered)), spins, ((at,), (POINTER,)), 0)
    assert host.code("cuEventQuery", begun) == "SUCCESS"
    host("cuStreamWaitEvent", two, begun, 0)
    assert host.code("cuEventQuery", triggered) == "NOT_READY"
    host("cuLaunchKernelEx", config(two), f, ((at,), (POINTER,)), 0)
    host("cuEventSynchronize", triggered)
    assert host.code("cuEventQuery", triggered) == "SUCCESS"


def test_an_event_with_timing_cannot_be_recorded_by_a_launch(host: Host) -> None:
    f, at = host.function("k", TEXT), host.upload(np.zeros(1, np.uint32))
    event = host("cuEventCreate", 0)
    assert host.code("cuLaunchKernelEx", config(0, recording(event)), f, ((at,), (POINTER,)), 0) == "INVALID_VALUE"
    assert host.download(at, np.zeros(1, np.uint32)).tolist() == [0]


def test_a_capture_keeps_the_event_of_a_launch(host: Host) -> None:
    f, at = host.function("k", TEXT), host.upload(np.zeros(1, np.uint32))
    one, two, event = host("cuStreamCreate", 1), host("cuStreamCreate", 1), host("cuEventCreate", 2)
    host("cuStreamBeginCapture", one, 0)
    host("cuLaunchKernelEx", config(one, recording(event)), f, ((at,), (POINTER,)), 0)
    host("cuStreamWaitEvent", two, event, 0)
    host("cuLaunchKernelEx", config(two, serialization()), f, ((at,), (POINTER,)), 0)
    joined = host("cuEventCreate", 2)
    host("cuEventRecord", joined, two)
    host("cuStreamWaitEvent", one, joined, 0)
    graph = host("cuStreamEndCapture", one)
    host("cuGraphLaunch", host("cuGraphInstantiate", graph, 0), one)
    host("cuStreamSynchronize", one)
    assert host.download(at, np.zeros(1, np.uint32)).tolist() == [2]
