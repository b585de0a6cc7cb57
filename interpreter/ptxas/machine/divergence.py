"""Which registers may differ between the lanes of a warp: ptxas keeps lanes together with BSSY and BSYNC only where a branch may divide them."""

from __future__ import annotations

from warplab.assembler.ir import Instruction, SpecialRegister
from warplab.isa.control import CALLS

from .sources import Sources

DIFFERENT = frozenset({"%tid", "%laneid", "%warpid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge", "%smid", "%clock",
                       "%clock64", "%globaltimer", "%globaltimer_lo"})  # fmt: skip
READING = frozenset(
    {"ldu", "atom", "shfl", "tex", "tld4", "suld", "elect", "match", "activemask", "vote", "redux", "ldmatrix", "wmma", "mma", *CALLS}
)


class Divergence:
    """The registers of one function."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.registers: set[int] = set()
        changed = True
        while changed:
            before = len(self.registers)
            for i in sources.instructions():
                if self._divides(i):
                    self.registers.update(sources.known[id(i)].written)
            changed = len(self.registers) > before

    def _divides(self, i: Instruction) -> bool:
        if i.opcode in READING or (i.opcode == "ld" and self.sources.parameter(i) is None):
            return True
        if any(isinstance(o, SpecialRegister) and o.name in DIFFERENT for o in i.operands):
            return True
        return any(index in self.registers for index in self.sources.known[id(i)].read)
