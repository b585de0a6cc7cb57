"""Carries out a RunSpec: buffers, symbols, launches, expectations.  `warplab run`, golden tests and the grader stand on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from warplab.isa.occupancy import l1_sizes

from ..device.context import DeviceContext
from ..device.described import bytes_of, model_of
from ..device.launches.engines import engine_of, threads_of
from ..device.machine import check_environment
from ..device.modules.kernels import KernelHandle, LaunchShape, LoadedModule
from ..device.modules.loading import contraction
from ..device.modules.targets import check_targets
from ..errors import ApiError, UsageError, code_of
from ..names import chosen, listed
from .expect import Evaluator
from .inputs.arguments import in_order, parameter_bytes
from .inputs.memory import RunMemory
from .inputs.resources import ResourceMaker
from .inputs.texels import parse_resource
from .inputs.values import DTYPES, BufferValue, as_numbers, parse_value
from .outcome import Outcome, RunBuffer
from .preflight import check_outputs
from .runspec import HostStep, LaunchSpec, RunSpec, argument
from .sanitized import sanitizer_of

Array = NDArray[Any]


class Runner:
    """One program on one device."""

    def __init__(
        self, texts: Sequence[bytes], names: Sequence[str], spec: RunSpec, folder: Path | None, observers: Sequence[Any] = ()
    ) -> None:
        self.texts, self.names = tuple(texts), tuple(names)
        self.spec = spec
        self.folder = folder
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
        self.memory = RunMemory(self.context, self.module, spec, folder, self.sanitizer)
        self.outcome = Outcome(buffers=self.memory.buffers)
        self.context.assertion = self.outcome.assertions.append
        self.trail: list[tuple[KernelHandle, LaunchShape]] = []

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
            self.memory.add(name, "inout", value)
        self._resources()
        self.memory.add_tensor_maps()
        for text in self.spec.symbols:
            self.memory.set(text)
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
        self.memory.step(step)

    def _launch(self, launch: LaunchSpec) -> None:
        handle = self.kernel(launch.kernel)
        block = bytearray(handle.kernel.parameter_bytes)
        formals = handle.kernel.parameters
        given = [argument(a, self.outcome.buffers, self.folder) for a in launch.args]
        for (formal, offset), arg in zip(formals, in_order(given, formals, handle.name, self.memory), strict=True):
            raw = parameter_bytes(formal, arg, self.memory)
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

    # ------------------------------------------------------------ what came out

    def _collect(self) -> None:
        for b in self.outcome.buffers.values():
            if b.texels is not None:
                b.after = b.texels.contents(b.before.dtype)
            elif b.after is None:  # one that was freed keeps what it held then
                self.memory.fetch(b)

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
