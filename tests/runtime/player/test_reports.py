"""Reports that have the player beside them: a profile, and the findings of the checkers, each with a link to its step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from warplab.runtime.cli import main
from warplab.runtime.golden.output import call

from .browser import opened, settled

ROOT = Path(__file__).parents[3]
RACE = """//@ run --grid 2 --block 64 --arg out:last=u32[2]
.version 7.0
.target sm_70
.address_size 64
.visible .entry reverse(.param .u64 last)
{
    .reg .b32 %t, %a, %v, %b;
    .reg .pred %p;
    .shared .align 4 .u32 cell[64];
    mov.u32 %t, %tid.x;
    mov.u32 %b, cell;
    mad.lo.u32 %a, %t, 4, %b;
    st.shared.u32 [%a], %t;
    xor.b32 %a, %t, 63;
    mad.lo.u32 %a, %a, 4, %b;
    ld.shared.u32 %v, [%a];
    ret;
}
"""


def launches(page: str) -> list[dict[str, Any]]:
    text = page.partition('id="wlp-launches">')[2].partition("</script>")[0]
    found: list[dict[str, Any]] = json.loads(text)
    return found


def test_findings_link_to_their_step(tmp_path: Path, browser: Any) -> None:
    (tmp_path / "race.ptx").write_text(RACE)
    code, text, _ = call(["sanitize", "--format", "html", str(tmp_path / "race.ptx")])
    assert code == 1
    (tmp_path / "race.html").write_text(text)
    tab = browser.new_page()
    tab.errors = []
    tab.goto(f"file://{tmp_path / 'race.html'}")
    tab.wait_for_selector(".wlp[data-opened]", state="attached")
    assert not tab.is_visible(".wlp") and "#" not in tab.url
    tab.click("text=open at the step")
    settled(tab)
    assert tab.is_visible(".wlp") and "ld.shared.u32" in tab.inner_text(".line.now")
    assert "no barrier between" in tab.inner_text(".event.finding")
    tab.close()


def test_a_profile_has_a_tab_that_plays_its_launches(tmp_path: Path, browser: Any) -> None:
    out = tmp_path / "profile.html"
    with pytest.raises(SystemExit):
        main(["profile", "--html", str(out), str(ROOT / "samples" / "reduction" / "1_interleaved.ptx")])
    tab = browser.new_page()
    tab.goto(f"file://{out}")
    tab.click("label[for=tab-player]")
    tab.wait_for_selector(".wlp[data-opened]")
    assert "reduce" in tab.inner_text(".wlp h1") and tab.inner_text(".warps").count("line ") == 8
    tab.close()


def test_a_page_that_is_too_small_says_what_it_leaves_out(tmp_path: Path, browser: Any) -> None:
    from warplab.runtime.player import page
    from warplab.runtime.recording import Recording

    with pytest.raises(SystemExit):
        main(["record", "-o", str(tmp_path / "run.wlrec"), str(ROOT / "samples" / "mandelbrot.ptx")])
    text = page([Recording.load(tmp_path / "run.wlrec")], limit=400_000)
    assert len(text) < 600_000
    (extras,) = [one["extras"] for one in launches(text)]
    assert extras["note"].startswith("The page has room for") and "of 16 blocks: blocks (0,0)" in extras["note"]
    (tmp_path / "page.html").write_text(text)
    tab = opened(browser, tmp_path / "page.html", "#step=20&lane=0")
    assert extras["note"] in tab.inner_text(".note")
    tab.close()
    (extras,) = [one["extras"] for one in launches(page([Recording.load(tmp_path / "run.wlrec")], limit=4_000))]
    assert "It shows the first" in extras["note"] and "keeps all of them" in extras["note"]
    with pytest.raises(SystemExit):
        main(["record", "--blocks", "2", "--html", str(tmp_path / "page.html"), str(ROOT / "samples" / "vecadd.ptx")])
    (extras,) = [one["extras"] for one in launches((tmp_path / "page.html").read_text())]
    assert extras["note"].startswith("The recording has 1 of 4 blocks: block 2.")


def test_grades_link_to_pages_of_failed_visible_tests(tmp_path: Path) -> None:
    lab, secret = tmp_path / "lab", tmp_path / "secret.cu"
    lab.mkdir()
    secret.write_text("what is not the submission's")
    tests = [("seven", "x == 7", ""), ("hidden", "x == 8", "hidden = true"), ("nine & more", "x == 9", "")]
    (lab / "lab.toml").write_text(
        "".join(f'[[test]]\nname = "{n}"\npoints = 1\n{more}\nrun = \'--arg inout:x=u32[1] --expect "{e}"\'\n' for n, e, more in tests)
    )
    (tmp_path / "mine.ptx").write_text(f"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 x)
{{
    .reg .b64 %x;
    .loc 1 1 1
    ld.param.u64 %x, [x];
    st.global.u32 [%x], 7;
    ret;
}}
.file 1 "{secret}"
""")
    report = tmp_path / "out" / "grades.html"
    report.parent.mkdir()
    words = ["grade", str(lab), str(tmp_path / "mine.ptx"), "--format", "html", "--out", str(report)]
    code, _, err = call([*words, "--recordings", str(tmp_path / "pages")])
    assert code == 1 and "1 page\n" in err
    (page,) = (tmp_path / "pages").iterdir()
    assert page.name == "mine-nine_more.html" and 'href="../pages/mine-nine_more.html"' in report.read_text()
    (launch,) = launches(page.read_text())
    assert launch["extras"]["title"] == "k" and not launch["extras"]["sources"] and secret.read_text() not in page.read_text()
