"""Runs in several orders: what differs is shown with both values, both writers and the seed that repeats it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from warplab.runtime import Device, LaunchConfig, Program, device_array, launch, scheduled, schedules
from warplab.runtime.cli import main
from warplab.runtime.golden import collect, run_case
from warplab.runtime.pytest_plugin import pytest_generate_tests
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import directives
from warplab.runtime.run.schedules import in_orders

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
SHIFT = (
    HEAD
    + """
.visible .entry shift(.param .u64 out)
{
    .reg .u32 %t, %v, %a;
    .reg .u64 %o, %d;
    .shared .u32 tile[128];
    mov.u32 %t, %tid.x;
    mov.u32 %a, tile;
    mad.lo.u32 %a, %t, 4, %a;
    st.shared.u32 [%a], %t;
    BARRIER
    add.u32 %v, %t, 1;
    and.b32 %v, %v, 127;
    mov.u32 %a, tile;
    mad.lo.u32 %a, %v, 4, %a;
    ld.shared.u32 %v, [%a];
    ld.param.u64 %o, [out];
    mul.wide.u32 %d, %t, 4;
    add.u64 %o, %o, %d;
    st.global.u32 [%o], %v;
    ret;
}
"""
)
RACE, RIGHT = SHIFT.replace("BARRIER", ""), SHIFT.replace("BARRIER", "bar.sync 0;")
# The block that comes first takes the first place; the order of places is not what the kernel promises.
TAKE = (
    HEAD
    + """
.global .u32 next;
.visible .entry take(.param .u64 out)
{
    .reg .u32 %c, %n;
    .reg .u64 %o, %d;
    mov.u32 %c, %tid.x;
    shr.u32 %c, %c, 5;
    atom.global.add.u32 %n, [next], 1;
    ld.param.u64 %o, [out];
    mul.wide.u32 %d, %n, 4;
    add.u64 %o, %o, %d;
    st.global.u32 [%o], %c;
    ret;
}
"""
)
# Only the order in which the second warp comes first ends well.
TRAP = (
    HEAD
    + """
.global .u32 seen;
.visible .entry k()
{
    .reg .u32 %t, %n;
    .reg .pred %p, %q;
    mov.u32 %t, %tid.x;
    setp.ge.u32 %p, %t, 32;
    @%p bra second;
    st.volatile.global.u32 [seen], 1;
    ret;
second:
    ld.volatile.global.u32 %n, [seen];
    setp.eq.u32 %q, %n, DEFAULT;
    @%q ret;
    trap;
}
"""
)


def written(folder: Path, text: str) -> str:
    path = folder / "k.ptx"
    path.write_text(text)
    return str(path)


def warplab(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, words)
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


LAUNCH = ("--block", "128", "--arg", "out:out=u32[128]")


def test_what_differs_is_named(tmp_path: Path) -> None:
    code, text = warplab("run", written(tmp_path, RACE), *LAUNCH, "--schedules", "8")
    line = RACE[: RACE.index("st.global")].count("\n") + 1
    found = re.search(r"out\[(\d+)\] is (\d+) in the default order", text)
    assert code == 1 and found is not None and int(found[2]) == int(found[1]) + 1
    assert text.count(f"at line {line}") == 2 and "under --schedule" in text and "elements differ" in text


def test_the_seed_repeats_it(tmp_path: Path) -> None:
    path = written(tmp_path, RACE)
    _, text = warplab("run", path, *LAUNCH, "--schedules", "8", "--json")
    found = json.loads(text)[0]["orders"]["difference"]
    (at,) = found["index"]
    code, text = warplab(
        "run",
        path,
        *LAUNCH,
        "--sanitize",
        "none",
        "--schedule",
        str(found["schedule"]),
        "--expect",
        f"out[{at}] == {found['other']['value']}",
    )
    assert code == 0, text


def test_what_is_right_is_the_same_in_all_orders(tmp_path: Path) -> None:
    code, text = warplab("run", written(tmp_path, RIGHT), *LAUNCH, "--schedules", "4")
    assert code == 0 and "4 seeds: the same outcome" in text


def test_seeds_may_begin_elsewhere(tmp_path: Path) -> None:
    _, text = warplab("run", written(tmp_path, RIGHT), *LAUNCH, "--schedule", "40", "--schedules", "3", "--json")
    assert json.loads(text)[0]["orders"] == {"schedules": [40, 41, 42], "difference": None}


def test_expectations_say_what_must_hold(tmp_path: Path) -> None:
    arguments = ("--block", "64", "--arg", "out:out=u32[64]")
    path = written(tmp_path, TAKE)
    assert warplab("run", path, *arguments, "--schedules", "8")[0] == 1
    code, text = warplab("run", path, *arguments, "--schedules", "8", "--expect", "sum(out) == 32")
    assert code == 0 and "all checks hold in both orders" in text
    code, text = warplab("run", path, *arguments, "--schedules", "8", "--expect", "out[0] == 0")
    assert code == 1 and "does not hold under --schedule" in text


def test_a_fault_is_a_difference(tmp_path: Path) -> None:
    spec = directives("//@ run --block 64 --schedules 16")[0]
    for default in (0, 1):
        runner = Runner([TRAP.replace("DEFAULT", str(default)).encode()], ["k.ptx"], spec, tmp_path)
        outcome = runner.run()
        found = in_orders(runner, outcome).difference
        assert found is not None and found.is_fault and bool(found.default.failure) != bool(found.other.failure)
        assert "ends well" in str(found)


def test_checkers_look_at_each_order(tmp_path: Path) -> None:
    code, text = warplab("sanitize", "--json", written(tmp_path, RACE), *LAUNCH, "--schedules", "2")
    report = json.loads(text)
    assert code == 1 and [f["kind"] for f in report["findings"]] == ["read-write", "uninitialized"] and report["orders"][0]["difference"]
    code, text = warplab("sanitize", written(tmp_path, RIGHT), *LAUNCH, "--schedules", "2")
    assert code == 0 and "2 seeds: the same outcome" in text


def test_golden_tests_hold_in_all_orders(tmp_path: Path) -> None:
    for text, directive, passes in ((RACE, " --schedules 8", False), (RACE, "", True), (RIGHT, " --schedules 4", True)):
        path = Path(written(tmp_path, f"//@ run --block 128 --arg out:out=u32[128]{directive}\n{text}"))
        (case,) = collect([path])
        result = run_case(case)
        assert result.passed is passes and ("under --schedule" in result.message) is not passes
    Path(written(tmp_path, f"//@ run --block 128 --arg out:out=u32[128]\n{RACE}"))
    assert warplab("test", str(tmp_path))[0] == 0
    code, text = warplab("test", str(tmp_path), "--schedules", "8")
    assert code == 1 and "under --schedule" in text


@pytest.mark.parametrize("count", ["0", "x"])
def test_a_wrong_number_is_refused(tmp_path: Path, count: str) -> None:
    code, text = warplab("run", written(tmp_path, RIGHT), *LAUNCH, f"--schedules={count}")
    assert code == 2 and "--schedules" in text


def test_from_python() -> None:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(RACE, "ptx").compile("cubin").get_kernel("shift")

    def shifted() -> tuple[int, ...]:
        out = device_array(128, np.uint32)
        launch(stream, LaunchConfig(grid=1, block=128), kernel, out)
        stream.sync()
        return tuple(out.copy_to_host().tolist())

    found = {seed: shifted() for seed in schedules(4)}
    assert list(found) == [None, 1, 2, 3, 4] and len(set(found.values())) > 1
    for seed, outcome in found.items():  # alike, whatever ran before
        with scheduled(seed):
            assert shifted() == outcome


@pytest.mark.parametrize(("seeds", "orders"), [(None, [None]), (2, [None, 1, 2])])
def test_a_fixture_makes_a_test_of_each_order(seeds: int | None, orders: list[int | None]) -> None:
    made: list[list[int | None]] = []
    config = SimpleNamespace(getoption={"--warplab-schedules": seeds}.get)
    test = SimpleNamespace(fixturenames=["warplab_schedule"], config=config, parametrize=lambda name, values, **_: made.append(values))
    pytest_generate_tests(test)  # type: ignore[arg-type]
    assert made == [orders]


def test_the_writer_is_the_one_whose_value_stays(tmp_path: Path) -> None:
    """Under a seed the store that was issued last need not be the one that became visible last."""
    text = (
        HEAD
        + """
.visible .entry k(.param .u64 out)
{
    .reg .u32 %t;
    .reg .u64 %o;
    mov.u32 %t, %tid.x;
    ld.param.u64 %o, [out];
    st.global.u32 [%o], %t;
    ret;
}
"""
    )
    path = written(tmp_path, text)
    for first in (1, 20, 40):
        arguments = ("--block", "64", "--arg", "out:out=u32[1]", "--schedule", str(first), "--schedules", "12", "--json")
        other = json.loads(warplab("run", path, *arguments)[1])[0]["orders"]["difference"]["other"]
        assert other["writer"]["thread"] == [int(other["value"]), 0, 0]


# Each block writes x beside a critical section that holds nothing: one in front of its own, one behind it.
LOCK = """.global .u32 lock, x;
.visible .entry k()
{
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 1;
    @!%p1 BEFORE;
A:  atom.acquire.gpu.global.cas.b32 %r2, [lock], 0, 1;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra A;
    INSIDE
    st.release.gpu.global.u32 [lock], 0;
    @%p1 AFTER;
    ret;
}
"""


@pytest.mark.parametrize("command", [("sanitize",), ("run", "--sanitize=race")])
@pytest.mark.parametrize(
    ("store", "before", "inside", "after", "races"),
    [
        ("st.global.u32 [x], %r1", 1, 0, 1, True),
        ("st.global.u32 [x], %r1", 0, 1, 0, False),
        ("st.relaxed.gpu.global.u32 [x], %r1", 1, 0, 1, False),
    ],
)
def test_a_race_that_a_lock_hides_in_the_default_order(
    tmp_path: Path, command: tuple[str, ...], store: str, before: int, inside: int, after: int, races: bool
) -> None:
    nothing = "mov.u32 %r2, 0"
    text = HEAD + LOCK
    for name, there in (("BEFORE", before), ("INSIDE", inside), ("AFTER", after)):
        text = text.replace(name, (store if there else nothing) + (";" if name == "INSIDE" else ""))
    code, said = warplab(*command, written(tmp_path, text), "--grid", "2", "--block", "1")
    assert code == races and ("under --schedule" in said and "write-write" in said) == races
