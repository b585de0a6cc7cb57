"""What ptxas makes of a sampler outside of independent mode, where a texture brings its own.

It reads the operands of a plane one place further: the sampler's number counts as the coordinates, which so small lie at the origin, and the
coordinates count as an offset in texels.
"""

from __future__ import annotations

from dataclasses import replace

from warplab.assembler.flow import BasicBlock, Flow
from warplab.assembler.ir import Address, Immediate, Instruction, Vector, shape_of

INDEPENDENT = "texmode_independent"
ORIGIN = Vector((Immediate(0, "f32"), Immediate(0, "f32")))


def without_samplers(f: Flow) -> Flow:
    """The flow of a function of a unified module."""
    if not any(_shifted(i) is not i for b in f.blocks for i in b.instructions):
        return f
    return replace(f, blocks=tuple([_block(b) for b in f.blocks]))


def _block(b: BasicBlock) -> BasicBlock:
    return replace(b, instructions=tuple([_shifted(i) for i in b.instructions]))


def _shifted(i: Instruction) -> Instruction:
    if i.form is None or i.settled is None or i.form.facts.unit != "texture" or len(i.operands) != 2:
        return i
    target, source = i.operands
    if not isinstance(source, Address) or len(source.parts) != 2 or i.settled.get("geom") != "2d" or i.settled.get("ctype") != "f32":
        return i
    operands = target, replace(source, parts=(ORIGIN,)), source.parts[1]
    return replace(i, shape=shape_of(i.opcode, i.modifiers, operands), operands=operands)
