"""The control flow of a function as people look at it: blocks with their text, edges, loops, and where diverged lanes meet.

`graph` gathers it, `as_text` and `as_dot` write it down; cfg_svg.py draws it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from warplab.isa.control import BRANCHES, JUMPS, TABLES

from ..demangle import demangled
from ..ir import Function, Instruction, Location
from ..listing import listing
from .analysis import BasicBlock, Flow, flow

EdgeKind = Literal["next", "taken", "fall", "case"]


@dataclass(frozen=True, slots=True)
class FlowNode:
    """One basic block."""

    index: int
    label: str
    text: tuple[str, ...]  # its instructions
    lines: tuple[int, int]  # first and last line of the text; (0, 0) for the empty end
    idom: int | None
    meets: int | None  # of a block that lanes may leave different ways: where they meet again; None: at the function's end
    diverges: bool
    gathers: tuple[int, ...]  # the blocks whose diverged lanes meet here
    loop: int | None
    depth: int  # loops around it
    header_of: int | None
    reachable: bool
    origins: tuple[str, ...] = ()  # of each instruction file and line of the .loc in force, as kernel.cu:7; "" where there is none

    @property
    def name(self) -> str:
        return f"B{self.index}"


@dataclass(frozen=True, slots=True)
class Edge:
    """One way from a block to another."""

    source: int
    target: int
    kind: EdgeKind
    text: str  # the predicate, or the places in the table of a brx
    back: bool


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """One natural loop."""

    index: int
    header: int
    latches: tuple[int, ...]
    blocks: tuple[int, ...]
    parent: int | None
    depth: int


@dataclass(frozen=True, slots=True)
class FlowGraph:
    """The control flow of one function."""

    name: str
    is_entry: bool
    nodes: tuple[FlowNode, ...]
    edges: tuple[Edge, ...]
    loops: tuple[LoopFacts, ...]
    order: tuple[int, ...]  # all nodes: those that nothing reaches, then the others in reverse postorder
    irreducible: bool


def graph(function: Function, text: str, files: Mapping[int, str] = MappingProxyType({})) -> FlowGraph:
    """The graph of a function with a body; text and files are those of its module."""
    found = flow(function)
    places = [s for s in listing(function).statements if isinstance(s, Location)] if files else []
    blocks = [b for b in found.blocks if b.instructions or b.labels or found.predecessors[b.index] or b.index == 0]
    diverging = {b.index: _diverges(b) and b.index in found.reachable for b in blocks}
    gathers: dict[int, list[int]] = {}
    for b in blocks:
        meets = found.ipdom[b.index]
        if diverging[b.index] and meets is not None:
            gathers.setdefault(meets, []).append(b.index)
    headers = {loop.header: loop for loop in found.loops}
    order = (*(b.index for b in blocks if b.index not in found.reachable), *found.rpo)
    place = {b: i for i, b in enumerate(order)}
    nodes = tuple(_node(found, b, text, diverging[b.index], tuple(gathers.get(b.index, ())), _origins(b, places, files)) for b in blocks)
    edges = tuple(Edge(b.index, target, kind, label, place[target] <= place[b.index]) for b in blocks for target, kind, label in _edges(b))
    loops = tuple(LoopFacts(n.index, n.header, n.latches, n.blocks, n.parent, n.depth) for n in headers.values())
    return FlowGraph(function.name, function.is_entry, nodes, edges, loops, order, found.irreducible)


def _node(found: Flow, b: BasicBlock, text: str, diverges: bool, gathers: tuple[int, ...], origins: tuple[str, ...]) -> FlowNode:
    loop = found.loop_of[b.index]
    header = next((n.index for n in found.loops if n.header == b.index), None)
    spans = [i.span for i in b.instructions]
    lines = (spans[0].line, spans[-1].line) if spans else (0, 0)
    return FlowNode(
        b.index,
        b.labels[-1].name if b.labels else "",
        tuple(" ".join(text[s.start : s.end].split()) for s in spans),
        lines,
        found.idom[b.index],
        found.ipdom[b.index] if diverges else None,
        diverges,
        gathers,
        loop,
        found.loops[loop].depth if loop is not None else 0,
        header,
        b.index in found.reachable,
        origins,
    )


def _origins(b: BasicBlock, places: Sequence[Location], files: Mapping[int, str]) -> tuple[str, ...]:
    starts = [p.span.start for p in places]
    found = [bisect_right(starts, i.span.start) - 1 for i in b.instructions]
    return tuple(f"{files.get(places[n].file, '').rpartition('/')[2]}:{places[n].line}" if n >= 0 and places[n].line else "" for n in found)


def _diverges(b: BasicBlock) -> bool:
    """May lanes of one warp leave this block different ways?"""
    last = b.terminator
    return last is not None and last.opcode in BRANCHES and len(set(b.successors)) > 1 and "uni" not in last.modifiers


def _guard(i: Instruction) -> str:
    return "" if i.guard is None else f"@{'!' * i.guard_negated}{i.guard.name}"


def _edges(b: BasicBlock) -> Iterator[tuple[int, EdgeKind, str]]:
    """The ways out, each target once."""
    last = b.terminator
    if last is not None and last.opcode in TABLES:
        table: dict[int, list[int]] = {}
        count = len(b.successors) - (last.guard is not None)
        for i, target in enumerate(b.successors[:count]):
            table.setdefault(target, []).append(i)
        for target, places in table.items():
            yield target, "case", ",".join(map(str, places))
        if last.guard is not None:
            yield b.successors[-1], "fall", ""
        return
    for i, target in enumerate(b.successors):
        if last is None or last.opcode not in JUMPS or last.guard is None:
            yield target, "taken" if last is not None and last.opcode in JUMPS else "next", ""
        else:
            yield target, ("taken", "fall")[i], _guard(last) if i == 0 else ""


# ---------------------------------------------------------------- text and dot


def notes(g: FlowGraph, n: FlowNode) -> list[str]:
    """What is remarkable about a block, in words."""
    found: list[str] = []
    if n.header_of is not None:
        loop = next(x for x in g.loops if x.index == n.header_of)
        latches = ", ".join(f"B{b}" for b in loop.latches)
        inside = f" in loop {loop.parent}" if loop.parent is not None else ""
        found.append(f"head of loop {loop.index}{inside} (back from {latches})")
    elif n.loop is not None:
        found.append(f"in loop {n.loop}")
    if n.gathers:
        found.append("reconvergence point of " + ", ".join(f"B{b}" for b in n.gathers))
    if n.diverges:
        found.append("lanes reconverge " + (f"at B{n.meets}" if n.meets is not None else "at the end of the function"))
    if not n.reachable:
        found.append("unreachable")
    return found


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def as_text(g: FlowGraph) -> str:
    """The graph as lines for a terminal."""
    facts = [_count(len(g.nodes), "block"), _count(len(g.edges), "edge"), _count(len(g.loops), "loop")]
    out = [f"{'.entry' if g.is_entry else '.func'} {demangled(g.name)}: {', '.join(facts + ['irreducible'] * g.irreducible)}"]
    ways: dict[int, list[str]] = {}
    for e in g.edges:
        how = f" ({e.text})" if e.text else ""
        ways.setdefault(e.source, []).append(f"B{e.target}{how}{' back' if e.back else ''}")
    for n in g.nodes:
        label = f" {n.label}" if n.label else ""
        lines = f"line{'s' * (n.lines[0] != n.lines[1])} {'-'.join(map(str, dict.fromkeys(n.lines)))}, " if n.lines[0] else ""
        size = lines + _count(len(n.text), "instruction")
        out += ["", f"{n.name}{label}: {size}" if n.text else f"{n.name}{label}: end of the body"]
        before = ""
        for line, origin in zip(n.text, n.origins, strict=True):
            out += [f"  {origin}"] * (origin not in ("", before)) + [f"    {line}"]
            before = origin
        out.append(f"  -> {', '.join(ways[n.index])}" if n.index in ways else "  -> leaves the function")
        if n.idom is not None:
            out.append(f"  dominated by B{n.idom}")
        out += [f"  {note}" for note in notes(g, n)]
    for loop in g.loops:
        members = " ".join(f"B{b}" for b in loop.blocks)
        inside = f" inside loop {loop.parent}" if loop.parent is not None else ""
        out += ["", f"loop {loop.index}{inside}, depth {loop.depth}: {members}"]
    return "\n".join(out) + "\n"


def as_dot(g: FlowGraph) -> str:
    """The graph in the language of Graphviz; loops are clusters, edges to the immediate dominator are dotted."""
    out = [f"digraph {_quoted(g.name)} {{", '  node [shape=box, fontname="monospace", fontsize=10];']
    for n in g.nodes:
        text = "\\l".join(_escaped(t) for t in (f"{n.name} {n.label}".strip(), *notes(g, n), *n.text)) + "\\l"
        style = ', style="bold"' if n.gathers else ', style="dashed"' if not n.reachable else ""
        out.append(f'  {n.name} [label="{text}"{style}];')
    for e in g.edges:
        marks = f'label="{_escaped(e.text)}"' + (', style="bold", constraint=false' if e.back else "")
        out.append(f"  B{e.source} -> B{e.target} [{marks}];")
    for n in g.nodes:
        if n.idom is not None:
            out.append(f'  B{n.idom} -> {n.name} [style="dotted", arrowhead="none", constraint=false, color="gray"];')
    for loop in g.loops:
        if loop.parent is None:
            out += _cluster(g, loop, "  ")
    return "\n".join([*out, "}"]) + "\n"


def _cluster(g: FlowGraph, loop: LoopFacts, indent: str) -> list[str]:
    out = [f"{indent}subgraph cluster_{loop.index} {{", f'{indent}  label="loop {loop.index}";']
    inner = [x for x in g.loops if x.parent == loop.index]
    own = set(loop.blocks).difference(*(x.blocks for x in inner))
    out.append(f"{indent}  {' '.join(f'B{b};' for b in sorted(own))}")
    for x in inner:
        out += _cluster(g, x, indent + "  ")
    return [*out, indent + "}"]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'
