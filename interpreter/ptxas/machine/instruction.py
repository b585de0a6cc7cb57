"""One machine instruction as the model of time sees it."""

from __future__ import annotations

from dataclasses import dataclass

from warplab.assembler.ir import Instruction

ASYNCHRONOUS = frozenset({"SYNCS", "UBLKCP", "UTMALDG"})  # mbarriers, and copies that tell them of their end


@dataclass(slots=True, eq=False)
class MachineInstruction:
    """`reads` and `writes`: registers of the function, by number; those from `len(function.registers)` on are ptxas's own."""

    opcode: str  # as nvdisasm names it, as far as its pipe depends on it
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    of: Instruction | None = None  # the PTX that it was made of
    what: str = ""  # ld, st, atom, red, bar, exit, branch, fence
    space: str = ""
    accesses: tuple[Instruction, ...] = ()  # the accesses of PTX that it stands for
    width: int = 0  # bytes a lane
    slots: int = 1  # instructions that are issued: more than one of a routine of CUDA's own

    @property
    def site(self) -> Instruction | None:
        """The PTX whose accesses to memory or operations on mbarriers it performs."""
        if self.accesses:
            return self.accesses[0]
        return self.of if self.opcode in ASYNCHRONOUS else None
