"""Whole programs that compilers made leave what they left on an H200, bit for bit, whatever the schedule and the size of waves."""

from typing import Any

import numpy as np
import pytest

from warplab.assembler.link import link_modules
from warplab.assembler.parse import parse
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import Fault
from warplab.interpreter.launch import EngineUse, Launch, Options
from warplab.interpreter.memory.arena import Arena
from warplab.interpreter.observe import Observer
from warplab.interpreter.program import LoadedProgram
from warplab.isa.profiles import profile
from warplab.runtime.device.launches.printf import PrintRing
from warplab.runtime.device.memory.heap import DeviceHeap

from ..harness import Array
from .recorded import Carried

CARRIED = Carried("programs")
PROGRAMS = {p["name"]: p for p in CARRIED.records()}
H200 = profile("sm_90")
FAILURES = {"CUDA_ERROR_ASSERT": "assert", "CUDA_ERROR_ILLEGAL_ADDRESS": "out-of-bounds"}


class Process:
    """One program with its memory, as a host would set it up."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record
        self.arena = Arena(64 << 20)
        modules = [parse(text) for text in record["ptx"]]
        parts = [modules] if record["link"] else [[m] for m in modules]
        self.programs = [LoadedProgram(link_modules(part), self.arena) for part in parts]
        self.ring, self.heap = PrintRing(self.arena, 1 << 20), DeviceHeap(self.arena, 8 << 20)
        self.buffers = {}
        for name, place in record["buffers"].items():
            x = CARRIED.array(place)
            self.buffers[name] = self.arena.allocate(max(x.nbytes, 1)).start
            self.write(self.buffers[name], x)
        for name, place in record["symbols"].items():
            self.write(self.symbol(name), CARRIED.array(place))

    def symbol(self, name: str) -> int:
        """The address of a variable of the program."""
        return next(p.address(p.variables[name]) for p in self.programs if name in p.variables)

    def write(self, at: int, x: Array) -> None:
        """Host to device."""
        self.arena.bytes[at : at + x.nbytes] = np.frombuffer(x.tobytes(), np.uint8)

    def launch(self, one: dict[str, Any], **more: Any) -> EngineUse:
        """One step of the program; tells what ran it."""
        if "memset" in one:
            m = one["memset"]
            at = self.buffers[m["buffer"]] + m.get("offset", 0)
            self.arena.bytes[at : at + m["bytes"]] = m["value"]
            return EngineUse()
        kernel = next(p.kernels[one["entry"]] for p in self.programs if one["entry"] in p.kernels)
        raw = bytearray(kernel.parameter_bytes)
        for (_, at), (data, places) in zip(kernel.parameters, one["arguments"], strict=True):
            piece = bytearray.fromhex(data)
            for where, buffer, offset in places:
                piece[where : where + 8] = (self.buffers[buffer] + offset).to_bytes(8, "little")
            raw[at : at + len(piece)] = piece
        observers = more.pop("observers", ())
        options = Options(cooperative=bool(one.get("cooperative")), max_seconds=60, **more)
        cluster = kernel.function.directive(".reqnctapercluster")
        if cluster is not None:
            x, y, z = (int(str(v)) for v in (*cluster.values, 1, 1, 1)[:3])
            options.cluster = (x, y, z)
        if options.cooperative:
            workspace = self.arena.allocate(4096).start
            options.environment = {1: workspace >> 32, 2: workspace & 0xFFFFFFFF}
        launch = Launch(
            kernel, tuple(one["grid"]), tuple(one["block"]), bytes(raw), one["dynamic_shared"], self.arena, H200, self.ring, self.heap, (),
            options,
        )  # fmt: skip
        execute(launch, observers)
        return launch.used

    def output(self, name: str, like: Array) -> Array:
        """A buffer, or a variable ("symbol:NAME")."""
        at = self.symbol(name[7:]) if name.startswith("symbol:") else self.buffers[name]
        return self.arena.bytes[at : at + like.nbytes]


def run(name: str, **options: Any) -> None:
    """Runs a program and compares all that it leaves."""
    record = PROGRAMS[name]
    process = Process(record)
    if record["fails"]:
        with pytest.raises(Fault) as caught:
            for one in record["launches"]:
                process.launch(one, **options)
        assert caught.value.kind == FAILURES[record["fails"]]
        return
    for one in record["launches"]:
        process.launch(one, **options)
    for output, place in record["golden"].items():
        want = CARRIED.array(place)
        got, raw = process.output(output, want).copy(), np.frombuffer(want.tobytes(), np.uint8)
        equal = got == raw
        for low, high in record["ignore"].get(output, {}).get("ranges", []):
            equal.reshape(-1, record["ignore"][output]["stride"])[:, low:high] = True
        if want.dtype.kind == "f":  # any NaN is as good as another
            both = np.isnan(got.view(want.dtype)) & np.isnan(want)
            equal |= np.repeat(both, want.dtype.itemsize)
        assert equal.all(), f"{output}: {int((~equal).sum())} of {equal.size} bytes differ, the first at {int(np.flatnonzero(~equal)[0])}"
    text = process.ring.take().decode()
    if record["ordered"]:
        assert text == record["stdout"]
    else:
        assert sorted(text.splitlines()) == sorted(record["stdout"].splitlines())


@pytest.mark.parametrize("name", PROGRAMS)
def test_leaves_what_the_h200_left(name: str) -> None:
    run(name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_another_order_and_smaller_waves(name: str) -> None:
    run(name, schedule=11, wave_lanes=300)


@pytest.mark.parametrize(
    "name", ["its_spinlock", "grid_sync", "cluster_dsmem", "recursion", "func_pointers", "ldmatrix_mma", "bytecode_vm"]
)
def test_when_somebody_listens(name: str) -> None:
    run(name, observers=(Observer(),))
