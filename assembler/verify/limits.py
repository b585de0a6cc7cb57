"""What rows do not say: the values that constants may have, words that must come first, words and state spaces that exclude each other."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from warplab.isa.notation import IDLE, Form, Need
from warplab.isa.types import TYPES

from ..ir import Address, Immediate, Instruction, Negated, Pair, Register, Sink
from .needs import Has, capability


@dataclass(frozen=True, slots=True)
class Wrong:
    """A broken rule: which operand or word breaks it (neither: all words), and how."""

    code: str
    message: str
    operand: int | None = None
    word: str = ""
    help: str = ""


Settled = Mapping[str, str | bool]
Rule = Callable[[Instruction, Settled], Wrong | None]


# ---------------------------------------------------------------- values of constants


def _value(instruction: Instruction, i: int) -> int | None:
    """The integer constant in a place, if one stands there."""
    if i < len(instruction.operands):
        operand = instruction.operands[i]
        if isinstance(operand, Immediate) and isinstance(operand.value, int) and operand.kind == "int":
            return operand.value
    return None


def _range(i: int, low: int, high: int) -> Rule:
    def rule(instruction: Instruction, settled: Settled) -> Wrong | None:
        v = _value(instruction, i)
        if v is None or low <= v <= high:
            return None
        return Wrong("out-of-range", f"{v} is not in the range {low} to {high}", i)

    return rule


def _one_of(i: int, *allowed: int) -> Rule:
    def rule(instruction: Instruction, settled: Settled) -> Wrong | None:
        v = _value(instruction, i)
        if v is None or v in allowed:
            return None
        return Wrong("out-of-range", f"{v} is not {' or '.join(map(str, allowed))}", i)

    return rule


def _both(*rules: Rule) -> Rule:
    def rule(instruction: Instruction, settled: Settled) -> Wrong | None:
        return next((w for r in rules if (w := r(instruction, settled)) is not None), None)

    return rule


def _barrier(instruction: Instruction, settled: Settled) -> Wrong | None:
    words = instruction.modifiers
    if "warp" in words or "cluster" in words:
        return None
    first = 1 if "red" in words else 0
    v = _value(instruction, first)
    if v is not None and not 0 <= v % 2**32 <= 15:
        return Wrong("out-of-range", f"there are barriers 0 to 15, no barrier {v}", first)
    n = _value(instruction, first + 1)
    if n is not None and n % 32 and len(instruction.operands) - (2 if "red" in words else 0) > 1:
        return Wrong("out-of-range", f"{n} threads are no whole number of warps", first + 1, help="a multiple of 32")
    return None


def _cp(instruction: Instruction, settled: Settled) -> Wrong | None:
    words = instruction.modifiers
    if words[:1] == ("async",) and ("ca" in words or "cg" in words) and "bulk" not in words:
        size = _value(instruction, 2)
        return _both(_one_of(2, *((16,) if "cg" in words else (4, 8, 16))), _range(3, 0, size or 16))(instruction, settled)
    if "bulk" in words and "tensor" not in words and "wait_group" not in words:
        i = 1 if "prefetch" in words else 2
        v = _value(instruction, i)
        if v is not None and v % 16:
            return Wrong("out-of-range", f"{v} bytes are no multiple of 16", i)
    return None


def _setmaxnreg(instruction: Instruction, settled: Settled) -> Wrong | None:
    v = _value(instruction, 0)
    if v is not None and (v % 8 or not 24 <= v <= 256):
        return Wrong("out-of-range", f"{v} is no multiple of 8 between 24 and 256", 0)
    return None


def _alloca(instruction: Instruction, settled: Settled) -> Wrong | None:
    v = _value(instruction, 2)
    if v is None or (0 < v < 2**32 and v & (v - 1) == 0):
        return None
    return Wrong("out-of-range", f"the alignment {v} is no power of two", 2)


def _fence(instruction: Instruction, settled: Settled) -> Wrong | None:
    return _one_of(1, 128)(instruction, settled) if "tensormap::generic" in instruction.modifiers else None


def _pmevent(instruction: Instruction, settled: Settled) -> Wrong | None:
    return _range(0, 0, 0xFFFF if "mask" in instruction.modifiers else 15)(instruction, settled)


def _stackrestore(instruction: Instruction, settled: Settled) -> Wrong | None:
    if isinstance(instruction.operands[0], Immediate):
        return Wrong("operand-kind", "stackrestore takes a register", 0)
    return None


def _mma(instruction: Instruction, settled: Settled) -> Wrong | None:
    words = instruction.modifiers
    if "sp" not in words and "sp::ordered_metadata" not in words:
        return None
    shape, kind = next((w for w in words if w[0] == "m" and w[1:2].isdigit()), ""), str(settled.get("atype", ""))
    if not shape:
        return None
    k = int(shape.partition("k")[2])
    high = 3 if (kind, k) == ("f16", 32) and "f32" in words else _SELECTORS.get((kind, k), 0)
    return _range(5, 0, high)(instruction, settled)


# The selector says which threads hold the metadata: all of them for the longest k (0), pairs (0, 1) or one of four (0 to 3) for less.
_SELECTORS = {
    ("f16", 16): 3, ("bf16", 16): 3, ("tf32", 8): 3, ("f16", 32): 1, ("bf16", 32): 1, ("tf32", 16): 1,
    ("s8", 32): 1, ("u8", 32): 1, ("s4", 64): 1, ("u4", 64): 1,
}  # fmt: skip


def _wgmma(instruction: Instruction, settled: Settled) -> Wrong | None:
    n = len(instruction.operands)
    if n >= 4 and "sp" not in instruction.modifiers and _value(instruction, 3) not in (None, 0, 1):
        return _one_of(3, 0, 1)(instruction, settled)
    if n < 6:
        return None
    first = 4
    if "sp" in instruction.modifiers:
        first = 6
        high = 1 if settled.get("atype") in ("f16", "bf16", "tf32") else 0
        wrong = _range(4, 0, high)(instruction, settled)
        if wrong is not None:
            return wrong
    scales = _both(_one_of(first, -1, 1), _one_of(first + 1, -1, 1))(instruction, settled)
    return scales or _both(*(_one_of(i, 0, 1) for i in range(first + 2, n)))(instruction, settled)


ARRIVALS = {"arrive", "arrive_drop"}


def _mbarrier(instruction: Instruction, settled: Settled) -> Wrong | None:
    if "noComplete" in instruction.modifiers and _value(instruction, 2) == 0:
        return Wrong("out-of-range", "a count of arrivals is above 0", 2)
    far = settled.get("ss") == "shared::cluster" and ARRIVALS & set(instruction.modifiers)
    if far and not isinstance(instruction.operands[0], Sink | Address):
        return Wrong("operand-kind", "an arrival at another block's barrier yields nothing: write _", 0)
    return _one_of(2, 0, 1)(instruction, settled) if "parity" in instruction.modifiers else None


# What tensormap.replace changes -> the largest number of a dimension, or of a kind.
_FIELDS = {
    "box_dim": 4, "global_dim": 4, "global_stride": 4, "element_stride": 4, "elemtype": 15, "interleave_layout": 2, "swizzle_mode": 3,
    "fill_mode": 1, "swizzle_atomicity": 3,
}  # fmt: skip


def _tensormap(instruction: Instruction, settled: Settled) -> Wrong | None:
    if "cp_fenceproxy" in instruction.modifiers:
        return _one_of(2, 128)(instruction, settled)
    high = next((_FIELDS[word] for word in instruction.modifiers if word in _FIELDS), None)
    return _range(1, 0, high)(instruction, settled) if high is not None else None


def _columns(instruction: Instruction, settled: Settled) -> Wrong | None:
    words = instruction.modifiers
    return _one_of(1, 32, 64, 128, 256, 512)(instruction, settled) if "alloc" in words or "dealloc" in words else None


def _number(i: Immediate) -> float:
    if i.kind == "f32":
        return float(struct.unpack("<f", struct.pack("<I", i.value))[0])
    return i.value if isinstance(i.value, float) else float(struct.unpack("<d", struct.pack("<Q", i.value))[0])


def _fraction(instruction: Instruction, settled: Settled) -> Wrong | None:
    if "range" in instruction.modifiers:
        first, whole = _value(instruction, 2), _value(instruction, 3)
        if first is not None and whole is not None and first % 2**32 > whole % 2**32:
            return Wrong("out-of-range", f"{first} is more than the {whole} bytes of the whole", 2)
    i = len(instruction.operands) - 1
    last = instruction.operands[i]
    if "fractional" in instruction.modifiers and isinstance(last, Immediate) and i == 1:
        value = _number(last)
        if not 0.0 < value <= 1.0:
            return Wrong("out-of-range", f"{value} is no fraction above 0 and up to 1", i)
    return None


VALUES: dict[str, Rule] = {
    "bar": _barrier, "barrier": _barrier, "cp": _cp, "setmaxnreg": _setmaxnreg, "alloca": _alloca, "fence": _fence, "pmevent": _pmevent,
    "discard": _one_of(1, 128), "applypriority": _one_of(1, 128), "bfe": _both(_range(2, 0, 255), _range(3, 0, 255)),
    "bfi": _both(_range(3, 0, 255), _range(4, 0, 255)), "mbarrier": _mbarrier,
    "stackrestore": _stackrestore, "wgmma": _wgmma, "mma": _mma, "tensormap": _tensormap, "tcgen05": _columns, "createpolicy": _fraction,
}  # fmt: skip


def out_of_range(instruction: Instruction, settled: Settled) -> Wrong | None:
    """The first constant that is not allowed."""
    rule = VALUES.get(instruction.opcode)
    return rule(instruction, settled) if rule is not None else None


# ---------------------------------------------------------------- words

# ptxas takes words in any order, but for these, which belong to the instruction's name: they come first, in the row's order.
LEADING: dict[str, frozenset[str]] = {
    opcode: frozenset(words.split())
    for opcode, words in {
        "div": "full",
        "mbarrier": "init inval expect_tx complete_tx arrive arrive_drop try_wait test_wait parity pending_count noComplete",
        "red": "async", "st": "async bulk", "cp": "async bulk reduce prefetch tensor wait_group wait_all commit_group mbarrier arrive",
        "dp2a": "lo hi", "createpolicy": "fractional range cvt", "mul": "lo hi wide", "mad": "lo hi wide", "mul24": "lo hi",
        "mad24": "lo hi", "madc": "lo hi", "shf": "l r", "bar": "cta red warp sync arrive", "barrier": "cta red cluster sync arrive wait",
        "cvt": "pack", "cvta": "to", "tensormap": "replace cp_fenceproxy", "multimem": "ld_reduce red st",
        "clusterlaunchcontrol": "try_cancel async query_cancel is_canceled", "membar": "proxy", "fence": "proxy",
        "suld": "b", "sust": "b p", "sured": "b p",
        "setmaxnreg": "inc dec", "brx": "idx", "txq": "level", "wgmma": "fence commit_group wait_group mma_async", "wmma": "load store mma a b c d",
        "tcgen05": "alloc dealloc relinquish_alloc_permit ld st wait cp shift mma commit fence",
    }.items()
}  # fmt: skip
# Words that may stand anywhere, but in the row's order among each other.
ORDERED: dict[str, frozenset[str]] = {
    "mma": frozenset({"row", "col"}),
    "cp": frozenset({"global", "shared", "shared::cta", "shared::cluster"}),
}


def misplaced(instruction: Instruction, form: Form, settled: Settled) -> Wrong | None:
    """A word that does not stand where it must."""
    words = [w for w in instruction.modifiers if w not in IDLE or w in settled.values()]
    leading = LEADING.get(form.opcode)
    if leading is not None:
        i = 0
        for slot in form.slots:
            word = settled.get(slot.name)
            if word is None:
                continue
            own = slot.name if word is True else str(word)
            if own not in leading:
                break
            if words[i] != own:
                return Wrong("word-order", f".{own} belongs right after {'.'.join((form.opcode, *words[:i]))}", word=own)
            i += 1
    ordered = ORDERED.get(form.opcode)
    if ordered is not None:
        given = [w for w in words if w in ordered]
        wanted = [slot.name if settled[slot.name] is True else str(settled[slot.name]) for slot in form.slots if slot.name in settled]
        wanted = [w for w in wanted if w in ordered]
        if given != wanted:
            return Wrong("word-order", f".{' .'.join(wanted)} stand in this order", word=given[0])
    return None


STRONG = frozenset({"volatile", "relaxed", "acquire", "release"})
PREFETCH = frozenset({"L2::64B", "L2::128B", "L2::256B"})
SHARED = frozenset({"shared", "shared::cta", "shared::cluster"})
ELSEWHERE = frozenset({"local", "const", "param", "param::entry", "param::func"})


def excluded(instruction: Instruction, settled: Settled, has: Has) -> Wrong | None:
    """Words that do not go with each other, with a state space, or with the module's version."""
    words = instruction.modifiers
    opcode = instruction.opcode
    if opcode in ("ld", "st"):
        space = next((w for w in words if w in SHARED or w in ELSEWHERE), "")
        for word in words:
            priority = word in PREFETCH or word.startswith(("L1::", "L2::"))
            if (space in ELSEWHERE and (word in STRONG or priority)) or (space in SHARED and priority):
                return Wrong("word-and-space", f".{word} does not go with .{space}", word=word)
    if opcode in ("min", "max") and "f32" in words and len(instruction.operands) == 4:
        missing = has.lacks(Need(8.8, 100))
        if missing:
            return Wrong("needs", f"{opcode} of three needs {missing}", 3)
    if opcode == "mov" and isinstance(settled.get("vec"), str) and isinstance(settled.get("type"), str):
        vec, kind = str(settled["vec"]), str(settled["type"])
        if int(vec[1:]) * TYPES[kind].bits > 128:
            return Wrong("vector-size", f"{vec[1:]} elements of .{kind} are more than 128 bits", word=vec)
    if opcode == "mbarrier" and len(instruction.operands) == 3 and ("arrive" in words or "arrive_drop" in words):
        missing = has.lacks(Need(7.8, 90)) if "noComplete" not in words and "expect_tx" not in words else ""
        if missing:
            return Wrong("needs", f"a count without .noComplete needs {missing}", 2)
    if opcode == "cp":
        for i, operand in enumerate(instruction.operands):
            named = operand.register if isinstance(operand, Negated) else operand
            if isinstance(named, Register) and named.type.kind == "p" and (missing := has.lacks(Need(7.5, 80))):
                return Wrong("needs", f"the predicate ignore-src needs {missing}", i)
    if "ftz" in words and has.version < (1, 4):
        return Wrong("needs", ".ftz needs PTX 1.4", word="ftz")
    if opcode in GENERIC and has.lacks(Need(2.0, 20)) and not any(w in SHARED or w in ELSEWHERE or w == "global" for w in words):
        return Wrong("needs", "generic addresses need PTX 2.0 and sm_20", help="name the state space")
    if opcode in ("add", "sub", "mul") and "f64" in words and capability(has.target)[0] < 13 and ("rm" in words or "rp" in words):
        return Wrong("needs", "a rounding of .f64 needs sm_13", word="rm" if "rm" in words else "rp")
    if opcode in TEXTURES:
        wrong = _texture(instruction, settled, has)
        if wrong is not None:
            return wrong
    if opcode in ("ld", "st", "ldu"):
        wrong = _too_wide(instruction, settled, has)
        if wrong is not None:
            return wrong
    if opcode in ("shfl", "vote") and "sync" not in words and has.version >= (6, 4) and capability(has.target)[0] >= 70:
        return Wrong("needs", f"{opcode} without .sync ended with PTX 6.4 on sm_70 and later", help=f"write {opcode}.sync")
    if opcode == "wmma" and "aligned" not in words and has.version >= (6, 3):
        return Wrong("needs", "wmma without .aligned ended with PTX 6.3", help="write .sync.aligned")
    if opcode == "cvt" and ("e4m3x2" in words or "e5m2x2" in words) and has.version < (8, 1) and capability(has.target)[0] < 90:
        return Wrong("needs", "bytes of floating point need sm_90, or PTX 8.1")
    return None


GENERIC = frozenset({"ld", "st", "atom", "red"})
TEXTURES = frozenset({"tex", "tld4", "txq", "suld", "sust", "sured", "suq"})


def _texture(instruction: Instruction, settled: Settled, has: Has) -> Wrong | None:
    """What textures and surfaces need beyond their words: handles in registers, results that are pairs."""
    operands = instruction.operands
    for i, operand in enumerate(operands):
        if isinstance(operand, Address) and isinstance(operand.base, Register) and (missing := has.lacks(Need(3.1, 20))):
            return Wrong("needs", f"a handle in a register needs {missing}", i)
        if isinstance(operand, Pair) and (missing := has.lacks(Need(7.1, 60))):
            return Wrong("needs", f"the predicate of {instruction.opcode} needs {missing}", i)
    geometry = settled.get("geom")
    if instruction.opcode in ("suld", "sust", "sured") and geometry in ("3d", "a1d", "a2d") and (missing := has.lacks(Need(3.0, 20))):
        return Wrong("needs", f".{geometry} needs {missing}", word=str(geometry))
    return None


def _too_wide(instruction: Instruction, settled: Settled, has: Has) -> Wrong | None:
    vec, kind = settled.get("vec"), settled.get("type")
    words = instruction.modifiers
    evict = next((w for w in words if w.startswith("L2::evict_")), "")
    if evict and isinstance(kind, str) and int(str(vec or "v1")[1:]) * TYPES[kind].bits != 256:
        return Wrong("word-and-space", f".{evict} goes with accesses of 256 bits only: .v8.b32 or .v4.b64", word=evict)
    if not isinstance(vec, str) or not isinstance(kind, str):
        return None
    bits = int(vec[1:]) * TYPES[kind].bits
    if kind == "b128":
        return Wrong("vector-size", "a vector of .b128 is too large for one access", word=vec)
    if bits <= 128:
        return None
    if bits > 256 or instruction.opcode == "ldu" or TYPES[kind].bits < 32:
        return Wrong("vector-size", f"{vec[1:]} elements of .{kind} are too many for one access", word=vec)
    if has.version < (8, 8) or capability(has.target)[0] < 100:
        return Wrong("needs", f"an access of {bits} bits needs PTX 8.8 and sm_100", word=vec)
    near = next((w for w in words if w in SHARED or w in ELSEWHERE), "")
    if near:
        return Wrong("word-and-space", f"an access of {bits} bits goes to .global, not to .{near}", word=near)
    return None
