"""What older devices do not have, and how their memories are set: the CUDA guide's tables F-1 and F-2 and its sections about each."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import warplab.runtime as w
from warplab.isa.occupancy import configured, l1_bytes, l1_sizes
from warplab.isa.profiles import profile
from warplab.runtime.cli import main
from warplab.runtime.device.context import DeviceContext
from warplab.runtime.device.models import attributes
from warplab.runtime.driver.tables.enums import CUfunc_cache, CUsharedconfig
from warplab.runtime.errors import ApiError
from warplab.runtime.profiler import profiling

from ..conftest import Host, model_only

KIB = 1024
HEAD = ".version 2.3\n.target {}\n.address_size 64\n"
CALL = (
    ".func (.reg .u32 r) f(.reg .u32 n) {{ .reg .pred %p; setp.eq.u32 %p, n, 0; @%p bra E; sub.u32 n, n, 1; call (r), {}, (n); E: ret; }}\n"
)


def loads(device: str, text: str, target: str = "") -> str:
    """What the device says of a module; "" where it loads it."""
    context = DeviceContext(device)
    try:
        context.load([HEAD.format(target or ("sm_10" if device < "sm_20" else "sm_20")) + text])
    except ApiError as e:
        assert e.name == "CUDA_ERROR_INVALID_PTX"
        return e.message
    return ""


@pytest.mark.parametrize(("device", "limit"), [("sm_10", 16 * KIB), ("sm_20", 512 * KIB), ("sm_90", 512 * KIB)])
def test_local_memory_of_a_thread_is_bounded(device: str, limit: int) -> None:
    text = ".entry k() {{ .local .b32 a[{}]; .reg .u32 %r; ld.local.u32 %r, [a]; ret; }}"
    assert loads(device, text.format(limit // 4)) == ""
    assert f"uses {limit + 4} bytes of local memory a thread; {device} has {limit}" in loads(device, text.format(limit // 4 + 1))


@pytest.mark.parametrize(
    ("device", "kind", "most"), [("sm_20", "tex", 128), ("sm_30", "tex", 256), ("sm_20", "surf", 8), ("sm_30", "surf", 16)]
)
def test_textures_and_surfaces_of_a_kernel_are_bounded(device: str, kind: str, most: int) -> None:
    use = {"tex": "tex.1d.v4.f32.s32 {{%f, %f, %f, %f}}, [t{}, {{%r}}];", "surf": "suld.b.1d.b32.trap %r, [t{}, {{%r}}];"}[kind]

    def text(n: int) -> str:
        declared = "".join(f".global .{kind}ref t{i};\n" for i in range(n))
        body = "".join(use.format(i) for i in range(n))
        return f"{declared}.entry k() {{ .reg .u32 %r; .reg .f32 %f; mov.u32 %r, 0; {body} ret; }}"

    assert loads(device, text(most)) == ""
    assert f"k uses {most + 1} {kind if kind == 'tex' else 'surf'}" in loads(device, text(most + 1)).replace("textures", "tex").replace(
        "surfaces", "surf"
    )


def test_recursion_needs_2_x() -> None:
    recursive = CALL.format("f") + ".entry k() { .reg .u32 %a; mov.u32 %a, 3; call (%a), f, (%a); ret; }"
    assert "k calls f, which calls itself: recursion needs sm_20" in loads("sm_13", recursive)
    assert loads("sm_20", recursive, "sm_10") == ""
    both = ".func (.reg .u32 r) g(.reg .u32 n);\n" + CALL.format("g") + CALL.format("f").replace(" f(", " g(")
    twice = ".func g(.reg .u32 n) { ret; }\n.func f(.reg .u32 n) { call g, (n); call g, (n); ret; }\n.entry k() { .reg .u32 %a; call f, (%a); call g, (%a); ret; }"
    assert "recursion" in loads("sm_10", both + ".entry k() { .reg .u32 %a; mov.u32 %a, 3; call (%a), f, (%a); ret; }")
    assert loads("sm_10", twice) == "", "a function that is called twice"


def test_arguments_of_1_x_lie_in_shared_memory(tmp_path: Path) -> None:
    text = ".entry k(.param .b8 a[{}]) {{ .shared .b8 s[{}]; .reg .u32 %r; mov.u32 %r, s; ret; }}"
    assert loads("sm_13", text.format(256, 16 * KIB - 256)) == ""
    assert "and passes 256 bytes of arguments there" in loads("sm_13", text.format(256, 16 * KIB - 255))
    assert "has 257 bytes of parameters; sm_13 allows 256" in loads(
        "sm_13", text.format(257, 0).replace(".shared .b8 s[0];", "").replace("mov.u32 %r, s;", "")
    )
    assert loads("sm_20", text.format(256, 48 * KIB)) == ""
    path = tmp_path / "k.ptx"
    path.write_text(HEAD.format("sm_10") + ".entry k(.param .u32 n) { .reg .u32 %r; .shared .b32 s[1]; st.shared.u32 [s], 1; ret; }")
    words = ["run", str(path), "--device", "sm_10", "--arg", "1", "--shared"]
    assert CliRunner().invoke(main, [*words, str(16 * KIB - 8)]).exit_code == 0
    done = CliRunner().invoke(main, [*words, str(16 * KIB - 4)])
    assert done.exit_code == 4 and "bytes of shared memory; the device has 16384 per block" in done.stderr, done.output


def test_surfaces_are_those_of_table_f_2() -> None:
    def sizes(device: str, kind: str) -> list[int]:
        return [v for k, v in attributes(profile(device)).items() if k.startswith(f"MAXIMUM_{kind}_")]

    assert not any(v for k, v in attributes(profile("sm_13")).items() if k.startswith("MAXIMUM_SURFACE"))
    for device in ("sm_20", "sm_30", "sm_37"):
        assert (sizes(device, "SURFACE1D")[0], sizes(device, "SURFACE2D")[:2]) == (65536, [65536, 32768])
        assert sizes(device, "SURFACE3D") == [65536, 32768, 2048]
        assert sizes(device, "SURFACE2D_LAYERED") == [65536, 32768, 2048] and sizes(device, "SURFACE1D_LAYERED") == [65536, 2048]
        assert sizes(device, "SURFACECUBEMAP")[0] == 32768 and sizes(device, "SURFACECUBEMAP_LAYERED") == [32768, 2046]
    assert sizes("sm_52", "SURFACE3D") == [4096] * 3 and sizes("sm_60", "SURFACE3D") == [16384] * 3
    assert (sizes("sm_20", "TEXTURE3D")[:3], sizes("sm_30", "TEXTURE3D")[:3]) == ([2048] * 3, [4096] * 3)


# ---------------------------------------------------------------- L1, shared memory and its banks


def test_the_host_splits_l1_and_shared_memory() -> None:
    def l1(device: str, shared: int, **host: object) -> int:
        p = configured(profile(device), shared, **host)  # type: ignore[arg-type]
        return l1_bytes(p, shared, 1) // KIB

    assert [l1("sm_20", 0), l1("sm_20", 0, prefers="L1"), l1("sm_20", 0, prefers="shared")] == [16, 48, 16]
    assert [l1("sm_30", 0, prefers="equal"), l1("sm_37", 0, prefers="L1"), l1("sm_20", 0, prefers="equal")] == [32, 48, 16]
    assert l1("sm_20", 17 * KIB, prefers="L1") == 16, "a block must fit"
    assert [l1("sm_70", 0, carveout=50), l1("sm_70", 0, carveout=0), l1("sm_70", 0, carveout=100)] == [128 - 64, 128, 32]
    assert l1("sm_90", 40 * KIB, carveout=0) == 256 - 64, "41 KB of a block need the next larger size"
    assert configured(profile("sm_52"), 0, prefers="L1") is profile("sm_52"), "its memories are apart"
    assert [l1_sizes(profile(d)) for d in ("sm_20", "sm_30", "sm_52")] == [
        (16 * KIB, 48 * KIB),
        (16 * KIB, 32 * KIB, 48 * KIB),
        (48 * KIB,),
    ]


# Each warp reads 24 KB twice, from an array that an L1 of 48 KB holds and one of 16 KB does not.
TWICE = """.entry k(.param .u64 p) { .reg .u32 %i, %v, %s; .reg .u64 %d, %a; .reg .pred %p;
ld.param.u64 %d, [p]; mov.u32 %i, 0; mov.u32 %s, 0;
L: rem.u32 %v, %i, 192; mul.wide.u32 %a, %v, 128; add.u64 %a, %a, %d; ld.global.u32 %v, [%a]; add.u32 %s, %s, %v;
add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 384; @%p bra L; st.global.u32 [%d], %s; ret; }
"""
# Words 0 and 96 lie in one bank of 4-byte words, and in two of 8-byte words.
WORDS = """.entry k() { .reg .u32 %t, %a; .shared .align 8 .b8 s[512]; mov.u32 %t, %tid.x; and.b32 %a, %t, 1; mul.lo.u32 %a, %a, 384; mov.u32 %t, s;
add.u32 %a, %a, %t; ld.shared.u32 %t, [%a]; ret; }
"""


def counted(tmp_path: Path, text: str, words: str, counter: str) -> float:
    """A counter of the kernel's profile."""
    path = tmp_path / "k.ptx"
    path.write_text(HEAD.format("sm_20") + text)
    done = CliRunner().invoke(main, ["profile", str(path), *shlex.split(words), "--csv", "--metrics", counter])
    assert done.exit_code == 0, done.output
    return float(done.stdout.splitlines()[1].split(",")[-1])


def test_a_split_changes_what_l1_holds(tmp_path: Path) -> None:
    def hits(words: str) -> float:
        return counted(tmp_path, TWICE, f"--device sm_20 --block 32 --arg p=u32[6144] {words}", "global ld sectors found in L1")

    assert hits("--l1 48K") > hits("--l1 16K") == hits("")
    path = tmp_path / "k.ptx"
    wrong = CliRunner().invoke(main, ["profile", str(path), "--device", "sm_20", "--arg", "p=u32[6144]", "--l1", "20K"])
    assert wrong.exit_code == 2 and "--l1 20K: L1 of sm_20 has 16K or 48K" in wrong.stderr


def test_banks_of_eight_bytes(tmp_path: Path) -> None:
    def conflicts(words: str) -> float:
        return counted(tmp_path, WORDS, f"--block 32 {words}", "shared ld conflicts")

    assert [conflicts("--device sm_35"), conflicts("--device sm_35 --banks 8")] == [1, 0]
    wrong = CliRunner().invoke(main, ["profile", str(tmp_path / "k.ptx"), "--device", "sm_20", "--block", "32", "--banks", "8"])
    assert wrong.exit_code == 2 and "--banks 8: words of sm_20's banks have 4 bytes" in wrong.stderr


@model_only
def test_what_the_host_sets_changes_the_profile(host: Host) -> None:
    old = w.Device(arch="sm_35")
    old.set_current()
    module = host("cuModuleLoadData", (HEAD.format("sm_20") + WORDS).encode())
    kernel = host("cuModuleGetFunction", module, b"k")

    def profiled() -> tuple[float, int]:
        with profiling() as p:
            assert host.launch(kernel, 1, 32, (), ()) == "SUCCESS"
            host("cuCtxSynchronize")
        (one,) = p.launches
        return one.metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"], one.device.shared

    assert profiled() == (1, 48 * KIB)
    host("cuCtxSetSharedMemConfig", CUsharedconfig.CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
    host("cuCtxSetCacheConfig", CUfunc_cache.CU_FUNC_CACHE_PREFER_L1)
    assert profiled() == (0, 16 * KIB)
    host("cuFuncSetSharedMemConfig", kernel, CUsharedconfig.CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE)
    host("cuFuncSetCacheConfig", kernel, CUfunc_cache.CU_FUNC_CACHE_PREFER_EQUAL)
    assert profiled() == (1, 32 * KIB), "a kernel's own choice comes first"
    w.Device(0).set_current()


# ---------------------------------------------------------------- double precision where there is none

DOUBLE = """.entry k(.param .u64 p) { .reg .f64 %a, %b, %c; .reg .u64 %d; .reg .pred %q; .reg .f32 %f;
ld.param.u64 %d, [p]; ld.global.f64 %a, [%d]; ld.global.f64 %b, [%d+8];
add.f64 %c, %a, %b; st.global.f64 [%d+16], %c;
div.rn.f64 %c, %a, %b; st.global.f64 [%d+24], %c;
cvt.rn.f64.s32 %c, 16777217; st.global.f64 [%d+32], %c;
mul.f64 %c, %a, 0d3690000000000000; st.global.f64 [%d+40], %c;
setp.eq.f64 %q, %a, 0d3FB99999A0000000; selp.f64 %c, %a, %b, %q; st.global.f64 [%d+48], %c;
cvt.rn.f32.f64 %f, %a; cvt.f64.f32 %c, %f; st.global.f64 [%d+56], %c; ret; }
"""


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_doubles_are_demoted_where_there_are_none(tmp_path: Path, engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    path = tmp_path / f"{engine}.ptx"
    x, y = np.float64(0.1), np.float64(0.3)
    a, b = np.float32(x), np.float32(y)
    # 0d3FB99999A0000000 is the single next to 0.1, and 2.0 ** -150 times it a subnormal single
    single = [a + b, a / b, np.float32(16777216), np.float32(0), a, a]
    double = [x + y, x / y, 16777217, x * 2.0**-150, y, a]

    def said(target: str, device: str, wanted: list[object]) -> str:
        path.write_text(HEAD.format(target).replace("2.3", "1.4").replace(".address_size 64\n", "") + f"{DOUBLE}// {engine}\n")
        values = ", ".join(repr(float(v)) for v in wanted)  # type: ignore[arg-type]
        words = [
            "--device",
            device,
            "--engine",
            engine,
            "--arg",
            "inout:p=f64[8]:[0.1,0.3,0,0,0,0,0,0]",
            "--expect",
            f"p[2:] == [{values}]",
        ]
        done = CliRunner().invoke(main, ["run", str(path), *words])
        assert done.exit_code == 0, done.output
        return done.stderr

    assert "double precision is demoted to single: sm_12 has no .f64" in said("sm_12", "sm_12", single)
    assert ".target asks for map_f64_to_f32" in said("sm_11, map_f64_to_f32", "sm_90", single)
    assert "demoted" not in said("sm_13", "sm_13", double)
