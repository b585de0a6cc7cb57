"""Launches PTX text on numpy arrays straight through the engine: what its tests share.

A Machine holds some device memory and one loaded program; `launch` passes arrays by address and numbers by value.  Nothing here knows
the host API, so that a test that fails accuses the engine.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.link import link_modules
from warplab.assembler.parse import parse
from warplab.assembler.verify import verify
from warplab.interpreter.execute import execute
from warplab.interpreter.launch import Launch, Options
from warplab.interpreter.memory.arena import Allocation, Arena
from warplab.interpreter.observe import Observer
from warplab.interpreter.program import LoadedKernel, LoadedProgram
from warplab.interpreter.ptxas.contraction import DEFAULT, Fmad
from warplab.isa.profiles import profile

Array = NDArray[Any]
Dim3 = tuple[int, int, int]
Argument = Allocation | int | np.generic | bytes


def dim3(n: int | Sequence[int]) -> Dim3:
    """A size given as one number or as up to three."""
    v = (n,) if isinstance(n, int) else tuple(n)
    return (*v, 1, 1)[:3]  # type: ignore[return-value]


class Prints:
    """Keeps the format string and the lane of every vprintf."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.lines: list[str] = []

    def print(self, g: Any, lane: int, form: int, arguments: int) -> int:
        """See launch.Printer."""
        a = self.arena.find(form)
        assert a is not None
        self.lines.append(self.arena.bytes[form : a.end].tobytes().split(b"\0", 1)[0].decode())
        return 0


class Mallocs:
    """Device malloc on the machine's own memory."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def allocate(self, size: int) -> int:
        """See launch.Heap."""
        return self.arena.allocate(size, "device malloc block").start

    def free(self, address: int) -> bool:
        """See launch.Heap."""
        a = self.arena.find(address)
        if a is None or a.freed or a.start != address:
            return False
        self.arena.free(a)
        return True


def module(body: str, target: str = "sm_90", version: str = "8.0") -> str:
    """A module's text without its three first lines."""
    return f".version {version}\n.target {target}\n.address_size 64\n{body}"


def kernel(params: str, body: str, before: str = "", name: str = "test", target: str = "sm_90", directives: str = "") -> str:
    """The text of a module with one entry; params as "p out, u32 n", where p is a pointer: the parameters are named like that."""
    declared = []
    for one in filter(None, (p.strip() for p in params.split(","))):
        kind, what = one.split()
        declared.append(f".param .{'u64' if kind == 'p' else kind} {what}")
    return module(f"{before}\n.visible .entry {name}({', '.join(declared)}) {directives}\n{{\n{body}\n}}\n", target)


@dataclass
class Machine:
    """Device memory and a program loaded into it."""

    text: str
    target: str = "sm_90"
    bytes: int = 8 << 20
    verified: bool = True
    fmad: Fmad = DEFAULT
    gap: int = 0  # bytes between variables, as checkers ask for them
    base: int = 0  # where its memory begins
    arena: Arena = field(init=False)
    launches: int = 0

    def __post_init__(self) -> None:
        m = parse(self.text)
        if self.verified:
            errors = [d for d in verify(m) if d.severity == "error" and d.code != "unresolved"]  # the engine meets that one on its own
            problems = [d.render(self.text) for d in errors]
            assert not problems, "\n".join(problems)
        self.arena = Arena(self.bytes, self.base)
        self.program = LoadedProgram(link_modules([m], complete=False), self.arena, fmad=self.fmad, gap=self.gap)
        self.prints = Prints(self.arena)
        weakref.finalize(self, self.program.kernels.clear)  # as if it was unloaded: its memory need not wait for the garbage collector

    def kernels(self) -> dict[str, LoadedKernel]:
        """By their names; they outlive the machine."""
        return dict(self.program.kernels)

    def upload(self, x: Array, what: str = "allocation") -> Allocation:
        """An array in device memory."""
        a = self.arena.allocate(max(x.nbytes, 1), what)
        self.arena.bytes[a.start - self.base :][: x.nbytes] = np.frombuffer(x.tobytes(), np.uint8)
        return a

    def download(self, a: Allocation, dtype: Any = np.uint32) -> Array:
        """What an allocation holds."""
        return self.arena.bytes[a.start - self.base : a.end - self.base].copy().view(dtype)

    def prepare(
        self, grid: int | Sequence[int], block: int | Sequence[int], arguments: Sequence[Argument], name: str = "", shared: int = 0,
        **options: Any,
    ) -> Launch:  # fmt: skip
        """A launch that has not run."""
        entry = self.program.kernels[name] if name else next(iter(self.program.kernels.values()))
        raw = bytearray(entry.parameter_bytes)
        for (v, at), x in zip(entry.parameters, arguments, strict=True):
            if isinstance(x, bytes):
                data = x
            elif isinstance(x, np.generic):
                data = x.tobytes()
            else:
                data = ((x.start if isinstance(x, Allocation) else x) & ((1 << 8 * v.size) - 1)).to_bytes(v.size, "little")
            raw[at : at + len(data)] = data
        self.launches += 1
        return Launch(
            entry, dim3(grid), dim3(block), bytes(raw), shared, self.arena, profile(self.target), self.prints, Mallocs(self.arena), (),
            Options(**options), self.launches,
        )  # fmt: skip

    def launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: Sequence[Argument],
        observers: Sequence[Observer] = (),
        **more: Any,
    ) -> Launch:
        """Runs a kernel; see prepare."""
        one = self.prepare(grid, block, arguments, **more)
        execute(one, observers)
        assert not one.used.failures, one.used.failures  # of the compiler
        return one


def run(
    text: str, grid: int | Sequence[int], block: int | Sequence[int], out: int | Array, *inputs: Array | int | np.generic,
    target: str = "sm_90", dtype: Any = np.uint32, **more: Any,
) -> Array:  # fmt: skip
    """Runs a module's only kernel once: its first parameter is the output (so many zero words, or what `out` holds), then the inputs."""
    machine = Machine(text, target)
    first = np.zeros(out, np.uint32) if isinstance(out, int) else out
    result = machine.upload(first, "output")
    rest: list[Argument] = [machine.upload(x) if isinstance(x, np.ndarray) else x for x in inputs]
    machine.launch(grid, block, [result, *rest], **more)
    return machine.download(result, dtype)
