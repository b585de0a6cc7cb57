"""Drawings of control flow: no edge runs behind a block."""

import random
import re
from itertools import pairwise
from pathlib import Path

import pytest

from warplab.assembler.flow.cfg import as_text, graph
from warplab.assembler.flow.cfg_svg import as_svg
from warplab.assembler.parse import parse

SAMPLES = Path(__file__).parents[2] / "samples"
_BOX = re.compile(r'<rect class="box[^"]*" x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)" height="([-\d.]+)"')
_EDGE = re.compile(r'<path class="edge [^"]*" d="([^"]*)"')
_STEP = re.compile(r"([MVHC])([-\d., ]+)")


def points(d: str) -> list[tuple[float, float]]:
    """Places along a path, close together."""
    out: list[tuple[float, float]] = []
    x = y = 0.0
    for kind, text in _STEP.findall(d):
        n = [float(v) for v in re.split(r"[ ,]+", text.strip())]
        match kind:
            case "M":
                path = [(n[0], n[1])]
            case "V":
                path = [(x, y + (n[0] - y) * t / 50) for t in range(51)]
            case "H":
                path = [(x + (n[0] - x) * t / 200, y) for t in range(201)]
            case _:
                start, (a, b, c, d2, e, f) = (x, y), n
                path = []
                for t in (k / 50 for k in range(51)):
                    u = 1 - t
                    w = (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
                    path.append((w[0] * start[0] + w[1] * a + w[2] * c + w[3] * e, w[0] * start[1] + w[1] * b + w[2] * d2 + w[3] * f))
        out += path
        x, y = path[-1]
    return out


def kernel(seed: int) -> str:
    """Blocks of different heights that jump to each other at random."""
    rng = random.Random(seed)
    lines = [".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n.reg .pred %p;\n.reg .b32 %r;"]
    blocks = rng.randint(3, 12)
    for b in range(blocks):
        lines += [f"L{b}:", *["add.u32 %r, %r, 1;"] * rng.randint(1, 9), f"@%p bra L{rng.randrange(blocks)};"]
    return "\n".join([*lines, "ret;\n}\n"])


@pytest.mark.parametrize(
    "text", [(SAMPLES / "mandelbrot.ptx").read_text(), *map(kernel, range(40))], ids=["mandelbrot", *map(str, range(40))]
)
def test_no_edge_runs_behind_a_block(text: str) -> None:
    function = next(f for f in parse(text).functions.values() if f.is_entry)
    drawing = as_svg(graph(function, text))
    boxes = [tuple(map(float, m)) for m in _BOX.findall(drawing)]
    edges = _EDGE.findall(drawing)
    assert boxes and edges
    for d in edges:
        for (x, y), _ in pairwise(points(d)):
            assert not any(left + 1 < x < left + w - 1 and top + 1 < y < top + h - 1 for left, top, w, h in boxes), (d, x, y)


def test_text_names_lines_of_the_source() -> None:
    text = """.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z1kPi(.param .u64 x)
{
    .reg .b32 %t;
    .loc 1 0 0
    mov.u32 %t, %tid.x;
    .loc 1 3 5
    add.u32 %t, %t, 1;
    add.u32 %t, %t, 2;
    .loc 1 4 1
    ret;
}
.file 1 "/src/k.cu"
"""
    module = parse(text)
    lines = as_text(graph(module.functions["_Z1kPi"], module.text, module.files)).splitlines()
    assert lines[0].startswith(".entry k(int*): 1 block")
    assert lines[3:9] == ["    mov.u32 %t, %tid.x;", "  k.cu:3", "    add.u32 %t, %t, 1;", "    add.u32 %t, %t, 2;", "  k.cu:4", "    ret;"]
