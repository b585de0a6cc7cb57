"""How the outcome of the clients' tests is counted and shown; `python -m tests.clients` runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.counting import Counts, page, reason
from tests.clients.suites import CLIENT_OF, SUITES, results, section, without_suite
from tests.clients.table import CLIENTS

XML = """<?xml version="1.0"?><testsuites><testsuite tests="6">
<testcase classname="a" name="one"/><testcase classname="a" name="two"/>
<testcase classname="a" name="three"><skipped message="no"/></testcase>
<testcase classname="a" name="four"><failure message="AssertionError: 1 == 2">tests/a.py:3: in four
E   AssertionError: 1 == 2 | at 0x7f00</failure></testcase>
<testcase classname="a" name="five"><failure message="x">E   lib.curand.CURANDError: CURAND_STATUS_INITIALIZATION_FAILED</failure></testcase>
<testcase classname="a" name="six"><error message="it fell">nothing that is known</error></testcase>
</testsuite></testsuites>"""


def test_outcomes_are_counted() -> None:
    c = Counts("1.2")
    c.add(XML, {"CURAND": "cuRAND"})
    assert (c.passed, c.skipped, c.failed.total(), c.missing) == (2, 1, 2, {"cuRAND": 1})
    assert set(c.failed) == {"AssertionError: 1 == 2 | at", "nothing that is known"}
    assert c.share == 50


def test_the_page_shows_counts_and_reasons() -> None:
    c = Counts("1.2", broken=["b.py"])
    c.add(XML, {"CURAND": "cuRAND"})
    text = page({"lib": c, "other": Counts("3", passed=7)}, 25)
    assert "At most 25 tests of each file are run." in text
    assert "| lib | 1.2 | 2 | 2 | 50.0 | 1 | 1 |\n| other | 3 | 7 | 0 | 100.0 | 0 | 0 |" in text
    assert "| 1 | `AssertionError: 1 == 2   at` |" in text and "| | `b.py` did not end |" in text
    assert "## other" not in text and "## In parts" in text


def test_a_whole_suite_takes_the_place_of_its_parts() -> None:
    found = {c.name: Counts("1", passed=3) for c in CLIENTS}
    left = without_suite(found, SUITES)
    assert set(left) == {"tinygrad", "triton"} and without_suite(found, []) == found
    assert all(name in found for name in CLIENT_OF.values())
    assert "In parts" not in page({}, 0)


def test_the_page_shows_whole_suites(tmp_path: Path) -> None:
    (tmp_path / "cupy-14.2.0.xml").write_text(XML.replace("<testsuite ", '<testsuite timestamp="2026-11-28T04:00:00" '))
    text = page({}, 0, section(results(tmp_path)))
    assert "| cupy | 14.2.0 | 2026-11-28 | 2 | 3 | 40.0 | 1 | core, " in text and "### cupy" in text


def test_reasons_are_the_last_error() -> None:
    assert reason("E   ValueError: a\nE   x.y.OtherError: b  c") == "x.y.OtherError: b c"
    assert reason("E   OSError: no '/home/me/env/bin/python' here") == "OSError: no 'python' here"
    assert reason("") == ""


def test_clients_have_names_of_their_own() -> None:
    assert len({c.name for c in CLIENTS}) == len(CLIENTS)
    for c in CLIENTS:
        assert c.packages and c.files and len(set(c.files)) == len(c.files)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="exec needs Linux")
@pytest.mark.parametrize("name", [c.name for c in CLIENTS])
def test_some_tests_of_each_file_of_a_client_pass(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.clients", name, "--most", "10", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    assert done.returncode == 0, done.stdout + done.stderr
