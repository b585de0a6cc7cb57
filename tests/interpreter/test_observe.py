"""Observers: what one that counts for itself receives."""

from collections import Counter

import numpy as np

from tests.interpreter.harness import Machine, kernel
from warplab.interpreter.observe import Access, ObservedLanes, Observer
from warplab.interpreter.plan.plan import Site
from warplab.interpreter.values import Array, plain


class Bytes(Observer):
    """A counter of one's own: bytes loaded and stored by line of the text, threads by opcode, and the highest address."""

    def __init__(self) -> None:
        self.moved: Counter[tuple[str, int]] = Counter()
        self.threads: Counter[str] = Counter()
        self.highest = 0

    def instruction(self, site: Site, group: ObservedLanes, mask: Array | None) -> None:
        self.threads[site.instruction.opcode] += lanes(group, mask)

    def access(self, access: Access) -> None:
        size = access.type.bytes * access.count
        self.moved[access.kind, access.site.instruction.span.line] += size * lanes(access.group, access.mask)
        if access.space == "global":
            address = np.broadcast_to(plain(access.address), access.group.geometry.shape)
            some = address if access.mask is None else address[np.broadcast_to(access.mask, address.shape)]
            self.highest = max(self.highest, int(some.max()))


def lanes(group: ObservedLanes, mask: Array | None) -> int:
    """Active lanes."""
    return group.geometry.n if mask is None else int(np.count_nonzero(np.broadcast_to(mask, group.geometry.shape)))


def test_an_observer_of_few_lines() -> None:
    body = """.reg .u64 %d<3>; .reg .b32 %r<3>; .reg .pred %p; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;
        add.u64 %d1, %d1, %d2; setp.lt.u32 %p, %r1, 10;
        @%p st.global.u32 [%d1], %r1;
        ret;"""
    machine, own = Machine(kernel("p out", body)), Bytes()
    out = machine.upload(np.zeros(64, np.uint32))
    machine.launch(1, 64, [out], observers=(own,))
    ((stored, line),) = [key for key in own.moved if key[0] == "st"]
    assert own.moved[stored, line] == 40 and own.threads["st"] == 10 and own.threads["setp"] == 64
    assert own.highest == out.start + 36


def test_lanes_that_have_left_a_loop_are_not_active() -> None:
    body = """.reg .u64 %d<3>; .reg .b32 %r<4>; .reg .pred %p; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0;
        L: add.u32 %r2, %r2, 1; mul.lo.u32 %r3, %r2, %r2; setp.le.u32 %p, %r2, %r1; @%p bra L;
        mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r3; ret;"""
    machine, own = Machine(kernel("p out", body)), Bytes()
    machine.launch(2, 32, [machine.upload(np.zeros(32, np.uint32))], observers=(own,))
    turns = 2 * sum(range(1, 33))
    assert own.threads["setp"] == turns and own.threads["bra"] == turns - 2 * 32 and own.threads["st"] == 64
