"""The host's answers against the H200 recordings: every step that both have, but for what is known to differ and why."""

from __future__ import annotations

import difflib
import json
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .scenarios.every import SCENARIOS

ROOT = Path(__file__).parents[2]
RECORDED: dict[str, list[list[Any]]] = json.loads(lzma.decompress((ROOT / "tests" / "data" / "host" / "h200.json.xz").read_bytes()))
# "scenario: step" as a pattern -> why the answers differ.
KNOWN = {
    r"\w+: .*NUM_REGS|functions: then|runtime_streams: numRegs": "registers are an estimate",
    r"fault_\w+: (in )?another context|\w+: after the reset": "a reset ends the error here; an H200's driver gives the process no new context",
    r"fault_global_as_shared: .*": "the address is not an instruction's fault here",
    r"printed_by_\w+: (at the launch|then)": "a driver writes output when it likes, also before the points that CUDA names",
    r"printed_over: .*": "the launches were still queued when the next came, so that none wrote the output of the one before",
    r"asserts_\w+: at the launch": "warps come in any order, see below",
    r"occupancy: .* clusters of (3|16) .*": "an H200's parts are known only as far as its counts show them",
    r"loading: unresolved variable": "an unknown address would follow",
    r"loading: shared above 48 K": "refused as ptxas refuses it; a driver takes what the device has",
    r"(modules|libraries): cu\w+GetParamCount": "newer than the driver",
    r"error_words: (name|string) \w+(DETACHED|RECAPTURE_FAILURE)|runtime_devices: cudaDevAttr(AtomicReduction|CigStreams)Supported": "newer than the driver",
    r"runtime_devices: property gpuPci\w+": "which board it is",
    r"\w+: (cudaDevAttr|property ).*(sparse|timeline|rdma|pool_?supported_?handle|deferred|ipc|numa|dma_?buf|compression|handle_?type|virtual_?memory|host_numa).*": "no such feature here",
    r"devices: CU_DEVICE_ATTRIBUTE_(ATOMIC_REDUCTION|D3D12_CIG_STREAMS|DMA_BUF_MMAP|LOGICAL_ENDPOINT\w*)_SUPPORTED": "newer than the driver",
    r"devices: CU_DEVICE_ATTRIBUTE_\w*(VIRTUAL_|HANDLE_TYPE|COMPRESSION|GPU_DIRECT_RDMA|SPARSE|TIMELINE|DEFERRED|DMA_BUF|IPC|TENSOR_MAP_LARGE|HOST_NUMA)\w*": "no such feature here",
    r"devices: cuDeviceGetTexture1DLinearMaxWidth": "there are no textures",
    r"streams: cuStreamSetAttribute": "the real package takes another class of value",
    r"loading: new version": "what newer compilers write runs here as far as it is known",
    r"core_objects: config .*shmem_size.*": "a negative size is refused",
    r"core_kernels: .*": "the recording took text for the name of a file",
}  # fmt: skip


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[Any]]]:
    """What the scenarios note here; each runs in a process of its own."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    out = tmp_path_factory.mktemp("host") / "model.json"
    path = os.pathsep.join([str(ROOT), *sys.path])
    command = [sys.executable, "-m", "tests.runtime.scenarios", "model", str(out)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[list[Any]]] = json.loads(out.read_text())
    return found


@pytest.mark.parametrize("name", sorted(set(RECORDED) & set(SCENARIOS)))
def test_answers_are_those_of_the_h200(name: str, answers: dict[str, list[list[Any]]]) -> None:
    theirs, ours = RECORDED[name], answers[name]
    assert not [x for x in ours if x[0] == "scenario"], "the scenario ended early"
    match = difflib.SequenceMatcher(None, [x[0] for x in theirs], [x[0] for x in ours], autojunk=False)
    wrong, same = [], 0
    for i, j, size in match.get_matching_blocks():
        for want, got in zip(theirs[i : i + size], ours[j : j + size], strict=True):
            if want == got:
                same += 1
            elif not any(re.fullmatch(pattern, f"{name}: {want[0]}", re.I) for pattern in KNOWN):
                wrong.append(f"{want[0]}: the H200 said {want[1:]}, this says {got[1:]}")
    assert not wrong, "\n".join(wrong)
    assert same or name in ("core_kernels", "capture")


@pytest.mark.parametrize("name", ["asserts_one", "asserts_warp", "asserts_block", "asserts_grid"])
def test_every_thread_tells_of_its_assert(name: str, answers: dict[str, list[list[Any]]]) -> None:
    theirs, ours = (sorted(next(x[1] for x in found[name] if x[0] == "at the launch").splitlines()) for found in (RECORDED, answers))
    assert theirs
    assert set(theirs) <= set(ours), "a warp that the first trap ended before it came so far says nothing"
