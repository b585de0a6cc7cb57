"""Random PTX programs whose lanes wait for one another and see in which order they run: at barriers of all kinds, for lanes of their warps, at locks.

Every thread keeps a hash of the tickets that it draws from a counter in global memory; many of these programs end in a deadlock.
"""

from __future__ import annotations

from collections.abc import Callable

Draw = Callable[[int], int]  # a number below

HEAD = """.version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 out) { .reg .b64 %d<5>; .reg .b32 %r<20>; .reg .pred %p<6>; .shared .align 8 .b64 gates[2];
ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
mad.wide.u32 %d2, %r4, 4, %d1; and.b32 %r5, %r1, 31; shr.u32 %r6, %r1, 5; mov.u32 %r7, 1; mov.u32 %r9, gates;
"""
TAIL = "\nmad.lo.u32 %r7, %r7, 31, %r8; st.global.u32 [%d2+64], %r7; ret; }"
GATES = "setp.ne.u32 %p1, %r1, 0; @%p1 bra OPEN; mbarrier.init.shared.b64 [gates], %r3; mbarrier.init.shared.b64 [gates+8], 32; OPEN: bar.sync 0;\n"


class WaitingProgram:
    """Writes one program."""

    def __init__(self, draw: Draw, threads: int) -> None:
        self.draw, self.threads = draw, threads
        self.lines: list[str] = []
        self.labels = self.loops = 0
        self.budget = 12

    def text(self) -> str:
        """The whole module."""
        gates = self.draw(2)
        self._kinds = [self._ticket, self._ticket, self._branch, self._branch, self._loop, self._barrier, self._barrier, self._counted, self._arrive,
                       self._reduce, self._lanes, self._leave, self._lock, *[self._gate] * (2 * gates)]  # fmt: skip
        self._body(0)
        return HEAD + "mov.u32 %r8, 0;\n" + GATES * gates + "\n".join(self.lines) + TAIL

    def _body(self, depth: int) -> None:
        for _ in range(1 + self.draw(3)):
            self.budget -= 1
            if self.budget > 0:
                self._kinds[self.draw(len(self._kinds) if depth < 3 else 2)](depth)

    def _label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def _condition(self) -> str:
        """Sets %p1: by the lane, the warp, the block, the thread, or by what was drawn."""
        what = ["%r5", "%r6", "%r2", "%r1", "%r7"][self.draw(5)]
        if self.draw(3) == 0:
            self.lines.append(f"and.b32 %r10, {what}, {1 << self.draw(3)}; setp.ne.u32 %p1, %r10, 0;")
        else:
            self.lines.append(f"setp.lt.u32 %p1, {what}, {[1, 2, 16, 32, 40][self.draw(5)]};")
        return ["", "!"][self.draw(2)] + "%p1"

    def _ticket(self, depth: int) -> None:
        self.lines.append("atom.global.add.u32 %r8, [%d1], 1; mad.lo.u32 %r7, %r7, 31, %r8;")

    def _branch(self, depth: int) -> None:
        other, end = self._label(), self._label()
        self.lines.append(f"@{self._condition()} bra {other};")
        self._body(depth + 1)
        if self.draw(2):
            self.lines.append(f"bra {end}; {other}:")
            self._body(depth + 1)
            self.lines.append(f"{end}:")
        else:
            self.lines.append(f"{other}:")

    def _loop(self, depth: int) -> None:
        """As often for all, or by the lane."""
        if self.loops > 2:
            return
        head, counter = self._label(), f"%r{12 + self.loops}"
        self.loops += 1
        self.lines.append(
            f"mov.u32 {counter}, {1 + self.draw(3)};" if self.draw(2) else f"and.b32 {counter}, %r{[5, 6, 2][self.draw(3)]}, 3;"
        )
        self.lines.append(f"{head}:")
        self._body(depth + 1)
        self.lines.append(f"sub.u32 {counter}, {counter}, 1; setp.gt.s32 %p2, {counter}, 0; @%p2 bra {head};")
        self.loops -= 1

    def _guard(self) -> str:
        return "" if self.draw(4) else f"@{self._condition()} "

    def _barrier(self, depth: int) -> None:
        self.lines.append(f"{self._guard()}barrier.sync {self.draw(2)};")

    def _number(self) -> str:
        """Of a barrier: known, or computed for each lane."""
        if self.draw(3):
            return str(1 + self.draw(3))
        self.lines.append("and.b32 %r11, %r6, 1; add.u32 %r11, %r11, 1;")
        return "%r11"

    def _counted(self, depth: int) -> None:
        number = self._number()
        self.lines.append(f"{self._guard()}barrier.sync {number}, {32 * (1 + self.draw(3))};")

    def _arrive(self, depth: int) -> None:
        number = self._number()
        self.lines.append(f"barrier.arrive {number}, {32 * (1 + self.draw(3))};")

    def _reduce(self, depth: int) -> None:
        self.lines.append("setp.gt.u32 %p3, %r7, %r8;")
        if self.draw(2):
            self.lines.append("barrier.red.popc.u32 %r8, 0, %p3; add.u32 %r7, %r7, %r8;")
        else:
            self.lines.append(
                f"barrier.red.{['and', 'or'][self.draw(2)]}.pred %p4, 0, !%p3; selp.u32 %r8, 3, 5, %p4; mad.lo.u32 %r7, %r7, 31, %r8;"
            )

    def _lanes(self, depth: int) -> None:
        mask = ["-1", "0xFFFF", "0xF"][self.draw(3)]
        if self.draw(2):
            self.lines.append(f"setp.lt.u32 %p4, %r5, {32 if mask == '-1' else 16 if mask == '0xFFFF' else 4}; @%p4 bar.warp.sync {mask};")
        else:
            self.lines.append("setp.gt.u32 %p3, %r7, %r8; vote.sync.ballot.b32 %r8, %p3, -1; mad.lo.u32 %r7, %r7, 31, %r8;")

    def _leave(self, depth: int) -> None:
        self.lines.append(f"@{self._condition()} {['exit', 'ret'][self.draw(2)]};" if self.draw(2) else "")

    def _lock(self, depth: int) -> None:
        head = self._label()
        self.lines.append(
            f"{head}: atom.global.cas.b32 %r10, [%d1+4], 0, 1; setp.ne.u32 %p5, %r10, 0; @%p5 bra {head};"
            "ld.volatile.global.u32 %r10, [%d1+8]; mad.lo.u32 %r10, %r10, 3, %r4; st.volatile.global.u32 [%d1+8], %r10; membar.gl;"
            "atom.global.exch.b32 %r10, [%d1+4], 0;"
        )

    def _gate(self, depth: int) -> None:
        """An mbarrier: arrive and wait, or arrive only."""
        at, head = 8 * self.draw(2), self._label()
        self.lines.append(f"mbarrier.arrive.shared.b64 %d3, [%r9+{at}];")
        if self.draw(3):
            self.lines.append(f"{head}: mbarrier.test_wait.shared.b64 %p5, [%r9+{at}], %d3; @!%p5 bra {head};")
