"""--device with figures of one's own: in words, in files, for every command that takes the option."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.device.described import listed, model_of, target_of
from warplab.runtime.device.machine import Machine
from warplab.runtime.errors import UsageError

VECADD = str(Path(__file__).parents[3] / "samples/vecadd.ptx")
FILE = 'base = "sm_90"\nname = "Device D"\nmultiprocessors = 2\nbandwidth = "100G"\n'


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    return result.output


def cycles(*device: str) -> float:
    found = json.loads(run("profile", VECADD, "--time", "--json", *(("--device", *device) if device else ())))
    return float(found[0]["metrics"]["sm__cycles_elapsed.max"])


def test_a_file_is_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d.toml").write_text(FILE)
    device = str(tmp_path / "d.toml")
    assert "on sm_90 (Device D)" in run("profile", VECADD, "--device", device)
    assert "Device D" in run("devices", device)
    assert "sm_90 (Device D): 256 threads" in run("occupancy", "--device", device)
    program = tmp_path / "k.ptx"  # a directive's file is looked for beside the program
    program.write_text(Path(VECADD).read_text().replace("//@ run", "//@ run --device d.toml"))
    monkeypatch.chdir("/")
    assert "on sm_90 (Device D)" in run("profile", str(program))
    assert "1 passed" in run("test", str(program))


def test_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    path = tmp_path / "d.toml"
    for text, said in (("base = 3", 'base = "sm_20"'), ("x", "d.toml: "), ('base = "sm_20"\nz = 1', "a device has no 'z'")):
        path.write_text(text)
        assert said in run("run", VECADD, "--device", str(path), code=2)
    assert "nothing.toml: No such file" in run("run", VECADD, "--device", "nothing.toml", code=2)
    assert "a device has no 'regs'" in run("run", VECADD, "--device", "sm_20,regs=1", code=2)


def test_time_follows_the_figures() -> None:
    plain = cycles()
    assert cycles("sm_90,name=the same") == pytest.approx(plain, rel=0.02)
    assert cycles("sm_90,memory_latency=4000/4000") > plain + 2000
    text = run("latency", VECADD, "--device", "sm_90,arithmetic_latency=40")
    assert re.search(r"^sm_90,arithmetic_latency=40 +40 ", text, re.M)


def test_words() -> None:
    assert model_of("sm_20:64M,registers=16384") == ("sm_20,registers=16384", 64 << 20)
    assert target_of("sm_20:64M,registers=16384") == "sm_20"
    devices = Machine("sm_90,sm_20:64M,registers=16384,shared_memory=16K,sm_80").devices
    assert [d.profile.registers for d in devices] == [65536, 16384, 65536] and devices[1].memory == 64 << 20
    assert devices[1].attributes["MAX_REGISTERS_PER_BLOCK"] == 16384
    with pytest.raises(UsageError, match="is not a target"):
        Machine(",".join(listed("registers=1,sm_90")))


def test_tables_name_own_devices() -> None:
    text = run("devices", "--table", "throughput", "sm_20", "sm_20,f32=48,name=Mine", "sm_20,f64=0")
    head = re.search(r"compute capability +2\.0 +2\.0\* +2\.0\*\*\nf16.*\nf32.* 32 +48 +32\nf64.* 16 +16 +-\n", text)
    assert head and "* Mine\n** f64=0\n" in text
    assert json.loads(run("devices", "--table", "throughput", "sm_20,f32=48", "--json"))["shift"] == {"sm_20,f32=48": "16"}
