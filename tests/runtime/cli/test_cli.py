"""The assembler's commands, as a shell sees them: output, exit codes, standard input, JSON, and no traceback ever."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from warplab.runtime.cli import COMMANDS, errors, main

from ..ptx import kernel

GOOD = kernel("good")
BAD = GOOD.replace("add.u32 %r2", "add.sat.u32 %r2")


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.ptx"
    path.write_text(GOOD)
    return str(path)


@pytest.fixture
def bad(tmp_path: Path) -> str:
    path = tmp_path / "bad.ptx"
    path.write_text(BAD)
    return str(path)


SAMPLES = Path(__file__).parents[3] / "samples"


def run(*args: str, stdin: str | bytes | None = None, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(args), input=stdin)
    assert result.exit_code == code, f"{result.output}\n{result.stderr}"
    assert "Traceback" not in result.output + result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


# ---------------------------------------------------------------- the group


def test_help_imports_nothing_big() -> None:
    program = (
        "import sys, time; begin = time.perf_counter()\n"
        "from warplab.runtime.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(time.perf_counter() - begin, *sorted({m.partition('.')[0] for m in sys.modules}))\n"
    )
    source = Path(__file__).parents[2] / "importroot"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(source)})
    took, *modules = done.stdout.splitlines()[-1].split()
    assert not {"numpy", "lark"} & set(modules)
    assert float(took) < 0.5  # 0.05 s on an idle machine
    assert "disassemble" in done.stdout


def test_module_runs_as_a_program(good: str) -> None:
    source = Path(__file__).parents[2] / "importroot"
    command = [sys.executable, "-m", "warplab", "check", good]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(source)}, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("words", [["docs", "engine"], ["docs"], ["explain", "out-of-bounds"], ["isa", "add"], ["run", "RUN"]])
def test_a_locale_without_unicode(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "caf\xe9 \N{SNOWMAN}.ptx"
    path.write_bytes((SAMPLES / "vecadd.ptx").read_bytes())
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(Path(__file__).parents[2] / "importroot")}
    command = [sys.executable, "-m", "warplab", *(str(path) if w == "RUN" else w for w in words)]
    done = subprocess.run(command, capture_output=True, env=plain, check=False)
    assert b"internal error" not in done.stderr and done.returncode == (2 if "out-of-bounds" in words else 0), done.stderr


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_there(name: str) -> None:
    where, line = COMMANDS[name]
    file, _, attribute = where.partition(":")
    command = getattr(import_module(f"warplab.runtime.cli.{file}"), attribute)
    assert isinstance(command, click.Command)
    assert line.endswith(".") and len(line) < 80
    assert "Usage: " in run(name, "--help").output


def test_near_names_are_suggested() -> None:
    assert "check" in run("chek", code=2).stderr
    assert run("--nonsense", code=2).stderr


def test_internal_errors_are_one_line(good: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("warplab.runtime.cli.texts.info.load", broken)
    assert "internal error: RecursionError" in run("info", good, code=errors.ExitCode.INTERNAL).stderr


@pytest.mark.parametrize("command", ["assemble", "disassemble", "link", "check", "fmt", "info", "cfg", "dump"])
def test_missing_files_are_wrong_usage(command: str, tmp_path: Path) -> None:
    assert "nowhere.ptx" in run(command, str(tmp_path / "nowhere.ptx"), code=2).stderr


@pytest.mark.parametrize("command", ["assemble", "link", "info", "cfg", "check"])
def test_errors_in_ptx_are_code_3(command: str) -> None:
    result = run(command, "-", stdin=BAD, code=3)
    assert "<stdin>:15" in result.output + result.stderr
    assert "add.sat.u32" in result.output + result.stderr


@pytest.mark.parametrize("command", ["disassemble", "link", "info", "cfg"])
def test_damaged_objects_are_code_3(command: str) -> None:
    assert run(command, "-", stdin=b"\x7fELF and rubbish", code=3).stderr.startswith("error")


# ---------------------------------------------------------------- the commands


def test_assemble_and_back(good: str) -> None:
    run("assemble", good)
    path = Path(good).with_suffix(".o")
    text = run("disassemble", str(path)).output
    assert "add.u32" in text and "%r<4>" in text
    again = run("assemble", "-", "-o", "-", stdin=text).stdout_bytes
    assert again == path.read_bytes()
    run("disassemble", "-", "-o", good, stdin=again)
    assert Path(good).read_text() == text


def test_link_reports_who_defines_what(tmp_path: Path) -> None:
    head = GOOD[: GOOD.index(".visible")]
    (tmp_path / "a.ptx").write_text(head + ".visible .global .u32 x = 3;")
    user = ".extern .global .u32 x; .visible .entry k() { .reg .b32 %r<2>; ld.global.u32 %r1, [x]; ret; }"
    (tmp_path / "b.ptx").write_text(head + user)
    files = [str(tmp_path / n) for n in ("a.ptx", "b.ptx")]
    run("assemble", files[0])
    files[0] = files[0].replace(".ptx", ".o")
    found = json.loads(run("link", *files, "--json").output)
    rows = {s["name"]: s for s in found["symbols"]}
    assert rows["x"]["used_by"] == [files[1]] and rows["x"]["file"] == files[0]
    assert rows["k"]["kind"] == "kernel"
    assert "x  " in run("link", *files).output
    assert "unresolved-symbol" in run("link", files[1], code=3).stderr


def test_link_writes_the_linked_module(tmp_path: Path) -> None:
    head = GOOD[: GOOD.index(".visible")]
    (tmp_path / "a.ptx").write_text(head + ".visible .global .u32 x = 3;")
    user = ".extern .global .u32 x; .visible .entry k() { .reg .b32 %r<2>; ld.global.u32 %r1, [x]; ret; }"
    (tmp_path / "b.ptx").write_text(head + user)
    files = [str(tmp_path / n) for n in ("a.ptx", "b.ptx")]
    text = run("link", *files, "-o", "-").output
    assert ".visible .global .u32 x = 3;" in text and ".extern" not in text
    for name in ("all.ptx", "all.o"):
        assert run("link", *files, "-o", str(tmp_path / name)).output == ""
    assert (tmp_path / "all.ptx").read_text() == text
    assert run("disassemble", str(tmp_path / "all.o")).output == text


def test_check_formats(good: str, bad: str) -> None:
    assert run("check", good).output == ""
    shown = run("check", bad, code=3).output
    assert "error[" in shown and "^" in shown and "bad.ptx:15" in shown
    ptxas = run("check", bad, "--ptxas-style", code=3).output
    assert ptxas.startswith(f"ptxas {bad}, line 15; error") and "aborted due to errors" in ptxas
    (file,) = json.loads(run("check", bad, "--json", code=3).output)
    assert file["file"] == bad and file["diagnostics"][0]["line"] == 15
    assert json.loads(run("check", good, "--json").output) == [{"file": good, "diagnostics": []}]


def test_check_for_another_target(good: str) -> None:
    Path(good).write_text(GOOD.replace("add.u32 %r2, %r1, 1;", "activemask.b32 %r2; bar.warp.sync %r2; barrier.cluster.arrive;"))
    run("check", good)
    assert "sm_90" in run("check", good, "--target", "sm_80", code=3).output


def test_warnings_go_by_name(good: str) -> None:
    Path(good).write_text(GOOD.replace(".reg .b64", ".reg .b32 idle;\n    .reg .b64"))
    (file,) = json.loads(run("check", good, "--json").output)
    names = {d["code"] for d in file["diagnostics"]}
    assert names and all(d["severity"] == "warning" for d in file["diagnostics"])
    name = sorted(names)[0]
    assert run("check", good, *(x for n in names for x in ("--no-warn", n))).output == ""
    assert name in run("check", good, "-W", name).output
    assert run("check", good, "-W", "none").output == ""
    assert run("check", good, "-W", "nonsense", code=2)


def test_fmt(good: str) -> None:
    ugly = GOOD.replace("    add.u32 %r2, %r1, 1;", "  add.u32    %r2,%r1,1; // one more")
    Path(good).write_text(ugly)
    assert run("fmt", "--check", good, code=1).output.startswith(good)
    diff = run("fmt", "--diff", good, code=1).output
    assert "-  add.u32    %r2,%r1,1; // one more" in diff
    assert Path(good).read_text() == ugly
    run("fmt", good)
    assert "// one more" in Path(good).read_text()
    run("fmt", "--check", good)
    assert run("fmt", "-", stdin=ugly).output == Path(good).read_text()


def test_info(good: str) -> None:
    shown = run("info", good).output
    assert ".visible .entry k" in shown and "+0" in shown and ".u64 p" in shown
    (function,) = json.loads(run("info", good, "--json").output)["functions"]
    assert function["param_bytes"] == 8 and function["registers"]["32"]["used"] == 2
    run("info", good, "-f", "nobody", code=2)


def test_cfg(good: str, tmp_path: Path) -> None:
    assert "reconvergence point of B0" in run("cfg", good).output
    assert run("cfg", good, "--format", "dot").output.startswith("digraph")
    run("cfg", good, "-o", str(tmp_path / "k.svg"))
    assert (tmp_path / "k.svg").read_text().startswith("<svg")
    (graph,) = json.loads(run("cfg", good, "--json").output)
    assert graph["name"] == "k" and len(graph["nodes"]) == 3
    run("cfg", good, "-f", "nobody", code=2)


def test_isa() -> None:
    assert "shfl" in run("isa").output
    shown = run("isa", "shfl").output
    assert "shfl.sync.mode.b32" in shown and "up down bfly idx" in shown
    rows = json.loads(run("isa", "shfl.sync.bfly.b32", "--json").output)
    assert [r["opcode"] for r in rows] == ["shfl"] and rows[0]["sm"] == 30
    assert "vote" in run("isa", "--search", "ballot").output
    assert "vote.sync.ballot" in run("isa", "--search", "lanes ballot").output  # the words in any order
    assert "did you mean shl or shf" in run("isa", "shlf", code=1).stderr
    everything = json.loads(run("isa", "--json").output)
    old = json.loads(run("isa", "--target", "sm_20", "--json").output)
    assert 0 < len(old) < len(everything)
    run("isa", "nonsense", code=1)
    run("isa", "--target", "nonsense", code=2)


def test_isa_shows_machine_instructions() -> None:
    shown = run("isa", "div").output
    assert re.search(r"^ +div\.u64 +172 +76 +73 +72$", shown, re.M) and "div.u32 constant again" in shown and "counted with ptxas" in shown
    one = run("isa", "div.rn.f32", "--target", "sm_75").output
    assert re.search(r"machine instructions +7\.5\n +div\.rn\.f32 +11\n", one) and "on 7.5: BMOV BSSY MUFU.RCP FCHK FFMA*5 BRA BSYNC" in one
    assert "div.rz.f32" not in one, "a whole spelling shows itself only"
    assert "machine instructions" not in run("isa", "shfl").output
    rows = json.loads(run("isa", "sqrt.rn.f64", "--json").output)
    assert rows[0]["machine_instructions"]["sqrt.rn.f64"]["9.0"] == 18


def test_isa_not_executed() -> None:
    shown = run("isa", "mma", "--not-executed").output
    assert "m8n8k4.alayout.blayout.dtype.atype.btype.ctype" in shown and "not executed: no manual has it" in " ".join(shown.split())
    (row,) = json.loads(run("isa", "mma.m8n8k4", "--not-executed", "--json").output)
    assert not row["executes"] and row["not_executed"].startswith("no manual has it")
    assert run("isa", "shfl", "--not-executed").output == "every form is executed\n"
    assert json.loads(run("isa", "shfl", "--not-executed", "--json").output) == []
    assert "did you mean" in run("isa", "shlf", "--not-executed", code=1).stderr


def test_explain() -> None:
    assert "extern" in run("explain", "unresolved-symbol").output
    assert json.loads(run("explain", "unresolved-symbol", "--json").output)["code"] == "unresolved-symbol"
    codes = run("explain").output.split()
    assert len(codes) > 30 and codes == sorted(codes)
    assert "unresolved-symbol" in run("explain", "unresolved-symbl", code=2).stderr


@pytest.mark.parametrize(
    ("stage", "wanted"), [("tree", "instruction"), ("ir", "Instruction opcode='add'"), ("flow", "live in  B1"), ("plan", "segment 0 of B0")]
)
def test_dump(stage: str, wanted: str, good: str) -> None:
    assert wanted in run("dump", good, "--stage", stage).output


def test_every_error_is_json_where_json_is_asked_for(bad: str, good: str) -> None:
    def error(*args: str, code: int) -> dict[str, Any]:
        result = run(*args, code=code)
        assert result.stderr == ""
        found: dict[str, Any] = json.loads(result.stdout)["error"]
        assert found["code"] == code
        return found

    assert error("rnu", "--json", code=2)["message"] == "No such command 'rnu'. Did you mean 'run'?"
    assert error("run", "--json", "--girid", "2", good, code=2)["kind"] == "usage"
    assert "nowhere.ptx" in error("run", "nowhere.ptx", "--json", code=2)["message"]
    (finding,) = error("run", bad, "--json", "--grid", "1", code=3)["diagnostics"]
    assert finding["code"] == "no-such-form" and finding["line"] > 1
    assert error("info", bad, "--json", code=3)["diagnostics"][0]["code"] == "no-such-form"
    assert error("explain", "nonsense", "--json", code=2)["message"].startswith("no diagnostic has")


@pytest.mark.parametrize(
    ("args", "environment", "coloured"),
    [
        ([], {}, False), ([], {"FORCE_COLOR": "1"}, True), ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True), (["--color=never"], {"FORCE_COLOR": "1"}, False),
    ],
)  # fmt: skip
def test_colours(bad: str, good: str, args: list[str], environment: dict[str, str], coloured: bool) -> None:
    def seen(*words: str) -> str:
        done = CliRunner(env=environment).invoke(main, list(words))
        return done.stdout + done.stderr

    for words in (["check", bad, *args], [*args, "check", bad], ["info", bad, *args], ["run", good, "--grid", "x", *args]):
        assert ("\x1b[31m\x1b[1merror" in seen(*words)) == coloured, words
    assert ("\x1b[31m\x1b[1m^^^^" in seen("check", bad, *args)) == coloured
    lab = SAMPLES / "labs" / "01-vecadd"
    for words, painted in (
        (["profile", str(SAMPLES / "vecadd.ptx")], "\x1b[1mcounter "),
        (["profile", str(SAMPLES / "vecadd.ptx"), "--csv"], ""),
        (["occupancy"], "\x1b[33mlimits"),
        (["grade", str(lab), str(lab / "wrong" / "no_bounds.ptx"), str(lab / "reference.ptx")], "\x1b[1mname "),
    ):
        assert ((painted or "\x1b") in seen(*words, *args)) == (coloured and painted != ""), words


def test_counters_are_chosen_by_either_spelling() -> None:
    sample = str(SAMPLES / "vecadd.ptx")
    names = "Global_ld-sectors,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum, shared ld passes,bank_conflicts"
    rows = run("profile", sample, "--metrics", names, "--csv").output.splitlines()[1:]
    assert [row.split(",")[-2] for row in rows][:3] == ["global ld requests", "global ld sectors", "shared ld passes"] and len(rows) == 6
    for wrong, near in {
        "globl_ld_sectors": "global ld sectors",
        "bank_conflict": "bank_conflicts",
        "l1tex__t_sector": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    }.items():
        assert f"no counter is called {wrong!r}. Did you mean {near!r}" in run("profile", sample, "--metrics", wrong, code=2).stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    assert "_WARPLAB_COMPLETE" in run("completion", shell).output


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["isa", "shf"], {"shf", "shfl"}),
        (["explain", "undeclared-n"], {"undeclared-name"}),
        (["docs", "glos"], {"glossary"}),
        (["devices", "sm_9"], {"sm_90"}),
        (["run", "GOOD", "--device", "sm_80"], {"sm_80"}),
        (["run", "GOOD", "--kernel", ""], {"k"}),
        (["run", "GOOD", "--engine", "n"], {"numpy", "native"}),
        (["profile", "GOOD", "--metrics", "branches,warp inst"], {"branches,warp instructions"}),
        (["cfg", "GOOD", "-f", ""], {"k"}),
        (["ru"], {"run"}),
    ],
)
def test_what_a_shell_completes(good: str, words: list[str], wanted: set[str]) -> None:
    words = [good if w == "GOOD" else w for w in words]
    found = ShellComplete(main, {}, "warplab", "_WARPLAB_COMPLETE").get_completions(words[:-1], words[-1])
    assert {c.value for c in found} == wanted


def test_explanations_are_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    shown = run("explain", "undeclared-name").output
    assert max(map(len, shown.splitlines())) <= 60
    assert "`.reg .b32 %r<10>;`" in shown, "code is not divided"
    assert "\n      mov.u32.fast %r1, %r2;" in run("explain", "unknown-word").output, "code stays code"
    assert max(len(line) for line in run("isa", "setp").output.splitlines()) <= 60


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DEVICES", "sm_9x"),
        ("DEVICES", "sm_90:much"),
        ("BOUNDS", "loose"),
        ("ENGINE", "fast"),
        ("SCHEDULE", "x"),
        ("TIMEOUT", "x"),
        ("FMAD", "x"),
    ],
)
def test_wrong_environment_variables_are_refused(good: str, variable: str, value: str) -> None:
    done = CliRunner(env={f"WARPLAB_{variable}": value}).invoke(main, ["run", good, "--arg", "null", "--arg", "1"])
    assert done.exit_code == 2 and value in done.stderr and f"WARPLAB_{variable}" in done.stderr


def test_check_of_a_small_file_is_quick(good: str) -> None:
    run("check", good)
    begin = time.perf_counter()
    run("check", good)
    assert time.perf_counter() - begin < 0.5


def test_files_that_are_no_plain_text_are_named_as_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "x.ptx"
    for data, said in {
        b"": "is empty",
        b"\xef\xbb\xbf" + GOOD.encode(): "begins with a byte order mark of UTF-8: save it as ASCII",
        GOOD.encode("utf-16"): "begins with a byte order mark of UTF-16",
        b"\x7f\x01": "is neither PTX",
    }.items():
        path.write_bytes(data)
        assert said in run("run", str(path), code=3).stderr
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert "a byte order mark, which ptxas refuses" in run("check", str(path), code=3).output
    path.write_bytes(b"\x1b[31m \x07")
    assert "\x1b" not in run("check", str(path), code=3).output  # a file does not steer the terminal
    assert f"--> {path}:1:1" in run("fmt", str(path), code=3).stderr


def test_isa_says_what_is_unknown() -> None:
    assert run("isa", "BAR").stdout == run("isa", "bar").stdout
    assert "threadIdx.x is %tid.x in PTX" in run("isa", "threadIdx.x", code=1).stderr
    assert run("explain", "__syncthreads()").stdout == "__syncthreads is bar.sync 0 in PTX\n"
    assert run("isa", "ad", code=1).stderr == "no instruction is called ad; did you mean add or addc or sad?\n"
    assert run("isa", "add.s31", code=1).stderr == "no form of add matches; `warplab isa add` lists them all\n"
    assert "did you mean syntax?" in run("check", str(SAMPLES / "vecadd.ptx"), "-W", "sintax", code=2).stderr
    for wrong in ("sm_91", "90", "9.0", "foo"):
        assert f"'{wrong}' is not a target; is sm_" in run("check", str(SAMPLES / "vecadd.ptx"), "--target", wrong, code=2).stderr
    assert "'sm_91' is not a target; is sm_90 meant?" in run("isa", "add", "--target", "sm_91", code=2).stderr
    assert "'sm_1000' is not a target; is sm_100 meant? (the models: sm_10 " in run("devices", "sm_1000", code=2).stderr


def test_a_long_line_is_cut_around_the_error(tmp_path: Path) -> None:
    path = tmp_path / "long.ptx"
    names = ",".join(f"r{i}" for i in range(20000))
    path.write_text(f".version 8.0\n.target sm_80\n.entry k() {{ .reg .u32 {names}; bogus; ret; }}\n")
    begin = time.perf_counter()
    done = run("check", str(path), "--color", "always", code=3)
    assert time.perf_counter() - begin < 5, "0.5 s on an idle machine"
    quoted, carets = click.unstyle(done.stdout).splitlines()[3:5]
    assert len(quoted) < 220 and quoted[carets.index("^") :].startswith("bogus; ret; }"), done.stdout
    bar = run("isa", "--color", "always", "mma").stdout
    assert "\x1b[34m\x1b[1m |" not in bar, "only the bar beside a quoted line has colour"


def test_explain_leads_to_what_checkers_find() -> None:
    assert "warplab docs memcheck out-of-bounds explains it" in run("explain", "out-of-bounds", code=2).stderr
    assert "did you mean syntax?" in run("explain", "sintax", code=2).stderr


def test_a_place_that_cannot_be_written_is_named(good: str) -> None:
    assert run("assemble", good, "-o", "/nowhere/x.o", code=2).stderr == "error: /nowhere/x.o: No such file or directory\n"
    assert "--log /nowhere/x: there is no folder /nowhere" in run("exec", "--log", "/nowhere/x", "true", code=2).stderr
    assert "'sm_1' is not a target" in run("occupancy", "--device", "sm_1", code=2).stderr


def test_a_terminal_of_few_columns_breaks_no_words() -> None:
    for words in (["isa", "add"], ["isa"], ["explain", "syntax"]):
        narrow = CliRunner(env={"COLUMNS": "5"}).invoke(main, words).output
        assert narrow.split() == CliRunner(env={"COLUMNS": "100"}).invoke(main, words).output.split()
        assert max(map(len, narrow.splitlines())) <= 70


def test_help_is_a_command_too() -> None:
    assert run("help").stdout == run("--help").stdout
    assert run("help", "run").stdout == run("run", "--help").stdout


def test_a_model_is_shown_with_units() -> None:
    lines = {line[:28].strip(): line[28:].strip() for line in run("devices", "sm_90").stdout.splitlines()}
    assert (lines["capability"], lines["l2 cache"], lines["clock"], lines["l1 caches global"]) == ("9.0", "60 MiB", "1,980 MHz", "yes")
    table = run("devices").stdout.splitlines()
    assert len({line.rindex("KiB") for line in table[1:]}) == 1  # the columns stand below each other, whatever a device is called
    several = run("devices", "sm_20", "sm_35").stdout
    assert several.count("\n\n") == 1 and "f32 throughput               192" in several
    assert [m["throughput"]["f32"] for m in json.loads(run("devices", "sm_20", "sm_35", "--json").stdout)] == [32, 192]


def test_tables_of_devices() -> None:
    """Cells of tables F-1, F-2 and 5-1; devices that agree in all rows share a column."""
    features = json.loads(run("devices", "--table", "features", "--json").stdout)
    assert features["warp reduction"]["sm_75"] == "-" and features["warp reduction"]["sm_80"] == "yes"
    specifications = json.loads(run("devices", "--table", "specifications", "sm_20", "3.5", "--json").stdout)
    assert specifications["registers"] == {"sm_20": "32K", "sm_35": "64K"} and specifications["grid, x"]["sm_35"] == "2^31-1"
    lines = run("devices", "--table", "throughput").stdout.splitlines()
    head, add = (next(line for line in lines if line.startswith(title)).split() for title in ("compute capability", "integer add"))
    assert head[2:6] == ["1.0-1.1", "1.2", "1.3", "2.0"] and add[3:7] == ["8", "8", "8", "32"]
    assert run("devices", "--table", "throughput", "sm_120").stdout.startswith("note: no model of compute capability 12.0")
    assert "'features', 'specifications', 'throughput'" in run("devices", "--table", "speed", code=2).stderr
