"""CUDA programs as nvcc makes them, each of which checks its own results."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ..conftest import Host
from .conftest import COMMAND, SAMPLES, Build, Run, environment

TOLD = "warplab: the times that the program is told are predicted; with --clock host they are those of this machine\n"
NAMES = sorted(p.stem for p in SAMPLES.glob("*.cu"))


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_ends_well(warplab_exec: Run, build: Build, name: str) -> None:
    done = warplab_exec(build(name))
    assert done.returncode == 0, done.stderr
    assert done.stderr in ("", TOLD) or name == "faults", done.stderr


def test_a_program_that_times_itself_is_told_what_the_model_predicts(warplab_exec: Run, build: Build) -> None:
    """The same each time; the host's clock tells something else."""
    program = build("overlap")
    first, again, hosts = (warplab_exec(program, options=("--clock", clock)) for clock in ("model", "model", "host"))
    assert first.stdout == again.stdout
    assert (first.stderr, again.stderr, hosts.stderr) == (TOLD, TOLD, "")
    assert hosts.stdout != first.stdout
    numbers = [float(x) for x in re.findall(r"[\d.]+(?= (?:GB/s|us))", first.stdout)]
    pageable, pinned, kernel, one, four = numbers
    assert pageable == pytest.approx(14, rel=0.2)
    assert pinned == pytest.approx(49, rel=0.2)
    assert 5 < kernel < 30
    assert 100 < four < 0.8 * one


WAITING = """
#include <cstdio>
__global__ void waiting(long long cycles, long long *out) {
    long long begun = clock64();
    while (clock64() - begun < cycles) {}
    out[0] = clock64() - begun;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(out[1]));
}
int main() {
    cudaStream_t s[4];
    cudaEvent_t a, b;
    cudaEventCreate(&a), cudaEventCreate(&b);
    for (auto &x : s) cudaStreamCreate(&x);
    long long *out, before = 0;
    cudaMallocManaged(&out, 16);
    for (int several = 0; several < 2; several++) {
        float ms;
        cudaEventRecord(a);
        for (auto x : s) waiting<<<1, 32, 0, several ? x : 0>>>(1000000, out);
        cudaEventRecord(b);
        cudaDeviceSynchronize();
        cudaEventElapsedTime(&ms, a, b);
        printf("%.3f ms, %lld cycles, %d\\n", ms, out[0], out[1] > before);
        before = out[1];
    }
}
"""


def test_kernels_that_wait_for_a_clock_take_as_long_as_it_says(warplab_exec: Run, build: Build) -> None:
    """A million cycles are half a millisecond; four kernels in four streams wait at once."""
    done = warplab_exec(build("waiting", text=WAITING))
    rows = [re.match(r"([\d.]+) ms, (\d+) cycles, 1$", line) for line in done.stdout.splitlines()]
    assert len(rows) == 2
    for row, expected in zip(rows, (4 * 0.51, 0.51), strict=True):
        assert row is not None
        assert float(row[1]) == pytest.approx(expected, rel=0.05)
        assert 1_000_000 <= int(row[2]) < 1_001_000


def test_a_clock_that_is_unknown(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("saxpy"), WARPLAB_CLOCK="sun")
    assert done.returncode != 0
    assert "WARPLAB_CLOCK is 'sun'; there are model, host" in done.stderr


def test_a_fault_is_told_with_its_place(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("faults"))
    assert done.stderr.startswith("warplab: null pointer: 4-byte write at address 0x10")
    assert done.stderr.count("kernel broken, block (0, 0, 0), thread (0, 0, 0)") == 1


@pytest.mark.parametrize(
    "flags", [("-cudart", "shared"), ("-compress-mode=size",), ("-compress-mode=speed",), ("-compress-mode=none",), ("-no-pie",)]
)
def test_however_it_was_linked_and_compressed(warplab_exec: Run, build: Build, flags: tuple[str, ...]) -> None:
    flags = ("-Xcompiler", "-no-pie", "-Xlinker", "-no-pie") if flags == ("-no-pie",) else flags
    done = warplab_exec(build("saxpy", *flags))
    assert (done.returncode, done.stdout) == (0, "launch: no error\nNVIDIA H200: 0 wrong\n"), done.stderr


def test_files_that_were_linked_on_the_device(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("rdc", "-rdc=true"))
    assert (done.returncode, done.stdout) == (0, "rdc: right\n"), done.stderr


def test_several_devices(warplab_exec: Run, build: Build) -> None:
    assert warplab_exec(build("devices"), options=("--devices", "3")).stdout == "3 devices: right\n"
    assert "A100" in warplab_exec(build("saxpy"), options=("--device", "sm_80")).stdout


def test_kernels_print_in_the_order_of_the_host(warplab_exec: Run, build: Build) -> None:
    lines = warplab_exec(build("print")).stdout.splitlines()
    ways = ("host before {}", "device {} thread 0 text 1.50", "device {} thread 1 text 1.50", "host after {}")
    assert lines == [way.format(k) for k in range(3) for way in ways]


def test_machine_code_without_ptx_is_refused_with_the_flag_that_helps(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("saxpy", "-gencode", "arch=compute_90,code=sm_90"))
    assert done.returncode != 0
    assert "sm_90" in done.stderr and "-arch=sm_90" in done.stderr
    assert "Traceback" not in done.stderr


REFUSED = """
#include <cstdio>
#include <cuda.h>
int main() {
    CUcoredumpSettings what = CU_COREDUMP_FILE;
    void *call = nullptr;
    cudaGetDriverEntryPoint("cuCoredumpGetAttribute", &call, cudaEnableDefault);
    size_t size = 0;
    for (int turn = 0; turn < 2; turn++) printf("%d\\n", ((CUresult (*)(CUcoredumpSettings, void *, size_t *))call)(what, nullptr, &size));
}
"""


def test_a_call_without_code_is_named_once(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("refused", text=REFUSED))
    assert done.stdout == "801\n801\n", done.stderr
    assert done.stderr == "warplab: cuCoredumpGetAttribute is not supported: see `warplab docs api-coverage`\n"


SLIP = """
#include <cstdio>
__global__ void slip(int *p) { p[threadIdx.x + 1] = threadIdx.x; }
int main() {
    int *p;
    cudaMalloc(&p, 64 * 4);
    for (int turn = 0; turn < 3; turn++) slip<<<1, 64>>>(p);
    printf("%d", cudaDeviceSynchronize());
    slip<<<1, 64>>>(p + (8 << 20));
    printf(" %d\\n", cudaDeviceSynchronize());
}
"""


def test_an_access_just_outside_of_an_allocation_passes_with_a_warning(warplab_exec: Run, build: Build) -> None:
    program = build("slip", text=SLIP)
    done = warplab_exec(program)
    assert done.stdout == "0 700\n"
    assert done.stderr.startswith("warning: kernel slip writes up to 4 bytes at 0x4002000100, 0 bytes after the 256-byte allocation")
    assert done.stderr.count("warning") == 1
    assert warplab_exec(program, options=("--bounds", "strict")).stdout == "700 700\n"
    assert warplab_exec(program, WARPLAB_BOUNDS="strict").stdout == "700 700\n"


def test_a_profile_of_every_launch(warplab_exec: Run, build: Build, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = warplab_exec(build("saxpy"), options=("--profile", str(page)))
    assert done.returncode == 0
    assert "_Z5saxpyifPKfPf" in page.read_text()


def test_a_timeline_of_calls_copies_and_launches(warplab_exec: Run, build: Build, tmp_path: Path) -> None:
    """The copies of four streams are hidden behind each other; every kernel of the profile is on the timeline."""
    written = tmp_path / "profile.json"
    assert warplab_exec(build("overlap"), options=("--profile", str(written))).returncode == 0
    data = json.loads(written.read_text())
    spans = data["timeline"]["spans"]
    kernels = [s for s in spans if s["engine"] == "kernels"]
    assert len(kernels) == len(data["launches"]) == 9
    assert {s["name"] for s in spans if s["engine"] == "host"} >= {"cudaMemcpy", "cudaMemcpyAsync", "cudaLaunchKernel", "cudaEventRecord"}
    up, down = ([s for s in spans if s["engine"] == e and s["stream"] != "0:0"] for e in ("h2d", "d2h"))
    assert any(a["begin"] < b["end"] and b["begin"] < a["end"] for a in up for b in down)
    by_stream: dict[str, float] = {}
    for s in sorted((s for s in spans if s["stream"]), key=lambda s: s["begin"]):
        assert s["begin"] >= by_stream.get(s["stream"], 0)
        by_stream[s["stream"]] = s["end"]


def test_a_report_of_every_launch_for_ci(warplab_exec: Run, build: Build, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    done = warplab_exec(build("faults"), options=("--junit", str(report)))
    suite = ElementTree.parse(report).getroot()
    cases = suite.findall("testcase")
    failed = [case for case in cases if case.find("failure") is not None]
    assert int(suite.attrib["tests"]) == len(cases) > int(suite.attrib["failures"]) == len(failed) > 0
    assert "null pointer" in failed[0].find("failure").attrib["message"]  # type: ignore[union-attr]
    assert (len(cases), len(failed)) == (3, 1) and done.stderr.endswith("warplab: 3 launches of 2 kernels, 1 fault, 0 findings\n")
    done = warplab_exec(build("slip", text=SLIP), options=("--junit", str(report), "--sanitize", "memcheck"))
    assert "1 finding\n" in done.stderr and "memcheck slip" in report.read_text()


def test_checkers_end_a_good_program_with_one(warplab_exec: Run, build: Build, tmp_path: Path) -> None:
    done = warplab_exec(build("slip", text=SLIP), options=("--sanitize", "memcheck"))
    assert done.returncode == 1
    assert "out-of-bounds" in done.stderr and "ERROR SUMMARY: 1 error" in done.stderr
    (known := tmp_path / "known.toml").write_text('[[suppression]]\nkind = "out-of-bounds"\n')
    done = warplab_exec(build("slip", text=SLIP), options=("--sanitize", "memcheck", "--suppressions", str(known)))
    assert "ERROR SUMMARY: 0 errors, 1 suppressed" in done.stderr
    done = warplab_exec(build("reduction"), options=("--sanitize", "all"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "reduction: right\n", f"{TOLD}========= ERROR SUMMARY: 0 errors\n")


PLUGIN = """
static __global__ void triple(int *p) { p[threadIdx.x] *= 3; }
extern "C" int run(int *p) { triple<<<1, 32>>>(p); return cudaDeviceSynchronize(); }
"""
LOADER = """
#include <cstdio>
#include <dlfcn.h>
int main(int, char **argv) {
    int *p, got[32];
    cudaMallocManaged(&p, sizeof got);
    for (int i = 0; i < 32; i++) p[i] = i;
    for (int turn = 0; turn < 3; turn++) {
        void *plugin = dlopen(argv[1], RTLD_NOW);
        int code = ((int (*)(int *))dlsym(plugin, "run"))(p);
        dlclose(plugin);
        printf("%d %d\\n", code, p[31]);
    }
}
"""


def test_a_library_is_loaded_several_times(warplab_exec: Run, build: Build) -> None:
    plugin = build("plugin", "-shared", "-Xcompiler", "-fPIC", text=PLUGIN)
    done = warplab_exec(build("loader", "-ldl", text=LOADER), plugin)
    assert (done.stdout, done.stderr) == ("0 93\n0 279\n0 837\n", "")


FAULT = """
__global__ void bad(int *p) { p[threadIdx.x] = 1; }
void by_hand(int *p) {
    void *arguments[] = {&p};
    cudaLaunchKernel(bad, 1, 1, arguments, 0, 0);
}
int main() {
    bad<<<1, 4>>>((int *)16);
    cudaDeviceSynchronize();
    cudaDeviceReset();
    by_hand((int *)32);
    return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}
"""


def test_a_fault_names_the_line_that_launches(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("lines", "-g", text=FAULT))
    assert (done.returncode, [line for line in done.stderr.splitlines() if "launched" in line]) == (
        0, ["  launched at lines.cu:8 in main", "  launched at lines.cu:5 in by_hand"],
    )  # fmt: skip
    done = warplab_exec(build("lines", text=FAULT))
    assert "  launched in main of lines" in done.stderr


def test_a_log_of_every_call_and_launch(warplab_exec: Run, build: Build, tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    assert warplab_exec(build("reduction"), options=("--log", str(path))).returncode == 0
    written = json.loads(path.read_text())["traceEvents"]
    assert [f"warplab: {e['name']}\n" for e in written if e.get("cat") == "note"] == [TOLD]
    events = [e for e in written if e["ph"] == "X"]
    made = [e for e in events if e["name"] == "cudaMalloc"]
    assert [e["args"]["size"] for e in made] == [400000, 4, 400000, 4]
    assert all(e["args"]["result"] == "cudaSuccess" and int(e["args"]["returned"]["devPtr"], 16) for e in made)
    kernels = [e for e in events if e["cat"] == "kernel"]
    calls = [e for e in events if e["name"].endswith("cudaLaunchKernel")]
    assert [(e["name"], e["args"]["grid"]) for e in kernels] == [("_Z3sumPKiPii", [32, 1, 1])] * 2
    assert all(c["ts"] < k["ts"] and k["ts"] + k["dur"] <= c["ts"] + c["dur"] for c, k in zip(calls, kernels, strict=True))
    assert kernels[0]["args"]["_Z3sumPKiPii_param_0"] == made[0]["args"]["returned"]["devPtr"]
    assert warplab_exec(build("graph_nodes"), options=("--log", str(path))).stdout == "graph nodes: right\n"


SPIN = """
__global__ void spin(volatile int *p) { while (!*p) p[1]++; }
int main() {
    int *p;
    cudaMalloc(&p, 8);
    cudaMemset(p, 0, 8);
    spin<<<1, 1>>>(p);
    return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 9 : 1;
}
"""


def test_launches_end_at_the_timeout(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("spin", text=SPIN), options=("--timeout", "0.2", "--engine", "numpy", "--schedule", "4@3"))
    assert done.returncode == 9, done.stderr
    for option in ("--engine=fast", "--sanitize=leaks", "--timeout=0", "--schedule=4@", "--kernel-regex=(", "--suppressions=nowhere.toml"):
        done = warplab_exec("true", options=(option,))
        assert done.returncode == 2 and "Traceback" not in done.stderr


LINKED = """
#include <cstdio>
struct Node { Node *next; double value; };
struct List { Node *first; int n; };
__constant__ double scale = 2;
__global__ void sum(List list, double *out, float x) {
    double s = 0;
    for (Node *n = list.first; n; n = n->next) s += n->value;
    *out = s * scale + x;
}
int main() {
    Node *a, *b;
    double *out, result;
    cudaMalloc(&a, sizeof(Node)), cudaMallocManaged(&b, sizeof(Node)), cudaMalloc(&out, sizeof(double));
    Node first = {b, 3};
    *b = {nullptr, 4};
    cudaMemcpy(a, &first, sizeof first, cudaMemcpyHostToDevice);
    for (int turn = 0; turn < 3; turn++) sum<<<1, 1>>>({a, 2}, out, 0.5f);
    cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
    return result != 14.5;
}
"""


def test_a_recorded_program_is_replayed_by_its_tests(warplab_exec: Run, build: Build, tmp_path: Path) -> None:
    done = warplab_exec(build("linked", text=LINKED), options=("--record", str(tmp_path / "tests")))
    assert done.returncode == 0, done.stderr
    check = [*COMMAND[:-1], "test", str(tmp_path / "tests")]
    found = subprocess.run(check, capture_output=True, text=True, env=environment())
    assert found.stdout.startswith("2 passed"), found.stdout  # the third launch is the second one again
    source = tmp_path / "tests" / "module1.ptx"
    source.write_text(source.read_text().replace("add.f64", "sub.f64"))
    assert "0 passed, 2 failed" in subprocess.run(check, capture_output=True, text=True, env=environment()).stdout
    folder = tmp_path / "broken"
    shutil.copytree(tmp_path / "tests", folder)
    (folder / "module1.toml").write_text((folder / "module1.toml").read_text().replace("[run.at]\nb0 = 0x", "[run.at]\nbx = 0x"))
    found = subprocess.run([*check[:-1], str(folder)], capture_output=True, text=True, env=environment())
    assert "at.bx" in found.stdout and "Traceback" not in found.stdout + found.stderr


TEXELS = """
#include <cuda_runtime.h>
struct Pair { cudaTextureObject_t read; cudaSurfaceObject_t write; };
__global__ void blur(Pair *pair, cudaTextureObject_t line, int n) {
    int x = threadIdx.x, y = threadIdx.y;
    float4 c = tex2D<float4>(pair->read, (x + 0.25f) / n, (y + 0.75f) / n);
    c.w = tex1Dfetch<float>(line, x);
    __syncthreads();
    surf2Dwrite(c, pair->write, x * 16, y);
}
int main() {
    const int n = 8;
    float4 texels[n * n];
    for (int i = 0; i < n * n; i++) texels[i] = make_float4(i, i % 7, -i, 1);
    cudaArray_t array;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float4>();
    cudaMallocArray(&array, &channels, n, n, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(array, 0, 0, texels, n * 16, n * 16, n, cudaMemcpyHostToDevice);
    cudaResourceDesc of = {};
    of.resType = cudaResourceTypeArray, of.res.array.array = array;
    cudaTextureDesc how = {};
    how.filterMode = cudaFilterModeLinear, how.normalizedCoords = 1;
    how.addressMode[0] = cudaAddressModeWrap, how.addressMode[1] = cudaAddressModeMirror;
    Pair pair, *given;
    cudaCreateTextureObject(&pair.read, &of, &how, nullptr);
    cudaCreateSurfaceObject(&pair.write, &of);
    cudaMalloc(&given, sizeof pair);
    cudaMemcpy(given, &pair, sizeof pair, cudaMemcpyHostToDevice);
    float *memory, values[n] = {8, 7, 6, 5, 4, 3, 2, 1};
    cudaMalloc(&memory, sizeof values);
    cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice);
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear, linear.res.linear.devPtr = memory, linear.res.linear.sizeInBytes = sizeof values;
    linear.res.linear.desc = cudaCreateChannelDesc<float>();
    cudaTextureDesc plain = {};
    cudaTextureObject_t line;
    cudaCreateTextureObject(&line, &linear, &plain, nullptr);
    blur<<<1, dim3(n, n)>>>(given, line, n);
    return cudaDeviceSynchronize();
}
"""


def test_textures_and_surfaces_are_recorded_with_their_handles(warplab_exec: Run, build: Build, tmp_path: Path) -> None:
    done = warplab_exec(build("texels", text=TEXELS), options=("--record", str(tmp_path)))
    assert (done.returncode, done.stderr) == (0, "")
    check = [*COMMAND[:-1], "test", str(tmp_path)]
    found = subprocess.run(check, capture_output=True, text=True, env=environment())
    assert found.stdout.startswith("1 passed"), found.stdout
    run = tmp_path / "module1.toml"
    text = run.read_text()
    assert "#@ golden r2\n" in text, "the surface is all that is written"
    for right, wrong in (("address=wrap/mirror", "address=clamp/mirror"), ("handle=3", "handle=4")):
        run.write_text(text.replace(right, wrong))
        found = subprocess.run(check, capture_output=True, text=True, env=environment())
        assert "1 failed" in found.stdout, found.stdout


ENCODED = """
import ctypes as C, numpy as np
cu = C.CDLL("libcuda.so.1"); c = C.c_void_p()
assert cu.cuInit(0) == 0 and cu.cuDevicePrimaryCtxRetain(C.byref(c), 0) == 0 and cu.cuCtxSetCurrent(c) == 0
map = np.zeros(32, np.uint64); map = map[(-map.ctypes.data // 8) % 8:][:16]
address = lambda a: C.c_void_p(a.ctypes.data) if a is not None else None
def encode(rank, strides, dims=(64, 96, 5), box=(64, 32, 1)):
    dims, box, steps = np.array(dims, np.uint64), np.array(box, np.uint32), np.ones(3, np.uint32)
    strides = None if strides is None else np.array(strides, np.uint64)
    code = cu.cuTensorMapEncodeTiled(address(map), 1, rank, C.c_void_p(1 << 20), address(dims), address(strides), address(box), address(steps), 0, 0, 0, 0)
    print(code, *(map.tolist() if not code else ()))
encode(1, [0]); encode(2, [128]); encode(3, [128, 1 << 14]); encode(2, None); encode(2, [128], dims=(0, 96)); encode(9, [128])
"""


def test_tensor_maps_are_encoded_from_arrays(warplab_exec: Run, host: Host) -> None:
    done = warplab_exec(sys.executable, "-c", ENCODED)
    assert done.returncode == 0, done.stderr
    *right, no_strides, no_size, no_rank = done.stdout.splitlines()
    assert (no_strides, no_size, no_rank) == ("1", "1", "1")
    for rank, strides in (1, [0]), (2, [128]), (3, [128, 1 << 14]):
        m = host("cuTensorMapEncodeTiled", 1, rank, 1 << 20, [64, 96, 5][:rank], strides, [64, 32, 1][:rank], [1] * rank, *[0] * 4)
        assert right[rank - 1].split() == ["0", *map(str, m.opaque)]


FORMS = """
import ctypes as C
cu = C.CDLL("libcuda.so.1")
for symbol, version in (("cuCtxCreate", 3020), ("cuCtxCreate", 13000), ("cuGraphGetId", 13000), ("cuGraphGetId", 13010), ("cuNothing", 13000)):
    at, found = C.c_void_p(), C.c_int(-1)
    code = cu.cuGetProcAddress_v2(symbol.encode(), C.byref(at), version, C.c_uint64(0), C.byref(found))
    names = [n for n in ("cuCtxCreate_v2", "cuCtxCreate_v4", "cuGraphGetId") if C.cast(getattr(cu, n), C.c_void_p).value == at.value]
    print(code, found.value, *names)
"""


def test_the_form_of_a_call_is_that_of_the_version_asked_for(warplab_exec: Run) -> None:
    done = warplab_exec(sys.executable, "-c", FORMS)
    assert done.stdout.splitlines() == ["0 0 cuCtxCreate_v2", "0 0 cuCtxCreate_v4", "500 2", "0 0 cuGraphGetId", "500 1"], done.stderr


CHANGED = """
import ctypes as C
cu = C.CDLL("libcuda.so.1")
context, at, map, n = C.c_void_p(), C.c_uint64(), C.create_string_buffer(192), C.c_uint64
assert cu.cuInit(0) == cu.cuDevicePrimaryCtxRetain(C.byref(context), 0) == cu.cuCtxSetCurrent(context) == cu.cuMemAlloc_v2(C.byref(at), n(65536)) == 0
place = C.c_void_p(C.addressof(map) + -C.addressof(map) % 64)
maps = []
for base, replaced in ((at.value, 0), (at.value + 4096, 0), (at.value, at.value + 4096)):
    shape, strides, box, steps = (n * 2)(32, 16), (n * 1)(128), (C.c_uint32 * 2)(8, 8), (C.c_uint32 * 2)(1, 1)
    assert cu.cuTensorMapEncodeTiled(place, 7, 2, C.c_void_p(base), shape, strides, box, steps, 0, 0, 0, 0) == 0
    assert not replaced or cu.cuTensorMapReplaceAddress(place, C.c_void_p(replaced)) == 0
    maps.append(C.string_at(place, 128))
print(maps[0] != maps[1] == maps[2])
values, copies = (C.c_uint32 * 4)(1, 2, 3, 4), (C.c_uint32 * 4)()
to, back = [(n * 2)(at.value, at.value + 1024), (n * 2)(*(C.addressof(values) + 8 * i for i in range(2))), (n * 2)(8, 8)], (n * 2)()
for i in range(2):
    back[i] = C.addressof(copies) + 8 * i
attributes, first = (C.c_uint32 * 12)(), (n * 2)(0, 1)
attributes[0] = attributes[6] = 1
stream = C.c_void_p()
assert cu.cuStreamCreate(C.byref(stream), 1) == 0
for dsts, srcs in ((to[0], to[1]), (back, to[0])):
    assert cu.cuMemcpyBatchAsync_v2(dsts, srcs, to[2], n(2), attributes, first, n(2), stream) == 0
assert cu.cuStreamSynchronize(stream) == 0
print(*copies)
"""


def test_structures_that_a_call_changes_and_lists_in_batches(warplab_exec: Run) -> None:
    done = warplab_exec(sys.executable, "-c", CHANGED)
    assert done.stdout == "True\n1 2 3 4\n", done.stderr


def test_a_program_for_a_newer_device_has_no_image_unless_only_rules_are_asked_for(warplab_exec: Run, build: Build) -> None:
    program = build("saxpy", "-gencode", "arch=compute_90,code=compute_90")
    refused = warplab_exec(program, options=("--device", "sm_80"))
    assert refused.returncode != 0 and "no kernel image is available" in refused.stdout
    assert "is for sm_90, which a device of sm_80 does not run: choose --device sm_90" in refused.stderr
    done = warplab_exec(program, options=("--device", "sm_80", "--device-rules-only"))
    assert (done.returncode, done.stdout) == (0, "launch: no error\nNVIDIA A100 (40 GB): 0 wrong\n"), done.stderr


POINTERS = """
#include <cuda.h>
#include <dlfcn.h>
#include <cstdio>
int main() {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto set = (decltype(&cuPointerSetAttribute))dlsym(driver, "cuPointerSetAttribute");
    auto get = (decltype(&cuPointerGetAttribute))dlsym(driver, "cuPointerGetAttribute");
    void *at;
    cudaMalloc(&at, 4);
    for (int want = 1; want >= 0; want--) {
        int got = -1;
        set(&want, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)at);
        get(&got, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)at);
        printf("%d ", got);
    }
}
"""


def test_an_attribute_of_a_pointer_is_set_to_what_is_at_an_address(warplab_exec: Run, build: Build) -> None:
    assert warplab_exec(build("pointers", "-cudart", "shared", text=POINTERS)).stdout == "1 0 "


GROUPS = """
#include <cuda.h>
#include <dlfcn.h>
#include <cstdio>
int main() {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto of = (decltype(&cuDeviceGetDevResource))dlsym(driver, "cuDeviceGetDevResource");
    auto split = (decltype(&cuDevSmResourceSplitByCount))dlsym(driver, "cuDevSmResourceSplitByCount");
    cudaFree(0);
    CUdevResource whole, parts[3], rest;
    unsigned many = 0, made = 2;
    int code = of(0, &whole, CU_DEV_RESOURCE_TYPE_SM) | split(nullptr, &many, &whole, nullptr, 0, 20) | split(parts, &made, &whole, &rest, 0, 20);
    printf("%d: %u of %u, %u and %u, %u remain\\n", code, made, many, parts[0].sm.smCount, parts[1].sm.smCount, rest.sm.smCount);
}
"""


def test_multiprocessors_are_split_into_groups(warplab_exec: Run, build: Build) -> None:
    assert warplab_exec(build("groups", "-cudart", "shared", text=GROUPS)).stdout == "0: 2 of 5, 24 and 24, 84 remain\n"


IGNORES = """
#include <cstdlib>
__global__ void k(int *p) { *p = 1; }
int main(int count, char **arguments) {
    int what = atoi(arguments[1]), *p;
    cudaMalloc(&p, 4);
    k<<<1, what == 1 ? 2000 : 1>>>(what >= 2 ? nullptr : p);
    if (what != 3) cudaDeviceSynchronize();
    return what == 4 ? 7 : 0;
}
"""


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [("0", 0, ""), ("1", 3, ""), ("2", 3, "null pointer"), ("3", 3, "null pointer"), ("4", 7, "null pointer")],
    ids=["right", "a refused launch", "a fault", "a fault that no call would tell", "its own code"],
)
def test_what_a_program_ignores_may_change_its_exit_code(what: str, code: int, said: str, warplab_exec: Run, build: Build) -> None:
    program = build("ignores", text=IGNORES)
    assert warplab_exec(program, what).returncode == (7 if what == "4" else 0)
    done = warplab_exec(program, what, options=("--error-exitcode", "3"))
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert done.stderr.count("null pointer: ") == (1 if said else 0)
