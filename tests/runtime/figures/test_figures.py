"""Figures for given numbers: what they say, that they are SVG, and what is refused."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from warplab.isa.profiles import PROFILES
from warplab.runtime import figures
from warplab.runtime.cli import main
from warplab.runtime.errors import UsageError
from warplab.runtime.figures import Figure, banks, coalescing, divergence, occupancy, roofline
from warplab.runtime.figures.figure import BROWSERS

SPACE = "{http://www.w3.org/2000/svg}"


def words(f: Figure) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(f.svg).iter(f"{SPACE}text")]


@pytest.mark.parametrize(
    ("stride", "device", "passes"),
    [
        (1, "sm_20", 1),
        (2, "sm_20", 2),
        (2, "sm_30", 1),
        (3, "sm_20", 1),
        (32, "sm_20", 32),
        (2, "sm_10", 4),
        (0, "sm_90", 1),
        (-4, "sm_90", 4),
    ],
)
def test_banks_by_stride(stride: int, device: str, passes: int) -> None:
    f = banks(stride, device=device)
    assert re.search(rf"{device}: {passes} pass(es)?$", f.says)
    shown = [int(t) for t in words(f)[1:] if t.isdigit()]
    assert len(shown) > 32


def test_a_bank_of_64_bits_gives_two_words_at_once() -> None:
    assert "var(--warm)" not in banks(2, device="sm_30").svg and "2 different words in 1 turn" in banks(2, device="sm_30").svg
    assert "var(--warm)" in banks(2, device="sm_20").svg


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "neighbouring 4-byte elements, sm_90: 4 sectors, 128 bytes moved for 128 requested"),
        ({"offset": 4}, "5 sectors, 160 bytes moved"),
        ({"stride": 8}, "every 8th 4-byte element, sm_90: 32 sectors, 1024 bytes moved"),
        ({"index": "lane // 2"}, "4-byte element lane // 2, sm_90: 2 sectors, 64 bytes moved"),
        ({"width": 16}, "16 sectors, 512 bytes moved for 512 requested"),
        ({"device": "sm_10", "offset": 4}, "sm_10: 32 transactions, 1024 bytes moved"),
        ({"device": "sm_20"}, "through L1: 1 transaction, 128 bytes moved"),
        ({"device": "sm_20", "cached": False, "stride": 2}, "past L1: 8 transactions, 256 bytes moved"),
    ],
)
def test_coalescing(given: dict[str, object], says: str) -> None:
    assert says in coalescing(**given).says  # type: ignore[arg-type]


def test_every_device_has_every_figure() -> None:
    for name in PROFILES:
        for f in (banks(2, device=name), coalescing(3, device=name), occupancy(128, device=name), roofline([1], device=name)):
            ElementTree.fromstring(f.svg)
            assert name in f.svg or PROFILES[name].device in f.svg


def test_occupancy_marks_what_is_given() -> None:
    f = occupancy(192, registers=40, shared=8000, device="sm_35")
    assert f.says.startswith("6 blocks of 192 threads on a multiprocessor of sm_35: 56.2 %")
    assert f.svg.count("<circle") == 3
    assert {"threads per block", "registers per thread", "KiB of shared memory per block"} <= set(words(f))


def test_a_kernel_below_the_ridge_is_bound_by_memory() -> None:
    said = " ".join(words(roofline([1, 100], device="sm_80")))
    assert "1 FLOP per byte: at most 1.6 TFLOP/s, bound by device memory" in said
    assert "100 FLOP per byte: at most 19.5 TFLOP/s, bound by FP32" in said
    assert "of tensor" in roofline(unit="Tensor", device="sm_80").says


@pytest.mark.parametrize("given", [{}, {"condition": "lane >= 0"}, {"turns": "lane % 2 + 1"}])
def test_divergence_is_drawn_from_a_launch(given: dict[str, str]) -> None:
    f = divergence(**given)  # type: ignore[arg-type]
    found = re.search(r"(\d+) of (\d+) places are used: (\d+)%$", f.says)
    assert found is not None
    busy, places = int(found[1]), int(found[2])
    lit = f.svg.count('fill="var(--good)"')
    assert lit == busy and busy + f.svg.count('fill="var(--line)"') == places


def test_sides_take_turns_and_lanes_agree_again() -> None:
    rows = [int(t) for t in words(divergence("lane < 12", then=1, otherwise=2))[3:] if t.isdigit()]
    assert sorted(rows) == sorted([32, 32, 12, 20, 20, 20, 32])
    assert "places are used: 100%" in divergence("lane >= 0").says
    assert "places are used: 100%" in divergence(turns="3").says


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: banks(width=3), "--width 3"),
        (lambda: banks(offset=2), "--offset 2"),
        (lambda: banks(index="lane / 2"), "use // to divide"),
        (lambda: banks(index="[1, 2]"), "for each of the 32 lanes"),
        (lambda: banks(10**30), "--index"),
        (lambda: banks(index="lane.tofile('x')"), "not among the methods"),
        (lambda: banks(device="sm_999"), "--device"),
        (lambda: occupancy(0), "1 to 1,024"),
        (lambda: occupancy(128, shared=-1), "0 to"),
        (lambda: roofline([0]), "above 0"),
        (lambda: roofline([float("nan")]), "above 0"),
        (lambda: roofline(unit="tensor", device="sm_20"), "sm_20 has FP32, FP64"),
        (lambda: divergence(then=-1), "0 to 64"),
        (lambda: divergence(turns="lane"), "1 to 64 turns"),
        (lambda: banks().save("x.gif"), ".svg or .png"),
    ],
)
def test_what_is_refused(draw: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        draw()


def test_a_scheme_is_fixed_in_the_file(tmp_path: Path) -> None:
    banks().save(tmp_path / "a.svg", scheme="dark")
    assert "@media all" in (tmp_path / "a.svg").read_text() and "prefers-color-scheme" not in (tmp_path / "a.svg").read_text()
    assert "prefers-color-scheme" in banks().text() and "@media not all" in banks().text("light")


def test_without_a_browser_png_is_one_clear_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match="PNG needs a browser on the PATH"):
        banks().save(tmp_path / "a.png")
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho no display >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(broken))
    with pytest.raises(UsageError, match="did not draw the figure: no display"):
        banks().png()


@pytest.mark.long
@pytest.mark.skipif(all(shutil.which(name) is None for name in BROWSERS), reason="needs Chromium")
def test_png(tmp_path: Path) -> None:
    banks().save(tmp_path / "a.png")
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG") and int.from_bytes(data[16:20], "big") == 2 * 660


def test_the_command(tmp_path: Path) -> None:
    run = CliRunner().invoke
    drawn = run(main, ["figure", "banks", "--stride", "2", "--device", "sm_30"])
    assert drawn.exit_code == 0 and drawn.stdout.strip() == banks(2, device="sm_30").svg
    saved = run(main, ["figure", "divergence", "--turns", "lane % 3 + 1", "-o", str(tmp_path / "d.svg")])
    assert saved.exit_code == 0 and "places are used" in saved.stdout and (tmp_path / "d.svg").read_text().startswith("<svg")
    assert run(main, ["figure", "banks", "--width", "3"]).exit_code == 2


def test_notebooks_show_them() -> None:
    assert figures.banks()._repr_svg_() == figures.banks().svg and repr(figures.banks()).startswith("<Figure: neighbouring")
