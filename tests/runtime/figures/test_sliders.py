"""Pages on which sliders choose among figures."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.errors import UsageError
from warplab.runtime.figures import banks, sliders
from warplab.runtime.figures.figure import BROWSERS

BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)


def shown(page: str) -> list[str]:
    """What the figures say that are not hidden."""
    return re.findall(r'<figure><div class="wide"><svg[^>]*aria-label="([^"]*)"', page)


def test_a_page_has_a_figure_for_every_combination() -> None:
    page = sliders(banks, {"stride": range(1, 4), "device": ["sm_20", "sm_30"]}, {"width": 4, "stride": 2, "device": "sm_30"}).page()
    assert page.count("<figure") == 6 and shown(page) == [banks(2, device="sm_30").says]
    assert [s for n in (1, 2, 3) for s in (banks(n, device="sm_20").says, banks(n, device="sm_30").says)] == re.findall(
        r'<svg[^>]*aria-label="([^"]*)"', page
    )


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "b.html"
    done = CliRunner().invoke(main, ["figure", "banks", "--slide", "stride=0..32..8", "--slide", "index=lane,lane * 2", "-o", str(out)])
    assert (done.exit_code, done.stdout) == (0, f"{out}: 10 figures\n")
    page = out.read_text()
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "") and "&quot;lane * 2&quot;" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--slide stride=1..3", "a page with sliders needs a file"),
        ("--slide stride=1..3 -o a.svg", "figures with sliders are written as .html"),
        ("--slide step=1 -o a.html", "no option of banks is called 'step'"),
        ("--slide stride=1..x -o a.html", "'1..x' is no range"),
        ("--slide stride=5..1 -o a.html", "the slider for stride has no values"),
        ("--slide stride=1..2..0 -o a.html", "is no range"),
        ("--slide stride=1,, -o a.html", "expected OPTION=VALUES"),
        ("--slide stride=one -o a.html", "'one' is not a valid integer"),
        ("--slide stride=1..2000 -o a.html", "a page has at most 1,000"),
    ],
)
def test_what_is_refused(words: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["figure", "banks", *words.split()])
    assert done.exit_code == 2 and said in done.output and not list(tmp_path.iterdir())


def test_notebooks_show_a_page_within_theirs() -> None:
    assert sliders(banks, {"stride": [1, 2]})._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html')
    with pytest.raises(UsageError, match="no values"):
        sliders(banks, {"stride": []})


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_a_slider_chooses(tmp_path: Path) -> None:
    assert BROWSER is not None
    move = '<script>sliders[0].value = 2; sliders[0].dispatchEvent(new Event("input"));</script>'
    (tmp_path / "page.html").write_text(sliders(banks, {"stride": range(1, 4), "device": ["sm_20", "sm_30"]}).page() + move)
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile", "--dump-dom"]
    page = subprocess.run([*command, (tmp_path / "page.html").as_uri()], capture_output=True, text=True, timeout=60).stdout
    assert re.findall(r"<output>(\w+)</output>", page) == ["3", "sm_20"]
    assert re.findall(r'<figure><div class="wide"><svg[^>]*aria-label="([^"]*)"', page.replace(' hidden=""', " hidden")) == [
        banks(3, device="sm_20").says
    ]
