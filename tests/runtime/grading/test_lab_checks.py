"""What a lab checks beyond results: other orders, warnings, checkers; its self-test; the zip for students."""

import os
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.errors import UsageError
from warplab.runtime.grading import Submission, load_lab
from warplab.runtime.grading.bundle import without_hidden
from warplab.runtime.grading.judge import judge
from warplab.runtime.grading.selftest import selftest

LABS = Path(__file__).parents[3] / "samples" / "labs"
MIRROR = """.version 8.0
.target sm_90
.address_size 64
.visible .entry mirror(.param .u64 x)
{
    .reg .b32 %r<6>;
    .reg .b64 %d<3>;
    .shared .align 4 .b32 tile[64];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.u32 %r3, %r1, 4, %r2;
    sub.u32 %r4, 63, %r1;
    mad.lo.u32 %r4, %r4, 4, %r2;
    st.shared.u32 [%r3], %r1;
    bar.sync 0;
    ld.shared.u32 %r5, [%r4];
    ld.param.u64 %d1, [x];
    mad.wide.u32 %d1, %r1, 4, %d1;
    st.global.u32 [%d1], %r5;
    ret;
}
"""
RUN = 'run = "--block 64 --arg out:x=u32[64] --expect \\"all(x == 63 - arange(64))\\""\n'
TEST = '[[test]]\nname = "mirror"\n' + RUN


def lab_of(folder: Path, toml: str, reference: str = MIRROR) -> Path:
    (folder / "lab.toml").write_text(toml)
    (folder / "reference.ptx").write_text(reference)
    return folder


def verdict(folder: Path, text: str) -> str:
    lab = load_lab(folder)
    return judge(lab, lab.tests[0], Submission("s", {"s.ptx": text.encode()}))


@pytest.mark.parametrize(("orders", "says"), [("", "in another order of warps and lanes, --schedule"), ("orders = 1\n", "")])
def test_each_run_is_done_in_three_orders(tmp_path: Path, orders: str, says: str) -> None:
    """Without its barrier the kernel is right only as long as all warps go on together."""
    lab_of(tmp_path, orders + TEST)
    wrong = verdict(tmp_path, MIRROR.replace("bar.sync 0;", ""))
    assert wrong.startswith(says) and bool(wrong) == bool(says)
    assert verdict(tmp_path, MIRROR) == ""


UNSET = MIRROR.replace("st.shared.u32 [%r3], %r1;", "@%p st.shared.u32 [%r3], %r1;").replace(
    "bar.sync 0;", "setp.ne.u32 %p, %r1, 64;\nbar.sync 0;").replace(".reg .b32 %r<6>;", ".reg .b32 %r<6>;\n.reg .pred %p;")  # fmt: skip
NOTHING = 'run = "--block 64 --arg out:x=u32[64]"\n'


@pytest.mark.parametrize(("key", "says"), [
    ('sanitize = "init"', "uninitialized"), ("warnings = true", "%p"), ('sanitize = "mem sync"', ""), ("", ""),
])  # fmt: skip
def test_findings_and_warnings_cost_points(tmp_path: Path, key: str, says: str) -> None:
    lab_of(tmp_path, f'{key}\n[[test]]\nname = "t"\n{NOTHING}')
    wrong = verdict(tmp_path, UNSET)
    assert says in wrong and bool(wrong) == bool(says)
    lab_of(tmp_path, f'[[test]]\nname = "t"\n{key}\n{NOTHING}')
    assert verdict(tmp_path, UNSET) == wrong and verdict(tmp_path, MIRROR) == ""


@pytest.mark.parametrize("text", ['sanitize = "speed"\n', "orders = 0\n", 'orders = "many"\n'])
def test_what_a_lab_cannot_ask_for(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"speed|orders"):
        load_lab(lab_of(tmp_path, text + TEST))


# ---------------------------------------------------------------- the self-test


def test_a_self_test_names_what_the_tests_do_not_see(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / "same.ptx").write_text(MIRROR)
    (wrong / "other.ptx").write_text(MIRROR.replace("63", "62"))
    dead = MIRROR.replace("    ret;", "    mov.u32 %r2, 5;\n    cvta.to.global.u64 %d1, %d1;\n    ret;")
    found = selftest(load_lab(lab_of(tmp_path, "orders = 1\n" + TEST, dead)), 2)
    assert (found.reference, found.wrong, [m.change for m in found.kept]) == ("", ("same",), ["without bar.sync 0;"])
    assert "reference.ptx:15: without bar.sync 0;: all points are earned" in str(found) and not found.passed


def test_a_self_test_of_a_wrong_reference(tmp_path: Path) -> None:
    found = selftest(load_lab(lab_of(tmp_path, TEST, MIRROR.replace("63", "62"))))
    assert "mirror: " in found.reference and not found.kept and not found.wrong


@pytest.mark.long
@pytest.mark.parametrize("folder", sorted(p.parent for p in LABS.glob("*/lab.toml")), ids=lambda f: f.name)
def test_every_lab_tells_right_from_wrong(folder: Path) -> None:
    found = selftest(load_lab(folder), 2)
    assert found.passed, found


def test_the_command_fails_where_the_lab_does(tmp_path: Path) -> None:
    lab_of(tmp_path, "orders = 1\n" + TEST)
    done = CliRunner().invoke(main, ["grade", str(tmp_path), "--selftest"])
    assert done.exit_code == 1 and "bar.sync 0;" in done.stdout


# ---------------------------------------------------------------- zips

HIDDEN = f'title = "T"\n{TEST}[[test]]\nname = "secret"\nhidden = true\nlaunches = "secret.toml"\n{TEST.replace("mirror", "last")}'


def test_a_hidden_test_is_cut_out() -> None:
    assert without_hidden(HIDDEN) == f'title = "T"\n{TEST}{TEST.replace("mirror", "last")}'


def test_a_handout_has_what_students_may_see(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    (folder / "wrong").mkdir(parents=True)
    (folder / "starter").mkdir()
    lab_of(folder, HIDDEN.replace("x=u32[64]", "x=@data.npy", 1))
    names = ("README.md", "starter/a.ptx", "data.npy", "secret.toml", "wrong/w.ptx", ".env", "notes.txt")
    for name in names:
        (folder / name).write_text("[[launch]]\nblock = 1\n" if name == "secret.toml" else "")
    os.symlink("/etc/passwd", folder / "README.txt")
    (folder / "lab.toml").write_text((folder / "lab.toml").read_text() + "# README.txt\n")
    done = CliRunner().invoke(main, ["grade", str(folder), "--handout", str(tmp_path / "h.zip")])
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(tmp_path / "h.zip") as file:
        assert file.namelist() == ["lab/README.md", "lab/data.npy", "lab/lab.toml", "lab/starter/a.ptx"]
        assert b"secret" not in file.read("lab/lab.toml")
    done = CliRunner().invoke(main, ["grade", str(folder), "--bundle", str(tmp_path / "b.zip")])
    with zipfile.ZipFile(tmp_path / "b.zip") as file:
        assert {n for n in file.namelist() if n.startswith("lab/")} == {
            "lab/README.md", "lab/data.npy", "lab/lab.toml", "lab/starter/a.ptx", "lab/secret.toml",
        }  # fmt: skip


def test_shipped_labs_need_no_more_than_a_bundle_has(tmp_path: Path) -> None:
    for folder in LABS.glob("*/lab.toml"):
        out = tmp_path / f"{folder.parent.name}.zip"
        assert CliRunner().invoke(main, ["grade", str(folder.parent), "--bundle", str(out)]).exit_code == 0
        with zipfile.ZipFile(out) as file:
            file.extractall(tmp_path / folder.parent.name)
        lab = load_lab(tmp_path / folder.parent.name / "lab")
        assert all((lab.folder / m).is_file() for t in lab.tests for m in t.modules)
