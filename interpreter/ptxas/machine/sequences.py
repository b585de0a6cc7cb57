"""The machine instructions of one instruction of PTX that accesses no memory, named as nvdisasm names them.

The sequences are those of CUDA 13.0 for sm_90.  Of a routine with a rare path, such as a division, they are what the common path executes.
"""

from __future__ import annotations

from collections.abc import Callable

from warplab.assembler.ir import Immediate, Instruction, Pair, SpecialRegister
from warplab.isa.types import TYPES

Words = tuple[str, ...]
WIDE = frozenset({"u64", "s64", "b64"})
RECIPROCAL = ("I2F.U32", "MUFU.RCP", "IADD3", "F2I", "MOV", "IMAD", "IMAD.HI")  # of an integer
QUOTIENT = ("IMAD.HI", "IADD3", "IMAD", "ISETP", "IADD3", "ISETP", "IADD3")
SHORT_DIVISIONS = ("I2F.F16", "I2F.F16", "MUFU.RCP", "FMUL", "FFMA", "F2I")  # of 16 bits
LONG_DIVISION = ("MOV", "CALL", *("IMAD", "IADD3", "IMAD.WIDE", "IADD3") * 19, "I2F.F64", "MUFU.RCP", "F2I", "RET")  # a routine
ROOTS: dict[tuple[str, str], Words] = {
    ("div", "f32"): ("BSSY", "MUFU.RCP", "FFMA", "FFMA", "FFMA", "FFMA", "FFMA", "FCHK", "BRA", "BSYNC"),
    ("rcp", "f32"): ("IADD3", "BSSY", "LOP3", "ISETP", "BRA", "MUFU.RCP", "FFMA", "FADD", "FFMA", "BSYNC"),
    ("sqrt", "f32"): ("IADD3", "MUFU.RSQ", "BSSY", "ISETP", "BRA", "FMUL", "FMUL", "FFMA", "FFMA", "BSYNC"),
    ("div", "f64"): ("MUFU.RCP64H", "MOV", "DFMA", "DFMA", "DFMA", "DFMA", "DFMA", "DMUL", "DFMA", "DFMA", "FFMA", "FSETP", "FSETP", "BSSY", "BRA",
                     "BSYNC"),
    ("rcp", "f64"): ("MUFU.RCP64H", "IADD3", "FSETP", "BSSY", "DFMA", "DFMA", "DFMA", "DFMA", "BRA", "BSYNC"),
    ("sqrt", "f64"): ("MUFU.RSQ64H", "IADD3", "MOV", "MOV", "DMUL", "DFMA", "DFMA", "DMUL", "DFMA", "DMUL", "IADD3", "MOV", "ISETP", "DFMA", "DFMA",
                      "BSSY", "BRA", "BSYNC"),
    ("rsqrt", "f64"): ("MUFU.RSQ64H", "MOV", "MOV", "MOV", "IADD3", "ISETP", "DMUL", "DFMA", "DFMA", "DMUL", "DFMA", "BSSY", "BRA", "BSYNC"),
}  # fmt: skip
SPECIAL: dict[str, str] = {
    "rcp": "MUFU.RCP", "sqrt": "MUFU.SQRT", "rsqrt": "MUFU.RSQ", "sin": "MUFU.SIN", "cos": "MUFU.COS", "lg2": "MUFU.LG2", "ex2": "MUFU.EX2",
    "tanh": "MUFU.TANH",
}  # fmt: skip
ONE: dict[str, Words] = {
    "popc": ("POPC",), "brev": ("BREV",), "bfind": ("FLO",), "clz": ("FLO", "IADD3"), "prmt": ("PRMT",), "shf": ("SHF",), "lop3": ("LOP3",),
    "dp4a": ("IDP",), "dp2a": ("IDP",), "sad": ("IADD3", "IABS", "IADD3"), "bfi": ("BMSK", "LOP3"), "fns": ("FNS",) * 40, "testp": ("FSETP", "FSETP"),
    "copysign": ("LOP3",), "vote": ("VOTE",), "activemask": ("VOTE",), "match": ("MATCH",), "redux": ("REDUX", "MOV"), "shfl": ("SHFL",),
    "elect": ("VOTE", "PLOP3"), "mul24": ("IMAD",), "mad24": ("IMAD",), "slct": ("FSETP", "FSEL"), "nanosleep": ("NANOSLEEP",), "trap": ("BPT",),
    "brkpt": ("BPT",), "isspacep": ("ISETP", "ISETP"), "ldmatrix": ("LDSM",), "griddepcontrol": ("DEPBAR",), "alloca": ("IADD3",),
    "call": ("MOV", "CALL"), "bra": ("BRA",), "brx": ("SHF", "LDC", "IMAD", "BRX"), "ret": ("RET",), "exit": ("EXIT",), "setmaxnreg": ("USETMAXREG",),
    "mapa": ("PRMT", "MOV", "MOV"), "getctarank": ("SHF",), "movmatrix": ("MOVM",), "tcgen05": ("UTCBAR",), "szext": ("SGXT",), "bmsk": ("BMSK",),
}  # fmt: skip


BITS: dict[str, Words] = {  # of 64 bits
    "popc": ("POPC", "POPC", "IADD3"), "brev": ("BREV", "BREV"), "clz": ("ISETP", "SEL", "FLO", "IADD3", "IADD3", "MOV"),
    "bfind": ("ISETP", "SEL", "FLO", "IADD3", "SEL"), "bfi": ("SHF", "LOP3", "LOP3"),
}  # fmt: skip


def sequence(i: Instruction) -> Words:
    """The machine instructions that do the work of an instruction whose operands are all in registers."""
    if own_type(i) in WIDE and i.opcode in BITS:
        return BITS[i.opcode]
    rule = RULES.get(i.opcode)
    return ONE.get(i.opcode, ("MOV",)) if rule is None else rule(i)


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
        return ("IMAD.WIDE", "IMAD.WIDE", "IMAD.WIDE", "IADD3", "IADD3", "IMAD.WIDE.X") if wide else ("IMAD.HI",)
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
        case "f64":
            return ("DSETP", "FSEL", "SEL", "MOV")
        case "f16" | "f16x2" | "bf16" | "bf16x2":
            return ("HMNMX2",) * many
    return ("ISETP", "ISETP", "SEL", "SEL") if own_type(i) in WIDE else ("VIMNMX",) * many


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


def _division(i: Instruction) -> Words:
    t = own_type(i)
    if t == "f32" and "approx" in i.modifiers:
        return ("MUFU.RCP", "FMUL") if "ftz" in i.modifiers else ("FSETP", "FMUL", "FMUL", "MUFU.RCP", "FMUL")
    if t == "f32" and "full" in i.modifiers:
        return ("FSETP", "FSETP", "FMUL", "FMUL", "FMUL", "FMUL", "MUFU.RCP", "FMUL")
    if t in ("f32", "f64"):
        return ROOTS["div", t]
    return LONG_DIVISION if t in WIDE else SHORT_DIVISIONS if "16" in t else division(i, known=False, shared=False)


def division(i: Instruction, *, known: bool, shared: bool) -> Words:
    """Of 32-bit integers. `known`: the divisor is a constant, of which ptxas makes nothing; `shared`: its reciprocal is there."""
    signed = own_type(i) == "s32"
    out = (*(() if shared else RECIPROCAL), *(("IABS",) if signed else ()), *(QUOTIENT if i.opcode == "div" else QUOTIENT[:-1]))
    if signed:
        out += ("LOP3", "ISETP", "IADD3") if i.opcode == "div" else ("ISETP", "IADD3")
    if known:
        return out
    return (*(("IABS", "IABS") if signed else ()), *out, "IADD3", "IMAD", "ISETP", "LOP3")  # also a division by 0


def _function(i: Instruction) -> Words:
    t, words, name = own_type(i), set(i.modifiers), SPECIAL[i.opcode]
    if t == "f64" or ({"rn", "rz", "rm", "rp"} & words and t == "f32"):
        return (name,) if "approx" in words and (i.opcode != "rsqrt" or "ftz" in words) else ROOTS[i.opcode, t]
    if i.opcode in ("sin", "cos"):
        return ("FMUL.RZ", name)
    if t != "f32" or "ftz" in words or i.opcode == "tanh":
        return (name, name) if t.endswith("x2") else (name,)
    return ("FSETP", "FMUL", name, "FADD" if i.opcode == "lg2" else "FMUL")  # denormal numbers are scaled


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
    "not": _logic, "cnot": _set, "shl": _shift, "shr": _shift, "bfe": _field, "div": _division, "rem": _division, "cvt": _conversion,
    "bar": _barrier, "barrier": _barrier, "membar": _fence, "fence": _fence, "mma": _matrix, "wmma": _matrix,
    "mov": _move, "cvta": _generic, "mbarrier": lambda i: ("SYNCS",), **dict.fromkeys(SPECIAL, _function),
}  # fmt: skip
