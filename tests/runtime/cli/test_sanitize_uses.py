"""Checkers wherever launches come from: `run --sanitize`, `//@ run --sanitize`, `with sanitizing()` around the APIs; and the findings' forms."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from warplab import runtime as w
from warplab.runtime import driver
from warplab.runtime.cli import main

COPY = """{directive}
.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .u64 x, .param .u64 y)
{{
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
}}
"""
UNSET = "--block 32 --arg x=u32[32]:noinit --arg out:y=u32[32]"
SET = UNSET.replace(":noinit", "")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "copy.ptx"
    path.write_text(COPY.format(directive=""))
    return path


def call(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, [*words])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(("launch", "sanitize", "code"), [
    (UNSET, ["--sanitize"], 1), (UNSET, ["--sanitize", "init"], 1), (UNSET, ["--sanitize", "memcheck,sync"], 0), (UNSET, ["--sanitize", "none"], 0),
    (UNSET, [], 1),     (SET, ["--sanitize"], 0),
])  # fmt: skip
def test_run_sanitizes(program: Path, launch: str, sanitize: list[str], code: int) -> None:
    status, _, err = call("run", str(program), *launch.split(), *sanitize)
    assert (status, "uninitialized" in err) == (code, bool(code))


def test_an_unknown_tool_is_named(program: Path) -> None:
    status, _, err = call("run", str(program), *SET.split(), "--sanitize", "speed")
    assert status == 2 and "no tool is called 'speed'" in err


@pytest.mark.parametrize(("directive", "passes"), [
    (f"//@ run {UNSET} --sanitize init", False), (f"//@ run --sanitize {UNSET}", False), (f"//@ run --sanitize {SET}", True),
])  # fmt: skip
def test_a_test_sanitizes(tmp_path: Path, directive: str, passes: bool) -> None:
    path = tmp_path / "copy.ptx"
    path.write_text(COPY.format(directive=directive))
    status, out, _ = call("test", str(path))
    assert (status == 0) == passes and ("uninitialized" in out) != passes


def test_a_launch_file_sanitizes(program: Path) -> None:
    text = 'sanitize = "init"\n[buffers]\nx = "u32[32]:noinit"\ny = "u32[32]"\n[[launch]]\nblock = 32\nargs = ["x", "y"]\n'
    program.with_suffix(".toml").write_text(text)
    status, out, _ = call("run", str(program), "--json")
    assert status == 1 and json.loads(out)[0]["findings"][0]["kind"] == "uninitialized"


# ---------------------------------------------------------------- forms


def test_findings_as_sarif(program: Path) -> None:
    status, out, _ = call("sanitize", str(program), *UNSET.split(), "--format", "sarif")
    (run,) = json.loads(out)["runs"]
    (result,) = run["results"]
    assert status == 1 and result["ruleId"] == run["tool"]["driver"]["rules"][0]["id"] == "initcheck/uninitialized"
    assert [x["physicalLocation"]["region"]["startLine"] for x in (*result["locations"], *result["relatedLocations"])] == [16, 14]


@pytest.mark.parametrize(("launch", "failures"), [(UNSET, 1), (SET, 0)])
def test_findings_as_junit(program: Path, launch: str, failures: int) -> None:
    _, out, _ = call("sanitize", str(program), *launch.split(), "--format", "junit")
    suite = ElementTree.fromstring(out)[0]
    assert suite.get("failures") == str(failures) and len(suite[0]) == failures


def test_findings_as_a_page(program: Path) -> None:
    _, out, _ = call("sanitize", str(program), *UNSET.split(), "--format", "html")
    assert out.startswith("<!DOCTYPE html>") and "st.global.u32 [%d2], %r2;" in out


# ---------------------------------------------------------------- the APIs


def test_the_driver_sanitizes() -> None:
    with w.sanitizing("initcheck") as sanitizer:
        for value in (
            driver.cuInit(0), driver.cuDeviceGet(0), driver.cuDevicePrimaryCtxRetain(0)
        ):  # fmt: skip
            assert value[0] == 0
        driver.cuCtxSetCurrent(value[1])
        _, module = driver.cuModuleLoadData(COPY.format(directive="").encode() + b"\0")
        _, kernel = driver.cuModuleGetFunction(module, b"copy")
        (_, x), (_, y) = driver.cuMemAlloc(128), driver.cuMemAlloc(128)
        driver.cuMemsetD8(x, 0, 64)
        driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, ((x, y), (None, None)), 0)
        driver.cuMemFree(x), driver.cuMemFree(y), driver.cuModuleUnload(module)
    (found,) = sanitizer.errors
    assert (found.line, found.thread, found.count) == (16, (16, 0, 0), 16)
    assert "uninitialized" in sanitizer.report()


def test_python_launches_are_sanitized() -> None:
    device = w.Device()
    device.set_current()
    with w.sanitizing() as sanitizer:
        kernel = w.ObjectCode.from_ptx(COPY.format(directive="")).get_kernel("copy")
        x, y = w.to_device(np.zeros(32, np.uint32)), w.device_array(32, np.uint32)
        w.launch(device.default_stream, w.LaunchConfig(grid=1, block=33), kernel, x, y)
        with pytest.raises(w.CUDAError):
            device.sync()
    device.reset()
    assert [(f.kind, f.thread) for f in sanitizer.errors] == [("out-of-bounds", (32, 0, 0))]
