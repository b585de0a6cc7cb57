"""Who has made a launch: the calls of the program that were under way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Build, Run

PROGRAM = """
#include <alloca.h>
#include <cstring>
#include <thread>
template <class T> __global__ void fill(T *p) { p[threadIdx.x] = 1; }
#define OUT __attribute__((noinline))
struct Solver {
    volatile int n;
    template <class F> OUT int each(F f) {
        char *m = (char *)alloca(n * 10);
        memset(m, n, n * 10);
        return f(m[3]) + m[n];
    }
    OUT void step(double *p) {
        fill<<<1, 4>>>(p);
        n = n + 1;
    }
    OUT int run(double *p) {
        int got = each([&](int k) { step(p); return k; });
        return got + 1;
    }
};
int main(int count, char **) {
    Solver s = {5};
    double *good;
    cudaMalloc(&good, 64);
    s.run(good);
    if (count > 1)
        std::thread([&] { s.run((double *)16); }).join();
    else
        s.run((double *)16);
    return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}
"""
FOUND = """
__global__ void unset(int *p) { p[threadIdx.x + 64] = p[threadIdx.x] > 5; }
__global__ void racing(int *p) { p[0] = threadIdx.x; }
__attribute__((noinline)) void once(int *p) {
    unset<<<1, 4>>>(p);
}
int main() {
    int *p;
    cudaMalloc(&p, 512), once(p);

    once(p);
    racing<<<2, 64>>>(p + 100);
    return cudaDeviceSynchronize();
}
"""
LINES = {
    "Solver::step": 15, "Solver::run(double*)::{lambda(int)#1}::operator()": 19, "Solver::each<Solver::run(double*)::{lambda(int)#1}>": 12,
    "Solver::run": 19, "main": 31,
}  # fmt: skip


def told(text: str) -> list[str]:
    """The lines of a report that say who launches."""
    lines = text.splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith("  launched "))
    return [lines[begin], *(line for line in lines[begin + 1 :] if line.startswith("    called "))]


def test_a_fault_tells_the_calls_with_their_lines(warplab_exec: Run, build: Build) -> None:
    program = build("stack", "-g", text=PROGRAM)
    done = warplab_exec(program)
    places = [f"at stack.cu:{line} in {function}" for function, line in LINES.items()]
    assert (done.returncode, told(done.stderr)) == (0, [f"  launched {places[0]}", *(f"    called {x}" for x in places[1:])])
    threaded = told(warplab_exec(program, "in a thread").stderr)
    assert threaded[:4] == [f"  launched {places[0]}", *(f"    called {x}" for x in places[1:4])]
    assert threaded[4:] == ["    called at stack.cu:29 in main::{lambda()#1}::operator()"]


@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-cudart", "shared"), ("-O0", "-Xcompiler", "-fno-omit-frame-pointer")], ids=" ".join)
def test_without_debug_information_the_functions_are_told(warplab_exec: Run, build: Build, flags: tuple[str, ...]) -> None:
    program = build("plain" + "".join(flags), *flags, text=PROGRAM)
    done, name = warplab_exec(program), Path(program).name
    lines = told(done.stderr)
    assert lines[0] == f"  launched in Solver::step of {name} (nvcc -g keeps the line)"
    assert lines[-2:] == [f"    called in Solver::run of {name}", f"    called in main of {name}"]


def test_a_finding_of_the_checkers_tells_the_calls(warplab_exec: Run, build: Build, tmp_path: Path) -> None:
    """In text and in the report for CI systems; of what initcheck finds at the end, those of the kernel's first launch."""
    report = tmp_path / "report.xml"
    done = warplab_exec(build("found", "-g", text=FOUND), options=("--sanitize", "initcheck,racecheck", "--junit", str(report)))
    first, second = done.stderr.split("========= Error: ")[1:]
    lines = [line.removeprefix("=========").strip() for line in (first + second).splitlines()]
    assert [line for line in lines if line.startswith(("launched", "called"))] == [
        "launched at found.cu:12 in main", "launched first at found.cu:5 in once", "called at found.cu:9 in main",
    ]  # fmt: skip
    assert report.read_text().count("launched at found.cu:12 in main") == 1


def test_the_log_and_the_profile_tell_the_calls_too(warplab_exec: Run, build: Build, tmp_path: Path) -> None:
    log, text, data, page = (str(tmp_path / name) for name in ("log.json", "p.txt", "p.json", "p.html"))
    program = build("stack", "-g", text=PROGRAM)
    warplab_exec(program, options=("--stacks", "--log", log, "--profile", text))
    (first, *_) = [e["args"]["launched"] for e in json.loads(Path(log).read_text())["traceEvents"] if e.get("cat") == "kernel"]
    assert (first[0], first[-1]) == ("at stack.cu:15 in Solver::step", "called at stack.cu:27 in main")
    assert "\nlaunched at stack.cu:15 in Solver::step\n" in Path(text).read_text()
    warplab_exec(program, options=("--stacks", "--profile", data))
    assert json.loads(Path(data).read_text())["launches"][0]["launched"] == first
    warplab_exec(program, options=("--stacks", "--profile", page))
    assert "launched at stack.cu:15 in Solver::step<br>" in Path(page).read_text()
    alone = warplab_exec(program, options=("--stacks",))
    assert alone.returncode == 2 and "--log" in alone.stderr
