"""`warplab litmus --explain`: the cycle that forbids an outcome, an execution that has it, and the same as a picture."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from tests.runtime.litmus.herd import text_of
from warplab.interpreter.litmus.relations import bits
from warplab.interpreter.litmus.why import AXIOMS, RELATIONS, Explanation
from warplab.runtime.cli import main
from warplab.runtime.litmus.herd.judge import judge_herd
from warplab.runtime.litmus.herd.parse import parse

MISSED = "exists (P0:r1 == 0 /\\ P1:r1 == 0)"
STALE = "exists (P1:r1 == 1 /\\ P1:r2 == 0)"


def why(columns: Sequence[str], condition: str, first: str = "x=0; y=0;") -> Explanation:
    split = [[i.strip() for i in column.split(";")] for column in columns]
    test = parse(text_of(split, condition, "00 10 20 30"[: 3 * len(columns) - 1], first), "made.litmus")
    found = judge_herd(test, explain=True).explanation
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("columns", "condition", "axiom", "relations"),
    [
        (["st.weak x, 1; fence.sc.gpu; ld.weak r1, y", "st.weak y, 1; fence.sc.gpu; ld.weak r1, x"], MISSED, "Causality", "fr po sc po"),
        (["st.weak x, 1; st.release.gpu y, 1", "ld.acquire.gpu r1, y; ld.weak r2, x"], STALE, "Causality", "fr po sync po"),
        (["st.weak x, 1; ld.weak r1, x", "st.weak y, 1"], "exists (P0:r1 == 0)", "Causality", "fr po"),
        (["ld.weak r1, x; st.weak x, 1"], "exists (P0:r1 == 1)", "Causality", "rf po"),
        (["st.weak x, 1; st.weak x, 2"], "exists (x == 1)", "Coherence", "co po"),
        (["atom.relaxed.gpu.add r1, x, 1", "atom.relaxed.gpu.add r1, x, 1"], "exists (P0:r1 == 0 /\\ P1:r1 == 0)", "Atomicity", "fr co"),
        (["ld.weak r1, x; st.weak y, r1", "ld.weak r1, y; st.weak x, r1", "ld.weak r1, z; beq r1, 0, L; st.weak x, 1; L:", "st.weak z, 1"],
         "exists (P0:r1 == 1 /\\ P1:r1 == 1 /\\ P2:r1 == 0)", "No-Thin-Air", "dep rf"),
        (["atom.relaxed.gpu.exch r1, x, 2", "st.relaxed.gpu x, 1"], "exists (P0:r1 == 1 /\\ x == 1)", "SC-per-location", "co rf"),
        (["st.weak x, 1; fence.proxy.constant; st.release.gpu y, 1", "ld.acquire.gpu r1, y; fence.proxy.constant; cold.weak r2, c"], STALE,
         "Causality", "fr po sync po po"),
    ],
)  # fmt: skip
def test_the_cycle_that_forbids(columns: list[str], condition: str, axiom: str, relations: str) -> None:
    x = why(columns, condition, "x=0; y=0; c @ constant aliases x;")
    assert not x.is_allowed and x.axiom == axiom and x.broken[axiom] >= 1 and set(x.broken) <= set(AXIOMS)
    assert {step.relation for step in x.cycle} <= set(relations.split()) <= set(RELATIONS)
    assert all(a.j == b.i for a, b in zip(x.cycle, (*x.cycle[1:], x.cycle[0]), strict=True))


def test_an_execution_that_allows() -> None:
    x = why(["st.weak x, 1; ld.weak r1, y", "st.weak y, 1; ld.weak r1, x"], MISSED)
    assert x.is_allowed and x.candidate is not None and not x.cycle
    c = x.candidate
    assert {(c.events[w].written, c.events[r].read) for w, row in enumerate(x.sources) for r in bits(row)} == {(0, 0)}
    last = why(["st.relaxed.gpu x, 1", "st.relaxed.gpu x, 2"], "exists (x == 1)")
    assert last.is_allowed and any(any(order) for order in last.coherence.values())


def test_what_no_way_leads_to() -> None:
    assert why(["ld.weak r1, x"], "exists (P0:r1 == 5)").candidate is None


def run(path: Path, *words: str) -> str:
    result = CliRunner().invoke(main, ["litmus", str(path), "--schedules", "0", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_text_json_and_picture(tmp_path: Path) -> None:
    path, svg = tmp_path / "sb.litmus", tmp_path / "sb.svg"
    fenced = [["st.weak x, 1", "fence.sc.gpu", "ld.weak r1, y"], ["st.weak y, 1", "fence.sc.gpu", "ld.weak r1, x"]]
    path.write_text(text_of(fenced, "~exists (P0:r1 == 0 /\\ P1:r1 == 0)", "00 10"))
    text = run(path, "--explain", "--svg", str(svg))
    assert "why: each of the 2 executions with this outcome breaks an axiom (Causality 2)" in text
    assert re.search(r"\(2\)  P\d     line 6    st\.weak [xy] = 1  --po--> \(3\)", text), text
    root = ElementTree.parse(svg).getroot()
    texts = [node.text for node in root.iter() if node.tag.endswith("text")]
    assert texts.count("fence.sc.gpu") == 2 and "forbidden by Causality: no read contradicts causality order" in texts
    assert sum(node.get("stroke-width") == "2.4" for node in root.iter()) == 4  # the cycle
    (found,) = json.loads(run(path, "--explain", "--json"))
    assert found["explanation"]["axiom"] == "Causality" and len(found["explanation"]["cycle"]) == 4


PTX = """//@ run --grid 2 --block 1
//@ {0} r0=1 r1=0
.version 8.0
.target sm_90
.address_size 64
.global .u32 x, y, r0, r1;
.visible .entry k()
{{
    .reg .u32 %me, %a, %b;
    .reg .pred %is;
    mov.u32 %me, %ctaid.x;
    setp.eq.u32 %is, %me, 1;
    @%is bra P1;
    st.global.u32 [x], 1;
    st.{1}.gpu.global.u32 [y], 1;
    ret;
P1: ld.acquire.gpu.global.u32 %a, [y];
    ld.global.u32 %b, [x];
    st.global.u32 [r0], %a;
    st.global.u32 [r1], %b;
    ret;
}}
"""


def test_ptx_is_explained_as_well(tmp_path: Path) -> None:
    path = tmp_path / "t.ptx"
    path.write_text(PTX.format("forbids", "release"))
    text = run(path, "--explain")
    assert "--sync--> (4)" in text and "ld.acquire.gpu y = 1" in text
    path.write_text(PTX.format("allows", "relaxed"))
    text = run(path, "--explain", "--svg", str(tmp_path / "t.svg"))
    assert "why: this execution breaks no axiom" in text and "st.relaxed.gpu y = 1" in text


def test_one_picture_is_of_one_condition(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.litmus").write_text(text_of([["st.weak x, 1"]], "exists (x == 1)", "00"))
    result = CliRunner().invoke(main, ["litmus", str(tmp_path), "--svg", str(tmp_path / "t.svg")])
    assert result.exit_code == 2 and "there are 2: choose a test with -k" in result.output
