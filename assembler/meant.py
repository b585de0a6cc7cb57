"""What a person most likely meant by an opcode that PTX does not have."""

from __future__ import annotations

from warplab.isa import ops as _ops  # noqa: F401  fills FORMS
from warplab.isa.foreign import component, in_ptx
from warplab.isa.notation import FORMS
from warplab.isa.special import SPECIAL

from .diagnostics import nearest


def opcode_meant(opcode: str, words: tuple[str, ...] = ()) -> str:
    """Advice about an opcode with its words; "" where there is none."""
    lower = opcode.lower()
    if lower in FORMS and lower != opcode:
        return f"PTX is written in lower case: {'.'.join((lower, *map(str.lower, words)))}"
    said = (component(opcode, words[0]) if words else "") or in_ptx(opcode)
    if not said and f"%{opcode}" in SPECIAL:
        said = f"{'.'.join((f'%{opcode}', *words))} is a special register: mov copies it to a register"
    near = None if said else nearest(opcode, FORMS)
    return said or (f"is {near} meant?" if near else "")
