"""cuda.core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ptx import BOTH, CALLS_TWICE, HEAD, KERNELS, TWICE
from .notes import Notes, scenario


def _told(t: Notes, step: str, work: Callable[[], Any]) -> Any:
    try:
        found = work()
    except Exception as e:
        base = next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins" or c.__name__ in ("CUDAError", "ApiError"))
        t.note(step, "raises", {"ApiError": "CUDAError"}.get(base, base))
        return None
    t.note(step, found if isinstance(found, int | float | str | bytes | tuple | list | bool) or found is None else type(found).__name__)
    return found


@scenario
def core_objects(t: Notes) -> None:
    core = t.core
    d = core.Device(0)
    for name in ("name", "device_id", "compute_capability", "arch"):
        _told(t, name, lambda name=name: getattr(d, name))  # type: ignore[misc]
    _told(t, "context before set_current", lambda: d.context)
    _told(t, "stream before set_current", lambda: d.create_stream())
    _told(t, "set_current", lambda: d.set_current())
    _told(t, "no device", lambda: core.Device(99))
    _told(t, "negative device", lambda: core.Device(-1))
    for name in sorted(n for n in dir(d.properties) if not n.startswith("_") and not n.endswith("_id")):
        _told(t, f"property {name}", lambda name=name: getattr(d.properties, name))  # type: ignore[misc]
    for kw in ({"grid": 4, "block": 32}, {"grid": (4, 2), "block": (8, 4, 2)}, {"grid": 4}, {"block": 4}, {"grid": 0, "block": 1}, {"grid": (1, 2, 3, 4), "block": 1}, {"grid": 2, "block": 1, "cluster": 2},
               {"grid": 1, "block": 1, "shmem_size": 100}, {"grid": "x", "block": 1}, {"grid": 1, "block": 1, "is_cooperative": True}, {"grid": [4, 2], "block": 1}, {"grid": 1, "block": 1, "shmem_size": -1}):  # fmt: skip
        c = _told(t, f"config {kw}", lambda kw=kw: core.LaunchConfig(**kw))  # type: ignore[misc]
        if c is not None:
            t.note("is", list(c.grid), list(c.block), list(c.cluster) if c.cluster else None, c.shmem_size, c.is_cooperative)
    s = d.create_stream()
    for name in ("is_nonblocking", "priority"):
        _told(t, f"stream {name}", lambda name=name: getattr(s, name))  # type: ignore[misc]
    _told(t, "stream of bad priority", lambda: d.create_stream(options=core.StreamOptions(priority=9)))
    e = s.record()
    for name in ("is_done", "is_timing_enabled", "is_ipc_enabled"):
        _told(t, f"event {name}", lambda name=name: getattr(e, name))  # type: ignore[misc]
    s.sync()
    _told(t, "event is_done then", lambda: e.is_done)
    _told(t, "time between events without timing", lambda: e - e)
    _told(t, "event minus nothing", lambda: e - 1)
    b = d.allocate(1024, stream=s)
    for name in ("size", "is_device_accessible", "is_host_accessible", "device_id", "is_mapped"):
        _told(t, f"buffer {name}", lambda name=name: getattr(b, name))  # type: ignore[misc]
    _told(t, "fill", lambda: b.fill(7, stream=s))
    _told(t, "fill too large", lambda: b.fill(256, stream=s))
    _told(t, "fill bytes", lambda: b.fill(b"\1\2", stream=s))
    _told(t, "fill three bytes", lambda: b.fill(b"\1\2\3", stream=s))
    _told(t, "copy of another size", lambda: b.copy_from(d.allocate(512, stream=s), stream=s))
    _told(t, "copy without a stream", lambda: b.copy_from(d.allocate(1024, stream=s)))
    _told(t, "copy_to nothing", lambda: b.copy_to(stream=s))
    _told(t, "dlpack device", lambda: tuple(int(x) for x in b.__dlpack_device__()))
    _told(t, "allocate nothing", lambda: d.allocate(0, stream=s))
    _told(t, "allocate less", lambda: d.allocate(-1, stream=s))
    pinned = core.LegacyPinnedMemoryResource().allocate(64)
    for name in ("is_device_accessible", "is_host_accessible", "device_id"):
        _told(t, f"pinned {name}", lambda name=name: getattr(pinned, name))  # type: ignore[misc]
    _told(t, "numpy of pinned", lambda: len(np.from_dlpack(pinned)))
    _told(t, "buffer constructor", lambda: core.Buffer())
    _told(t, "stream constructor", lambda: core.Stream())
    _told(t, "close", lambda: b.close(s))
    _told(t, "close again", lambda: b.close(s))
    _told(t, "closed size", lambda: b.size)


@scenario
def core_kernels(t: Notes) -> None:
    core = t.core
    d = core.Device(0)
    d.set_current()
    s = d.create_stream()
    code = _told(t, "from_ptx", lambda: core.ObjectCode.from_ptx(BOTH.encode()))
    t.note("type", code.code_type)
    _told(t, "no kernel", lambda: code.get_kernel("nothing"))
    for name in ("add", "mixed", "fixed", "bounded"):
        k = _told(t, f"kernel {name}", lambda name=name: code.get_kernel(name))  # type: ignore[misc]
        _told(t, "arguments", lambda k=k: k.num_arguments)  # type: ignore[misc]
        _told(t, "infos", lambda k=k: [(int(i.offset), int(i.size)) for i in k.arguments_info])  # type: ignore[misc]
        _told(t, "attributes of it", lambda k=k: (k.attributes.max_threads_per_block, k.attributes.shared_size_bytes))  # type: ignore[misc]
        _told(t, "occupancy of it", lambda k=k: k.occupancy.max_active_blocks_per_multiprocessor(128, 0))  # type: ignore[misc]
        _told(t, "block of it", lambda k=k: tuple(int(x) for x in k.occupancy.max_potential_block_size(0, 0)))  # type: ignore[misc]
        _told(t, "room of it", lambda k=k: k.occupancy.available_dynamic_shared_memory_per_block(1, 32))  # type: ignore[misc]
    _told(t, "words", lambda: core.ObjectCode.from_ptx(b"hello").get_kernel("k"))
    _told(t, "program", lambda: core.Program(KERNELS, "ptx").compile("cubin"))
    _told(t, "program of nothing", lambda: core.Program(KERNELS, "nothing"))
    _told(t, "program to nothing", lambda: core.Program(KERNELS, "ptx").compile("nothing"))
    _told(t, "bad program", lambda: core.Program(HEAD + ".visible .entry k() { nonsense; }", "ptx").compile("cubin"))
    linked = _told(
        t,
        "link",
        lambda: core.Linker(core.ObjectCode.from_ptx(TWICE.encode()), core.ObjectCode.from_ptx(CALLS_TWICE.encode())).link("cubin"),
    )
    _told(t, "link, unresolved", lambda: core.Linker(core.ObjectCode.from_ptx(CALLS_TWICE.encode())).link("cubin"))
    at = d.allocate(64, stream=s)
    one = core.LaunchConfig(grid=1, block=1)
    _told(t, "launch linked", lambda: core.launch(s, one, linked.get_kernel("k"), at))
    k = code.get_kernel("poke")
    _told(t, "launch", lambda: core.launch(s, one, k, at, np.uint32(7)))
    _told(t, "launch with a Python int", lambda: core.launch(s, one, k, at, 7))
    _told(t, "launch with a string", lambda: core.launch(s, one, k, at, "x"))
    _told(t, "launch with None", lambda: core.launch(s, one, k, at, None))
    _told(t, "launch, block too large", lambda: core.launch(s, core.LaunchConfig(grid=1, block=2048), k, at, np.uint32(7)))
    _told(t, "sync", lambda: s.sync())
    out = core.LegacyPinnedMemoryResource().allocate(64)
    at.copy_to(out, stream=s)
    s.sync()
    t.note("result", int(np.from_dlpack(out).view(np.uint32)[0]))
    _told(t, "launch at null", lambda: core.launch(s, one, k, 16, np.uint32(7)))
    _told(t, "sync of a fault", lambda: s.sync())
