"""The library that programs load: its ELF image, its machine code, and the tables of C functions against CUDA's own files."""

from __future__ import annotations

import base64
import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.derive_stub import compiled
from warplab.runtime.api.libraries import functions
from warplab.runtime.driver.unsupported import is_refusal
from warplab.runtime.exec import server  # noqa: F401 - every answer is entered
from warplab.runtime.exec.binaries.library import OLDER_RUNTIME, RUNTIME_VERSION, STAND_INS, built, exported, names_in
from warplab.runtime.exec.binaries.stub import CODE
from warplab.runtime.exec.handlers.abi import FORMATS, kind_of, structure
from warplab.runtime.exec.handlers.special import HANDLERS, handler_of, python_call

LISTED = exported(stand_ins=False)


PATHS = {name: f"/proc/1/fd/{n}" for n, name in enumerate(("libcuda.so.1", "libcudart.so.13", "libcudart.so.12", "libnvidia-ml.so.1"), 9)}


@pytest.mark.parametrize("soname", PATHS)
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_tools_read_the_image(tmp_path: Path, machine: str, soname: str) -> None:
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed")
    (tmp_path / "lib.so").write_bytes(built(machine, LISTED, b"name", PATHS)[soname].image)
    shown = subprocess.run(
        ["readelf", "-W", "-h", "-l", "-S", "-d", "-V", "--dyn-syms", tmp_path / "lib.so"], capture_output=True, text=True
    )
    assert shown.stderr == ""
    assert f"Library soname: [{soname}]" in shown.stdout
    assert f"cudaMalloc@@{OLDER_RUNTIME if soname == OLDER_RUNTIME else RUNTIME_VERSION}" in shown.stdout
    assert " cuMemAlloc_v2\n" in shown.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's dynamic loader")
@pytest.mark.parametrize("soname", PATHS)
def test_the_loader_finds_every_export(tmp_path: Path, soname: str) -> None:
    from warplab.runtime.exec.binaries.elf import MACHINE

    library = built(MACHINE, LISTED, b"warplab-nobody-listens", PATHS)[soname]
    (tmp_path / "lib.so").write_bytes(library.image)
    loaded = ctypes.CDLL(str(tmp_path / "lib.so"))
    base = ctypes.cast(loaded.la_version, ctypes.c_void_p).value - library.pads["la_version"]  # type: ignore[operator]
    own = names_in(soname, LISTED)
    for e in LISTED:
        at = ctypes.cast(getattr(loaded, own.get(e.function.name, e.function.name)), ctypes.c_void_p).value
        assert at == base + library.pads[e.function.name]
    assert loaded.la_version(2) == 2
    loaded.la_objsearch.restype = ctypes.c_char_p
    for folder in ("", "/usr/lib/"):
        for other, path in PATHS.items():
            name = f"{folder}{other}"
            assert loaded.la_objsearch(name.encode(), None, 0).decode() == (path if other == soname else name)
    for name in ("libcuda.so.11", "libcuda", "libm.so.6", ""):
        assert loaded.la_objsearch(name.encode(), None, 0).decode() == name
    assert hasattr(loaded, "la_activity") == (soname == "libcuda.so.1"), "one of them tells what is loaded"
    assert loaded.cuInit(0) == 999, "there is no server"


def test_the_machine_code_is_that_of_the_source() -> None:
    if shutil.which("gcc") is None or "12.2" not in subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout:
        pytest.skip("needs the compiler that it was made with, gcc 12.2")
    code, where = compiled("gcc", "x86_64")
    assert base64.b85decode("".join(CODE["x86_64"][0])) == code
    assert CODE["x86_64"][1] == where


def test_every_answer_is_of_an_exported_function() -> None:
    libraries = {library for library, _ in STAND_INS.values()}
    names = {e.function.name for e in LISTED} | {f.name for library in libraries for f in functions(library)}
    assert [n for n in HANDLERS if n not in names] == []


def test_every_call_that_exists_in_python_can_be_made_from_c() -> None:
    missing = []
    for e in LISTED:
        f, call = e.function, e.call
        if call is None or f.parameters is None or handler_of(f) is not None:
            continue
        work = python_call(call, e.is_runtime)
        if work is not None and not is_refusal(work):
            types = [p.type for p in f.parameters if kind_of(p.type) not in (*FORMATS, "str", "chars")]
            missing += [f"{f.name}: {type_}" for type_ in types if structure(type_) is None]
    assert missing == []
