"""`warplab sanitize` with compute-sanitizer's options: filters of launches, suppressions, leaks, recordings of what failed, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.interpreter.checkers.tools import TOOLS
from warplab.runtime.cli import main
from warplab.runtime.reports.findings import FINDS

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
ENTRY = """.visible .entry {0}(.param .u64 x)
{{
    .reg .b32 %t, %v, %b, %n;
    .reg .b64 %x, %y;
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %t, %b, %n, %t;
    ld.param.u64 %x, [x];
    mad.wide.u32 %y, %t, 4, %x;
{1}
    ret;
}}
"""
FILL = ENTRY.format("fill", "    st.global.u32 [%y], %t;")
USE = ENTRY.format("use", "    ld.global.u32 %v, [%y];\n    add.u32 %v, %v, 1;\n    st.global.u32 [%y], %v;")
SAME = ENTRY.format("same", "    st.global.u32 [%x], %t;\n    ld.global.u32 %v, [%x];\n    st.global.u32 [%y], %v;")
LEAK = """.extern .func (.param .b64 p) malloc (.param .b64 size);
.visible .entry leak()
{
    .param .b64 size, given;
    st.param.b64 [size], 64;
    call (given), malloc, (size);
    ret;
}
"""
LAUNCH = '[[launch]]\nkernel = "{0}"\ngrid = {1}\nblock = 32\nargs = ["x"]\n'


def sanitize(path: Path, *words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["sanitize", str(path), *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.output
    return result.output


def program(folder: Path, *launches: tuple[str, int], size: int = 128) -> Path:
    path = folder / "p.ptx"
    path.write_text(HEAD + FILL + USE + SAME)
    path.with_suffix(".toml").write_text(f'[buffers]\nx = "u32[{size}]:noinit"\n' + "".join(LAUNCH.format(*launch) for launch in launches))
    return path


def test_leaks_are_looked_for_if_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "leak.ptx"
    path.write_text(HEAD + LEAK)
    launch = ("--block", "1")
    for words in ((), ("--tool", "memcheck"), ("--tool", "all", "--leak-check", "no")):
        assert "ERROR SUMMARY: 0 errors" in sanitize(path, *launch, *words)
    for words in (("--leak-check", "full"), ("--tool", "memcheck", "--leak-check=full"), ("--tool", "all")):
        assert "Error: leak" in sanitize(path, *launch, *words, code=1)
    assert "write no or full" in sanitize(path, *launch, "--leak-check", "some", code=2)


def test_launches_are_chosen_by_the_names_of_their_kernels(tmp_path: Path) -> None:
    path = program(tmp_path, ("same", 2), ("use", 1))
    assert "of same" in sanitize(path, "--tool", "racecheck", code=1)
    for words in (("--kernel-regex", "^u"), ("--kernel-regex-exclude", "sam")):
        assert "0 errors" in sanitize(path, "--tool", "racecheck", *words)
    assert "of same" in sanitize(path, "--tool", "racecheck", "--kernel-regex", "sa.e", code=1)
    assert "is no regular expression" in sanitize(path, "--kernel-regex", "(", code=2)


def test_launches_are_chosen_by_their_numbers(tmp_path: Path) -> None:
    path = program(tmp_path, ("fill", 1), ("same", 2), ("same", 2), ("fill", 1))

    def count(*words: str, code: int = 1) -> int:
        found = json.loads(sanitize(path, "--tool", "racecheck", "--json", *words, code=code))
        return sum(f["count"] for f in found)

    whole = count()
    assert count("--launch-skip", "2") == count("--launch-count", "2") == whole // 2
    assert count("--launch-skip", "1", "--launch-count", "2") == whole
    assert count("--launch-skip", "3", code=0) == count("--launch-count", "1", code=0) == 0
    assert count("--kernel-regex", "same", "--launch-skip", "1") == whole // 2  # only such kernels count


def test_what_a_launch_wrote_that_nobody_watched_is_set(tmp_path: Path) -> None:
    path = program(tmp_path, ("fill", 4), ("use", 4))
    assert "0 errors" in sanitize(path, "--tool", "initcheck", "--launch-skip", "1")
    path = program(tmp_path, ("use", 4))
    assert "1 error" in sanitize(path, "--tool", "initcheck", code=1)


def test_findings_become_suppressions(tmp_path: Path) -> None:
    path, known = program(tmp_path, ("same", 2)), tmp_path / "known.toml"
    before = json.loads(sanitize(path, "--json", "--generate-suppressions", str(known), code=1))
    assert before and known.read_text().count("[[suppression]]") == len(before)
    text = sanitize(path, "--suppressions", str(known))
    assert f"ERROR SUMMARY: 0 errors, {len(before)} suppressed" in text
    path.write_text("// moved\n" * 5 + path.read_text())  # lines do not matter
    assert json.loads(sanitize(path, "--json", "--suppressions", str(known))) == []
    known.write_text(known.read_text().replace('kernel = "same"', 'kernel = "other"'))
    assert len(json.loads(sanitize(path, "--json", "--suppressions", str(known), code=1))) == len(before)
    first = tmp_path / "first.toml"
    first.write_text('[[suppression]]\nkind = "write-*"\n')
    left = json.loads(sanitize(path, "--json", "--suppressions", str(first), code=1))
    assert {f["kind"] for f in left} == {f["kind"] for f in before if not f["kind"].startswith("write-")} != set()


def test_a_run_comment_names_a_file_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "p.ptx"
    (tmp_path / "known.toml").write_text('[[suppression]]\ntool = "racecheck"\n')
    path.write_text(
        '//@ run --grid 2 --block 32 --arg "x=u32[64]" --sanitize race --suppressions known.toml --expect "x[1] < 64"\n' + HEAD + SAME
    )
    for command in ("run", "test"):
        result = CliRunner().invoke(main, [command, str(path)])
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[suppression]\n", "known.toml: "), ("x = 1\n", "write a [[suppression]] table"), ("[[suppression]]\n", "at least one pattern"),
        ("[[suppression]]\nline = 3\n", "line is no pattern; there are tool, kind"), ("[[suppression]]\nkind = 3\n", "as a text"),
        (None, "No such file"), ("\udcff", "no UTF-8"),
    ],
)  # fmt: skip
def test_files_that_suppress_nothing(tmp_path: Path, text: str | None, message: str) -> None:
    path, known = program(tmp_path, ("same", 2)), tmp_path / "known.toml"
    if text is not None:
        known.write_bytes(text.encode(errors="surrogateescape"))
    assert message in sanitize(path, "--suppressions", str(known), code=2)


def test_the_block_that_failed_is_recorded(tmp_path: Path) -> None:
    path, file = program(tmp_path, ("fill", 4), size=100), tmp_path / "failed.wlrec"
    text = sanitize(path, "--record-on-error", str(file), code=1)
    assert f"block (3,0,0) of fill is recorded: warplab debug {file}" in text
    result = CliRunner().invoke(main, ["debug", str(file), "--batch", "-ex", "goto end", "-ex", "print %t"])
    assert result.exit_code == 0 and "1 of 4 blocks are recorded" in result.output and "= 96" in result.output, result.output
    path = program(tmp_path, ("fill", 4), ("same", 2))
    file.unlink()
    assert "of same is recorded" in sanitize(path, "--record-on-error", str(file), code=1) and file.exists()
    file.unlink()
    sanitize(program(tmp_path, ("fill", 4)), "--record-on-error", str(file))
    assert not file.exists()


def test_the_exit_code_and_the_file_of_the_report(tmp_path: Path) -> None:
    path, log = program(tmp_path, ("same", 2), ("fill", 5), ("fill", 1)), tmp_path / "log.txt"
    assert sanitize(path, "--error-exitcode", "9", "--log-file", str(log), code=9) == ""
    assert "out-of-bounds" in log.read_text() and "ERROR SUMMARY" in log.read_text()
    sanitize(path, "--error-exitcode", "0", "--log-file", str(log))


def test_on_error_in_the_words_of_compute_sanitizer(tmp_path: Path) -> None:
    path = program(tmp_path, ("fill", 5), ("same", 2))
    assert "of same" not in sanitize(path, "--destroy-on-device-error", "context", code=1)
    assert "of same" in sanitize(path, "--destroy-on-device-error", "kernel", code=1)


def test_sarif_says_what_its_readers_demand(tmp_path: Path) -> None:
    (run,) = json.loads(sanitize(program(tmp_path, ("same", 2)), "--format", "sarif", code=1))["runs"]
    driver = run["tool"]["driver"]
    assert driver["version"] and {r["ruleId"] for r in run["results"]} == {rule["id"] for rule in driver["rules"]}
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] and rule["fullDescription"]["text"] and rule["help"]["text"]
    assert set(FINDS) == set(TOOLS)
