"""When a launch goes over to compiled code, and what is kept of that code on disk."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interpreter.harness import Machine, run
from warplab.interpreter.execute import execute
from warplab.interpreter.native import jit, tiering
from warplab.interpreter.native.jit import NativeSource
from warplab.interpreter.native.run import NativeLaunch
from warplab.interpreter.native.store import LOOKS, ObjectStore
from warplab.interpreter.native.tiers import notes
from warplab.interpreter.native.tiers.foresight import Approach, LaunchForesight

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
COUNTING = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %r, %t, %n; .reg .pred %p; .shared .u32 s[64];
    ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %o, %o, %a;
    mov.u64 %a, s; mul.lo.u32 %n, %t, 4; mov.u32 %r, s; add.u32 %n, %n, %r; st.shared.u32 [%n], %t; mov.u32 %r, 0;
    L: ld.shared.u32 %t, [%n]; add.u32 %t, %t, 1; st.shared.u32 [%n], %t; add.u32 %r, %r, 1; setp.lt.u32 %p, %r, 3000; @%p bra L;
    ld.shared.u32 %r, [%n]; st.global.u32 [%o], %r; ret; }}"""
IR = "define i64 @f() { ret i64 7 }"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled code."""
    monkeypatch.setattr(notes, "_all", {})
    monkeypatch.setenv("WARPLAB_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def compile_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the compiler took no time."""
    for name in ("LOADING", "COMPILE_SCHEDULER", "BASE", "WRITE", "COMPILE"):
        monkeypatch.setattr(tiering, name, 0.0)


def test_compiled_code_goes_on_with_a_wave_that_numpy_began(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_at_once(monkeypatch)
    taken = []
    take_over = NativeLaunch.take_over

    def noted(self: NativeLaunch, waves: Sequence[object]) -> bool:
        taken.append(take_over(self, waves))
        return taken[-1]

    monkeypatch.setattr(NativeLaunch, "take_over", noted)
    assert (run(COUNTING, 1, 40, 40, engine="auto") == np.arange(40) + 3000).all()
    assert taken == [True]


def test_a_process_compiles_beside_numpy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_at_once(monkeypatch)
    monkeypatch.setattr(jit, "compiled", lambda text: pytest.fail("compiled in this process"))
    machine = Machine(COUNTING.replace("3000", "200"))
    out = machine.upload(np.zeros(40, np.uint32))
    used, begun = [], time.monotonic()
    while not any(used) and time.monotonic() - begun < 60:
        used.append(machine.launch(1, 40, [out], engine="auto", threads=2).used.native_blocks)
    assert used[0] == 0 and used[-1] == 1, len(used)
    assert (machine.download(out) == np.arange(40) + 200).all()


def test_without_such_a_process_numpy_waits_for_the_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_at_once(monkeypatch)

    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr("subprocess.Popen", refused)
    assert (run(COUNTING.replace("3000", "90000"), 1, 40, 40, engine="auto", threads=2) == np.arange(40) + 90000).all()
    assert list(folder.iterdir())


def test_the_compiler_ends_what_it_has_begun_though_the_process_ends(tmp_path: Path) -> None:
    program = (
        "from warplab.interpreter.native.jit import NativeSource\n"
        "from warplab.interpreter.native.tiers import beside\n"
        "beside.begun([NativeSource('define i64 @f() { ret i64 7 }', ['f'])])"
    )
    kept = tmp_path / "kept"
    environment = {"WARPLAB_CACHE": str(kept), "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    begun = time.monotonic()
    while not list(kept.glob("*.o")) and time.monotonic() - begun < 60:
        time.sleep(0.05)
    assert len(list(kept.glob("*.o"))) == 1


def again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this process ended, and another one began."""
    notes.write_all()
    monkeypatch.setattr(notes, "_all", {})


def test_a_later_process_begins_natively(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machines = [Machine(COUNTING) for _ in range(2)]
    used = []
    for machine in machines:
        launch = machine.prepare(1, 40, [machine.upload(np.zeros(40, np.uint32))], engine="auto")
        with monkeypatch.context() as patch:
            if not used:
                compile_at_once(patch)
            execute(launch)
        notes_of_launch = notes.notes_of(launch)
        used.append((launch.used.native_blocks, notes_of_launch.numpy_steps > 0))
        again(monkeypatch)
    assert notes_of_launch.before.kept and notes_of_launch.before.seconds > 0
    assert used == [(1, True), (1, False)]


def test_a_later_process_knows_that_it_is_not_worth_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short, out = COUNTING.replace("3000", "30"), []
    for number in range(2):
        machine = Machine(short)
        launch = machine.prepare(1, 40, [machine.upload(np.zeros(40, np.uint32))], engine="native" if number == 0 else "auto")
        execute(launch)
        out.append(launch.used.native_blocks)
        again(monkeypatch)
    assert out == [1, 0]


def test_a_damaged_note_says_nothing(folder: Path) -> None:
    machine = Machine(COUNTING)
    launch = machine.prepare(1, 40, [machine.upload(np.zeros(40, np.uint32))])
    found = notes.notes_of(launch)
    for content in (b"{", b"[]", b'{"colour": 1}'):
        found._store.put(found._key, content)
        assert notes.KernelNotes(found._key, found._store).before == notes.KernelNote()


SERIAL = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %r, %t, %n, %i; .reg .pred %p;
    ld.param.u64 %o, [out]; mov.u32 %n, 400; mov.u32 %t, %tid.x; mov.u32 %i, 0;
    M: mov.u32 %r, 0;
    L: mad.lo.u32 %t, %t, 5, %r; add.u32 %r, %r, 3; setp.lt.u32 %p, %r, 300; @%p bra L;
    sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra M;
    mov.u32 %r, %tid.x; mul.wide.u32 %a, %r, 4; add.u64 %o, %o, %a; st.global.u32 [%o], %t; ret; }}"""


def test_the_end_of_loops_is_foreseen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, float]] = []
    remaining = LaunchForesight.remaining

    def noted(self: LaunchForesight, wave: Any = None) -> float | None:
        found = remaining(self, wave)
        if found is not None:
            seen.append((time.thread_time(), found))
        return found

    monkeypatch.setattr(LaunchForesight, "remaining", noted)
    monkeypatch.setattr(tiering, "LOADING", 1e9)
    monkeypatch.setattr(tiering, "BASE", 1e9)
    machine = Machine(SERIAL)
    machine.launch(64, 256, [machine.upload(np.zeros(64 * 256, np.uint32))], engine="auto")
    end = time.thread_time()
    late = [(found, end - when) for when, found in seen[len(seen) // 4 : -len(seen) // 4]]
    assert len(late) > 4
    assert all(left / 3 < found < left * 3 for found, left in late), late


def test_only_a_steady_approach_is_believed() -> None:
    def remaining(*distances: int) -> float:
        approach = Approach()
        for now, apart in enumerate(distances):
            approach.see(now, apart)
        return approach.remaining(len(distances) - 1)

    assert remaining(100, 98, 96, 94, 92, 90) == pytest.approx(45)
    assert remaining(*range(1000, 900, -1)) == pytest.approx(901)
    assert remaining(50, 50, 49, 49, 49, 48, 48, 47, 47) == pytest.approx(47 * 7 / 3 - 1)
    assert remaining(5000, 4999, 900, 20, 19) == 0, "a hash, say"
    assert remaining(9, 8, 7) == 0, "too early"
    assert remaining(9, 8, 7, 6, 50, 49, 48) == 0, "it began anew"


def test_launches_before_are_foreseen(folder: Path) -> None:
    machine = Machine(COUNTING)
    out = machine.upload(np.zeros(40, np.uint32))
    launch = machine.launch(1, 40, [out], engine="auto", threads=2)
    found = notes.notes_of(launch)
    assert LaunchForesight(launch, found.seconds_before(launch), 0.0).before == pytest.approx(found.seconds, rel=0.5)
    assert found.seconds_before(machine.prepare(2, 40, [out])) == 0


def test_a_short_launch_waits_for_no_compiler(folder: Path) -> None:
    run(COUNTING.replace("3000", "30"), 1, 40, 40, engine="auto")
    assert not folder.exists()


def test_compilation_does_not_count_towards_the_time_of_a_launch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slowly = jit.compiled

    def compiled(text: str) -> bytes:
        time.sleep(1.5)
        return slowly(text)

    monkeypatch.setattr(jit, "compiled", compiled)
    assert (run(COUNTING, 1, 40, 40, engine="native", max_seconds=1.5) == np.arange(40) + 3000).all()


def test_code_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    NativeSource(IR, ["f"]).compiled()
    monkeypatch.setattr("warplab.interpreter.native.jit.compiled", lambda text: pytest.fail("compiled again"))
    assert NativeSource(IR, ["f"]).compiled().addresses["f"]
    assert NativeSource(IR + "\n", ["f"]).kept() is None


def test_damaged_code_is_compiled_again(folder: Path) -> None:
    NativeSource(IR, ["f"]).compiled()
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert NativeSource(IR, ["f"]).kept() is None
    assert NativeSource(IR, ["f"]).compiled().addresses["f"]


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARPLAB_CACHE", str(tmp_path / "file"))
    assert NativeSource(IR, ["f"]).compiled().addresses["f"]


def test_the_folder_is_bounded(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path, limit=3000)
    for n in range(5):
        store.put(str(n), bytes(900))
        store.get("0")
    assert sum(p.stat().st_size for p in tmp_path.iterdir()) <= 3000
    assert store.get("4") == bytes(900)


def test_small_files_seldom_make_it_look_at_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, looks, bound = ObjectStore(tmp_path, limit=16_000), [], ObjectStore._bound
    monkeypatch.setattr(ObjectStore, "_bound", lambda self: (looks.append(1), bound(self)))
    for n in range(300):
        store.put(str(n), n.to_bytes(100, "little"))
    assert len(looks) < 300 * LOOKS * 100 / 16_000 * 1.25
    assert sum(p.stat().st_size for p in tmp_path.iterdir()) <= 16_000 + 10 * 132


@pytest.mark.parametrize(
    ("found", "needed"), [("0.44.1", "llvmlite 0.45 or newer (llvmlite 0.44.1 is installed)"), ("0.45.0rc1", ""), ("1.0", "")]
)
def test_an_old_compiler_is_not_used(found: str, needed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: found)
    assert tiering.missing.__wrapped__() == needed


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names a processor of x86-64")
def test_a_processor_without_fma_and_vectors_gives_the_same_bits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %t; .reg .f32 %x, %y; .reg .f64 %d;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 8; add.u64 %o, %o, %a;
        cvt.rn.f32.u32 %x, %t; mov.f32 %y, 0f3F9E3779; fma.rn.f32 %x, %x, %y, 0fB5000001; fma.rz.f32 %x, %x, %x, %y; sqrt.rn.f32 %x, %x;
        cvt.f64.f32 %d, %x; fma.rn.f64 %d, %d, %d, 0d3CA0000000000001; st.global.f64 [%o], %d; ret; }}"""
    llvm = jit.llvm
    _, compiler = jit._host()
    plain = llvm.Target.from_default_triple().create_target_machine(opt=2, cpu="x86-64", features="", jit=True)
    monkeypatch.setattr(jit, "_host", lambda: (plain, compiler))
    numpy, native = (run(text, 2, 64, 512, engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native)


def test_an_interrupt_ends_compiled_code() -> None:
    text = f"{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u32 %r; L: add.u32 %r, %r, 1; bra.uni L; }}"
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(text, 1, 32, 4, engine="native", max_seconds=20)
    timer.join()
