"""What reports say of places: the user's line, the element, whether memory was freed before; and programs that go on behind a device error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
INLINED = (
    HEAD
    + """.visible .entry k(.param .u64 x)
{
    .reg .b32 %v;
    .reg .b64 %x;
    .loc 1 5 1
    ld.param.u64 %x, [x];
    .loc 1 7 3
    .loc FILES
    atom.global.add.u32 %v, [%x+64], 1;
    .loc 1 9 1
    ret;
}
.file 1 "user.cu"
.file 2 "/cuda/include/intrinsics.hpp"
.section .debug_str
{
$name:
.b8 102,0
}
"""
)


def sanitize(folder: Path, ptx: str, toml: str = "", *options: str) -> tuple[int, list[dict[str, object]]]:
    file = folder / "program.ptx"
    file.write_text(ptx)
    if toml:
        file.with_suffix(".toml").write_text(toml)
    done = CliRunner().invoke(main, ["sanitize", "--json", *options, str(file)])
    return done.exit_code, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("location", "line"),
    [
        ("2 294 3, function_name $name, inlined_at 1 7 3", "user.cu:7"),
        ("2 294 3, function_name $name, inlined_at 1 7 3\n.loc 2 80 2, function_name $name, inlined_at 2 294 3", "user.cu:7"),
        ("1 2 9, function_name $name, inlined_at 1 7 3", "user.cu:2"),
        ("2 294 3", "/cuda/include/intrinsics.hpp:294"),
    ],
)
def test_inlined_code_of_another_file_stands_at_the_line_that_calls_it(tmp_path: Path, location: str, line: str) -> None:
    _, (found,) = sanitize(tmp_path, INLINED.replace("FILES", location), "", "--arg", "x=u32[16]")
    assert found["source"] == line


BYTES = (
    HEAD
    + """.extern .shared .align 16 .b8 smem[];
.visible .entry k(.param .u64 y)
{
    .reg .b32 %t, %a;
    .reg .b64 %y;
    .reg .TYPE %v;
    ld.param.u64 %y, [y];
    mov.u32 %t, %tid.x;
    mov.u32 %a, smem;
    mad.lo.u32 %a, %t, SIZE, %a;
    ld.shared.TYPE %v, [%a];
    add.TYPE %v, %v, %v;
    st.global.TYPE [%y], %v;
    ret;
}
"""
)


@pytest.mark.parametrize(("type", "size", "first"), [("f32", 4, "smem[32]"), ("f64", 8, "smem[16]"), ("u16", 2, "smem[64]")])
def test_an_element_of_bytes_is_one_of_the_accessed_type(tmp_path: Path, type: str, size: int, first: str) -> None:
    text = BYTES.replace("TYPE", type).replace("SIZE", str(size))
    threads = 128 // size + 1
    _, found = sanitize(tmp_path, text, "", "--block", str(threads), "--shared", "128", "--arg", "y=u64[1]", "--tool", "memcheck")
    assert [f["kind"] for f in found] == ["out-of-bounds"] and f"`{first}`" in str(found[0]["nearby"])


COPY = (
    HEAD
    + """.visible .entry copy(.param .u64 x, .param .u64 y)
{
    .reg .b32 %t, %v;
    .reg .b64 %x, %y;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %x, %t, 4, %x;
    mad.wide.u32 %y, %t, 4, %y;
    ld.global.u32 %v, [%x];
    add.u32 %v, %v, 1;
    st.global.u32 [%y], %v;
    ret;
}
.visible .entry broken()
{
    trap;
}
"""
)
BUFFERS = '[buffers]\nx = "u32[32]{}"\ny = "u32[32]"\n'
LAUNCH = '[[launch]]\nkernel = "copy"\nblock = {}\nargs = ["x", "y"]\n'
FREE = '[[launch]]\nfree = "x"\n'


def test_memory_that_is_freed_later_was_not_freed(tmp_path: Path) -> None:
    _, (found,) = sanitize(tmp_path, COPY, BUFFERS.format(":noinit") + LAUNCH.format(32) + FREE)
    assert found["kind"] == "uninitialized" and "freed" not in str(found["nearby"]) and "128 bytes of x" in str(found["nearby"])


def test_memory_that_was_freed_is_called_so(tmp_path: Path) -> None:
    _, (found,) = sanitize(tmp_path, COPY, BUFFERS.format("") + FREE + LAUNCH.format(32))
    assert found["kind"] == "use-after-free" and "freed 128 bytes of x" in str(found["nearby"])


# ---------------------------------------------------------------- behind a device error

GOES_ON = BUFFERS.format("") + LAUNCH.format(33) + LAUNCH.format(32) + FREE + LAUNCH.format(32)


def test_a_program_stops_at_a_device_error_unless_it_is_to_go_on(tmp_path: Path) -> None:
    for options in (), ("--on-error", "stop"):
        assert [f["kind"] for f in sanitize(tmp_path, COPY, GOES_ON, *options)[1]] == ["out-of-bounds"]
    code, found = sanitize(tmp_path, COPY, GOES_ON, "--on-error", "continue")
    assert code == 1 and [f["kind"] for f in found] == ["out-of-bounds", "use-after-free"]
    assert sanitize(tmp_path, COPY, "on_error = 'continue'\n" + GOES_ON)[1] == found


def test_a_right_program_goes_on_as_ever(tmp_path: Path) -> None:
    assert sanitize(tmp_path, COPY, BUFFERS.format("") + 2 * LAUNCH.format(32), "--on-error", "continue") == (0, [])


def test_run_goes_on_and_still_fails(tmp_path: Path) -> None:
    file = tmp_path / "program.ptx"
    file.write_text(COPY)
    file.with_suffix(".toml").write_text(BUFFERS.format("") + LAUNCH.format(33) + LAUNCH.format(32))
    done = CliRunner().invoke(main, ["run", "--sanitize=all", "--on-error", "continue", str(file)])
    assert done.exit_code == 1 and "out-of-bounds" in done.stderr


def test_an_error_that_no_tool_reports_is_told(tmp_path: Path) -> None:
    trap = '[[launch]]\nkernel = "broken"\n'
    file = tmp_path / "program.ptx"
    file.write_text(COPY)
    file.with_suffix(".toml").write_text(BUFFERS.format("") + trap + LAUNCH.format(33))
    done = CliRunner().invoke(main, ["sanitize", "--on-error", "continue", str(file)])
    assert done.exit_code == 4 and "trap instruction" in done.stderr and "out-of-bounds" in done.stdout


def test_another_word_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "program.ptx"
    file.write_text(COPY)
    done = CliRunner().invoke(main, ["sanitize", "--on-error", "retry", str(file), "--kernel", "broken", "--grid", "1"])
    assert done.exit_code == 2 and "write stop or continue" in done.stderr
