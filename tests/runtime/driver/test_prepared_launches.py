"""Launches in the old way: a kernel keeps its block and its parameters; and contexts that several attach to."""

import struct

import numpy as np

from ..conftest import Host
from ..conftest import driver as cu


def test_a_kernel_keeps_what_was_said(host: Host) -> None:
    a, b = np.arange(100, dtype=np.uint32), np.full(100, 7, np.uint32)
    x, y, z = host.upload(a), host.upload(b), host.upload(np.zeros_like(a))
    f = host.function("add")
    assert host.code("cuFuncSetBlockShape", f, 64, 1, 1) == "SUCCESS"
    packed = np.frombuffer(struct.pack("<QQ", int(x), int(y)), np.uint8).copy()
    assert host.code("cuParamSetv", f, 0, packed.ctypes.data, 16) == "SUCCESS"
    for at, half in enumerate(struct.unpack("<II", struct.pack("<Q", int(z)))):
        assert host.code("cuParamSeti", f, 16 + 4 * at, half) == "SUCCESS"
    assert host.code("cuParamSeti", f, 24, 100) == "SUCCESS"
    assert host.code("cuLaunchGrid", f, 2, 1) == "INVALID_VALUE"  # no size was set
    assert host.code("cuParamSetSize", f, 28) == "SUCCESS"
    assert host.code("cuLaunchGrid", f, 2, 1) == "SUCCESS"
    assert np.array_equal(host.download(z, np.zeros_like(a)), a + 7)
    host.code("cuParamSeti", f, 24, 10)
    host.code("cuParamSetv", f, 8, np.array([int(x)], np.uint64).ctypes.data, 8)
    assert host.code("cuLaunchGridAsync", f, 1, 1, 0) == "SUCCESS"
    assert np.array_equal(host.download(z, np.zeros_like(a)), np.where(a < 10, 2 * a, a + 7))


def test_what_does_not_fit(host: Host) -> None:
    f = host.function("add")
    for call in (
        ("cuFuncSetBlockShape", f, 0, 1, 1), ("cuParamSetSize", f, 5000), ("cuParamSeti", f, 4094, 1), ("cuParamSeti", f, -4, 1),
        ("cuParamSetf", f, 4093, 1.0), ("cuParamSetv", f, 0, 0, 8),
    ):  # fmt: skip
        assert host.code(*call) == "INVALID_VALUE", call


def test_the_last_who_detaches_ends_a_context(host: Host) -> None:
    made = host("cuCtxCreate", None, 0, 0)
    assert int(host("cuCtxAttach", 0)) == int(made)
    assert host.code("cuCtxDetach", made) == "SUCCESS" and int(host("cuCtxGetCurrent")) == int(made)
    assert host.code("cuCtxDetach", made) == "SUCCESS" and int(host("cuCtxGetCurrent")) != int(made)
    assert host.code("cuCtxDetach", cu.CUcontext(12345)) == "INVALID_CONTEXT"


def test_a_primary_context_has_the_users_that_attached_to_it(host: Host) -> None:
    primary = host("cuDevicePrimaryCtxRetain", 0)
    host("cuCtxPushCurrent", primary)
    host("cuCtxAttach", 0)
    codes = [host.code("cuCtxDetach", primary) for _ in range(3)]
    assert codes == ["SUCCESS", "INVALID_CONTEXT", "INVALID_CONTEXT"], "a primary context is released, not destroyed"
    host("cuCtxAttach", 0)
    assert host.code("cuCtxDetach", primary) == "SUCCESS", "what was refused has not counted"
    host("cuCtxPopCurrent")
    host("cuDevicePrimaryCtxRelease", 0)
