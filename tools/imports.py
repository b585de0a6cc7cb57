"""The imports of each room: a graph of its files and folders, drawn as a Mermaid flowchart in the room's README."""

from __future__ import annotations

import ast
import functools
import gc
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("isa", "assembler", "interpreter", "runtime")
HEADING = "## Imports"
FRONT = "An arrow points from the importing module to the imported one; imports that a longer path implies are left out. Files in one box import each other."
Graph = dict[str, set[str]]


def trees(room: str) -> dict[Path, ast.Module]:
    """Each file of a room, as Python reads it; without the garbage collector, which looks at a million nodes again and again."""
    gc.disable()
    try:
        return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / room).rglob("*.py"))}
    finally:
        gc.enable()


@functools.cache  # reading the files takes a second
def modules(room: str) -> Graph:
    """Each module of a room, by its dotted name, with the modules of the room that it imports anywhere in its text."""
    read = trees(room)
    files = {name(path): path for path in read}
    graph: Graph = {}
    for module, path in files.items():
        package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
        found: set[str] = set()
        for node in ast.walk(read[path]):
            if isinstance(node, ast.ImportFrom):
                base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")] if node.level else [node.module or ""]
                source = ".".join(filter(None, base))
                found |= {inner if (inner := f"{source}.{a.name}") in files else source for a in node.names}
            elif isinstance(node, ast.Import):
                found |= {a.name for a in node.names}
        graph[module] = found & files.keys() - {module}
    return graph


def name(path: Path) -> str:
    """The dotted name under which a file is imported."""
    return ".".join(["warplab", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")


def reachable(graph: Graph) -> Graph:
    """What each node leads to, over any number of arrows."""
    out = {a: set(b) for a, b in graph.items()}
    for middle in graph:
        for a in graph:
            if middle in out[a]:
                out[a] |= out[middle]
    return out


def circles(graph: Graph) -> list[list[str]]:
    """Groups of nodes that lead to each other, and single nodes, in order of their names."""
    reach = reachable(graph)
    groups = {tuple(sorted({a, *(b for b in reach[a] if a in reach[b])})) for a in graph}
    return [list(g) for g in sorted(groups)]


def parts(room: str) -> Graph:
    """The graph of what stands in a room's folder: its files and its folders, each folder as one node; without the room's __init__."""
    top = f"warplab.{room}"

    def part(module: str) -> str:
        place = module.removeprefix(top).strip(".").split(".")[0]
        return f"{place}/" if (ROOT / room / place).is_dir() else place

    out: Graph = {}
    for module, imported in modules(room).items():
        if module != top:
            out.setdefault(part(module), set()).update({part(m) for m in imported if m != top} - {part(module)})
    return out


def flowchart(graph: Graph) -> str:
    """A graph as a Mermaid flowchart; circles are one box each, arrows that others imply are left out."""
    boxes = {box[0].rstrip("/"): box for box in circles(graph)}
    box_of = {node: first for first, box in boxes.items() for node in box}
    arrows = {first: {box_of[b] for a in box for b in graph[a]} - {first} for first, box in boxes.items()}
    reach = reachable(arrows)
    lines = ["flowchart TD", *(f'    {first}["{" ".join(box)}"]' for first, box in boxes.items())]
    for a in arrows:
        direct = [b for b in sorted(arrows[a]) if not any(b in reach[c] for c in arrows[a])]
        lines += [f"    {a} --> {' & '.join(direct)}"] if direct else []
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """The READMEs of the rooms, each with its picture as the last section."""
    out = {}
    for room in ROOMS:
        text = (ROOT / room / "README.md").read_text(encoding="utf-8")
        before = re.split(rf"^{HEADING}$", text, flags=re.M)[0].rstrip()
        out[f"../{room}/README.md"] = f"{before}\n\n{HEADING}\n\n{FRONT}\n\n```mermaid\n{flowchart(parts(room))}\n```\n"
    return out
