"""Loads of which a pragma says which bytes are used: they read these alone.

A compiler widens loads beyond what a program wants, and beyond its arrays; `.pragma "used_bytes_mask 0xf0f"` before such a load says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from warplab.assembler.flow import BasicBlock, Flow
from warplab.assembler.ir import Address, Function, Instruction, Pragma, Sink, Vector, shape_of
from warplab.assembler.listing import listing
from warplab.isa.types import TYPES

PRAGMA = "used_bytes_mask"


def without_unused(f: Flow) -> Flow:
    """The flow with a load of each element that is used, in place of loads with unused ones."""
    if not any(isinstance(s, Pragma) for s in listing(f.function).rest):
        return f
    masks = dict(_masks(f.function))
    return replace(f, blocks=tuple([_expanded(b, masks) for b in f.blocks])) if masks else f


def _masks(function: Function) -> Iterator[tuple[int, int]]:
    """(the identity, the used bytes) of each instruction behind such a pragma."""
    mask: int | None = None
    for s in listing(function).statements:
        if isinstance(s, Pragma):
            for text in s.texts:
                name, _, value = text.strip().partition(" ")
                if name == PRAGMA:
                    mask = int(value, 0)
        elif isinstance(s, Instruction) and mask is not None:
            yield id(s), mask
            mask = None


def _expanded(b: BasicBlock, masks: dict[int, int]) -> BasicBlock:
    if masks.keys().isdisjoint(map(id, b.instructions)):
        return b
    pairs = [(piece, at) for i, at in zip(b.instructions, b.locations, strict=True) for piece in _pieces(i, masks.get(id(i)))]
    return replace(b, instructions=tuple([i for i, _ in pairs]), locations=tuple([at for _, at in pairs]))


def _pieces(i: Instruction, mask: int | None) -> list[Instruction]:
    """One instruction as it is, or the loads of the elements that are used; one that overwrites the address comes last."""
    if mask is None or i.form is None or i.settled is None or i.form.facts.access != "load":
        return [i]
    target, address, *rest = i.operands
    if not isinstance(target, Vector) or not isinstance(address, Address) or TYPES[str(i.settled["type"])].elements > 1:
        return [i]
    size = TYPES[str(i.settled["type"])].bytes
    used = [k for k in range(len(target.elements)) if mask >> k * size & (1 << size) - 1]
    if len(used) == len(target.elements) or not used:
        return [i]
    words = list(i.modifiers)
    words.remove(str(i.settled["vec"]))
    out = []
    for k in used:
        if isinstance(target.elements[k], Sink):
            continue
        operands = (target.elements[k], replace(address, offset=address.offset + k * size), *rest)
        out.append(replace(i, shape=shape_of(i.opcode, tuple(words), operands), operands=operands))
    return sorted(out, key=lambda piece: piece.operands[0] is address.base)
