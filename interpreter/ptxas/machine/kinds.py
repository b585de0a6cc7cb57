"""What a machine instruction occupies, and when its result is there: recorded on an H200 (compute capability 9.0), instruction by instruction.

`port`: the cycles for which a warp's instruction occupies the port of its scheduler, 4 schedulers / (warp instructions per cycle and
multiprocessor); `latency`: the cycles after which an instruction that needs the result may issue.  An access's latency is that of a hit.
`rate`: the class of the throughput table (isa/throughput.py) by which the port is scaled for other devices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from warplab.assembler.ir import Instruction

PIPES = ("alu", "fma", "imad", "fp64", "half", "sfu", "lsu", "tensor", "branch", "none")


@dataclass(frozen=True, slots=True)
class MachineKind:
    pipe: str
    port: float
    latency: int
    rate: str = ""  # none: as on the H200


def _kinds() -> dict[str, MachineKind]:
    rows = {
        MachineKind("alu", 2, 4, "add"): "IADD3 IADD IADD32I LEA ISCADD IABS VIADD VABSDIFF SEL MOV MOV32I P2R R2P I2FP",
        MachineKind("alu", 2, 4, "logic"): "LOP3 LOP LOP32I PLOP3 PSETP",
        MachineKind("alu", 2, 4, "shift"): "SHF SHL SHR SGXT BMSK PRMT",
        MachineKind("alu", 2, 4, "compare"): "ISETP ISET ICMP CSETP IMNMX FSET VIMNMX VIADDMNMX FMNMX FSETP FSEL HMNMX2 HSETP2 HSET2",
        MachineKind("alu", 2, 8, "add"): "R2UR",
        MachineKind("fma", 1, 4, "f32"): "FADD FMUL FFMA XMAD",
        MachineKind("imad", 2, 4, "multiply"): "IMAD IDP",
        MachineKind("imad", 4, 9, "multiply"): "IMAD.HI",
        MachineKind("fp64", 2, 8, "f64"): "DADD DMUL DFMA DSETP DSET DMNMX",
        MachineKind("half", 1, 8, "f16"): "HADD2 HMUL2 HFMA2",
        MachineKind("half", 1, 5): "HADD2.F32 F2FP",
        MachineKind("sfu", 8, 17, "special"): "MUFU FCHK",
        MachineKind("sfu", 8, 17, "population"): "POPC",
        MachineKind("sfu", 8, 17, "leading"): "FLO",
        MachineKind("sfu", 8, 17, "reverse"): "BREV",
        MachineKind("sfu", 8, 17, "convert"): "F2I I2F F2F I2I FRND",
        MachineKind("sfu", 8, 17, "convert64"): "F2I.F64 I2F.F64 F2F.F64",
        MachineKind("sfu", 8, 25): "S2R S2UR B2R",
        MachineKind("alu", 4, 13, "vote"): "VOTE",
        MachineKind("alu", 256, 365): "MATCH",
        MachineKind("sfu", 8, 40, "reduce"): "REDUX",
        MachineKind("alu", 4, 20): "CS2R",
        MachineKind("lsu", 4, 24, "shuffle"): "SHFL",
        MachineKind("lsu", 4, 23): "LDS",
        MachineKind("lsu", 4, 26): "LDS.64 ATOMS",
        MachineKind("lsu", 4, 32): "LDS.128",
        MachineKind("lsu", 4, 28): "LDSM",
        MachineKind("lsu", 4, 34): "LDG LD LDL LDGSTS UBLKCP UTMALDG MOVM",
        MachineKind("lsu", 4, 100): "TEX TLD4 SULD",
        MachineKind("lsu", 4, 4): "STS STG ST STL SUST STSM REDG RED CCTL LDGDEPBAR UTMACMDFLUSH",
        MachineKind("lsu", 4, 511): "ATOMG ATOM",
        MachineKind("lsu", 4, 15): "BAR",
        MachineKind("lsu", 8, 200): "LD.CLUSTER ATOM.CLUSTER",
        MachineKind("lsu", 8, 4): "ST.CLUSTER",
        MachineKind("lsu", 4, 640): "MEMBAR",
        MachineKind("lsu", 4, 9): "MEMBAR.CTA FENCE ERRBAR CGAERRBAR",
        MachineKind("lsu", 4, 20): "SYNCS",
        MachineKind("tensor", 6, 24, "tensor"): "HMMA.16816 HMMA.1688.F32.TF32 IMMA",
        MachineKind("tensor", 4, 17, "tensor"): "HMMA.1688",
        MachineKind("tensor", 16, 26): "DMMA",
        MachineKind("tensor", 32, 48): "HGMMA",  # of 64 columns; the latency behind its port
        MachineKind("branch", 2, 7): "BRA BRX CALL CAL RET",
        MachineKind("none", 8, 28): "LDC",
        MachineKind("none", 2, 8): "UMOV ULEA UFLO UPOPC ULDC",
        MachineKind("none", 1, 1): "",  # all that only takes an issue slot
    }  # fmt: skip
    return {name: kind for kind, names in rows.items() for name in names.split(" ")}


KINDS = _kinds()
NOTHING = KINDS[""]


@cache
def kind_of(opcode: str) -> MachineKind:
    """The kind of a machine instruction, by as many of its words as are known.

    >>> kind_of("IMAD.HI").latency, kind_of("IMAD.WIDE").latency, kind_of("EXIT").pipe
    (9, 4, 'none')
    """
    words = opcode.split(".")
    while words:
        found = KINDS.get(".".join(words))
        if found is not None:
            return found
        words.pop()
    return NOTHING


def gathers(i: Instruction) -> bool:
    """Does a fetch give four texels instead of what a filter makes of them?"""
    return i.opcode == "tld4"
