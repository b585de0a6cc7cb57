"""How programs end, and what is left of them: nothing."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from warplab.runtime.exec.launcher import ExecRun
from warplab.runtime.exec.observers.sight import Sight
from warplab.runtime.exec.wire import AUDIT, REQUEST

from .conftest import COMMAND, Build, Run, environment

INIT = "import ctypes as C, os, sys, signal, time; cu = C.CDLL('libcuda.so.1'); assert cu.cuInit(0) == 0; n = C.c_int(); assert cu.cuDeviceGetCount(C.byref(n)) == 0; "


def python(code: str, use: bool = True) -> tuple[str, str, str]:
    return sys.executable, "-c", (INIT if use else "") + code


@pytest.mark.parametrize("code", [0, 1, 77])
def test_exit_codes_are_passed_on(warplab_exec: Run, code: int) -> None:
    assert warplab_exec(*python(f"sys.exit({code})")).returncode == code
    assert warplab_exec("sh", "-c", f"exit {code}").returncode == code


def test_a_program_has_the_environment_that_warplab_was_given() -> None:
    """Beside where the libraries are."""
    given = environment()
    words = subprocess.run([*COMMAND, "env", "-0"], env=given, capture_output=True, text=True, check=True).stdout
    found = dict(word.partition("=")[::2] for word in words.split("\0") if word)
    changed = {name for name in found | given if found.get(name) != given.get(name)} - {"_"}
    assert all(name.startswith(("LD_", "WARPLAB_", "CUDA", "NUMBA", "TRITON", "NVCC")) for name in changed), changed


def test_signals_are_passed_on(warplab_exec: Run) -> None:
    for s in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        assert warplab_exec(*python(f"os.kill(os.getpid(), {int(s)})")).returncode == -s


def test_what_can_not_be_started_says_so(warplab_exec: Run, tmp_path: os.PathLike[str]) -> None:
    done = warplab_exec("./there-is-no-such-program")
    assert (done.returncode, done.stderr) == (127, "error: ./there-is-no-such-program: No such file or directory\n")
    assert warplab_exec(str(tmp_path)).returncode == 126


def started(code: str) -> tuple[subprocess.Popen[str], int]:
    """A program that was started, and its process id, which it prints first."""
    p = subprocess.Popen([*COMMAND, *python("print(os.getpid(), flush=True); " + code)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env=environment(), start_new_session=True)  # fmt: skip
    assert p.stdout is not None
    return p, int(p.stdout.readline())


def settled(what: Callable[[], bool]) -> bool:
    """Does it become true within some seconds?"""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


def group(pid: int) -> list[int]:
    """The living processes of a session."""
    out = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    words = file.read().rsplit(")", 1)[1].split()
                if int(words[3]) == pid and words[0] != "Z":
                    out.append(int(name))
            except OSError:
                continue
    return out


@pytest.mark.parametrize("who", ["launcher", "program", "server"])
def test_nothing_is_left_when_one_of_them_is_killed(who: str) -> None:
    p, program = started("time.sleep(60)")
    members = group(p.pid)
    (server,) = set(members) - {p.pid, program}
    os.kill({"launcher": p.pid, "program": program, "server": server}[who], signal.SIGKILL)
    if who == "server":
        os.kill(program, signal.SIGTERM)
    assert settled(lambda: group(p.pid) == [])
    p.communicate()
    assert p.returncode == {"launcher": -9, "program": -9, "server": -15}[who]


def test_calls_fail_after_the_server_was_killed() -> None:
    p, program = started("sys.stdin.readline(); print(cu.cuInit(0), cu.cuDeviceGetCount(C.byref(n)), flush=True); sys.exit(3)")
    (server,) = set(group(p.pid)) - {p.pid, program}
    os.kill(server, signal.SIGKILL)
    assert settled(lambda: server not in group(p.pid))
    out, error = p.communicate("go\n", timeout=30)
    assert (p.returncode, out) == (3, "999 999\n")
    assert error == (
        "warplab: the process that models the devices was ended by SIGKILL, perhaps because the machine is out of memory; "
        "all calls fail from now on\n"
    )


def test_what_a_thread_knows_it_is_not_told_again() -> None:
    p, program = started("""
rt = C.CDLL("libcudart.so.13"); ask = lambda: (rt.cudaGetDevice(C.byref(n)), n.value, rt.cudaGetLastError())
ask(); print(flush=True); sys.stdin.readline(); print(ask(), rt.cudaDeviceSynchronize(), ask(), flush=True)""")
    assert p.stdout is not None
    p.stdout.readline()
    (server,) = set(group(p.pid)) - {p.pid, program}
    os.kill(server, signal.SIGKILL)
    assert settled(lambda: server not in group(p.pid))
    out, _ = p.communicate("go\n", timeout=30)
    assert out == "(0, 0, 0) 999 (999, 0, 999)\n"


def test_control_c_reaches_the_program() -> None:
    p, _ = started("\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('bye'); sys.exit(5)")
    time.sleep(0.3)  # until it sleeps
    os.killpg(p.pid, signal.SIGINT)
    out, _ = p.communicate(timeout=30)
    assert (p.returncode, out) == (5, "bye\n")
    assert settled(lambda: group(p.pid) == [])


def test_a_signal_for_the_launcher_is_passed_on() -> None:
    p, _ = started("time.sleep(60)")
    p.terminate()
    p.communicate(timeout=30)
    assert p.returncode == -signal.SIGTERM


def test_a_signal_for_the_group_leaves_the_program_its_device() -> None:
    # the launcher passes the signal on, so that it may come a second time, when Python has put its handlers away
    p, _ = started("""
def end(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(cu.cuDeviceGetCount(C.byref(n)), n.value)
    sys.exit(3)
signal.signal(signal.SIGTERM, end); print(flush=True); time.sleep(60)""")
    assert p.stdout is not None
    p.stdout.readline()
    os.killpg(p.pid, signal.SIGTERM)
    out, error = p.communicate(timeout=30)
    assert (p.returncode, out, error) == (3, "0 1\n", "")


def test_each_process_has_its_own_device(warplab_exec: Run) -> None:
    code = """
import multiprocessing as m
def work(k):
    import ctypes as C
    cu = C.CDLL('libcuda.so.1'); c = C.c_void_p(); p = C.c_uint64(); out = C.c_uint32()
    assert cu.cuInit(0) == 0 and cu.cuDevicePrimaryCtxRetain(C.byref(c), 0) == 0 and cu.cuCtxSetCurrent(c) == 0
    assert cu.cuMemAlloc_v2(C.byref(p), C.c_size_t(4)) == 0 and cu.cuMemsetD32_v2(p, k, C.c_size_t(1)) == 0
    assert cu.cuMemcpyDtoH_v2(C.byref(out), p, C.c_size_t(4)) == 0
    return out.value, hex(p.value)
if __name__ == '__main__':
    for way in ('fork', 'spawn'):
        with m.get_context(way).Pool(3) as pool: print(pool.map(work, range(6)))
"""
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(code)
        file.flush()
        done = warplab_exec(sys.executable, file.name)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        assert [value for value, _ in eval(line)] == list(range(6))
    assert len(done.stdout.splitlines()) == 2


WORKERS = """
import ctypes as C, os, pytest
TEXT = b".version 7.0 .target sm_70 .address_size 64 .visible .entry k(.param .u64 p, .param .u32 v) { .reg .u64 %p; .reg .u32 %v; " \\
       b"ld.param.u64 %p, [p]; ld.param.u32 %v, [v]; st.global.u32 [%p], %v; ret; }"
@pytest.mark.parametrize("n", range(16))
def test_store(n):
    cu = C.CDLL("libcuda.so.1")
    device, context, module, function, p = C.c_int(), C.c_void_p(), C.c_void_p(), C.c_void_p(), C.c_uint64()
    assert cu.cuInit(0) == 0 and cu.cuDeviceGet(C.byref(device), n % 2) == 0 and cu.cuCtxCreate_v2(C.byref(context), 0, device) == 0
    assert cu.cuModuleLoadData(C.byref(module), TEXT) == 0 and cu.cuModuleGetFunction(C.byref(function), module, b"k") == 0
    assert cu.cuMemAlloc_v2(C.byref(p), C.c_size_t(4)) == 0
    value, out = C.c_uint(n), C.c_uint()
    words = (C.c_void_p * 2)(C.addressof(p), C.addressof(value))
    assert cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, words, None) == 0
    assert cu.cuMemcpyDtoH_v2(C.byref(out), p, C.c_size_t(4)) == 0 and out.value == n
    assert cu.cuCtxDestroy_v2(context) == 0
"""


def test_workers_of_pytest_count_all_launches(warplab_exec: Run, tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "test_workers.py").write_text(WORKERS)
    report = tmp_path / "launches.xml"
    words = [sys.executable, "-m", "pytest", "-q", "-n", "4", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", "-c", os.devnull]
    done = warplab_exec(*words, str(tmp_path), options=("--devices", "2", "--junit", str(report)))
    assert done.returncode == 0 and "16 passed" in done.stdout, done
    suites = [ElementTree.parse(file).getroot() for file in tmp_path.glob("launches*.xml")]
    assert report.exists() and 1 < len(suites) <= 4
    assert sum(int(s.attrib["tests"]) for s in suites) == 16 and not any(int(s.attrib["failures"]) for s in suites)
    said = re.findall(r"^warplab: (\d+) launch(?:es)? of 1 kernel, 0 faults", done.stderr, re.MULTILINE)
    assert sum(map(int, said)) == 16, done.stderr


def test_a_program_without_cuda_needs_no_server(warplab_exec: Run) -> None:
    done = warplab_exec("sh", "-c", "echo one; ls / > /dev/null; echo two >&2; exit 3")
    assert (done.returncode, done.stdout, done.stderr) == (3, "one\n", "two\n")


def test_host_functions_may_use_cuda(warplab_exec: Run) -> None:
    code = """
fn = C.CFUNCTYPE(None, C.c_void_p)
c = C.c_void_p(); s = C.c_void_p(); seen = []
assert cu.cuDevicePrimaryCtxRetain(C.byref(c), 0) == 0 and cu.cuCtxSetCurrent(c) == 0 and cu.cuStreamCreate(C.byref(s), 0) == 0
def called(data):
    v = C.c_int(); seen.append((data, cu.cuDriverGetVersion(C.byref(v)), v.value > 12000))
call = fn(called)
assert cu.cuLaunchHostFunc(s, call, C.c_void_p(1234)) == 0 and cu.cuStreamSynchronize(s) == 0
print(seen)
"""
    done = warplab_exec(*python("\n" + code))
    assert done.stdout == "[(1234, 0, True)]\n", done.stderr


def test_cuda_that_was_used_before_a_fork_is_not_initialised_behind_it(warplab_exec: Run) -> None:
    code = """
c = C.c_void_p()
assert cu.cuDevicePrimaryCtxRetain(C.byref(c), 0) == 0
sys.stdout.flush()
if os.fork() == 0:
    os._exit(40 + cu.cuCtxSetCurrent(c))
print(os.waitstatus_to_exitcode(os.wait()[1]), cu.cuCtxSetCurrent(c))
"""
    assert warplab_exec(*python("\n" + code)).stdout == "43 0\n"


def test_a_program_that_forks_first_and_uses_cuda_then(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("forks"))
    assert (done.returncode, done.stdout) == (0, "forks: right\n"), done.stderr


def test_a_process_that_is_killed_before_its_reply_does_not_end_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExecRun, "needs_nothing", staticmethod(lambda pid, request: True))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.send(REQUEST.pack(AUDIT, os.getpid(), *[0] * 10, *[0.0] * 4, 1))
    theirs.close()
    ExecRun([], Sight()).dispatch(ours)
    assert ours.fileno() == -1
