"""Pages of grades: causes with their lines, from real failures; files that are alike; a page for each student; kept results."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.grading import Lab, Report, Submission, TestReport, find_submissions, grade, load_lab
from warplab.runtime.grading.pages import class_page
from warplab.runtime.grading.pages.alike import alike, unchanged
from warplab.runtime.grading.pages.causes import cause_of
from warplab.runtime.grading.pages.class_page import Beside, as_html
from warplab.runtime.grading.pages.student_page import files_for, student_page
from warplab.runtime.grading.results import as_json, kept
from warplab.runtime.grading.speed import Answer

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
ENTRY = HEAD + (
    ".visible .entry k(.param .u64 x)\n{\n    .reg .pred %%p;\n    .reg .b32 %%t, %%u;\n    .reg .b64 %%a;\n    .shared .align 4 .b8 cell[256];\n"
    "    mov.u32 %%t, %%tid.x;\n    ld.param.u64 %%a, [x];\n%s    ret;\n}\n"
)
STORE = "    mul.wide.u32 %ra, %t, 4;\n    add.u64 %a, %a, %ra;\n    mov.u32 %u, 7;\n    st.global.u32 [%a], %u;\n"
GOOD = (ENTRY % STORE).replace("%a;\n    .shared", "%a, %ra;\n    .shared")
MANY = "".join(f"    add.u32 %u, %u, {n};\n" for n in range(40))
# What is handed in -> the cause of the first test, and its line: the head has 11 lines.
CASES = {
    "right": (GOOD, None),
    "wrong": (ENTRY % "", "wrong values"),
    "bounds": (GOOD.replace("%t, 4;", "%t, 4096;"), "out of bounds, line 15"),
    "race": (GOOD.replace("    mul.wide", "    st.shared.u32 [cell], %t;\n    mul.wide"), "race, line 12"),
    "unset": (
        GOOD.replace("    mov.u32 %u, 7;\n", "    ld.shared.u32 %u, [cell];\n    min.u32 %u, %u, 7;\n    max.u32 %u, %u, 7;\n"),
        "uninitialised, line 17",
    ),
    "deadlock": (ENTRY % "    setp.lt.u32 %p, %t, 32;\n    @%p bra on;\nback:\n    bar.sync 1, 64;\n    bar.sync 2, 64;\non:\n    bar.sync 0;\n", "deadlock, line 15"),
    "endless": (ENTRY % "again:\n    bra again;\n", "endless or too slow, line 13"),
    "syntax": (ENTRY % "    bad %t;\n", "does not assemble, line 12"),
    "costly": (GOOD.replace("    st.global", f"{MANY}    mov.u32 %u, 7;\n    st.global"), "over budget"),
    "empty": ("", "empty"),
    "other_kernel": (GOOD.replace("entry k", "entry other"), "no such kernel"),
}  # fmt: skip
TOML = """
title = "Sevens"
sanitize = "all"
[limits]
steps = 20000
[[test]]
name = "seven & more"
points = 3
run = '--kernel k --block 64 --arg inout:x=u32[64]:zeros --expect "x == 7"'
metrics = ["warp_instructions <= 40"]
hint = "store <7>"
[[test]]
name = "unseen"
points = 1
hidden = true
run = '--kernel k --block 64 --arg inout:x=u32[64]:zeros --expect "x == 7"'
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "lab.toml").write_text(TOML)
    (folder / "starter.ptx").write_text(ENTRY % "")
    return load_lab(folder)


@pytest.fixture(scope="module")
def submissions() -> list[Submission]:
    return [Submission(name, {f"{name}.ptx": text.encode()}) for name, (text, _) in CASES.items()]


@pytest.fixture(scope="module")
def reports(lab: Lab, submissions: list[Submission]) -> list[Report]:
    return list(grade(lab, submissions))


def test_causes_are_those_of_real_failures(reports: list[Report]) -> None:
    found = {r.name: None if (cause := cause_of(r.tests[0])) is None else str(cause) for r in reports}
    assert found == {name: cause for name, (_, cause) in CASES.items()}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("run 2 of 3: out of bounds: 4-byte read\n  at ada.cu:7   [line 90: ld.global.u32 %r1, [%rd1];]", "out of bounds, line 7"),
        ("in another order of warps and lanes, --schedule 1: x == 7\n  1 of 4 differ; first x[0]", "depends on the order"),
        ("error: ada.cu does not compile\nada.cu(4): error: expected", "does not compile, line 4"),
        ("right, and 2.20 times as slow as the reference: 3 cycles", "slow"),
        ("took more than 10 s and was ended", "endless or too slow"),
        ("took more than 512 MiB of memory and was ended", "too much memory"),
        ("the kernel changed a, which is an input", "input overwritten"),
        ("========= Error: barrier-divergence (synccheck)\n=========     at line 9: bar.sync 0;", "misused barrier, line 9"),
        ("what nobody has said before", "other"),
    ],
)
def test_causes_of_messages(message: str, said: str) -> None:
    assert str(cause_of(TestReport("t", 1, 0, False, False, message))) == said


def one(name: str, text: str, suffix: str = "ptx") -> Submission:
    return Submission(name, {f"{name}.{suffix}": text.encode()})


LONG = GOOD.replace("    st.global", "".join(f"    add.u32 %u, %u, {n};\n    xor.b32 %t, %t, {n};\n" for n in range(20)) + "    st.global")


def test_the_same_tokens_are_found_whatever_stands_between_them() -> None:
    given = [
        one("ann", LONG),
        one("bob", re.sub(r" +", "  ", LONG).replace("\n", " // mine\n")),
        one("cid", re.sub(r"%u\b", "%value", LONG)),
    ]
    other = one("dot", GOOD)
    (found,) = alike([given[0], other, *given[1:]], [one("starter", ENTRY % "")])
    assert found.names == ("ann", "bob", "cid") and found.how == "renamed" and found.share == 1
    assert [a.how for a in alike(given[:2])] == ["identical"]


def test_similar_is_what_shares_most_of_its_own_runs() -> None:
    changed = LONG.replace("xor.b32 %t, %t, 3;", "or.b32 %t, %t, 3;")
    (found,) = alike([one("ann", LONG), one("bob", changed)])
    assert found.how == "similar" and 0.8 <= found.share < 1
    assert alike([one("ann", LONG), one("bob", changed)], [one("starter", LONG)]) == [], "what all were given does not count"
    assert unchanged([one("ann", LONG + "// mine\n"), one("bob", changed)], [one("starter", LONG)]) == ["ann"]
    shorter = [one("ann", GOOD), one("bob", GOOD.replace("7;", "8;"))]
    assert alike(shorter, [one("starter", ENTRY % "")]) == [], "short files are alike by nature"


def test_names_of_cpp() -> None:
    text = "__global__ void k(float *x) { float4 v = *(float4 *)x; x[threadIdx.x] = v.x + v.y; }"
    (found,) = alike([one("ann", text, "cu"), one("bob", re.sub(r"\bv\b", "w", text), "cu")])
    assert found.how == "renamed"
    assert alike([one("ann", text, "cu"), one("bob", text.replace("v.y", "v.z"), "cu")]) == []


class Reader(HTMLParser):
    """Whether every element is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids.add(found.get("id") or "")
        if tag == "a":
            self.links.append(found["href"] or "")
        if tag not in ("meta", "rect", "path", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("rect", "path"):
            assert self.open.pop() == tag


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_the_class_page(lab: Lab, submissions: list[Submission], reports: list[Report], tmp_path: Path) -> None:
    twins = [*submissions, Submission("twin", {"t.ptx": GOOD.encode()})]
    page = class_page(lab, twins, reports, tmp_path)
    reader = read(page)
    assert all(link[1:] in reader.ids for link in reader.links), "every name leads to its reasons"
    assert "<small>race, line 12</small>" in page and "<small>out of bounds, line 15</small>" in page
    assert "right, other_kernel, twin" in page and "the same but for names" in page
    assert "Handed in as it was handed out: wrong." in page
    assert "seven &amp; more" in page and "hint: store &lt;7&gt;" in page
    assert re.search(r'aria-label="Submissions by points: .*; 1 from 4"', page)
    assert "Sevens" in page and read(as_html([], Beside())).links == []


def test_a_student_s_page_tells_nothing_of_hidden_tests(reports: list[Report]) -> None:
    (bounds,) = (r for r in reports if r.name == "bounds")
    page = student_page(bounds, "Sevens", {"seven & more": "a.html"})
    assert read(page).links == ["a.html"]
    assert page.count("out of bounds: 4-byte write") == 1 and "unseen (hidden)" in page and '"l bad">failed<' in page
    names = [p.name for p in files_for(["a/b", "a b", "A_B", "..", "ä"], Path("x")).values()]
    assert len(set(map(str.lower, names))) == 5 and all(re.fullmatch(r"[\w.-]+\.html", n) for n in names)


def test_the_script_sorts(reports: list[Report], tmp_path: Path) -> None:
    """In a browser, where there is one: a click on the head of the column of points."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no browser")
    click = "<script>const t = [...document.querySelectorAll('table.grades')].at(-1); t.tHead.rows[0].cells[1].click(); t.tHead.rows[0].cells[1].click();</script>"
    path = tmp_path / "class.html"
    path.write_text(as_html(reports).replace("</body>", f"{click}</body>"))
    words = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, check=True, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    )
    rows = re.findall(r'<tr><td class="l">(?:<a[^>]*>)?(\w+)', done.stdout.rpartition("<h2>Submissions</h2>")[2])
    assert rows[0] == "right", "the most points come first after two clicks"


def test_results_are_kept_until_something_changes(lab: Lab, tmp_path: Path) -> None:
    folder, store = tmp_path / "in", tmp_path / "r.json"
    shutil.copytree(lab.folder, tmp_path / "lab")
    folder.mkdir()
    for name in ("ann", "bob"):
        (folder / f"{name}.ptx").write_text(GOOD)

    def graded(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, ["grade", str(tmp_path / "lab"), str(folder), "--results", str(store), *words])
        assert result.exit_code == code, result.output
        return result.output

    assert "2 graded, 0 as before" in graded()
    assert "0 graded, 2 as before" in graded("--format", "html", "--out", str(tmp_path / "c.html"), "--students", str(tmp_path / "s"))
    assert {p.name for p in (tmp_path / "s").iterdir()} == {"ann.html", "bob.html"}
    assert 'href="s/ann.html"' in (tmp_path / "c.html").read_text()
    assert "1 graded, 1 as before" in graded("--regrade", "bob")
    (folder / "ann.ptx").write_text(ENTRY % "")
    assert "1 graded, 1 as before" in graded(code=1)
    toml = tmp_path / "lab" / "lab.toml"
    toml.write_text(toml.read_text().replace("x == 7", "x == 0"))
    assert "2 graded, 0 as before" in graded(code=1)
    assert "--regrade eve: no submission has this name (there are ann, bob)" in graded("--regrade", "eve", code=2)
    for text in ("[]", "{}", '{"lab": 1, "submissions": {"ann": {"digest": "", "report": {"name": 1, "tests": [{}], "path": ""}}}}', "x"):
        store.write_text(text)
        assert "holds no results" in graded(code=2)
    refused = CliRunner().invoke(main, ["grade", str(lab.folder), str(folder), "--regrade", "bob"])
    assert refused.exit_code == 2 and "--regrade needs --results FILE" in refused.output


def test_what_is_kept_is_what_was_reported(lab: Lab, submissions: list[Submission], reports: list[Report], tmp_path: Path) -> None:
    store = tmp_path / "r.json"
    store.write_text(as_json(lab, submissions, reports))
    assert list(kept(store, lab, submissions, ()).values()) == reports
    assert json.loads(store.read_text())["submissions"].keys() == CASES.keys()
    assert Answer("", 1.0).cycles == 0 and find_submissions(lab, [lab.folder / "starter.ptx"])
