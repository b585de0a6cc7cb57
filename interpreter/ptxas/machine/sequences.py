"""The machine instructions of one instruction of PTX that accesses no memory, named as nvdisasm names them.

What stands for several machine instructions is counted (expansions.py); the rules here are for the others, and for operands that are constants.
"""

from __future__ import annotations

from collections.abc import Callable

from warplab.assembler.ir import Immediate, Instruction, Pair, SpecialRegister
from warplab.isa.notation import resolve
from warplab.isa.types import TYPES

from .expansions import expansion

Words = tuple[str, ...]
WIDE = frozenset({"u64", "s64", "b64"})
OF_EARLY_PTX = {"f32": "approx", "f64": "rn"}  # what a function without such a word is
SHORT_WITH_A_CONSTANT = frozenset({"mul", "mad", "mul24", "mad24", "bfe", "bfi"})  # and with a width or place that is one
SPECIAL: dict[str, str] = {
    "rcp": "MUFU.RCP", "sqrt": "MUFU.SQRT", "rsqrt": "MUFU.RSQ", "sin": "MUFU.SIN", "cos": "MUFU.COS", "lg2": "MUFU.LG2", "ex2": "MUFU.EX2",
    "tanh": "MUFU.TANH",
}  # fmt: skip
ONE: dict[str, Words] = {
    "popc": ("POPC",), "brev": ("BREV",), "bfind": ("FLO",), "clz": ("FLO", "IADD3"), "prmt": ("PRMT",), "shf": ("SHF",), "lop3": ("LOP3",),
    "dp4a": ("IDP",), "dp2a": ("IDP",), "sad": ("VABSDIFF",), "bfi": ("BMSK", "LOP3"),
    "copysign": ("LOP3",), "vote": ("VOTE",), "activemask": ("VOTE",), "match": ("MATCH",), "redux": ("REDUX", "MOV"), "shfl": ("SHFL",),
    "elect": ("VOTE", "PLOP3"), "mul24": ("IMAD",), "mad24": ("IMAD",), "slct": ("FSETP", "FSEL"), "nanosleep": ("NANOSLEEP",), "trap": ("BPT",),
    "brkpt": ("BPT",), "isspacep": ("ISETP", "ISETP"), "ldmatrix": ("LDSM",), "griddepcontrol": ("DEPBAR",), "alloca": ("IADD3",),
    "call": ("MOV", "CALL"), "bra": ("BRA",), "brx": ("SHF", "LDC", "IMAD", "BRX"), "ret": ("RET",), "exit": ("EXIT",), "setmaxnreg": ("USETMAXREG",),
    "mapa": ("PRMT", "MOV", "MOV"), "getctarank": ("SHF",), "movmatrix": ("MOVM",), "tcgen05": ("UTCBAR",), "szext": ("SGXT",), "bmsk": ("BMSK",),
}  # fmt: skip


def sequence(i: Instruction, capability: tuple[int, int], *, constant: bool = False) -> Words:
    """The machine instructions that do the work of an instruction; `constant`: one of its operands is."""
    counted = None if constant and i.opcode in SHORT_WITH_A_CONSTANT else expansion(spelling(i), capability)
    if counted is not None:
        return counted
    rule = RULES.get(i.opcode)
    return ONE.get(i.opcode, ("MOV",)) if rule is None else rule(i)


def spelling(i: Instruction) -> str:
    """An instruction's words in the order of its row, without those of carries."""
    found = resolve(i.opcode, tuple(m for m in i.modifiers if m != "cc"))
    if found is None:
        return i.opcode
    form, given = found
    early = OF_EARLY_PTX.get(own_type(i)) if i.opcode in SPECIAL or i.opcode == "div" else None
    if early is not None and not {"approx", "full", "rn", "rz", "rm", "rp"} & set(i.modifiers):
        return f"{i.opcode}.{early}.{own_type(i)}"
    return ".".join([i.opcode, *(s.name if given[s.name] is True else str(given[s.name]) for s in form.slots if s.name in given)])


def own_type(i: Instruction) -> str:
    return i.modifiers[-1] if i.modifiers else ""


def _twice(i: Instruction, one: str, other: str | None = None) -> Words:
    return (one, other or one) if own_type(i) in WIDE else (one,)


def _sum(i: Instruction) -> Words:
    match own_type(i):
        case "f32":
            return ("FADD",)
        case "f64":
            return ("DADD",)
        case "f32x2":
            return ("FADD", "FADD")
        case "f16" | "f16x2":
            return ("HADD2",)
        case "bf16" | "bf16x2":
            return ("HFMA2.BF16",)
    return _twice(i, "IADD3", "IADD3.X")


def _product(i: Instruction) -> Words:
    words, wide = i.modifiers, own_type(i) in WIDE
    match own_type(i):
        case "f32":
            return ("FMUL",)
        case "f64":
            return ("DMUL",)
        case "f32x2":
            return ("FMUL", "FMUL")
        case "f16" | "f16x2":
            return ("HMUL2",)
        case "bf16" | "bf16x2":
            return ("HMUL2.BF16",)
    if "hi" in words:
        return (*("IMAD.WIDE",) * 3, "IADD3", "IADD3.X", "IMAD.WIDE") if wide else ("IMAD.HI",)
    if "wide" in words:
        return ("IMAD.WIDE",)
    return ("IMAD", "IMAD", "IMAD.WIDE", "IADD3") if wide else ("IMAD", "PRMT") if "16" in own_type(i) else ("IMAD",)


def _fma(i: Instruction) -> Words:
    match own_type(i):
        case "f32":
            return ("FFMA",)
        case "f64":
            return ("DFMA",)
        case "f32x2":
            return ("FFMA", "FFMA")
        case "f16" | "f16x2":
            return ("HFMA2",)
        case "bf16" | "bf16x2":
            return ("HFMA2.BF16",)
    return _product(i)


def _sign(i: Instruction) -> Words:
    match own_type(i):
        case "f32" | "f64":
            return ()  # of what reads it
        case "f16" | "f16x2" | "bf16" | "bf16x2":
            return ("HADD2",)
    return ("IADD3", "IADD3.X") if own_type(i) in WIDE else ("IABS",) if i.opcode == "abs" else ("IADD3",)


def _extreme(i: Instruction) -> Words:
    many = max(1, len(i.operands) - 2)
    match own_type(i):
        case "f32":
            return ("FMNMX",) * many
        case "f16" | "f16x2" | "bf16" | "bf16x2":
            return ("HMNMX2",) * many
    return ("VIMNMX",) * many


def _comparison(i: Instruction) -> Words:
    match own_type(i):
        case "f32":
            return ("FSETP",)
        case "f64":
            return ("DSETP",)
        case "f16" | "f16x2" | "bf16" | "bf16x2":
            return ("HSETP2",)
    return _twice(i, "ISETP")


def _set(i: Instruction) -> Words:
    return ("HSET2",) if "16" in own_type(i) else (*_comparison(i), "SEL")


def _choice(i: Instruction) -> Words:
    if own_type(i) == "f64":
        return ("FSEL", "FSEL")
    return ("FSEL",) if own_type(i) == "f32" else _twice(i, "SEL")


def _logic(i: Instruction) -> Words:
    return ("PLOP3",) if own_type(i) == "pred" else _twice(i, "LOP3")


def _shift(i: Instruction) -> Words:
    return _twice(i, "SHF")


def _field(i: Instruction) -> Words:
    first, size = i.operands[2:]
    if isinstance(first, Immediate) and isinstance(size, Immediate) and size.value == 8 and first.value in (0, 8, 16, 24):
        return ("PRMT",)
    return ("SHF", "SGXT") if own_type(i) not in WIDE else ("SHF", "SHF", "SGXT", "SGXT")


def division(i: Instruction, capability: tuple[int, int], *, known: bool, shared: bool) -> Words:
    """Of 32-bit integers. `known`: the divisor is a constant, of which ptxas makes nothing; `shared`: its reciprocal is there."""
    return expansion(spelling(i) + " constant" * known + " again" * shared, capability) or ()


def _function(i: Instruction) -> Words:
    return (SPECIAL[i.opcode],)


def _conversion(i: Instruction) -> Words:
    types = [m for m in i.modifiers if m in TYPES]
    if len(types) != 2:
        return ("F2FP",)
    to, of = (TYPES[t] for t in types)
    if to.is_integer and of.is_integer:
        if "sat" in i.modifiers:
            return ("VIMNMX", "VIMNMX")
        if of.name[0] != "s" or to.bits <= of.bits:
            return ()
        return ("SHF",) if to.bits == 64 and of.bits == 32 else ("PRMT",) if to.bits == 32 else ("PRMT", "SHF")
    if of.is_integer:
        return ("I2FP",) if of.bits == 32 and to.name == "f32" else ("I2F.F64",) if to.name == "f64" else ("I2F",)
    if to.is_integer:
        return ("F2I",)
    if to.name == of.name:
        return ("FRND",) if {"rni", "rzi", "rmi", "rpi"} & set(i.modifiers) else ()  # .sat belongs to what computes it
    if "f64" in types:
        return ("F2F",)
    return ("HADD2.F32",) if of.bits < to.bits else ("F2FP",)


def _barrier(i: Instruction) -> Words:
    words = set(i.modifiers)
    if "warp" in words:
        return ("NOP",)
    if "cluster" in words:
        return ("UCGABAR_WAIT", "CCTL") if "wait" in words else ("MEMBAR", "ERRBAR", "CGAERRBAR", "UCGABAR_ARV")
    return ("BAR", "B2R", "MOV") if "red" in words else ("BAR",)


def _fence(i: Instruction) -> Words:
    words = set(i.modifiers)
    if "proxy" in words or "proxy" in i.modifiers[0]:
        return ("MEMBAR.CTA", "FENCE")
    return ("MEMBAR.CTA",) if words & {"cta"} else ("MEMBAR", "ERRBAR", "CGAERRBAR", "CCTL")


def _matrix(i: Instruction) -> Words:
    words = set(i.modifiers)
    if i.opcode == "wmma" and words & {"load", "store"}:
        return ("IMAD.WIDE", "IADD3", "IADD3.X", *("LDG" if "load" in words else "STG",) * 4)
    name = "HMMA.16816"
    if "f64" in words:
        name = "DMMA"
    elif words & {"s8", "u8", "s4", "u4"}:
        name = "IMMA"
    elif words & {"m16n8k8", "m16n8k4"}:
        name = "HMMA.1688.F32.TF32" if {"m16n8k8", "tf32"} <= words else "HMMA.1688"
    return (name, name) if i.opcode == "wmma" else (name,)


def _generic(i: Instruction) -> Words:
    """The generic address of a variable in local or in shared memory."""
    return ("IADD3",) if "local" in i.modifiers else ("S2UR", "UMOV", "ULEA")


def _move(i: Instruction) -> Words:
    source = i.operands[1] if len(i.operands) > 1 else None
    if isinstance(i.operands[0], Pair):
        return ()
    if isinstance(source, SpecialRegister):
        return ("CS2R",) if source.name.startswith(("%clock", "%globaltimer", "%pm")) else ("S2R",)
    return _twice(i, "MOV")


RULES: dict[str, Callable[[Instruction], Words]] = {
    "add": _sum, "sub": _sum, "addc": _sum, "subc": _sum, "mul": _product, "mad": _fma, "madc": _fma, "fma": _fma, "neg": _sign, "abs": _sign,
    "min": _extreme, "max": _extreme, "setp": _comparison, "set": _set, "selp": _choice, "and": _logic, "or": _logic, "xor": _logic,
    "not": _logic, "cnot": _set, "shl": _shift, "shr": _shift, "bfe": _field, "cvt": _conversion,
    "bar": _barrier, "barrier": _barrier, "membar": _fence, "fence": _fence, "mma": _matrix, "wmma": _matrix,
    "mov": _move, "cvta": _generic, "mbarrier": lambda i: ("SYNCS",), **dict.fromkeys(SPECIAL, _function),
}  # fmt: skip
