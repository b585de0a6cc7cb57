"""Code for newer devices: refused as a driver refuses it, wherever it comes from, unless only the device's rules are asked for."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import warplab.runtime as w
from warplab.runtime.cli import main

from ..conftest import Host, model_only
from ..ptx import HEAD

KERNEL = ".visible .entry k(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; cvta.to.global.u64 %d, %d; st.global.u32 [%d], 7; ret; }"
LAUNCH = "--arg out:p=u32[1] --expect p==7"
CPP = f"//@ run --kernel k {LAUNCH}\n" + 'extern "C" __global__ void k(unsigned *p) { *p = 7; }\n'


def text(target: str) -> str:
    """The kernel for a target."""
    return f".version {'8.7' if int(target[3:].rstrip('a')) > 90 else '8.0'}\n.target {target}\n.address_size 64\n{KERNEL}"


def called(tmp_path: Path, command: str, target: str, options: str = "") -> Result:
    """What a command says of the kernel for a target."""
    path = tmp_path / "k.ptx"
    path.write_text(text(target))
    launch = LAUNCH if command == "run" else LAUNCH.partition(" --expect")[0]
    return CliRunner().invoke(main, [command, str(path), *shlex.split(f"{launch} {options}")])


@pytest.mark.parametrize("command", ["run", "profile", "sanitize"])
def test_commands_refuse_newer_code_unless_only_rules_are_asked_for(tmp_path: Path, command: str) -> None:
    refused = called(tmp_path, command, "sm_80", "--device sm_20")
    assert refused.exit_code == 3, refused.output
    assert "k.ptx is for sm_80, which a device of sm_20 does not run: choose --device sm_80, or --device-rules-only" in refused.stderr
    assert called(tmp_path, command, "sm_80", "--device sm_20 --device-rules-only").exit_code == 0
    assert called(tmp_path, command, "sm_100").exit_code == 3, "the usual device is an H200"
    assert called(tmp_path, command, "sm_100", "--device sm_103").exit_code == 0
    assert called(tmp_path, command, "sm_90a").exit_code == 0
    assert called(tmp_path, command, "sm_90a", "--device sm_100").exit_code == 3, "only a device of 9.0 runs it"


def test_tests_and_launch_files_ask_for_it_themselves(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    for option, passes in (("", False), (" --device-rules-only", True)):
        path.write_text(f"//@ run {LAUNCH} --device sm_13{option}\n{text('sm_80')}")
        done = CliRunner().invoke(main, ["test", str(path)])
        assert (done.exit_code == 0, "choose --device sm_80" in done.output) == (passes, not passes), done.output
    path.write_text(text("sm_80"))
    for key, passes in (("", False), ("device_rules_only = true\n", True)):
        path.with_suffix(".toml").write_text(f'device = "sm_13"\n{key}[[launch]]\nargs = ["u32[1]"]\n')
        done = CliRunner().invoke(main, ["run", str(path)])
        assert (done.exit_code == 0) == passes, done.output


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("where", ["option", "directive"])
def test_cpp_is_compiled_for_the_oldest_target_of_the_compiler(tmp_path: Path, where: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(CPP.replace("//@ run", "//@ run --device sm_20") if where == "directive" else CPP)
    option = ["--device", "sm_20"] if where == "option" else []
    done = CliRunner().invoke(main, ["run", str(path), *option])
    assert done.exit_code == 0 and done.stdout.startswith("ok     k<<<"), done.output
    assert f"note: {path} is compiled for sm_" in done.stderr and "the compiler has no sm_20" in done.stderr
    shown = CliRunner().invoke(main, ["profile", str(path), *option])
    assert shown.exit_code == 0 and " on sm_20 " in shown.stdout.partition("\n")[0], shown.output
    if where == "directive":
        assert CliRunner().invoke(main, ["test", str(path)]).exit_code == 0


@model_only
def test_devices_of_python_run_newer_code_if_they_are_made_for_it(host: Host) -> None:
    old, free = w.Device(arch="sm_35"), w.Device(arch="sm_35", rules_only=True)
    assert old is not free and free is w.Device(arch="sm_35", rules_only=True)
    code = w.ObjectCode.from_ptx(text("sm_80"))
    old.set_current()
    with pytest.raises(w.CUDAError, match="INVALID_PTX"):
        code.get_kernel("k")
    free.set_current()
    out = np.zeros(1, np.uint32)
    w.ObjectCode.from_ptx(text("sm_80")).get_kernel("k")[1, 1](out)
    assert out[0] == 7
    w.Device(0).set_current()


PROGRAM = """
from warplab.runtime import driver as cu
cu.cuInit(0); _, c = cu.cuDevicePrimaryCtxRetain(0); cu.cuCtxSetCurrent(c)
print(cu.cuModuleLoadData(TEXT)[0].name)
"""


@model_only
def test_the_environment_asks_for_it_in_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {}
    for word in ("", "0", "1"):
        env = {**os.environ, "WARPLAB_DEVICES": "sm_50", "WARPLAB_DEVICE_RULES_ONLY": word, "PYTHONPATH": os.pathsep.join(sys.path)}
        program = PROGRAM.replace("TEXT", repr((HEAD + KERNEL).encode()))
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
        said[word] = done.stdout.strip() or done.stderr
    assert {said[""], said["0"]} == {"CUDA_ERROR_INVALID_PTX"} and said["1"] == "CUDA_SUCCESS", said
    monkeypatch.setenv("WARPLAB_DEVICE_RULES_ONLY", "yes")
    assert "WARPLAB_DEVICE_RULES_ONLY is 'yes': write 1, or 0" in called(tmp_path, "run", "sm_90").stderr
