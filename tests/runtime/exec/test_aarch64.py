"""The library for aarch64, in a program that an emulator runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import environment

NEEDED = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
TREE = "/usr/aarch64-linux-gnu"
pytestmark = pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason=f"needs {' and '.join(NEEDED)}")

# The emulator has the program's memory where devices have theirs, and maps code as data.
EMULATED = """
import inspect, platform, sys
platform.machine = lambda: "aarch64"
from warplab.runtime.device import machine
machine.STRIDE = 3 << 40
from warplab.runtime.exec.binaries import maps
exec(inspect.getsource(maps.objects).replace('"x" in', '"r" in'), vars(maps))
from warplab.runtime.cli import main
main()
"""

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
typedef unsigned long u64;
struct dim3 { unsigned x, y, z; };
struct location { int type, id; };
struct extent { u64 width, height, depth; };
struct pitched { void *ptr; u64 pitch, xsize, ysize; };
struct channels { int x, y, z, w, f; };
struct channels cudaCreateChannelDesc(int, int, int, int, int);
int cudaMalloc(void **, u64), cudaMallocManaged(void **, u64, unsigned), cudaMemcpy(void *, const void *, u64, int), cudaDeviceSynchronize(void);
int cudaMemPrefetchAsync(const void *, u64, struct location, unsigned, void *), cudaLibraryLoadData(void **, const char *, ...);
int cudaLibraryGetKernel(void **, void *, const char *), cudaMalloc3D(struct pitched *, struct extent), cudaLaunchHostFunc(void *, void (*)(void *), void *);
int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, u64, void *), cudaMemset3D(struct pitched, int, struct extent);
int cudaStreamSynchronize(void *), cudaLibraryLoadData(void **, const char *, ...);
static const char *ptx =
    ".version 8.0\n.target sm_70\n.address_size 64\n.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 text[8] = {116, 104, 114, 101, 97, 100, 10, 0};\n"
    ".visible .entry k(.param .u64 p, .param .f32 x) { .reg .u64 %a, %b; .reg .u32 %i; .reg .f32 %x; .reg .pred %p;\n"
    "ld.param.u64 %a, [p]; ld.param.f32 %x, [x]; mov.u32 %i, %tid.x; mad.wide.u32 %a, %i, 4, %a; st.global.f32 [%a], %x;\n"
    "setp.ne.u32 %p, %i, 3; @%p ret; mov.u64 %b, text; cvta.global.u64 %b, %b;\n"
    "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %b; st.param.b64 [a], 0; call (r), vprintf, (f, a); } ret; }\n";
static void add(void *x) { *(int *)x += 5; }
static void *copy(void *x) {
    void *p;
    int in = 7, out = 0;
    return (void *)(u64)(cudaMalloc(&p, 4) || cudaMemcpy(p, &in, 4, 1) || cudaMemcpy(&out, p, 4, 2) || out != 7);
}
int main() {
    float *p, x = 2.5f;
    void *library, *kernel, *arguments[] = {&p, &x}, *wrong = 0;
    int n = 1;
    struct channels c = cudaCreateChannelDesc(8, 16, 32, 64, 2);
    struct pitched pitched;
    unsigned char last = 0;
    pthread_t threads[3];
    if (c.x != 8 || c.w != 64 || c.f != 2) return 1;
    if (cudaMallocManaged((void **)&p, 4096, 1) || cudaMemPrefetchAsync(p, 4096, (struct location){1, 0}, 0, 0)) return 2;
    if (cudaLibraryLoadData(&library, ptx, 0, 0, 0, 0, 0, 0) || cudaLibraryGetKernel(&kernel, library, "k")) return 3;
    printf("before\n");
    if (cudaLaunchKernel(kernel, (struct dim3){1, 1, 1}, (struct dim3){8, 1, 1}, arguments, 0, 0) || cudaDeviceSynchronize()) return 4;
    printf("after %g\n", p[7]);
    if (cudaLaunchHostFunc(0, add, &n) || cudaDeviceSynchronize() || n != 6) return 5;
    if (cudaMalloc3D(&pitched, (struct extent){40, 7, 5}) || cudaMemset3D(pitched, 3, (struct extent){40, 7, 5})) return 6;
    if (cudaMemcpy(&last, (char *)pitched.ptr + pitched.pitch * 34 + 39, 1, 2) || last != 3) return 7;
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, copy, 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &wrong);
        if (wrong) return 8;
    }
    return 0;
}
"""


def test_a_program_for_aarch64(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(PROGRAM)
    command = [sys.executable, "-c", EMULATED, "exec"]
    link = f"env -u LD_AUDIT {NEEDED[0]} -o program program.c -L${{LD_LIBRARY_PATH%%:*}} -lcudart -lpthread"
    subprocess.run([*command, "sh", "-c", link], check=True, cwd=tmp_path, env=environment(), capture_output=True)
    run = [*command, NEEDED[1], "-L", TREE, "program"]
    done = subprocess.run(run, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "before\nthread\nafter 2.5\n"), done.stderr
