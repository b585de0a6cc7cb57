"""Shapes, parameters and attributes of launches, and how many fit."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np

from .notes import NONE, POINTER, U32, Notes, scenario


@scenario
def launch_shapes(t: Notes) -> None:
    t.start()
    m = t.module()
    one = ((0,), (POINTER,))

    def get(name: str) -> Any:
        return t.cu.cuModuleGetFunction(m, name.encode())[1]

    for name, params in (("bounded", one), ("fixed", NONE), ("least", NONE), ("barred", NONE), ("clustered", NONE), ("ranked", NONE)):
        f = get(name)
        for grid, block, shared in ((1, 1, 0), (1, 32, 0), (1, 128, 0), (1, 129, 0), (1, 256, 0), (1, 257, 0), (1, 1024, 0), (1, 1025, 0), (0, 32, 0), (1, 0, 0), ((1, 65535), 1, 0), ((1, 65536), 1, 0), ((1, 1, 65536), 1, 0),
                                    (2, (1, 1, 64), 0), (2, (1, 1, 65), 0), (2, (32, 2), 0), (2, (2, 32), 0), (2, (16, 4), 0), (2, 32, 48 << 10), (2, 32, (48 << 10) + 1), (2, 32, 240_000), (3, 32, 0), (4, 32, 0), (2**31 - 1, 0, 0), (2**31, 1, 0)):  # fmt: skip
            t.launch(f, grid, block, params, shared, step=f"{name} {grid} {block} {shared}")
    t("cuCtxSynchronize")


@scenario
def launch_parameters(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    add, fixed = (cu.cuModuleGetFunction(m, n)[1] for n in (b"add", b"fixed"))
    at = [t.memory(400) for _ in range(3)]
    keep = [ctypes.c_uint64(x) for x in at] + [ctypes.c_uint32(100)]
    table = (ctypes.c_void_p * 4)(*[ctypes.addressof(k) for k in keep])
    t.launch(add, 1, 32, ctypes.addressof(table), step="table")
    t.launch(fixed, 1, (32, 2), 0, step="no table needed")
    t.launch(fixed, 1, (32, 2), ctypes.addressof(table), step="table not needed")
    raw = ctypes.create_string_buffer(struct.pack("<QQQI", *at, 100), 64)

    def extra(size: int | None, step: str, words: tuple[int, ...] = ()) -> None:
        n = ctypes.c_size_t(size or 0)
        w = words or (1, ctypes.addressof(raw), 2, ctypes.addressof(n), 0)
        x = (ctypes.c_void_p * 6)(*w)
        t("cuLaunchKernel", add, 1, 1, 1, 32, 1, 1, 0, 0, 0, ctypes.addressof(x), step=step)

    extra(28, "extra")
    extra(32, "extra, padded")
    extra(64, "extra, too long")
    extra(24, "extra, too short")
    extra(27, "extra, one short")
    n = ctypes.c_size_t(28)
    extra(0, "extra, size first", (2, ctypes.addressof(n), 1, ctypes.addressof(raw), 0))
    extra(0, "extra, no size", (1, ctypes.addressof(raw), 0))
    extra(0, "extra, nothing", (0,))
    extra(0, "extra, unknown", (9, ctypes.addressof(raw), 0))
    x = (ctypes.c_void_p * 5)(1, ctypes.addressof(raw), 2, ctypes.addressof(n), 0)
    t("cuLaunchKernel", add, 1, 1, 1, 32, 1, 1, 0, 0, ctypes.addressof(table), ctypes.addressof(x), step="both")
    t.launch(add, 1, 32, ((*map(cu.CUdeviceptr, at), 100), (None, None, None, U32)), step="handles")
    t.launch(add, 1, 32, np.array([ctypes.addressof(k) for k in keep], np.uint64), step="array of addresses")
    t("cuCtxSynchronize")


@scenario
def launch_attributes(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()

    def get(name: str) -> Any:
        return cu.cuModuleGetFunction(m, name.encode())[1]

    one = ((0,), (POINTER,))
    f = get("bounded")
    for size, grid in (
        ((1, 1, 1), 8),
        ((2, 1, 1), 8),
        ((8, 1, 1), 8),
        ((16, 1, 1), 16),
        ((3, 1, 1), 8),
        ((0, 1, 1), 8),
        ((2, 2, 1), (4, 4)),
        ((2, 2, 2), (4, 4)),
        ((32, 1, 1), 32),
    ):
        t("cuLaunchKernelEx", t.config(grid, 32, cluster_dimension=size), f, one, 0, step=f"cluster {size} of {grid}")
    which = cu.CUfunction_attribute
    t("cuFuncSetAttribute", f, which.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
    for n in (9, 16, 17):
        t("cuLaunchKernelEx", t.config(2 * n, 32, cluster_dimension=(n, 1, 1)), f, one, 0, step=f"large cluster {n}")
    for size in ((2, 1, 1), (4, 1, 1), (1, 2, 1)):
        t("cuLaunchKernelEx", t.config((4, 4), 32, cluster_dimension=size), get("clustered"), NONE, 0, step=f"required, {size}")
    for size in ((2, 1, 1), (4, 1, 1), (8, 1, 1)):
        t("cuLaunchKernelEx", t.config(8, 32, cluster_dimension=size), get("ranked"), NONE, 0, step=f"at most 4, {size}")
    t("cuLaunchKernelEx", t.config(4, 32), get("clustered"), NONE, 0, step="required, none given")
    t("cuLaunchKernelEx", t.config(3, 32), get("clustered"), NONE, 0, step="required, grid of 3")
    t("cuLaunchKernelEx", t.config(4, 32, cooperative=1), f, one, 0, step="cooperative")
    t("cuLaunchKernelEx", t.config(132 * 32 + 1, 32, cooperative=1), f, one, 0, step="cooperative, too large")
    t("cuLaunchKernelEx", t.config(132 * 32, 32, cooperative=1), f, one, 0, step="cooperative, as large as can be")
    t("cuLaunchKernelEx", t.config(8, 32, cooperative=1, cluster_dimension=(2, 1, 1)), f, one, 0, step="cooperative clusters")
    for p in (0, -5, -6, 1):
        t("cuLaunchKernelEx", t.config(8, 32, priority=p), f, one, 0, step=f"priority {p}")
    t("cuLaunchCooperativeKernel", f, 4, 1, 1, 32, 1, 1, 0, 0, one)
    t("cuLaunchCooperativeKernel", f, 132 * 32 + 1, 1, 1, 32, 1, 1, 0, 0, one, step="too large")
    t("cuLaunchKernelEx", None, f, one, 0, step="no configuration")
    t("cuCtxSynchronize")
    f = get("add")
    t("cuFuncSetAttribute", f, which.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4)
    for a in ("WIDTH", "HEIGHT", "DEPTH"):
        t("cuFuncGetAttribute", getattr(which, f"CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_{a}"), f)
    t.launch(f, 8, 32, ((0, 0, 0, 0), (POINTER, POINTER, POINTER, U32)), step="cluster from the attribute")
    t.launch(f, 6, 32, ((0, 0, 0, 0), (POINTER, POINTER, POINTER, U32)), step="cluster that does not fit")
    t("cuCtxSynchronize")


@scenario
def occupancy(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    which = cu.CUfunction_attribute
    for name in ("add", "bounded", "shared_size", "fixed", "local", "barred", "least"):
        f = cu.cuModuleGetFunction(m, name.encode())[1]
        for block in (0, 1, 32, 65, 128, 256, 512, 1024, 1025):
            for shared in (0, 1000, 48 << 10, 100_000):
                t("cuOccupancyMaxActiveBlocksPerMultiprocessor", f, block, shared, step=f"{name} {block} {shared}")
        for limit in (0, 32, 100, 128, 2000):
            t("cuOccupancyMaxPotentialBlockSize", f, 0, 0, limit, step=f"{name} potential {limit}")
        for blocks, block in ((1, 32), (2, 64), (4, 128), (8, 256), (32, 32), (33, 32), (0, 32), (1, 0)):
            t("cuOccupancyAvailableDynamicSMemPerBlock", f, blocks, block, step=f"{name} available {blocks} {block}")
        t("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", f, 128, 0, 1, step=f"{name} flags 1")
        t("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", f, 128, 0, 2, step=f"{name} flags 2")
    for name in ("bounded", "shared_size", "clustered", "ranked"):
        f = cu.cuModuleGetFunction(m, name.encode())[1]
        for round in range(2):
            if round:
                cu.cuFuncSetAttribute(f, which.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
                cu.cuFuncSetAttribute(f, which.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200_000)
            for block in (32, 128, 1024):
                for shared in (0, 40_000, 200_000):
                    t(
                        "cuOccupancyMaxPotentialClusterSize",
                        f,
                        t.config(512, block, shared),
                        step=f"{name} {round} potential cluster {block} {shared}",
                    )
                    for n in (1, 2, 3, 4, 8, 16):
                        c = t.config(48 * n, block, shared, cluster_dimension=(n, 1, 1))
                        t("cuOccupancyMaxActiveClusters", f, c, step=f"{name} {round} clusters of {n} {block} {shared}")
