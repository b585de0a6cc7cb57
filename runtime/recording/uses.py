"""The types that instructions use registers with: compilers declare .b32 and let it hold whatever is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from warplab.interpreter.recorder.layout import RecordedInstruction
from warplab.isa.facts import opcodes
from warplab.isa.types import TYPES

COPIES = opcodes("moves_bits")
MOVES = COPIES | opcodes("moves_memory", "access")
PASSES = 4  # a type is handed on along so many moves


def used_types(instructions: Iterable[RecordedInstruction], function: str, declared: Mapping[str, str]) -> dict[str, str]:
    """Of each register of a function the type of most instructions that write it, else of those that read it, else the declared one.

    Moves and loads say little: compilers write .u32 there of whatever it is.  Of integers .s wins over .u.
    """
    written: dict[str, Counter[str]] = {}
    read: dict[str, Counter[str]] = {}
    moved: dict[str, Counter[str]] = {}
    moves = []
    for i in (i for i in instructions if i.function == function):
        opcode = next(w for w in i.text.split() if not w.startswith("@"))
        types = [w for w in opcode.rstrip(";").split(".") if w in TYPES]
        if not types:
            continue
        pairs = ((i.writes, types[0], written), (i.reads, types[-1], read))
        for names, type, votes in pairs:
            votes = moved if i.opcode in MOVES else votes
            for name in names:
                if name not in i.bases and name in declared and _says(type, declared[name]):
                    votes.setdefault(name, Counter())[type] += 1
        if i.opcode in COPIES and types[-1].startswith("b"):
            moves += [(target, source) for target in i.writes for source in i.reads]
    out = dict(declared)
    for name, type in declared.items():
        said = [v[name] for v in (written, read, moved) if name in v]
        if type.startswith("b") and said:
            found = said[0].most_common(1)[0][0]
            signed = f"s{found[1:]}"
            out[name] = signed if found.startswith("u") and any(signed in v for v in said) else found
    for _ in range(PASSES):
        for target, source in moves:
            for a, b in ((target, source), (source, target)):
                if out.get(a, "").startswith("b") and _says(out.get(b, ""), out[a]):
                    out[a] = out[b]
    return out


def _says(type: str, declared: str) -> bool:
    """Does the type of an instruction say what the bits of a register are?"""
    if type not in TYPES or declared not in TYPES:
        return False
    t = TYPES[type]
    return not type.startswith("b") and type != "pred" and t.elements == 1 and t.bits == TYPES[declared].bits
