"""Carries out a RunSpec: buffers, symbols, launches, expectations.  `warplab run`, golden tests and the grader stand on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.demangle import short_name
from warplab.assembler.ir import Variable
from warplab.interpreter.checkers.findings import Finding
from warplab.interpreter.faults import ExecutionError, Fault, LimitReached
from warplab.interpreter.memory.arena import Allocation
from warplab.interpreter.memory.objects import Named
from warplab.isa.occupancy import l1_sizes

from ..device.context import DeviceContext
from ..device.described import bytes_of, model_of
from ..device.launches.engines import engine_of, threads_of
from ..device.machine import check_environment
from ..device.memory.allocations import Window
from ..device.modules.kernels import KernelHandle, LaunchShape, LoadedModule
from ..device.modules.loading import contraction
from ..device.modules.targets import check_targets
from ..errors import ApiError, UsageError, code_of
from ..names import chosen, listed
from ..reports.tables import counted
from .expect import Evaluator, Mismatch
from .preflight import check_outputs
from .resources import ResourceMaker, RunTexels
from .runspec import HostStep, LaunchSpec, RunSpec, argument
from .sanitized import sanitizer_of
from .tensor_maps import FIRST_CAPABILITY, MAP_BYTES, tensor_maps, unknown_buffer
from .texels import parse_resource
from .values import DTYPES, POISON, Argument, BufferValue, NullValue, ScalarValue, as_numbers, parse_value, scalar_bytes

Array = NDArray[Any]
GENERATED = re.compile(
    r"_param_\d+$"
)  # nvcc and clang name parameters so; a person who names them by the source's names gives them in order
DOUBTFUL = ("never-written", "read-first", "divergent-barrier", "missing-return")  # warnings that a run shows


@dataclass(slots=True)
class RunBuffer:
    """A named array in device memory."""

    name: str
    type: str
    way: str
    before: Array
    address: int
    poisoned: bool = False
    after: Array | None = None
    texels: RunTexels | None = None  # of a texture or a surface, whose address is then its handle

    @property
    def unwritten(self) -> Array | None:
        """Which cells still hold the poison, of a buffer that began with it."""
        if not self.poisoned or self.after is None:
            return None
        cells: Array = self.after.reshape(-1).view(np.uint8).reshape(-1, self.after.dtype.itemsize) == POISON
        return np.asarray(cells.all(axis=1)).reshape(self.after.shape)

    @property
    def changed(self) -> bool:
        """Did the launches write to it?"""
        assert self.after is not None
        return self.after.tobytes() != self.before.tobytes()


@dataclass(slots=True)
class Outcome:
    """What came of a run."""

    buffers: dict[str, RunBuffer] = field(default_factory=dict)
    mismatches: list[Mismatch] = field(default_factory=list)
    checked: int = 0
    failure: str = ""  # what ended it early, in words
    error: str = ""  # CUDA's name for that
    cause: ExecutionError | None = None
    assertions: list[str] = field(default_factory=list)  # a line for each thread whose assert failed
    findings: tuple[Finding, ...] = ()  # of the checkers that the run asked for
    suppressed: int = 0  # findings that are known

    @property
    def code(self) -> int:
        """The exit code: 0 ok, 1 a check failed, 4 device fault or deadlock, 5 limit."""
        if self.failure:
            return 5 if isinstance(self.cause, LimitReached) else 4
        return 1 if self.mismatches or self.errors else 0

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What the checkers call an error."""
        return tuple(f for f in self.findings if f.severity == "error")


class Runner:
    """One program on one device."""

    def __init__(
        self, texts: Sequence[bytes], names: Sequence[str], spec: RunSpec, folder: Path | None, observers: Sequence[Any] = ()
    ) -> None:
        self.texts, self.names = tuple(texts), tuple(names)
        self.spec = spec
        self.folder = folder
        self.on_buffer: Callable[[RunBuffer], None] = lambda b: None
        tools = "" if spec.sanitize == "none" else spec.sanitize
        self.sanitizer = sanitizer_of(tools, spec, folder) if tools else None
        check_environment()
        self.context = DeviceContext(*model_of(spec.device or "sm_90"))
        self.context.options.max_steps = spec.max_steps
        if spec.timeout is not None:
            self.context.options.max_seconds = spec.timeout
        self.context.options.engine = engine_of(spec.engine)
        self.context.options.threads = threads_of(spec.threads)
        self.context.options.schedule = None if spec.schedules else spec.schedule
        self.context.options.poison = spec.poison
        self.context.fmad = contraction(spec.fmad)
        self.context.observers = tuple(observers)
        self.context.space.own_sanitizer = self.sanitizer
        self.context.rules_only = spec.device_rules_only
        self._configure()
        self.module: LoadedModule = self.context.load(texts, names)
        if not spec.device_rules_only:
            for m in self.module.modules:
                check_targets(m, self.context.architecture)
        self.outcome = Outcome()
        self.context.assertion = self.outcome.assertions.append
        self.trail: list[tuple[KernelHandle, LaunchShape]] = []
        self.maps: dict[str, bytes] = {}  # the 128 bytes of each tensor map

    def _configure(self) -> None:
        """How L1, shared memory and its banks are set."""
        p = self.context.profile
        if self.spec.l1:
            self.context.l1, sizes = bytes_of(self.spec.l1), l1_sizes(p)
            if self.context.l1 not in sizes:
                raise UsageError(f"--l1 {self.spec.l1}: L1 of {p.name} has {' or '.join(f'{size >> 10}K' for size in sizes)}")
        if self.spec.banks is not None:
            if self.spec.banks not in (4, p.shared_bank_bytes):
                words = " or ".join(map(str, sorted({4, p.shared_bank_bytes})))
                raise UsageError(f"--banks {self.spec.banks}: words of {p.name}'s banks have {words} bytes")
            self.context.bank_config = self.spec.banks // 4

    # ------------------------------------------------------------ carrying it out

    def run(self) -> Outcome:
        """Everything, in order."""
        for name, text in self.spec.buffers:
            value = parse_value(text, self.folder)
            if not isinstance(value, BufferValue):
                raise UsageError(f"buffer {name}: {text!r} is not an array")
            self._buffer(name, "inout", value)
        self._resources()
        self._tensor_maps()
        for text in self.spec.symbols:
            self._set(text)
        try:
            for launch in self.spec.launches:
                if isinstance(launch, HostStep):
                    self._step(launch)
                else:
                    self._launch(launch)
            self.context.synchronize()
        except ApiError as e:
            self.outcome.failure, self.outcome.error, self.outcome.cause = e.message or e.name, e.name, e.cause
        if self.sanitizer is not None:
            self.sanitizer.finish()
            self.outcome.findings, self.outcome.suppressed = self.sanitizer.findings, self.sanitizer.suppressed
            if (passed := self.sanitizer.unexplained) and not self.outcome.failure:
                self.outcome.failure, self.outcome.error, self.outcome.cause = str(passed[0]), code_of(passed[0]), passed[0]
        self._collect()
        if not self.outcome.failure:
            self._check()
        return self.outcome

    def close(self) -> None:
        """Gives the program and the memory back, when no more is asked of them than the outcome."""
        self.context.close()

    def _resources(self) -> None:
        """The textures and surfaces: those with values of their own, then those that share them."""
        given = [
            parse_resource(kind, text) for kind, texts in (("surf", self.spec.surfaces), ("tex", self.spec.textures)) for text in texts
        ]
        if not given:
            return
        launches = [step for step in self.spec.launches if isinstance(step, LaunchSpec)]
        taken = {v.name for launch in launches for v, _ in self.kernel(launch.kernel).kernel.parameters}
        taken |= {a for launch in launches for a in launch.args} | {r.value for r in given} | {*self.module.program.variables}
        maker = ResourceMaker(self.context, self.module, self.folder)
        for r in sorted(given, key=lambda r: r.shares):
            if r.name in self.outcome.buffers:
                raise r.flaw("a buffer has the same name")
            if r.name not in taken and "handle" not in r.options:
                raise r.flaw(f"no parameter and no .{r.kind}ref variable is called {r.name}: pass it with --arg {r.name}")
            made = maker.make(r)
            before = made.texels.contents(DTYPES[made.texels.type])
            self.outcome.buffers[r.name] = RunBuffer(
                r.name, made.texels.type, "inout" if r.kind == "surf" else "in", before, made.handle, made.value is not None and made.value.poisoned,
                texels=made.texels,
            )  # fmt: skip

    def _tensor_maps(self) -> None:
        """Tensors and the maps that describe them; a variable of a map's name gets it."""
        for m in tensor_maps(self.spec.tensor_maps):
            if self.context.profile.capability < FIRST_CAPABILITY:
                raise m.given.flaw("a device has tensor maps since sm_90")
            if not m.shares:
                self._buffer(m.name, m.way, m.value(self.folder))
            b = self.outcome.buffers.get(m.given.value if m.shares else m.name)
            if b is None or b.texels is not None:
                raise unknown_buffer(m, self.outcome.buffers)
            words = self.maps[m.name] = m.words(b.type, b.before.shape, b.address)
            if m.name in self.module.program.variables:
                address, size = self.module.variable(m.name)
                if size < len(words):
                    raise m.given.flaw(f"the variable has {size} bytes; a tensor map has {len(words)}")
                self.context.bytes_at(address, len(words))[:] = np.frombuffer(words, np.uint8)

    @property
    def pointer_bytes(self) -> int:
        """The size of an address in the program."""
        return max((m.address_size for m in self.module.modules), default=64) // 8

    def kernel(self, name: str) -> KernelHandle:
        """The kernel of a launch: the named one, or the only one."""
        kernels = self.module.program.kernels
        if name:
            return self.module.kernel(chosen(kernels, name))
        if len(kernels) != 1:
            raise UsageError(f"there are {len(kernels)} kernels ({listed(kernels)}): choose one with --kernel")
        return self.module.kernel(next(iter(kernels)))

    def _step(self, step: HostStep) -> None:
        """What the host does between launches; those run in order here, so that events and streams have nothing to wait for."""
        if step.what in ("sync", "free"):
            self.context.synchronize()
        if self.sanitizer is not None and step.what != "memset":
            self.sanitizer.host("sync" if step.what == "free" else step.what, step.name if step.what != "free" else "", step.stream)
        if step.what not in ("free", "memset"):
            return
        b = self.outcome.buffers.get(step.name)
        if b is None:
            raise UsageError(f"{step.what} = {step.name!r}: the buffers are {' '.join(self.outcome.buffers) or 'none'}")
        if step.what == "free":
            if b.after is not None:
                text = f"the host frees {b.name} at {b.address:#x}, which it freed before"
                cause = Fault("double-free", text, "global", b.address)
                if self.sanitizer is not None and self.sanitizer.failed(cause):
                    return
                raise ApiError("CUDA_ERROR_INVALID_VALUE", text, cause)
            self._fetch(b)
            self.context.free(b.address)
            return
        size = b.before.nbytes - step.offset if step.bytes is None else step.bytes
        if not 0 <= size <= b.before.nbytes - step.offset:
            raise UsageError(f"memset of {size} bytes from byte {step.offset} of {b.name}, which has {b.before.nbytes}")
        self.context.bytes_at(b.address + step.offset, size)[:] = step.value

    def _launch(self, launch: LaunchSpec) -> None:
        handle = self.kernel(launch.kernel)
        block = bytearray(handle.kernel.parameter_bytes)
        formals = handle.kernel.parameters
        given = [argument(a, self.outcome.buffers, self.folder) for a in launch.args]
        for (formal, offset), arg in zip(formals, self._in_order(given, formals, handle.name), strict=True):
            raw = self._parameter(formal, arg)
            block[offset : offset + len(raw)] = raw
        shape = LaunchShape(launch.grid, launch.block, launch.shared, launch.cooperative, launch.cluster)
        if launch.shared > 48 << 10:
            handle.max_dynamic_shared = launch.shared
        self.trail.append((handle, shape))
        if launch is [step for step in self.spec.launches if isinstance(step, LaunchSpec)][-1]:  # by now all buffers are there
            check_outputs(self.spec, self.outcome.buffers, self.module.program.variables)
        if self.sanitizer is not None:
            self.sanitizer.queued(launch.stream)
        self.context.launch(handle, shape, bytes(block))

    def _in_order(self, given: Sequence[Argument | str], formals: Sequence[tuple[Variable, int]], kernel: str) -> list[Argument | str]:
        names = [v.name for v, _ in formals]
        by_name: dict[str, Argument | str] = {}
        in_turn: list[Argument | str] = []
        for a in given:
            if isinstance(a, Argument) and a.name in names and isinstance(a.name, str):
                if a.name in by_name:
                    raise UsageError(f"--arg {a.name}=... is given twice")
                by_name[a.name] = a
                continue
            if isinstance(a, Argument) and a.name and isinstance(a.value, ScalarValue) and not any(GENERATED.search(n) for n in names):
                raise UsageError(f"{kernel} has no parameter {a.name}; its parameters are {', '.join(names) or 'none'}")
            in_turn.append(a)
        for n in names:  # a texture, a surface or a tensor map is the argument of its name
            b = self.outcome.buffers.get(n)
            if n in self.maps or (b is not None and b.texels is not None and n not in given):
                by_name.setdefault(n, n)
        rest = iter(in_turn)
        said = ", ".join(map(plain_name, names))
        out = []
        for n in names:
            a = by_name.get(n) or next(rest, None)  # type: ignore[assignment]
            if a is None:
                raise UsageError(
                    f"{short_name(kernel)} has {counted(len(names), 'parameter')} ({said}), and no value is given for {plain_name(n)}"
                )
            out.append(a)
        if list(rest):
            raise UsageError(
                f"{short_name(kernel)} has {counted(len(names), 'parameter')} ({said}), and {counted(len(given), 'argument')} are given"
            )
        return out

    def _parameter(self, formal: Variable, arg: Argument | str) -> bytes:
        if isinstance(arg, str) and arg in self.maps and (formal.dims or arg == formal.name):
            return self._map(formal, self.maps[arg])
        if isinstance(arg, str):
            return self.outcome.buffers[arg].address.to_bytes(8, "little")
        match arg.value:
            case BufferValue() as value:
                raw = value.array.tobytes()
                if formal.dims and len(raw) == formal.size:
                    return raw  # a structure by value
                if formal.dims:
                    how = "--tensormap gives it a tensor map" if formal.size == MAP_BYTES else f"give it an array of {formal.size} bytes"
                    raise UsageError(
                        f"parameter {plain_name(formal.name)} has {formal.size} bytes by value, the array has {len(raw)}: {how}"
                    )
                if formal.size != self.pointer_bytes or formal.type.kind == "f":
                    raise UsageError(
                        f"parameter {plain_name(formal.name)} is a .{formal.type.name}, not a pointer: give it a number, not an array"
                    )
                short = plain_name(formal.name)
                name = arg.name or (formal.name if short in self.outcome.buffers else short)
                return self._buffer(name, arg.way, value).address.to_bytes(formal.size, "little")
            case NullValue():
                return bytes(formal.size)
            case ScalarValue(text):
                if formal.dims:
                    raise UsageError(f"parameter {plain_name(formal.name)} has {formal.size} bytes: give it an array with @file.npy")
                return scalar_bytes(text, formal.type, plain_name(formal.name))

    def _map(self, formal: Variable, words: bytes) -> bytes:
        """A tensor map as an argument: the map itself, or where a pointer is wanted its address."""
        if formal.size == len(words):
            return words
        if formal.size != 8:
            raise UsageError(
                f"parameter {plain_name(formal.name)} has {formal.size} bytes; a tensor map has {len(words)}, its address has 8"
            )
        address = self.context.allocate(len(words))
        self.context.bytes_at(address, len(words))[:] = np.frombuffer(words, np.uint8)
        return address.to_bytes(8, "little")

    def _buffer(self, name: str, way: str, value: BufferValue) -> RunBuffer:
        found = self.outcome.buffers.get(name)
        if found is not None:
            raise UsageError(f"two buffers are called {name}")
        raw = np.ascontiguousarray(value.array)
        place = dict(self.spec.addresses).get(name)
        address = self.context.allocate(max(raw.nbytes, 1)) if place is None else self._placed(place, raw.nbytes)
        self.context.bytes_at(address, raw.nbytes)[:] = raw.reshape(-1).view(np.uint8)
        if (made := self.context.arena.find(address)) is not None:
            made.object = Named(name, raw.nbytes, raw.itemsize, raw.shape or (1,), value.type)
        b = self.outcome.buffers[name] = RunBuffer(name, value.type, way, raw, address, value.poisoned)
        if value.poisoned and self.sanitizer is not None:
            self.sanitizer.unset(self.context.arena, address, raw.nbytes)
        self.on_buffer(b)
        return b

    def _placed(self, address: int, size: int) -> int:
        """Memory at an address that the run names, where none is yet."""
        space = self.context.space
        if any(space.is_device_range(at) for at in (address, address + size - 1)):
            raise UsageError(f"there is other memory at {address:#x}, where a buffer is to stand")
        space.registered[address] = Window(address, np.zeros(size, np.uint8), Allocation(address, size))
        return address

    def _set(self, text: str) -> None:
        name, _, value_text = text.partition("=")
        try:
            address, size = self.module.variable(name)
        except ApiError:
            raise UsageError(f"--set {text!r}: no .global or .const variable is called {name}") from None
        v = self.module.program.variables[name]
        value = parse_value(value_text, self.folder)
        raw = (
            value.array.tobytes()
            if isinstance(value, BufferValue)
            else scalar_bytes(value.text, v.type, v.name)
            if isinstance(value, ScalarValue)
            else bytes(8)
        )
        if len(raw) > size:
            raise UsageError(f"--set {text!r}: {len(raw)} bytes for a variable of {size}")
        self.context.bytes_at(address, len(raw))[:] = np.frombuffer(raw, np.uint8)

    # ------------------------------------------------------------ what came out

    def _collect(self) -> None:
        for b in self.outcome.buffers.values():
            if b.texels is not None:
                b.after = b.texels.contents(b.before.dtype)
            elif b.after is None:  # one that was freed keeps what it held then
                self._fetch(b)

    def _fetch(self, b: RunBuffer) -> None:
        raw = self.context.space.device_bytes(b.address, b.before.nbytes, False).copy()
        b.after = raw.view(b.before.dtype).reshape(b.before.shape)

    def numbers(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """The buffers as numbers: after and before."""
        now = {n: as_numbers(b.after, b.type) for n, b in self.outcome.buffers.items() if b.after is not None}
        for name, v in self.module.program.variables.items():
            if name not in now and v.space in ("global", "const") and v.type.kind != "o" and v.type.dtype.kind in "iuf" and v.size:
                address, size = self.module.variable(name)
                now[name] = self.context.bytes_at(address, size).view(v.type.dtype).copy()
        return now, {n: as_numbers(b.before, b.type) for n, b in self.outcome.buffers.items()}

    def _check(self) -> None:
        now, before = self.numbers()
        for text in self.spec.expect:
            self.outcome.checked += 1
            name, _, file = text.partition("=@")
            if file and name.strip() in now:
                wanted = parse_value("@" + file, self.folder)
                assert isinstance(wanted, BufferValue)
                found = Evaluator({**now, "wanted": wanted.array.reshape(now[name.strip()].shape)}, before).check(
                    f"{name.strip()} == wanted", self.spec.tolerance
                )
            else:
                found = Evaluator(now, before).check(text, self.spec.tolerance)
            if found is not None:
                self.outcome.mismatches.append(found)


def plain_name(parameter: str) -> str:
    """A parameter's name for people: compilers write the kernel's before the number."""
    found = GENERATED.search(parameter)
    return parameter if found is None else found[0].lstrip("_")


def describe_launches(trail: Sequence[tuple[KernelHandle, LaunchShape]]) -> str:
    """`vecadd<<<4, 256>>>`, or the first and how many more."""
    if not trail:
        return "no launch"
    handle, shape = trail[0]

    def short(d: tuple[int, int, int]) -> str:
        kept = list(d)
        while len(kept) > 1 and kept[-1] == 1:
            kept.pop()
        return str(kept[0]) if len(kept) == 1 else str(tuple(kept))

    more = f" and {len(trail) - 1} more" if len(trail) > 1 else ""
    return f"{short_name(handle.name)}<<<{short(shape.grid)}, {short(shape.block)}>>>{more}"
