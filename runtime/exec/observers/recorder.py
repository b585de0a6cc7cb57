"""Launches of a real program as golden tests, which `warplab test` replays without the program.

Of each module there is one .ptx, a .toml with a run for each launch, and a .golden.npz with what the launches wrote.  A run holds every
allocation that the kernel may reach: those to which its parameters point, and those to which these point in turn.  They stand at their own
addresses again, so that whatever is a pointer stays one.  A launch that was recorded before, with the same inputs, is not recorded again.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.seeds import told

from .resources import RecordedResources, accessed

if TYPE_CHECKING:
    from ...device.context import DeviceContext
    from ...device.memory.allocations import AddressRange
    from ...device.modules.kernels import KernelHandle, LaunchShape, LoadedModule

MOST = 256 << 20  # bytes that one launch may reach
Memory = dict[str, NDArray[Any]]


class LaunchRecorder:
    """What one served process launches, as tests in a folder."""

    def __init__(self, folder: str, prefix: str = "") -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.prefix = prefix
        self.modules: dict[int, tuple[LoadedModule, str, int]] = {}  # id -> (the module, its name, runs so far)
        self.seen: set[str] = set()
        self.said: set[str] = set()

    @contextmanager
    def launch(self, context: DeviceContext, kernel: KernelHandle, shape: LaunchShape, parameters: bytes) -> Iterator[None]:
        """Records one launch."""
        buffers = reached(context, parameters)
        left_out = "it reads variables that are textures or surfaces" if kernel.module.program.handles else ""
        if sum(b.size for b in buffers.values()) > MOST:
            left_out = f"it may reach more than {MOST >> 20} MiB"
        if not left_out:
            before, variables = contents(context, buffers), variables_of(context, kernel)
            objects = context.resources.objects if accessed(kernel.module.modules) else {}
            resources = RecordedResources(named(objects, parameters, *before.values(), *variables.values()))
            left_out = resources.left_out
        if left_out:
            self._skip(kernel.name, left_out)
            yield
            return
        tables = resources.lines(self._file)  # of what is read
        before |= resources.written()
        fault = ""
        try:
            yield
        except ExecutionError as e:
            fault = str(e).partition("\n")[0]
            raise
        finally:
            after = contents(context, buffers) | resources.written()
            self._write(context, kernel, shape, parameters, buffers, before, after, variables, tables, fault)

    def _skip(self, kernel: str, why: str) -> None:
        if kernel not in self.said:
            self.said.add(kernel)
            sys.stderr.write(f"warplab: {kernel} is not recorded: {why}\n")

    # ------------------------------------------------------------ files

    def _file(self, value: NDArray[Any]) -> str:
        """The file of an input; equal ones share it."""
        name = f"{self.prefix}{hashlib.sha256(value.tobytes()).hexdigest()[:16]}.npy"
        if not (self.folder / name).exists():
            np.save(self.folder / name, value)
        return name

    def _input(self, value: NDArray[Any]) -> str:
        """An input as a run writes it."""
        return f"{value.dtype.name.replace('uint', 'u')}[{value.size}]:@{self._file(value)}"

    def _module(self, module: LoadedModule) -> tuple[str, int]:
        """(the name of a module's files, the number of its next run)."""
        _, name, runs = self.modules.get(id(module), (module, f"{self.prefix}module{len(self.modules) + 1}", 0))
        if not runs:
            (self.folder / f"{name}.golden.npz").unlink(missing_ok=True)
            for i, m in enumerate(module.modules):
                (self.folder / (f"{name}-{i}.ptx" if i else f"{name}.ptx")).write_text(m.text, encoding="utf-8")
            (self.folder / f"{name}.toml").write_text("# launches of a program, recorded by warplab exec --record\n", encoding="utf-8")
        self.modules[id(module)] = module, name, runs + 1
        return name, runs + 1

    def _write(
        self, context: DeviceContext, kernel: KernelHandle, shape: LaunchShape, parameters: bytes, buffers: dict[str, AddressRange],
        before: Memory, after: Memory, variables: dict[str, NDArray[Any]], tables: list[str], fault: str,
    ) -> None:  # fmt: skip
        module, o = kernel.module, context.options
        lines = [f"device = {json.dumps(context.model)}", f"fmad = {json.dumps(module.program.fmad)}"]
        if len(module.modules) > 1:
            lines.append("modules = [@]")
        if o.schedule is not None:
            lines.append(f"schedule = {json.dumps(told(o.schedule))}")
        lines += ["", "[run.buffers]", *(f"{name} = {json.dumps(self._input(before[name]))}" for name in buffers)]
        lines += ["", "[run.at]", *(f"{name} = {b.start:#x}" for name, b in buffers.items())]
        if variables:
            lines += ["", "[run.set]", *(f"{json.dumps(name)} = {json.dumps(self._input(value))}" for name, value in variables.items())]
        lines += [
            *tables,
            "",
            "[[run.launch]]",
            f"kernel = {json.dumps(kernel.name)}",
            f"grid = {list(shape.grid)}",
            f"block = {list(shape.block)}",
        ]
        lines += [f"args = [{', '.join(json.dumps(a) for a in self._arguments(kernel, parameters))}]"]
        if shape.dynamic_shared:
            lines.append(f"shared = {shape.dynamic_shared}")
        if shape.cooperative:
            lines.append("cooperative = true")
        if shape.cluster:
            lines.append(f"cluster = {list(shape.cluster)}")
        text = "\n".join(lines)
        digest = hashlib.sha256(f"{id(module)}{text}".encode()).hexdigest()
        if digest in self.seen:
            return
        self.seen.add(digest)
        name, number = self._module(module)
        text = text.replace(
            "modules = [@]", f"modules = [{', '.join(json.dumps(f'{name}-{i}.ptx') for i in range(1, len(module.modules)))}]"
        )
        changed = {}
        if not fault:
            changed = {n: after[n] for n in after if after[n].tobytes() != before[n].tobytes()} or after
        checks = [f"#@ golden {' '.join(changed)}"] if changed else [f"#@ fault {json.dumps(fault)}"] if fault else []
        with (self.folder / f"{name}.toml").open("a") as file:
            file.write("\n".join(["", "[[run]]", *checks, text, ""]))
        with zipfile.ZipFile(self.folder / f"{name}.golden.npz", "a", zipfile.ZIP_DEFLATED) as archive:
            for n, value in changed.items():
                raw = io.BytesIO()
                np.save(raw, value)
                archive.writestr(f"run{number}.{n}.npy", raw.getvalue())

    def _arguments(self, kernel: KernelHandle, parameters: bytes) -> Iterator[str]:
        """The parameters as a run writes them: numbers by their bits, structures as bytes."""
        for (v, at), (_, _, size) in zip(kernel.kernel.parameters, kernel.parameters, strict=True):
            raw = parameters[at : at + size]
            if v.dims:
                yield self._input(np.frombuffer(raw, np.uint8))
            elif v.type.kind == "f":
                yield f"0{'d' if size == 8 else 'f'}{int.from_bytes(raw, 'little'):0{size * 2}x}" if size > 2 else _half(raw)
            else:
                yield hex(int.from_bytes(raw, "little"))


def _half(raw: bytes) -> str:
    return repr(float(np.frombuffer(raw, np.float16)[0]))


# ---------------------------------------------------------------- what a launch may reach


def words(raw: bytes | NDArray[Any]) -> NDArray[np.uint64]:
    """Everything in some bytes that may be a pointer."""
    found = np.frombuffer(raw, np.uint8)
    return found[: found.size & ~7].view(np.uint64)


def reached(context: DeviceContext, parameters: bytes) -> dict[str, AddressRange]:
    """Every allocation that a launch may reach, named in the order of their addresses."""
    known = sorted(context.space.buffers.values(), key=lambda b: b.start)
    starts = np.array([b.start for b in known], np.uint64)
    ends = np.array([b.start + b.size for b in known], np.uint64)
    found: set[int] = set()
    ahead = [words(parameters)]
    while ahead and known:
        candidates = ahead.pop()
        which = np.searchsorted(starts, candidates, "right").astype(np.int64) - 1
        inside = (which >= 0) & (candidates <= ends[which])
        for i in np.unique(which[inside]).tolist():
            if i not in found:
                found.add(i)
                ahead.append(words(context.space.device_bytes(known[i].start, known[i].size, writes=False)))
    return {f"b{n}": known[i] for n, i in enumerate(sorted(found))}


def named(objects: Mapping[int, Any], *places: bytes | NDArray[Any]) -> dict[int, Any]:
    """The objects whose handles stand in some bytes, aligned."""
    handles = np.array(list(objects), np.uint64)
    found = np.zeros(handles.size, bool)
    for raw in places:
        found |= np.isin(handles, words(raw))
    return {h: objects[h] for h in handles[found].tolist()}


def contents(context: DeviceContext, buffers: dict[str, AddressRange]) -> Memory:
    """What stands in some allocations, as words where their sizes allow it."""
    out = {}
    for name, b in buffers.items():
        raw = context.space.device_bytes(b.start, b.size, writes=False).copy()
        out[name] = raw.view(np.uint32) if b.size % 4 == 0 else raw
    return out


def variables_of(context: DeviceContext, kernel: KernelHandle) -> Memory:
    """What stands in the variables of a program, where that is not zero."""
    out = {}
    for name, v in kernel.module.program.variables.items():
        if v.space in ("global", "const") and not v.handle and v.size:
            raw = context.space.device_bytes(*kernel.module.variable(name), writes=False).copy()
            if raw.any():
                out[name] = raw
    return out
