"""A log of a program: every call with its arguments and its result, and every launch, on one timeline.

The file is a trace as chrome://tracing and ui.perfetto.dev open it, one event a line: "cat" is driver, runtime or kernel, times are in
microseconds, "args" hold the arguments by name, what a successful call wrote through its pointers ("returned"), and the result.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from ...api.table import CParameter
from ...cudart.enums import cudaError_t
from ...device.memory.host import host
from ...driver.tables.enums import CUresult
from ...errors import ApiError
from ..binaries.elf import MACHINE
from ..binaries.library import Exported
from ..handlers.abi import FORMATS, ArgumentReader, kind_of, passed, read_array
from ..wire import WireRequest

if TYPE_CHECKING:
    from ...device.context import DeviceContext
    from ...device.modules.kernels import KernelHandle, LaunchShape

LONGEST = 200  # characters of a string
DEVICE = 1 << 30  # number of the first device, as a process of the trace
Facts = dict[str, Any]


class CallLog:
    """The log of one served process."""

    def __init__(self, path: str, pid: int, stacks: bool = False) -> None:
        self.file: IO[str] = open(path, "w", encoding="utf-8")  # noqa: SIM115 - open until the program ends
        self.pid = pid
        self.stacks = stacks  # is it to be said who has made each launch?
        self.start = time.perf_counter_ns()
        self.first = True
        self.named: set[int] = set()
        self.readers: dict[int, ArgumentReader] = {}
        self.file.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        self._process(pid, f"host {pid}")

    def close(self) -> None:
        """The program has ended."""
        self.file.write("\n]}\n")
        self.file.close()

    def _event(self, event: Facts) -> None:
        self.file.write(("" if self.first else ",\n") + json.dumps(event))
        self.first = False

    def _process(self, number: int, name: str) -> None:
        if number not in self.named:
            self.named.add(number)
            self._event({"ph": "M", "pid": number, "tid": 0, "name": "process_name", "args": {"name": name}})

    def _span(self, category: str, name: str, pid: int, tid: int, begun: int, facts: Facts) -> None:
        now = time.perf_counter_ns()
        self._event({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                     "ts": (begun - self.start) / 1000, "dur": (now - begun) / 1000, "args": facts})  # fmt: skip

    def note(self, text: str) -> None:
        """Something that holds from now on."""
        self._event(
            {
                "ph": "i",
                "s": "p",
                "cat": "note",
                "name": text,
                "pid": self.pid,
                "tid": 0,
                "ts": (time.perf_counter_ns() - self.start) / 1000,
            }
        )

    # ------------------------------------------------------------ calls

    @contextmanager
    def call(self, exported: Exported, request: WireRequest) -> Iterator[list[int]]:
        """One call; the block appends its result."""
        f, begun, result = exported.function, time.perf_counter_ns(), list[int]()
        facts: Facts = {}
        given: Facts = {}
        if f.parameters is not None:
            reader = self.readers.get(request.number) or self.readers.setdefault(request.number, ArgumentReader(f.parameters, MACHINE))
            with suppress(ApiError):
                given = reader.read(request)
            facts |= {p.name: shown(p, given[p.name]) for p in f.parameters if p.name in given}
        yield result
        if result:
            facts["result"] = result[0] if exported.library else _result(f.name, exported.is_runtime, result[0])
            if not result[0]:
                facts |= returned(f.parameters or (), given)
        self._span(exported.library or ("runtime" if exported.is_runtime else "driver"), f.name, self.pid, request.tid, begun, facts)

    # ------------------------------------------------------------ launches

    @contextmanager
    def launch(self, context: DeviceContext, kernel: KernelHandle, shape: LaunchShape, parameters: bytes) -> Iterator[None]:
        """One launch."""
        begun, number = time.perf_counter_ns(), DEVICE + context.ordinal
        self._process(number, f"device {context.ordinal}")
        facts: Facts = {"grid": list(shape.grid), "block": list(shape.block), "dynamic shared": shape.dynamic_shared}
        if shape.cluster:
            facts["cluster"] = list(shape.cluster)
        if self.stacks and (told := host().launched_from()):
            facts["launched"] = [line.strip() for line in told.splitlines()]
        facts |= {name: f"0x{int.from_bytes(parameters[at : at + size], 'little'):x}" for name, at, size in kernel.parameters}
        try:
            yield
        except Exception as e:
            facts["fault"] = str(e).partition("\n")[0]
            raise
        finally:
            self._span("kernel", kernel.name, number, 0, begun, facts)


def _result(name: str, is_runtime: bool, code: int) -> int | str:
    if name.startswith("__cuda") or name in ("cudaGetErrorName", "cudaGetErrorString", "cudaCreateChannelDesc"):
        return code
    try:
        return str((cudaError_t if is_runtime else CUresult)(code).name)
    except ValueError:
        return code


def shown(p: CParameter, value: Any) -> Any:
    """An argument as JSON has it: strings as text, addresses and handles in hex, structures by their fields."""
    if p.type == "str" and value:
        with suppress(ApiError):
            return host().string(value)[:LONGEST].decode(errors="replace")
    if isinstance(value, int) and passed(p) == "ptr":
        return hex(value)
    return value if isinstance(value, int | float) else str(value)


def returned(parameters: tuple[CParameter, ...], given: Facts) -> Facts:
    """What a call wrote through pointers to single values."""
    out: Facts = {}
    for p in parameters:
        kind = kind_of(p.type)
        if p.mark in ("*", "=") and given.get(p.name) and kind in FORMATS:
            with suppress(ApiError):
                (value,) = read_array(kind, given[p.name], 1)
                out[p.name] = hex(value) if kind == "ptr" else value
    return {"returned": out} if out else {}
