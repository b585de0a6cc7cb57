"""`warplab sanitize`: what is reported of small programs, and what is not; steps of the host in launch files."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
COPY = (
    HEAD
    + """.visible .entry copy(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %d1, %r1, 4, %d1;
    mad.wide.u32 %d2, %r1, 4, %d2;
    ld.global.u32 %r2, [%d1];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%d2], %r2;
    ret;
}
"""
)
LAUNCH = '[[launch]]\nkernel = "copy"\nblock = {}\nargs = ["x", "y"]\n'
MEET = (
    HEAD
    + """.visible .entry meet(.param .u32 n)
{
    .reg .b32 %n;
    ld.param.u32 %n, [n];
    bar.sync 1, %n;
    ret;
}
"""
)


def findings(folder: Path, ptx: str, toml: str = "", *options: str) -> tuple[int, list[dict[str, object]]]:
    """The exit code and the findings of one program."""
    file = folder / "program.ptx"
    file.write_text(ptx)
    if toml:
        file.with_suffix(".toml").write_text(toml)
    done = CliRunner().invoke(main, ["sanitize", "--json", *options, str(file)])
    return done.exit_code, json.loads(done.stdout)


def buffers(x: str = "u32[32]:arange") -> str:
    return f'[buffers]\nx = "{x}"\ny = "u32[32]"\n'


def test_a_right_program_has_no_findings(tmp_path: Path) -> None:
    assert findings(tmp_path, COPY, buffers() + LAUNCH.format(32)) == (0, [])


def test_an_access_behind_an_array(tmp_path: Path) -> None:
    code, (found,) = findings(tmp_path, COPY, buffers() + LAUNCH.format(33))
    assert code == 1
    expected = {"tool": "memcheck", "kind": "out-of-bounds", "space": "global", "line": 13, "thread": [32, 0, 0], "size": 4}
    assert found.items() >= expected.items()


def test_a_freed_array_is_read(tmp_path: Path) -> None:
    code, (found,) = findings(tmp_path, COPY, buffers() + LAUNCH.format(32) + '[[launch]]\nfree = "x"\n' + LAUNCH.format(32))
    assert code == 1 and (found["kind"], found["line"]) == ("use-after-free", 13)


def test_the_host_frees_twice(tmp_path: Path) -> None:
    code, (found,) = findings(tmp_path, COPY, buffers() + 2 * '[[launch]]\nfree = "x"\n')
    assert code == 1 and (found["tool"], found["kind"], found["line"]) == ("memcheck", "double-free", None)


@pytest.mark.parametrize(("size", "threads"), [(128, 0), (64, 16)])
def test_a_memset_sets_what_it_covers(tmp_path: Path, size: int, threads: int) -> None:
    steps = f'[[launch]]\nmemset = "x"\nvalue = 7\nbytes = {size}\n'
    code, found = findings(tmp_path, COPY, buffers("u32[32]:noinit") + steps + LAUNCH.format(32))
    assert [f["count"] for f in found] == [threads] * bool(threads) and code == bool(threads)
    assert all((f["tool"], f["kind"], f["other_line"]) == ("initcheck", "uninitialized", 13) for f in found)


def test_streams_events_and_synchronisation_are_read(tmp_path: Path) -> None:
    steps = '[[launch]]\nrecord = "e"\nstream = "a"\n[[launch]]\nwait = "e"\nstream = "b"\n[[launch]]\nsync = true\n'
    assert findings(tmp_path, COPY, buffers() + LAUNCH.format(32) + 'stream = "a"\n' + steps) == (0, [])


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ('memset = "x"\n', "value = 0"),
        ('memset = "x"\nvalue = 300\n', "0 to 255"),
        ('memset = "x"\nvalue = 1\nbytes = 129\n', "which has 128"),
        ('free = "z"\n', "the buffers are x y"),
        ("sync = true\nblock = 3\n", "no 'block'"),
    ],
)
def test_a_wrong_step_is_refused(tmp_path: Path, step: str, said: str) -> None:
    file = tmp_path / "program.ptx"
    file.write_text(COPY)
    file.with_suffix(".toml").write_text(buffers() + "[[launch]]\n" + step)
    done = CliRunner().invoke(main, ["run", str(file)])
    assert done.exit_code == 2 and said in done.output


def test_a_barrier_for_more_threads_than_there_are(tmp_path: Path) -> None:
    code, (found,) = findings(tmp_path, MEET, "", "--block", "64", "--arg", "96")
    assert code == 1
    assert found.items() >= {"tool": "synccheck", "kind": "deadlock", "line": 8, "block": [0, 0, 0]}.items()


def test_a_tool_reports_its_own_kinds(tmp_path: Path) -> None:
    assert findings(tmp_path, COPY, buffers("u32[32]:noinit") + LAUNCH.format(32), "--tool", "memcheck") == (0, [])


def test_text_names_the_instruction_and_the_thread(tmp_path: Path) -> None:
    file = tmp_path / "program.ptx"
    file.write_text(COPY)
    done = CliRunner().invoke(main, ["sanitize", "--block", "33", "--arg", "x=u32[32]", "--arg", "y=u32[33]", str(file)])
    assert done.exit_code == 1
    for text in ("line 13: ld.global.u32 %r2, [%d1];", "thread (32, 0, 0) of copy", "ERROR SUMMARY: 1 error"):
        assert text in done.output


PARTED = (
    HEAD
    + """.visible .entry parted()
{{
    .reg .b32 %t;
    .reg .pred %p;
    mov.u32 %t, %tid.x;
    setp.lt.u32 %p, %t, 16;
    @%p bra low;
    {0};
    bra on;
low:
    {0};
on:
    ret;
}}
"""
)
MASKED = (
    HEAD
    + """.visible .entry masked(.param .u64 y)
{{
    .reg .b32 %t, %m;
    .reg .b64 %y;
    .reg .pred %p;
    ld.param.u64 %y, [y];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %y, %t, 4, %y;
    setp.lt.u32 %p, %t, 16;
    selp.b32 %m, {0}, {1}, %p;
    shfl.sync.idx.b32 %t, %t, 0, 31, %m;
    st.global.u32 [%y], %t;
    ret;
}}
"""
)


@pytest.mark.parametrize("seed", [(), ("--schedule", "1"), ("--schedule", "2")])
@pytest.mark.parametrize(("barrier", "kinds"), [("bar.sync 0", ["barrier-divergence"]), ("barrier.sync 0", [])])
def test_parted_lanes_meet_at_a_barrier(tmp_path: Path, barrier: str, kinds: list[str], seed: tuple[str, ...]) -> None:
    code, found = findings(tmp_path, PARTED.format(barrier), "", "--block", "32", *seed)
    assert [f["kind"] for f in found] == kinds and code == bool(kinds)
    assert all({f["line"], f["other_line"]} == {11, 14} for f in found)


@pytest.mark.parametrize(("count", "code"), [(40, 1), (64, 0)])
def test_a_count_is_a_multiple_of_the_warp_size(tmp_path: Path, count: int, code: int) -> None:
    got, found = findings(tmp_path, MEET, "", "--block", "64", "--arg", str(count))
    assert got == code
    assert ("barrier-mismatch" in [f["kind"] for f in found]) == bool(code)


@pytest.mark.parametrize(
    ("low", "high", "kinds"),
    [
        ("0xffff", "0xffff0000", set()),
        ("0xffffffff", "0xffffffff", set()),
        ("0xffff", "0xffff", {"invalid-mask"}),
        ("0xffffffff", "0xffff0001", {"mask-mismatch"}),
    ],
)
def test_masks_name_their_lanes(tmp_path: Path, low: str, high: str, kinds: set[str]) -> None:
    _, found = findings(tmp_path, MASKED.format(low, high), "", "--block", "32", "--arg", "out:y=u32[32]")
    assert {f["kind"] for f in found} == kinds


NEIGHBOURS = (
    HEAD
    + """.visible .entry fill()
{
    .reg .b32 %t, %a;
    .shared .align 4 .b8 tile[128];
    .shared .align 4 .b8 other[128];
    mov.u32 %t, %tid.x;
    mov.u32 %a, tile;
    mad.lo.u32 %a, %t, 4, %a;
    st.shared.u32 [%a], %t;
    mov.u32 %a, other;
    mad.lo.u32 %a, %t, 4, %a;
    st.shared.u32 [%a], %t;
    ret;
}
"""
)


@pytest.mark.parametrize(("threads", "lines"), [(32, []), (33, [12])])
def test_a_shared_array_has_its_own_end(tmp_path: Path, threads: int, lines: list[int]) -> None:
    _, found = findings(tmp_path, NEIGHBOURS, "", "--block", str(threads), "--tool", "memcheck")
    assert [f["line"] for f in found] == lines
    for f in found:
        assert (f["space"], f["thread"], f["nearby"]) == (
            "shared",
            [32, 0, 0],
            "`tile[32]`, 0 bytes after the 128 bytes of tile; tile has 32 elements of b32",
        )


STACK = (
    HEAD
    + """.func fill(.param .u64 at, .param .u32 n)
{
    .reg .b64 %a;
    .reg .b32 %n;
    .reg .pred %p;
    .local .align 4 .b32 own[2];
    ld.param.u64 %a, [at];
    ld.param.u32 %n, [n];
AGAIN:
    st.u32 [%a], %n;
    add.s64 %a, %a, 4;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra AGAIN;
    st.local.u32 [own+4], %n;
    ret;
}
.visible .entry k(.param .u32 n)
{
    .reg .b64 %a;
    .reg .b32 %n;
    .local .align 4 .b32 before[4];
    .local .align 4 .b32 array[4];
    .local .align 4 .b32 after[4];
    mov.u64 %a, array;
    cvta.local.u64 %a, %a;
    ld.param.u32 %n, [n];
    {
    .param .u64 x;
    .param .u32 y;
    st.param.u64 [x], %a;
    st.param.u32 [y], %n;
    call fill, (x, y);
    }
    ret;
}
"""
)


@pytest.mark.parametrize(
    ("count", "nearby"), [(4, []), (5, ["`array[4]`, 0 bytes after the 16 bytes of array; array has 4 elements of b32"])]
)
def test_a_local_array_of_a_caller_has_its_own_end(tmp_path: Path, count: int, nearby: list[str]) -> None:
    _, found = findings(tmp_path, STACK, "", "--block", "32", "--arg", str(count), "--tool", "memcheck")
    assert [f["nearby"] for f in found] == nearby
    assert all((f["kind"], f["space"], f["line"], f["count"]) == ("out-of-bounds", "local", 13, 32) for f in found)


SPACES = (
    HEAD
    + """.visible .entry k()
{{
    .reg .b64 %a;
    .shared .align 4 .b32 tile[4];
    .local .align 4 .b32 own[4];
    mov.u64 %a, {object};
    cvta.{space}.u64 %a, %a;
    {access};
    ret;
}}
"""
)


@pytest.mark.parametrize(("object", "space", "access", "kinds"), [
    ("tile", "shared", "st.global.u32 [%a], 1", ["wrong-space"]), ("own", "local", "st.global.u32 [%a], 1", ["wrong-space"]),
    ("tile", "shared", "st.shared.u32 [%a], 1", ["wrong-space"]), ("tile", "shared", "st.u32 [%a], 1", []),
])  # fmt: skip
def test_a_generic_address_in_a_named_space(tmp_path: Path, object: str, space: str, access: str, kinds: list[str]) -> None:
    text = SPACES.format(object=object, space=space, access=access)
    _, found = findings(tmp_path, text, "", "--block", "1", "--tool", "memcheck")
    assert [f["kind"] for f in found] == kinds


HEAP = (
    HEAD
    + """.extern .func (.param .b64 p) malloc (.param .b64 size);
.extern .func free (.param .b64 p);
.visible .entry k()
{
    .reg .b64 %a;
    { .param .b64 n; .param .b64 p; st.param.b64 [n], 16; call (p), malloc, (n); ld.param.b64 %a, [p]; }
    { .param .b64 p; st.param.b64 [p], %a; call free, (p); }
    st.global.u32 [%a], 1;
    ret;
}
"""
)


def test_freed_memory_says_where_it_was_freed(tmp_path: Path) -> None:
    _, (found,) = findings(tmp_path, HEAP, "", "--block", "1", "--tool", "memcheck")
    assert (found["kind"], found["line"]) == ("use-after-free", 11)
    assert str(found["nearby"]).endswith("freed at line 10 by block (0, 0, 0), thread (0, 0, 0) of k")


def test_what_a_kernel_prints_is_no_part_of_a_report(tmp_path: Path) -> None:
    file = tmp_path / "printf.ptx"
    file.write_text((Path(__file__).parents[3] / "samples" / "printf.ptx").read_text())
    done = CliRunner().invoke(main, ["sanitize", "--json", str(file)])
    assert json.loads(done.stdout) == [] and done.stderr


@pytest.mark.parametrize(
    "access", ["ld.shared.u32 %r, [other+1028];", "st.shared.u32 [other+1028], %r;", "atom.shared.exch.b32 %r, [other+1028], 1;"]
)
def test_a_shared_array_is_named_whatever_else_is_checked(tmp_path: Path, access: str) -> None:
    ptx = (
        HEAD
        + ".visible .entry k()\n{\n    .reg .b32 %r;\n    .shared .align 4 .b8 other[128];\n    mov.u32 %r, 0;\n    ACCESS\n    ret;\n}\n"
    )
    toml = '[[launch]]\nkernel = "k"\nblock = 1\nargs = []\n'
    for tool in ("memcheck", "all"):
        _, found = findings(tmp_path, ptx.replace("ACCESS", access), toml, "--tool", tool)
        assert [f["kind"] for f in found] == ["out-of-bounds"]
        assert "900 bytes after the 128 bytes of other" in str(found[0]), tool


@pytest.mark.parametrize(("limit", "printed", "left"), [("1", 1, "1 more finding is not printed"), ("2", 2, ""), ("0", 2, "")])
def test_print_limit(tmp_path: Path, limit: str, printed: int, left: str) -> None:
    file = tmp_path / "twice.ptx"
    file.write_text(COPY.replace("    ret;", "    sub.u32 %r3, %r2, 5;\n    st.global.u32 [%d2], %r3;\n    ret;"))
    launch = ["--block", "32", "--arg", "x=u32[32]:noinit", "--arg", "y=u32[32]"]
    done = CliRunner().invoke(main, ["sanitize", "--tool", "initcheck", "--print-limit", limit, str(file), *launch])
    assert done.exit_code == 1
    assert done.output.count("Error: uninitialized") == printed
    assert ("not printed" in done.output) == bool(left) and left in done.output
    assert "ERROR SUMMARY: 2 errors" in done.output
