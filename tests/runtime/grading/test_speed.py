"""Points for speed: relative to the reference's predicted time, in the same language, also where only its times are there."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from warplab.runtime.errors import UsageError
from warplab.runtime.grading import Lab, Submission, grade, load_lab
from warplab.runtime.grading.bundle import write_bundle, write_handout
from warplab.runtime.grading.differences import with_differences
from warplab.runtime.grading.speed import Answer, scored
from warplab.runtime.grading.supervise import timed

KERNEL = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 x)
{{
    .reg .pred %p;
    .reg .b32 %n, %i;
    .reg .b64 %a;
    mov.u32 %n, {turns};
again:
    sub.u32 %n, %n, 1;
    mul.lo.u32 %i, %n, %n;
    setp.ne.u32 %p, %n, 0;
    @%p bra again;
    ld.param.u64 %a, [x];
    mov.u32 %i, {value};
    st.global.u32 [%a], %i;
    ret;
}}
"""
TOML = """
[[test]]
name = "speed"
speed = [[1.5, 4], [3, 1.5]]
run = '--arg inout:x=u32[1]:zeros --expect "x == 7"'
[[test]]
name = "unseen"
speed = [[1.5, 4]]
hidden = true
run = '--arg inout:x=u32[1]:zeros --expect "x == 7"'
"""


def source(turns: int, value: int = 7) -> bytes:
    return KERNEL.format(turns=turns, value=value).encode()


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    (tmp_path / "lab.toml").write_text(TOML)
    (tmp_path / "reference.ptx").write_bytes(source(800))
    return load_lab(tmp_path)


def test_points_fall_with_time(lab: Lab) -> None:
    given = {"fast": source(10), "same": source(800), "slow": source(1800), "slower": source(8000), "wrong": source(10, 8)}
    reports = list(grade(lab, [Submission(n, {"k.ptx": text}) for n, text in given.items()]))
    assert {r.name: r.tests[0].earned for r in reports} == {"fast": 4, "same": 4, "slow": 1.5, "slower": 0, "wrong": 0}
    assert [r.tests[0].passed for r in reports] == [True, True, False, False, False]
    assert lab.points == 8 and reports[0].total == 8
    assert "times as slow as the reference" in reports[2].tests[0].message
    assert "(points: 4 up to 1.5 times, 1.5 up to 3 times)" in reports[3].tests[0].message
    assert "x == 7" in reports[4].tests[0].message


def test_zips_hold_times_instead_of_the_reference(lab: Lab, tmp_path: Path) -> None:
    bundle, handout = tmp_path / "b.zip", tmp_path / "h.zip"
    write_bundle(lab, bundle)
    write_handout(lab, handout)
    with zipfile.ZipFile(bundle) as file:
        times = json.loads(file.read("lab/times.json"))
        file.extractall(tmp_path / "out")
    assert set(times) == {"speed/ptx", "unseen/ptx"} and times["speed/ptx"] == timed(lab).times["speed/ptx"]
    with zipfile.ZipFile(handout) as file:
        (name,) = (n for n in file.namelist() if n.endswith("times.json"))
        assert set(json.loads(file.read(name))) == {"speed/ptx"}
    packed = load_lab(tmp_path / "out" / "lab")
    (report,) = grade(packed, [Submission("slow", {"k.ptx": source(1800)})])
    assert report.tests[0].earned == 1.5
    (tmp_path / "out/lab/times.json").write_text("[")
    with pytest.raises(UsageError, match=r"times\.json is damaged"):
        timed(packed)
    (tmp_path / "out/lab/times.json").unlink()
    with pytest.raises(UsageError, match="points for speed need a reference"):
        timed(packed)


def test_a_submission_s_language_chooses_the_time(lab: Lab) -> None:
    lab = replace(lab, times={"speed/ptx": 100.0, "speed/cuda": 1000.0})
    answer = Answer("", 0.1, cycles=1000.0)
    assert scored(lab, lab.tests[0], Submission("a", {"a.cu": b""}), answer)[0] == 4
    assert scored(lab, lab.tests[0], Submission("a", {"a.ptx": b""}), answer)[0] == 0
    assert "reference does not pass" in scored(replace(lab, times={}), lab.tests[0], Submission("a", {"a.ptx": b""}), answer)[1]


@pytest.mark.parametrize(
    "line",
    [
        "speed = 3",
        "speed = [[1, 2, 3]]",
        "speed = [[2, 1], [1, 2]]",
        "speed = [[0, 1]]",
        "speed = [[1, 1]]\npoints = 2",
        'speed = [["1", 2]]',
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "lab.toml").write_text(f'[[test]]\nname = "t"\n{line}\nrun = "--arg 1"\n')
    with pytest.raises(UsageError, match="speed: write the table of its points"):
        load_lab(tmp_path)


def test_what_is_slow_differs_from_the_reference_in_nothing(lab: Lab) -> None:
    lab = replace(lab, differences="store")
    given = [Submission("slow", {"k.ptx": source(8000)}), Submission("wrong", {"k.ptx": source(10, 8)})]
    slow, wrong = with_differences(lab, given, list(grade(lab, given)))
    assert slow.tests[0].message.count("\n") == 0 and "the reference: x[0] = 7" in wrong.tests[0].message


def test_a_reference_that_fails_has_no_time(lab: Lab) -> None:
    (lab.folder / "reference.ptx").write_bytes(source(800, 8))
    assert timed(lab).times == {}
