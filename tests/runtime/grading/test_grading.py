"""The grader: reports and their formats, limits on submissions that mean harm, processes that die, bundles, clusters."""

from __future__ import annotations

import csv
import io
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.errors import UsageError
from warplab.runtime.grading import Lab, Report, Submission, find_submissions, grade, load_lab
from warplab.runtime.grading.bundle import write_bundle
from warplab.runtime.grading.pages.class_page import as_html
from warplab.runtime.grading.report import FORMATS
from warplab.runtime.grading.supervise import Worker
from warplab.runtime.watched import START

ROOT = Path(__file__).parents[3]
LABS = ROOT / "samples" / "labs"
HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
ENTRY = HEAD + ".visible .entry k(.param .u64 x)\n{\n%s\n}\n"
GOOD = ENTRY % "    .reg .b64 %x; ld.param.u64 %x, [x]; st.global.u32 [%x], 7; ret;"
LAB = """
[limits]
steps = 100000
seconds = 2
memory = 300
source = 64

[[test]]
name = "seven"
points = 3
run = '--arg inout:x=u32[1] --expect "x == 7"'
hint = "store 7"

[[test]]
name = "hidden"
points = 1
hidden = true
run = '--arg inout:x=u32[4] --expect "x[0] == 7"'
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "lab.toml").write_text(LAB)
    return load_lab(folder)


def one(lab: Lab, text: str | bytes, name: str = "s.ptx") -> Submission:
    return Submission(name.removesuffix(".ptx"), {name: text.encode() if isinstance(text, str) else text})


HARM: dict[str, tuple[str | bytes, str]] = {
    "endless loop": (ENTRY % "a: bra a;", "limit"),
    "giant static shared memory": (ENTRY % "    .shared .b8 s[100000000]; ret;", "shared"),
    "giant local memory": (ENTRY % "    .local .b8 s[2000000000]; .reg .b32 %r; ld.local.u32 %r, [s]; ret;", ""),
    "giant array": (HEAD + ".global .b8 g[40000000000];\n" + (ENTRY % "ret;").removeprefix(HEAD), ""),
    "deep recursion": (
        HEAD + ".func f()\n{\n    .local .b8 s[64]; .reg .b32 %r; st.local.u32 [s], 1; call f; ld.local.u32 %r, [s]; ret;\n}\n"
        + (ENTRY % "    call f; ret;").removeprefix(HEAD),
        "",
    ),
    "ten megabytes": (GOOD + "// " + "x" * (10 << 20), "larger than 64 KiB"),
    "printf flood": (
        HEAD + ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .b8 s[3] = {65, 65, 0};\n"
        + (ENTRY % "    .reg .b64 %s; mov.u64 %s, s; cvta.global.u64 %s, %s;\na:\n    { .param .b64 p; .param .b64 q; .param .b32 r; "
           "st.param.b64 [p], %s; st.param.b64 [q], 0; call (r), vprintf, (p, q); }\n    bra a;").removeprefix(HEAD),
        "limit",
    ),
    "nested braces": (ENTRY % ("{" * 20000 + "}" * 20000 + "ret;"), ""),
    "nested parentheses": (ENTRY % (".reg .b32 %r; mov.u32 %r, " + "(" * 5000 + "1" + ")" * 5000 + "; ret;"), ""),
    "a constant without end": (ENTRY % (".reg .b32 %r; mov.u32 %r, 0x" + "F" * 60000 + "; ret;"), "64 bits"),
    "a shift without end": (ENTRY % ".reg .b32 %r; mov.u32 %r, (1 << (1 << 40)); ret;", "got 0, expected 7"),
    "a billion registers": (ENTRY % ".reg .b32 %r<1000000000>; ret;", "got 0, expected 7"),
    "no text at all": (b"\xff\xfe\x00\x01" * 100, ""),
    "writes into the host": (ENTRY % "    .reg .b64 %a; mov.u64 %a, 4096; st.global.u32 [%a], 7; ret;", "out of bounds"),
}  # fmt: skip


def test_harm_ends_with_a_verdict_and_the_rest_is_unharmed(lab: Lab) -> None:
    names = list(HARM)
    submissions = [s for n in names for s in (one(lab, HARM[n][0]), one(lab, GOOD))]
    start = time.monotonic()
    reports = list(grade(lab, submissions, 2))
    assert time.monotonic() - start < 90
    for name, harm, good in zip(names, reports[::2], reports[1::2], strict=True):
        assert good.score == 4, (name, good.tests)
        assert harm.score == 0, name
        for t in harm.tests:
            assert t.message and "internal error" not in t.message, (name, t.message)
            assert HARM[name][1] in t.message, (name, t.message)


def test_directives_of_a_submission_mean_nothing(lab: Lab, tmp_path: Path) -> None:
    secret = tmp_path / "secret.npy"
    text = f'//@ run --arg inout:x=@{secret} --expect "1 == 1"\n' + ENTRY % "ret;"
    (report,) = grade(lab, [one(lab, text)])
    assert report.score == 0 and "got 0, expected 7" in report.tests[0].message


def test_a_start_value_that_nobody_set_costs_points(lab: Lab) -> None:
    body = ".reg .b64 %x; .reg .b32 %r<2>; ld.param.u64 %x, [x]; {start}add.u32 %r1, %r1, 7; st.global.u32 [%x], %r1; ret;"
    (forgotten, set_) = grade(lab, [one(lab, ENTRY % body.format(start=start)) for start in ("", "mov.u32 %r1, 0; ")])
    assert forgotten.score == 0 and set_.score == 4


def test_a_process_that_grows_is_ended_and_only_that_test_is_lost(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter([0, 10**12])
    monkeypatch.setattr("warplab.runtime.watched.POLL", 0.001)  # looks before the test has ended
    monkeypatch.setattr("warplab.runtime.watched.resident", lambda pid: next(sizes, 0))
    (report,) = grade(lab, [one(lab, ENTRY % "a: bra a;")])
    assert [t.ended for t in report.tests] == ["memory", ""]
    assert "300 MiB" in report.tests[0].message and "limit" in report.tests[1].message


def test_a_process_that_dies_is_replaced(lab: Lab) -> None:
    worker = Worker()
    slow = one(lab, ENTRY % "a: bra a;")
    first = worker.run(lab, 0, one(lab, GOOD))
    assert first.wrong == ""
    assert worker.process is not None
    threading.Timer(0.2, os.kill, (worker.process.pid, signal.SIGKILL)).start()
    died = worker.run(Lab(lab.folder, "", (), type(lab.limits)(10**9, 30, 300, 64), lab.tests), 0, slow)
    assert died.ended == "crash"
    assert worker.run(lab, 0, one(lab, GOOD)).wrong == ""
    worker.close()


def test_a_process_that_does_not_start_stops_nobody_else(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = iter([0.0, 0.0, 0.0, 0.0])
    real = queue.SimpleQueue.get

    class Late(queue.SimpleQueue):  # type: ignore[type-arg]
        def get(self, block: bool = True, timeout: float | None = None) -> object:
            if timeout == START and next(starts, None) is not None:
                raise queue.Empty
            return real(self, block, timeout)

    monkeypatch.setattr("warplab.runtime.watched.queue.SimpleQueue", Late)
    first, second = grade(lab, [one(lab, GOOD), one(lab, GOOD)])
    assert {t.ended for t in first.tests} == {"crash"} and "does not start" in first.tests[0].message
    assert second.passed


def test_time_is_limited_from_outside(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warplab.runtime.grading.lab.GRACE", -1.9)
    (report,) = grade(lab, [one(lab, ENTRY % "a: bra a;".replace("bra a", "nanosleep.u32 1000; bra a"))])
    assert report.tests[0].ended in ("time", "") and report.score == 0


def test_a_submission_has_so_many_seconds_in_all(lab: Lab) -> None:
    hurried = Lab(lab.folder, "", (), replace(lab.limits, total=0.01), lab.tests)
    endless, good = grade(hurried, [one(lab, ENTRY % "a: bra a;"), one(lab, GOOD)])
    assert "limit" in endless.tests[0].message
    assert endless.tests[1].ended == "time" and "took all of the 0.01 s" in endless.tests[1].message
    assert good.tests[0].passed


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel what a process may take")
def test_the_system_bounds_a_worker(lab: Lab) -> None:
    worker = Worker()
    assert worker.run(lab, 0, one(lab, GOOD)).wrong == ""
    assert worker.process is not None
    folder = Path("/proc") / str(worker.process.pid)
    limits = (folder / "limits").read_text()
    assert int(re.findall(r"Max cpu time +(\d+)", limits)[0]) < 60  # it ends, even where its grader is gone
    assert re.findall(r"Max file size +(\d+)", limits) == ["0"] and re.findall(r"Max core file size +(\d+)", limits) == ["0"]
    assert (folder / "oom_score_adj").read_text().strip() == "1000"
    worker.close()


@pytest.fixture(scope="module")
def reports(lab: Lab) -> list[Report]:
    return list(grade(lab, [one(lab, GOOD, "ann.ptx"), one(lab, ENTRY % "ret;", "bob.ptx")]))


def test_gradescope(reports: list[Report]) -> None:
    found = json.loads(FORMATS["gradescope"]([reports[1]]))
    assert found["score"] == 0
    assert [t["visibility"] for t in found["tests"]] == ["visible", "hidden"]
    assert "hint: store 7" in found["tests"][0]["output"]
    assert set(json.loads(FORMATS["gradescope"](reports))) == {"ann", "bob"}


def test_junit_github_markdown_json_csv(reports: list[Report]) -> None:
    suites = ElementTree.fromstring(FORMATS["junit"](reports))
    assert [(s.attrib["name"], s.attrib["failures"]) for s in suites] == [("ann", "0"), ("bob", "2")]
    github = FORMATS["github"](reports)
    assert "::error title=bob%3A seven::seven: x == 7%0A" in github and github.count("\n") == 3
    assert "hidden: failed" in github and github.count("store 7") == 1
    markdown = FORMATS["markdown"](reports)
    assert "## ann: 4 of 4" in markdown and "**seven**" in markdown and "**hidden**" not in markdown
    assert json.loads(FORMATS["json"](reports))[0]["tests"][0]["passed"] is True
    rows = list(csv.reader(io.StringIO(FORMATS["csv"](reports))))
    assert rows == [["name", "score", "total", "seven", "hidden"], ["ann", "4", "4", "3", "1"], ["bob", "0", "4", "0", "0"]]
    assert "bob" in FORMATS["text"](reports)


def test_a_mistake_that_all_tests_meet_is_shown_once(lab: Lab, tmp_path: Path) -> None:
    for name in ("cid", "dot"):
        (tmp_path / f"{name}.ptx").write_text(ENTRY % f"bad; // {'x' * 500}\n ret;")
    reports = list(grade(lab, find_submissions(lab, [tmp_path])))
    assert FORMATS["text"](reports[:1]).count("no instruction is called bad") == 1
    assert "same failure as in test 'seven'" in FORMATS["text"](reports[:1])
    assert max(map(len, FORMATS["text"](reports[:1]).splitlines())) < 220
    github = FORMATS["github"](reports).splitlines()
    assert github[0].startswith(f"::error file={tmp_path.as_posix()}/cid.ptx,line=") and "title=cid%3A seven::" in github[0]
    page = as_html(reports)
    assert '<td class="l">does not assemble</td><td>2</td><td class="l names">cid, dot</td>' in page
    assert "No two submissions are alike" in page


def test_a_folder_may_have_files_and_folders(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "ann.ptx").write_text(GOOD)
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "mine.ptx").write_text(GOOD)
    assert [s.name for s in find_submissions(lab, [tmp_path])] == ["ann", "bob"]


def test_command(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in (("ann", GOOD), ("bob", ENTRY % "ret;")):
        (folder / f"{name}.ptx").write_text(text)
    table, out = tmp_path / "points.csv", tmp_path / "report.json"
    words = [str(lab.folder), str(folder), "--format", "json", "--out", str(out), "--csv", str(table), "--jobs", "2"]
    assert CliRunner().invoke(main, ["grade", *words]).exit_code == 1
    assert [r["score"] for r in json.loads(out.read_text())] == [4, 0]
    assert "ann,4,4,3,1" in table.read_text()
    assert CliRunner().invoke(main, ["grade", str(lab.folder), str(folder / "ann.ptx")]).exit_code == 0
    assert CliRunner().invoke(main, ["grade", str(lab.folder)]).exit_code == 2
    assert CliRunner().invoke(main, ["grade", str(tmp_path), str(folder)]).exit_code == 2


def test_submissions_of_one_name_are_told_apart(lab: Lab, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.ptx").write_text(GOOD)
    found = find_submissions(lab, [tmp_path / "a" / "main.ptx", tmp_path / "b" / "main.ptx"])
    assert [s.name for s in found] == ["main (1)", "main (2)"]


def test_folders_of_students(lab: Lab, tmp_path: Path) -> None:
    for name in ("ann/work.ptx", "bob/a.ptx", "bob/b.ptx", "cid/notes.txt", ".hidden/x.ptx", "dan.ptx/x.ptx"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(GOOD)
    found = find_submissions(lab, [tmp_path])
    assert [(s.name, list(s.files)) for s in found] == [
        ("ann", ["work.ptx"]),
        ("bob/a", ["a.ptx"]),
        ("bob/b", ["b.ptx"]),
        ("cid", []),
        ("dan.ptx", ["x.ptx"]),
    ]
    several = replace(lab, files=("a.ptx", "b.ptx"))
    found = find_submissions(several, [tmp_path])
    assert [(s.name, list(s.files)) for s in found] == [("ann", []), ("bob", ["a.ptx", "b.ptx"]), ("cid", []), ("dan.ptx", [])]
    assert [s.name for s in find_submissions(several, [tmp_path / "bob", tmp_path / "ann"])] == ["bob", "ann"]


@pytest.mark.parametrize(
    "text",
    ["", "[[test]]\nname = 'a'\n", "[[test]]\nassembles = true\n", "nonsense", "[[test]]\nname = 'a'\nrun = '--gird 1'\n",
     "[limits]\nstepps = 1\n[[test]]\nname = 'a'\nassembles = true\n", "[[test]]\nname = 'a'\nrequire = '('\n"],
)  # fmt: skip
def test_labs_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "lab.toml").write_text(text)
    with pytest.raises(UsageError, match=r"lab\.toml|option"):
        load_lab(tmp_path)


def test_bundle(tmp_path: Path) -> None:
    out = tmp_path / "bundle.zip"
    assert CliRunner().invoke(main, ["grade", str(LABS / "06-histogram"), "--bundle", str(out)]).exit_code == 0
    with zipfile.ZipFile(out) as file:
        names = set(file.namelist())
        assert {"setup.sh", "run_autograder", "lab/lab.toml", "lab/README.md", "lab/starter.ptx"} <= names
        assert not [n for n in names if "wrong" in n or "reference" in n]
        assert file.getinfo("run_autograder").external_attr >> 16 == 0o755
        assert b"--format gradescope" in file.read("run_autograder")


@pytest.mark.skipif(shutil.which("bash") is None, reason="the autograder is a shell script")
@pytest.mark.parametrize(
    ("handed_in", "score", "says"),
    [
        ({"anything.ptx": GOOD}, 4, ""),
        ({"anything.ptx": ENTRY % "ret;"}, 0, "got 0, expected 7"),
        ({}, 0, "Hand in one .ptx or .cu file. Found: 0."),
        ({"a.ptx": GOOD, "b.ptx": GOOD}, 0, "Found: 2."),
        ({"notes.txt": "hello"}, 0, "Found: 0."),
        ({"link.ptx": None}, 0, "is missing in the submission"),
    ],
)
def test_autograder_always_writes_results(lab: Lab, tmp_path: Path, handed_in: dict[str, str | None], score: int, says: str) -> None:
    write_bundle(lab, tmp_path / "b.zip")
    for folder in ("source", "submission", "venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "b.zip") as file:
        file.extractall(tmp_path / "source")
    for name, text in handed_in.items():
        path = tmp_path / "submission" / name
        if text is None:
            path.symlink_to(tmp_path / "source" / "lab" / "lab.toml")
        else:
            path.write_text(text)
    program = tmp_path / "venv" / "bin" / "warplab"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m warplab "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "AUTOGRADER_ROOT": str(tmp_path), "PYTHONPATH": str(ROOT / "tests" / "importroot")}
    subprocess.run(["bash", str(tmp_path / "source" / "run_autograder")], env=environment, check=True, capture_output=True)
    text = (tmp_path / "results" / "results.json").read_text()
    assert json.loads(text)["score"] == score and says in text
    assert "inout:x" not in text, "what the lab's own files hold"


@pytest.mark.skipif(shutil.which("bash") is None, reason="the setup is a shell script")
@pytest.mark.parametrize(("version", "python"), [("new enough", "python3"), ("too old", "python3.11")])
def test_setup_of_the_autograder(lab: Lab, tmp_path: Path, version: str, python: str) -> None:
    wheel = tmp_path / "warplab-1.0-py3-none-any.whl"
    wheel.write_bytes(b"")
    write_bundle(lab, tmp_path / "b.zip", wheel)
    with zipfile.ZipFile(tmp_path / "b.zip") as file:
        file.extractall(tmp_path / "source")
    programs, root = tmp_path / "bin", tmp_path / "root"
    programs.mkdir()
    pip = f'echo "pip $*" >> {tmp_path}/log'
    make = f'mkdir -p "$3/bin"; printf \'#!/bin/sh\\n%s\\n\' \'{pip}\' > "$3/bin/pip"; chmod +x "$3/bin/pip"'
    scripts = {"apt-get": "true", "python3.11": make, "python3": f'test "$1" != -c || exit {int(version == "too old")}\n{make}'}
    for name, body in scripts.items():
        (programs / name).write_text(f'#!/bin/sh\necho "{name} $1 $2" >> {tmp_path}/log\n{body}\n')
        (programs / name).chmod(0o755)
    environment = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "AUTOGRADER_ROOT": str(root)}
    subprocess.run(["bash", str(tmp_path / "source" / "setup.sh")], env=environment, check=True, capture_output=True)
    calls = (tmp_path / "log").read_text().splitlines()
    assert calls[-2:] == [f"{python} -m venv", f"pip install {root}/source/warplab-1.0-py3-none-any.whl"]
    assert "apt-get install -y" in calls


@pytest.mark.long
def test_two_hundred_submissions_in_a_minute() -> None:
    lab = load_lab(LABS / "06-histogram")
    texts = [p.read_bytes() for p in sorted((LABS / "06-histogram").rglob("*.ptx"))]
    submissions = [Submission(f"student{n}", {"h.ptx": texts[n % len(texts)] + b"// %d" % n}) for n in range(200)]
    start = time.monotonic()
    found = list(grade(lab, submissions, 2))
    assert time.monotonic() - start < 60
    assert sum(r.passed for r in found) == sum("reference" in p.name for p in (LABS / "06-histogram").rglob("*.ptx")) * len(
        range(0, 200, len(texts))
    )


def test_a_scheduler_that_does_not_answer_is_named(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("warplab.runtime.cluster.ANSWER", 0.5)
    (tmp_path / "a.ptx").write_text(GOOD)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        done = CliRunner().invoke(main, ["grade", str(lab.folder), str(tmp_path), "--scheduler", address])
        assert done.exit_code == 2 and "no scheduler answers there" in done.output, done.output


def test_what_a_cluster_gives_up_is_graded_here(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    from warplab.runtime.grading import cluster as module

    monkeypatch.setattr(module, "remote", lambda *a: 1 // 0)
    submissions = [one(lab, GOOD if n % 2 else ENTRY % "ret;", f"s{n}.ptx") for n in range(4)]
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        found = {r.name: r.score for r in module.grade_on_cluster(lab, submissions, cluster.scheduler_address)}
    assert found == {f"s{n}": 4 * (n % 2) for n in range(4)}


def test_cluster_loses_nothing_when_a_worker_dies(lab: Lab) -> None:
    distributed = pytest.importorskip("distributed")
    from warplab.runtime.grading.cluster import grade_on_cluster

    submissions = [one(lab, GOOD if n % 2 else ENTRY % "ret;", f"s{n}.ptx") for n in range(12)]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        found: list[Report] = []
        for r in grade_on_cluster(lab, submissions, cluster.scheduler_address):
            found.append(r)
            if len(found) == 2:
                nanny = next(iter(cluster.workers.values()))
                os.kill(nanny.pid, signal.SIGKILL)
    assert sorted(r.name for r in found) == sorted(s.name for s in submissions)
    assert {r.name: r.score for r in found} == {f"s{n}": 4 * (n % 2) for n in range(12)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[test]\nname = "a"\nassembles = true', r"begin each test with \[\[test\]\], in two brackets"),
        ("limits = 3", r"begin the limits with \[limits\]"),
        ("[limits]\nsteps = -1", "steps = -1: write a number above 0"),
        ('[limits]\nseconds = "10"', "seconds = '10': write a number above 0"),
        ("[limits]\nstep = 10", r"no key is called 'step'; did you mean steps\? \(the keys: memory "),
        ('[[test]]\nname = "a"\nassembles = true\npoints = "x"', "test 'a': points = 'x': write a number that is not negative"),
        ('[[test]]\nname = "a"\nassembles = true\npoints = -1', "points = -1: write a number"),
        ('[[test]]\nname = "a"\nassembles = "yes"', "assembles = 'yes': write true or false"),
        ('[[test]]\nname = "a"\nrun = "--gird 3"', "test 'a': run: no option is called --gird; did you mean --grid?"),
    ],
)
def test_mistakes_in_a_lab_file_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "lab.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        load_lab(tmp_path)
