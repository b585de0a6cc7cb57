"""Reports: tables, advice with its numbers, pictures, the page's document tree, traces, and the commands that print them."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from warplab.interpreter.profiler import KernelProfile, Sample
from warplab.isa.profiles import profile as device
from warplab.runtime.cli import main
from warplab.runtime.cli.measuring.occupancy import occupancy
from warplab.runtime.cli.measuring.profile import profile
from warplab.runtime.golden.output import call
from warplab.runtime.profiler import profiling
from warplab.runtime.reports.advice import EXPLANATIONS, Advice, advice
from warplab.runtime.reports.compare import comparison
from warplab.runtime.reports.data import as_data
from warplab.runtime.reports.drawn.pictures import picture, transactions
from warplab.runtime.reports.page.html import page
from warplab.runtime.reports.programs.trace import trace
from warplab.runtime.reports.text import report
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import directives

from ..ptx import kernel
from .figures import GLOBAL, SHARED, figures, sample, shared_figure

SAMPLES = Path(__file__).parents[3] / "samples"
TURNED, VECADD = SAMPLES / "matmul/5_turned.ptx", SAMPLES / "vecadd.ptx"

# Reads and writes a column: lanes 128 bytes apart; the odd lanes do more.
COLUMN = kernel("column")


def profiled(text: str, name: str = "k.ptx", target: str = "") -> KernelProfile:
    """The one launch that a text's comment asks for."""
    (spec,) = directives(text)
    runner = Runner([text.encode()], [name], spec if not target else type(spec)(spec.launches, device=target, device_rules_only=True), None)
    with profiling() as p:
        runner.run()
    return p.launches[0]


@pytest.fixture(scope="module")
def column() -> KernelProfile:
    return profiled(COLUMN, "column.ptx")


@pytest.fixture(scope="module")
def turned() -> KernelProfile:
    return profiled(TURNED.read_text(), "5_turned.ptx")


# ---------------------------------------------------------------- advice and tables


def test_advice_names_line_number_and_remedy(column: KernelProfile, turned: KernelProfile) -> None:
    said = {a.kind: str(a) for a in advice(column)}
    # 48 threads make two requests, of 32 and 16 sectors.
    apart = "24 sectors per request where 3 would do: neighbouring lanes are 128 bytes apart; transpose or stage through shared memory"
    assert [str(a) for a in advice(column) if a.kind == "uncoalesced"] == [f"lines 11, 19: {apart}"]
    assert said["divergence"].startswith("line 14: the lanes of 100.0 % of the warps diverge here")
    assert "leave 16 lanes of their last warp idle" in said["partial-warps"]
    conflict = next(a for a in advice(turned) if a.kind == "bank-conflict")
    assert "32 passes per shared access where 1 would do: lanes are 32 words apart" in conflict.text
    assert conflict.line and "st.shared" in TURNED.read_text().splitlines()[conflict.line - 1]
    assert all(a.explanation and a.kind in EXPLANATIONS for p in (column, turned) for a in advice(p))
    costs = [a.cost for a in advice(turned)]
    assert costs == sorted(costs, reverse=True)


def test_the_terminal_report_says_it_all(column: KernelProfile) -> None:
    text = report(column)
    for piece in ("column<<<1, 48>>> on sm_90 (H200)", "occupancy", "global ld sectors", "24.0", "advice", "FLOP"):
        assert piece in text
    assert max(map(len, report(column, full=True).splitlines())) < 240


def test_comparison(turned: KernelProfile) -> None:
    padded = profiled((SAMPLES / "matmul/6_padded.ptx").read_text())
    text = comparison(turned, padded)
    assert re.search(r"shared st conflicts +63,488 +0 +gone", text) and re.search(r"f32 FLOP +4,194,304 +4,194,304 +=", text)


# ---------------------------------------------------------------- pictures


def test_pictures_in_text(column: KernelProfile, turned: KernelProfile) -> None:
    text = picture(column, 11)
    assert text.count("32 B at 0x") == 32 and "32 transactions for one warp, 4 bytes per lane" in text
    line = next(a.line for a in advice(turned) if a.kind == "bank-conflict")
    assert line is not None and "bank  0  " + "#" * 32 in picture(turned, line)
    assert picture(column, 1) == "line 1 reaches no global or shared memory"


@pytest.mark.parametrize(
    ("target", "cached", "pieces"),
    [
        ("1.0", None, [(7, 32, 128), (8, 32, 160), (8, 32, 192), (8, 32, 224), (1, 32, 256)]),
        ("1.2", None, [(1, 128, 128), (1, 64, 192), (1, 32, 256)]),
        ("2.0", True, [(1, 128, 128), (1, 128, 256)]),
        ("3.0", False, [(1, 32, 128), (1, 32, 160), (1, 32, 192), (1, 32, 224), (1, 32, 256)]),
        ("9.0", None, [(1, 32, 128), (1, 32, 160), (1, 32, 192), (1, 32, 224), (1, 32, 256)]),
    ],
)
def test_pieces_of_the_misaligned_figure(target: str, cached: bool | None, pieces: list[tuple[int, int, int]]) -> None:
    found = transactions(device(target), sample(GLOBAL["misaligned by a word"]), cached=cached)
    assert [(p.count, p.size, p.base) for p in found] == pieces
    assert sorted(lane for p in found for lane in p.lanes if p.base == found[-1].base)[-1] == 31


@pytest.mark.parametrize(("target", "passes"), [("1.0", [2, 4, 2, 2, 2, 4]), ("2.0", [1, 2, 1, 1, 1, 1]), ("3.0", [1, 1, 1, 1, 1, 1])])
def test_passes_of_the_shared_figures(target: str, passes: list[int]) -> None:
    said = [shared_figure(device(target), name) for name in SHARED]
    assert [int(re.search(r"sm_\d+: (\d+) pass", s)[1]) for s in said] == passes  # type: ignore[index]


def test_every_figure_is_a_picture_of_32_lanes() -> None:
    for name, text in figures().items():
        root = ElementTree.fromstring(text)
        titles = [t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}title")]
        assert sum(t.startswith("lane ") for t in titles) == 32, name
        assert root.attrib["aria-label"]


def test_the_documents_show_these_figures_and_explain_all_advice() -> None:
    docs = SAMPLES.parent / "docs"
    drawn = figures()
    assert {f.name for f in (docs / "pictures").glob("*_sm_*.svg")} == set(drawn)
    assert all((docs / "pictures" / name).read_text() == text + "\n" for name, text in drawn.items())
    words = (docs / "profiling.md").read_text()
    assert all(f"pictures/{name})" in words for name in drawn)
    for kind, text in EXPLANATIONS.items():
        code, out, _ = call(Advice(kind, None, "", 0.0).page.split()[1:])
        assert code == 0 and text in " ".join(out.split()), kind


def test_inactive_lanes_have_no_wire() -> None:
    found = transactions(device("9.0"), Sample(tuple(4 * k if k % 2 else None for k in range(32)), 4, 4))
    assert [p.lanes for p in found] == [tuple(range(b + 1, b + 8, 2)) for b in (0, 8, 16, 24)]


# ---------------------------------------------------------------- the page


class Tree(HTMLParser):
    """Checks that elements close, and collects what the tests ask for."""

    VOID = frozenset({"meta", "br", "rect", "path", "circle", "polyline", "polygon"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: dict[str, int] = {}
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name == "href" and value:
                self.links.append(value)
            if name in ("src", "href") and value and not value.startswith("#"):
                self.outside.append(value)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(column: KernelProfile, turned: KernelProfile) -> None:
    text = page([column, turned])
    tree = Tree()
    tree.feed(text)
    assert not tree.open and not tree.outside and "script" not in tree.tags
    assert len(tree.ids) == len(set(tree.ids)) and all(link[1:] in tree.ids for link in tree.links)
    assert f"0-line{COLUMN.count(chr(10))}" in tree.ids and tree.tags["svg"] >= 12
    assert "prefers-color-scheme: dark" in text and text.startswith("<!DOCTYPE html>")
    assert "&lt;" in text and "column&lt;&lt;&lt;1, 48" in text


def test_notebooks_get_a_fragment(column: KernelProfile) -> None:
    text = column._repr_html_()
    assert "<html" not in text and "<h2>Roofs</h2>" in text
    with profiling() as p:
        pass
    assert "Nothing was launched" in p._repr_html_()


def test_names_cannot_break_the_page() -> None:
    text = page([profiled(COLUMN.replace("//@", "// <script>alert(1)</script>\n//@"), "<b>.ptx")])
    assert "<script>" not in text and "<b>" not in text.replace("<b>", "", text.count('<div class="tile"><b>'))


# ---------------------------------------------------------------- data, traces, commands


def test_json_and_trace(column: KernelProfile) -> None:
    data = json.loads(json.dumps(as_data(column)))
    assert data["metrics"] == column.metrics
    loads = next(i for i in data["instructions"] if i["line"] == 11)
    assert loads["accesses"][0]["sectors"] == 48 and loads["accesses"][0]["requests"] == 2
    events = json.loads(json.dumps(trace([column, column])))["traceEvents"]
    kernels = [e for e in events if e["ph"] == "X" and e["tid"] == 1]
    assert [k["name"] for k in kernels] == ["column", "column"]
    assert kernels[1]["ts"] == pytest.approx(kernels[0]["dur"]) and all(e["dur"] >= 0 for e in events if e["ph"] == "X")
    assert {e["ph"] for e in events} == {"M", "X", "C"}


def test_the_profile_command(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert "vecadd<<<4, 256>>> on sm_35" in run(profile, [str(VECADD), "--device", "sm_35", "--device-rules-only"]).output
    rows = list(csv.DictReader(io.StringIO(run(profile, [str(VECADD), "--csv", "--metrics", "global ld sectors,f32 FLOP"]).output)))
    assert [(r["name"], float(r["value"])) for r in rows] == [("global ld sectors", 250.0), ("f32 FLOP", 1000.0)]
    both = run(profile, [str(VECADD), "--html", str(tmp_path / "p.html"), "--trace", str(tmp_path / "t.json")])
    assert (both.exit_code, both.stdout) == (0, "") and both.stderr == f"wrote {tmp_path}/p.html\nwrote {tmp_path}/t.json\n"
    run(main, ["profile", str(VECADD), "--compare", str(VECADD), "--html", str(tmp_path / "two.html")])
    two = (tmp_path / "two.html").read_text()
    assert "<th>A to B</th>" in two and 'B: <a href="#1-launch">' in two and two.count("<td>=</td>") > 5
    assert "vecadd" in (tmp_path / "p.html").read_text() and json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert json.loads(run(profile, [str(VECADD), "--json"]).output)[0]["kernel"] == "vecadd"
    assert len(run(profile, [str(VECADD), "--set", "full"]).output) > len(run(profile, [str(VECADD), "--set", "basic"]).output)
    assert "x 1" not in run(profile, [str(VECADD), "--compare", str(VECADD)]).output
    wrong = run(profile, [str(VECADD), "--metrics", "global ld sector"])
    assert wrong.exit_code == 2 and "Did you mean 'global ld sectors'" in wrong.output


def test_the_occupancy_command() -> None:
    run = CliRunner().invoke
    text = run(occupancy, ["--threads", "512", "--registers", "16", "--device", "sm_12"]).output
    assert "2 blocks, 32 of 32 warps: 100.0 %" in text and "at 17 registers per thread, one resident block fewer" in text
    data = json.loads(run(occupancy, [str(VECADD), "--threads", "256", "--json"]).output)
    assert data["blocks"] == 8 and data["registers"] > 0
    assert run(occupancy, ["--device", "best"]).exit_code == 2


def test_html_shows_what_there_is(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("// first\n__global__ void k() { work(); } // <here>\n")
    text = f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{{
    .reg .b64 %a; .reg .b32 %t; .reg .pred %p;
    .loc 1 2 0
    mov.u32 %t, %tid.x;  // a <comment>
    ld.param.u64 %a, [x];
    mad.wide.u32 %a, %t, 64, %a;
    st.global.u32 [%a], %t;
    st.global.u32 [%a+4], %t;
    setp.eq.u32 %p, %t, 0;
    @%p st.global.u32 [%a+8], 0x1F;
    ret;
}}
.file 1 "{source}"
"""
    path = tmp_path / "k.ptx"
    path.write_text(text)
    done = CliRunner().invoke(main, ["profile", str(path), "--block", "32", "--arg", "x=u32:1024", "--html", str(tmp_path / "p.html")])
    assert done.exit_code == 0, done.stderr
    page = (tmp_path / "p.html").read_text()
    assert "<th>passes/req</th>" not in page and "<th>sectors/req</th>" in page, "columns that are empty are left out"
    assert '<span class="o">mad.wide.u32</span> %a, %t, <span class="n">64</span>, %a;' in page
    assert '<span class="c">// a &lt;comment&gt;</span>' in page
    assert '@%p <span class="o">st.global.u32</span> [%a+<span class="n">8</span>], <span class="n">0x1F</span>;' in page
    source_row = re.search(r'<tr id="(0-s0-2)" class="of" style="--hue:(\d+)"><td><a href="#(0-p0-0-\d+)">2</a>.*?</tr>', page)
    assert source_row is not None and "__global__ void k() { work(); } // &lt;here&gt;" in source_row[0]
    row = re.search(
        rf'<tr id="{source_row[3]}" class="of" style="--hue:{source_row[2]}"><td><a href="#{source_row[1]}">2</a>.*?</tr>', page
    )
    assert row is not None and '<span class="o">mov.u32</span> %t' in row[0], (
        "the line and its first instruction have one colour, and lead to each other"
    )
    assert "lines 11, 12</a>: " in page, "the same advice about two lines is one"
    assert page.index("stage through shared memory") < page.index("have no work"), "a small launch is no news"
