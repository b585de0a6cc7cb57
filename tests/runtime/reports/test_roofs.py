"""The roofs in reports: tables, sentences, the picture, and the ladder of samples/matmul as its page has it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from warplab.interpreter.profiler import KernelProfile
from warplab.interpreter.timing.roofs import attainable, memories
from warplab.runtime.profiler import profiling
from warplab.runtime.reports.data import as_data
from warplab.runtime.reports.drawn.roofline import roofline
from warplab.runtime.reports.page.html import page
from warplab.runtime.reports.roofs import bound, intensities, quantization, roofs_table
from warplab.runtime.reports.tables import number, scaled
from warplab.runtime.reports.text import report
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import directives, from_text

MATMUL = Path(__file__).parents[3] / "samples" / "matmul"
LADDER, SIZE = "sm_53", 256  # a device whose L2 is smaller than three matrices


def profiled(name: str, options: str = "", *, time: bool = False) -> KernelProfile:
    text = (MATMUL / name).read_text()
    spec = from_text(options, 1) if options else directives(text)[0]
    with profiling(time=time) as p:
        outcome = Runner([text.encode()], [name], spec, None).run()
    assert not outcome.failure, outcome.failure
    return p.launches[0]


def step(file: Path) -> list[str]:
    """A row of the ladder's table."""
    shape = re.search(r"//@ run --grid (\d+),\d+ --block (\d+,\d+)", file.read_text())
    assert shape is not None
    grid = f"{int(shape[1]) * SIZE // 128},{int(shape[1]) * SIZE // 128}"
    arrays = " ".join(
        f"--arg {a}" for a in (f"a=f32[{SIZE},{SIZE}]:rand(1)", f"b=f32[{SIZE},{SIZE}]:rand(2)", f"out:c=f32[{SIZE},{SIZE}]", f"n={SIZE}")
    )
    p = profiled(file.name, f"--device {LADDER} --grid {grid} --block {shape[2]} {arrays}")
    seen = {r.name: number(r.intensity) if r.intensity else "" for r in memories(p)}
    places = [seen[name] for name in ("L1", "shared memory", "L2", "device memory")]
    return [f"`{file.name}`", grid, shape[2], *places, scaled(attainable(p), "FLOP/s")]


def test_the_ladder_is_that_of_the_page() -> None:
    rows = [f"| {' | '.join(step(file))} |".replace("|  |", "| |") for file in sorted(MATMUL.glob("[1-8]_*.ptx"))]
    text = (MATMUL / "README.md").read_text()
    assert "\n".join(rows) in text, "\n".join(rows)


def test_the_report_has_roofs_and_quantization() -> None:
    p = profiled("10_edges.ptx")
    said = report(p)
    assert roofs_table(p) in said and bound(p) in said and quantization(p) in said and intensities(p) in said
    assert quantization(p) == "31.6 % of the arithmetic is useful: the rest computes what is not stored"
    assert bound(p).startswith("lowest roof: shared memory, at most ")
    data = json.loads(json.dumps(as_data(p)))
    assert data["useful_arithmetic"] == pytest.approx(0.3164, abs=1e-4)
    assert [r["name"] for r in data["roofs"]] == ["FP32", "shared memory", "L1", "L2", "device memory"]


def test_the_last_wave() -> None:
    options = "--device sm_53 --grid {0} --block 256 --arg a=f32[4352] --arg b=f32[4352] --arg out:c=f32[4352] --arg n=4352"
    shown = quantization(profiled("../vecadd.ptx", options.format(17)))
    assert shown == "the last wave leaves 93.8 % of its block slots idle"  # 16 of the 17 blocks are resident together
    assert quantization(profiled("../vecadd.ptx", options.format(16))) == ""


@pytest.mark.parametrize("name", ["1_naive.ptx", "8_float4.ptx"])
def test_the_picture_has_a_dot_for_each_memory_and_one_for_the_text(name: str) -> None:
    p = profiled(name)
    drawn = ElementTree.fromstring(roofline(p, alone=True))
    space = "{http://www.w3.org/2000/svg}"
    titles = [t.text or "" for t in drawn.iter(f"{space}title")]
    used = [r for r in memories(p) if r.intensity]
    assert len(titles) == len(used) + 1
    assert all(any(t.endswith(f"of {r.name}") and number(r.intensity) in t for t in titles) for r in used)
    words = " ".join(t.text or "" for t in drawn.iter(f"{space}text"))
    for roof in ("FP32", "FP64", "FP16", "tensor", "as the program's text has it", "allowed by the lowest roof"):
        assert roof in words
    xs = [float(c.get("cx", "0")) for c in drawn.iter(f"{space}circle")]
    assert all(0 < x < 660 for x in xs)


def test_the_page_has_roofs() -> None:
    shown = page([profiled("8_float4.ptx", time=True)])
    assert "<h2>Roofs</h2>" in shown and 'aria-label="roofline"' in shown and "FLOP/s, predicted" in shown


def test_a_launch_without_arithmetic_has_no_roofline_but_roofs() -> None:
    text = (MATMUL.parent / "transpose" / "3_padded.ptx").read_text()
    with profiling() as p:
        Runner([text.encode()], ["t.ptx"], directives(text)[0], None).run()
    (one,) = p.launches
    assert "at least" in bound(one) and 'aria-label="roofline"' not in page([one]) and "device memory" in roofs_table(one)
