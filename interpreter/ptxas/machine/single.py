"""What one instruction of PTX takes by itself, without its neighbours, on compute capability 9.0."""

from __future__ import annotations

from warplab.assembler.ir import Instruction, Register

from .kinds import kind_of
from .sequences import sequence

H200 = (9, 0)
LOADS = {"shared": "LDS", "local": "LDL", "const": "LDC", "param": "LDC"}
ACCESSES = {"st": "ST", "red": "ST", "sust": "ST", "tex": "TEX", "tld4": "TEX", "suld": "TEX"}


def alone(i: Instruction) -> tuple[str, ...]:
    """Its machine instructions."""
    if i.opcode == "cvta" or (i.opcode == "mov" and isinstance(i.operands[-1], Register)):
        return ()  # an address of another kind, or a register of another name
    space = next((m.partition("::")[0] for m in i.modifiers if m.partition("::")[0] in (*LOADS, "global")), "")
    if i.opcode in ("ld", "ldu"):
        return (LOADS.get(space, "LDG"),)
    if i.opcode == "atom":
        return ("ATOMS" if space == "shared" else "ATOMG",)
    return (ACCESSES[i.opcode],) if i.opcode in ACCESSES else sequence(i, H200)


def end_latency(i: Instruction | None) -> int:
    """Cycles from the end of a stretch of code, of which it is the last instruction, to the next one."""
    if i is not None and i.opcode in ("bar", "barrier"):
        return kind_of("BAR").latency
    return kind_of("BRA" if i is not None and i.opcode == "bra" else "").latency
