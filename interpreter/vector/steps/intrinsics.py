"""What the device runtime provides to kernels: vprintf, malloc, free, __assertfail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...faults import Fault
from ...values import Array
from ..group import Group

U64 = np.uint64


def vprintf(g: Group, form: Array, arguments: Array) -> list[Array]:
    """Queues one line of output a lane, in lane order; gives the number of arguments, or -1 where the text is too long."""
    shape = g.geometry.shape
    forms, where = (np.broadcast_to(x, shape).ravel() for x in (form, arguments))
    sink = g.wave.launch.printer
    counts = np.array(
        [sink.print(g, i, int(f), int(a)) for i, (f, a) in enumerate(zip(forms.tolist(), where.tolist(), strict=True))], np.int32
    )
    return [counts.reshape(shape).view(np.uint32)]


def malloc(g: Group, size: Array) -> list[Array]:
    """Memory from the device heap, which lives until free; 0 where the heap is full."""
    shape = g.geometry.shape
    heap = g.wave.launch.heap
    found = np.array([heap.allocate(int(n)) for n in np.broadcast_to(size, shape).ravel().tolist()], U64).reshape(shape)
    for o in g.wave.observers:
        o.allocated(g.wave.current, g, found, size)
    return [found]


def free(g: Group, pointer: Array) -> list[Array]:
    """Gives device heap memory back; null is ignored."""
    for p in np.broadcast_to(pointer, g.geometry.shape).ravel().tolist():
        if p and not g.wave.launch.heap.free(int(p)):
            found = g.wave.launch.arena.find(int(p))
            again = found is not None and found.freed and found.start == p
            kind, why = ("double-free", "was freed before") if again else ("invalid-free", "malloc did not give")
            raise g.blame(Fault(kind, f"free of {p:#x}, which {why}", "global", int(p)), None)
    return []


def assertfail(g: Group, message: Array, file: Array, line: Array, function: Array, size: Array) -> list[Array]:
    """Ends the launch with CUDA's message, one line for each thread that failed."""
    launch, shape = g.wave.launch, g.geometry.shape
    given = zip(*(np.broadcast_to(x, shape).ravel().tolist() for x in (message, file, line, function)), strict=True)
    for lane, (text, name, number, where) in zip(np.broadcast_to(g.geometry.lane, shape).ravel().tolist(), given, strict=True):
        who = Fault("assert", "")
        launch.name_fault(g.wave.first, g.wave.count, who, int(lane))
        block, thread = (",".join(map(str, x or (0, 0, 0))) for x in (who.block, who.thread))
        place = f"{launch.text_at(name)}:{number}: {launch.text_at(where)}"
        launch.assertions.append(f"{place}: block: [{block}], thread: [{thread}] Assertion `{launch.text_at(text)}` failed.")
    raise g.blame(Fault("assert", launch.assertions[0]), None)


INTRINSICS: dict[str, Callable[..., list[Array]]] = {
    "vprintf": vprintf,
    "malloc": malloc,
    "free": free,
    "__assertfail": assertfail,
}
