"""Graphs that kernels launch."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from ..conftest import Host, model_only
from ..ptx import HEAD

pytestmark = model_only
POINTER, HANDLE, WORD = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int
BEHIND, AT_ONCE = 1 << 56, 2 << 56
DEVICE_LAUNCH = 4
# appends a digit to the number that stands at p; launches a graph, if there is one and the number has fewer than three digits
TEXT = f"""{HEAD}
.extern .func (.param .b32 out) cudaGraphLaunch(.param .b64 graph, .param .b64 stream);
.visible .entry append(.param .u64 p, .param .u32 digit, .param .u64 graph, .param .u64 stream) {{
    .reg .b32 %r<4>; .reg .b64 %rd<5>; .reg .pred %p<3>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [digit];
    ld.param.u64 %rd2, [graph];
    ld.param.u64 %rd3, [stream];
    ld.global.u32 %r2, [%rd1];
    mad.lo.u32 %r2, %r2, 10, %r1;
    st.global.u32 [%rd1], %r2;
    setp.eq.u64 %p1, %rd2, 0;
    @%p1 ret;
    setp.ne.u64 %p1, %rd2, 1;
    @%p1 bra given;
    mov.u64 %rd2, %current_graph_exec;
given:
    setp.ge.u32 %p2, %r2, 100;
    @%p2 ret;
    {{ .param .b32 code; .param .b64 g; .param .b64 s;
      st.param.b64 [g], %rd2; st.param.b64 [s], %rd3;
      call (code), cudaGraphLaunch, (g, s); }}
    ret;
}}"""
TYPES = (POINTER, WORD, HANDLE, HANDLE)


def captured(host: Host, f: object, *launches: tuple[object, ...], flags: int = 0) -> int:
    """What can be launched: some kernels, one behind the other."""
    stream = host("cuStreamCreate", 1)
    host("cuStreamBeginCapture", stream, 0)
    for values in launches:
        host("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, stream, (values, TYPES), 0)
    return int(host("cuGraphInstantiate", host("cuStreamEndCapture", stream), flags))


def number(host: Host, at: int) -> int:
    """What was written."""
    host("cuCtxSynchronize")
    return int(host.download(at, np.zeros(1, np.uint32))[0])


@pytest.mark.parametrize(("stream", "written"), [(AT_ONCE, 172), (BEHIND, 127)])
def test_a_graph_runs_at_once_or_behind_the_one_that_launches_it(host: Host, stream: int, written: int) -> None:
    f, at = host.function("append", TEXT), host.upload(np.zeros(1, np.uint32))
    inner = captured(host, f, (at, 7, 0, 0), flags=DEVICE_LAUNCH)
    outer = captured(host, f, (at, 1, inner, stream), (at, 2, 0, 0))
    host("cuGraphLaunch", outer, 0)
    assert number(host, at) == written


def test_a_graph_launches_itself_again(host: Host) -> None:
    f, at = host.function("append", TEXT), host.upload(np.zeros(1, np.uint32))
    host("cuGraphLaunch", captured(host, f, (at, 4, 1, BEHIND), flags=DEVICE_LAUNCH), 0)
    assert number(host, at) == 444


def test_a_graph_that_kernels_may_not_launch(host: Host) -> None:
    f, at = host.function("append", TEXT), host.upload(np.zeros(1, np.uint32))
    inner = captured(host, f, (at, 7, 0, 0))
    host("cuGraphLaunch", captured(host, f, (at, 1, inner, BEHIND)), 0)
    assert host.code("cuCtxSynchronize") == "INVALID_VALUE"


def test_a_graph_that_was_destroyed_is_not_launched(host: Host) -> None:
    f, at = host.function("append", TEXT), host.upload(np.zeros(1, np.uint32))
    inner = captured(host, f, (at, 7, 0, 0), flags=DEVICE_LAUNCH)
    host("cuGraphExecDestroy", inner)
    host("cuGraphLaunch", captured(host, f, (at, 1, inner, BEHIND)), 0)
    assert host.code("cuCtxSynchronize") == "INVALID_VALUE"
