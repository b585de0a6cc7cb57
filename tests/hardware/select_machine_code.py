"""Writes tests/data/machine_code: in recorded.json.xz how often each block of a launch ran, and how many machine instructions an H200 executed; in
kinds.json what single machine instructions took.

PYTHONPATH=tests/importroot python -m tests.hardware.select_machine_code PROGRAMS TIMING TOOLS    wants the folders of the whole recordings, and that of
the scripts which run recorded programs
"""

from __future__ import annotations

import collections
import json
import lzma
import sys
from pathlib import Path
from typing import Any

import numpy as np

import warplab.runtime as rt
from warplab.assembler.flow import flow
from warplab.interpreter.observe import Observer
from warplab.isa.profiles import DeviceProfile
from warplab.runtime.device.launches.observing import observing

OUT = Path(__file__).parents[1] / "data" / "machine_code" / "recorded.json.xz"
MOST = 2_000_000  # machine instructions of a launch that is kept
MEMORY = frozenset(
    {"shared", "global", "local", "const", "branch", "barrier"}
)  # groups of micro-benchmarks whose figures are not the instruction's own
EACH = 3  # launches of a kernel


class Turns(Observer):
    """Counts how often warps enter each block, and for how many turns in a row where it is a loop."""

    def __init__(self, device: DeviceProfile) -> None:
        del device
        self.counts: collections.Counter[tuple[str, int, int]] = collections.Counter()
        self.complete = False

    def begin(self, launch: Any) -> None:
        self.each = -(-launch.threads // 32)
        self.entry = launch.kernel.function.name
        self.warps = launch.blocks * self.each
        self.block, self.turns = np.full(self.warps, -1, np.int64), np.zeros(self.warps, np.int64)
        self.names: list[tuple[str, int]] = []
        self.leader: dict[int, int] = {}
        loops = []
        for f in launch.kernel.reached:
            graph = flow(f) if f.body is not None else None
            for b in graph.rpo if graph is not None else ():
                assert graph is not None
                if graph.blocks[b].instructions:
                    self.leader[id(graph.blocks[b].instructions[0])] = len(self.names)
                    self.names.append((f.name, b))
                    loops.append(b in graph.blocks[b].successors)
        self.loops = np.array(loops)

    def stretch(self, sites: Any, group: Any) -> None:
        self._enter(sites[0], group)

    def instruction(self, site: Any, group: Any, mask: Any) -> None:
        self._enter(site, group)

    def _enter(self, site: Any, group: Any) -> None:
        b = self.leader.get(id(site.instruction))
        if b is None:
            return
        layout = group.geometry.warps
        warps = (layout.block[:, 0] + group.wave.first) * self.each + layout.warp[:, 0]
        if group.alive is not None:
            warps = warps[layout.spread(np.broadcast_to(group.alive, layout.shape)).reshape(-1, 32).any(axis=1)]
        again = (self.block[warps] == b) & self.loops[b]
        self.turns[warps[again]] += 1
        new = warps[~again]
        self._leave(new)
        self.block[new], self.turns[new] = b, 1

    def _leave(self, warps: Any) -> None:
        warps = warps[self.block[warps] >= 0]
        for key, n in zip(*np.unique(self.block[warps] << 32 | self.turns[warps], return_counts=True), strict=True):
            self.counts[*self.names[int(key) >> 32], int(key) & 0xFFFF_FFFF] += int(n)

    def end(self, launch: Any) -> None:
        self._leave(np.arange(self.warps))
        self.complete = True


class Kept:
    """What is written: texts of modules, and launches as (modules, entry, instructions of the H200, warps, [function, block, turns, how often])."""

    def __init__(self) -> None:
        self.modules: dict[Path, int] = {}
        self.launches: list[list[Any]] = []
        self.often: collections.Counter[tuple[tuple[Path, ...], str]] = collections.Counter()

    def add(self, files: list[Path], recorded: dict[str, Any], turns: Turns) -> None:
        key = tuple(files), recorded["entry"]
        self.often[key] += 1
        if turns.complete and self.often[key] <= EACH and turns.entry == recorded["entry"]:
            numbers = [self.modules.setdefault(f, len(self.modules)) for f in files]
            counts = [[*key, n] for key, n in turns.counts.items()]
            self.launches.append([numbers, recorded["entry"], recorded["inst"], turns.warps, counts])

    def write(self) -> None:
        data = {"modules": [f.read_text() for f in self.modules], "launches": self.launches}
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_bytes(lzma.compress(json.dumps(data).encode(), preset=9))


def programs(kept: Kept, folder: Path, timing: Path) -> None:
    """The launches of whole programs."""
    import gpu  # type: ignore[import-not-found]
    from programs import Program  # type: ignore[import-not-found]

    recorded = collections.defaultdict(list)
    for r in json.loads((timing / "programs.json").read_text()):
        recorded[r["program"]].append(r)
    for name, records in recorded.items():
        if sum(r["inst"] for r in records) > 4 * MOST:
            continue
        case = json.loads((folder / name / "case.json").read_text())
        with observing(Turns) as made:
            program = Program(gpu.connect("warplab.runtime.driver"), folder / name)
            program.prepare()
            program.run()
        numbers = [n for n, launch in enumerate(case["launches"]) if "entry" in launch]
        for r in records:
            kept.add([folder / name / f for f in case["ptx"]], r, made[numbers.index(r["launch"])])


def scaled(kept: Kept, folder: Path, timing_folder: Path) -> None:
    """The launches of kernels at several sizes."""
    import timing  # type: ignore[import-not-found]

    rng, host = timing.host_arrays()
    device = rt.Device()
    device.set_current()
    stream, buffers = device.create_stream(), {}
    for r in json.loads((timing_folder / "scaled.json").read_text()):
        if r["inst"] > MOST:
            continue
        for x in r["args"]:
            if isinstance(x, str) and x not in buffers:
                n = int(x[3:]) if x.startswith("col") else 0
                buffers[x] = rt.to_device(rng.integers(0, n, n * 8, dtype=np.int32) if n else host[x])
        file = next(f for f in (timing_folder / "ptx" / f"{r['ptx']}.ptx", folder / f"{r['ptx']}.ptx") if f.exists())
        kernel = rt.Program(file.read_text(), "ptx").compile("cubin").get_kernel(r["entry"])
        arguments = [buffers[x] if isinstance(x, str) else np.float32(x) if isinstance(x, float) else np.uint32(x) for x in r["args"]]
        with observing(Turns) as made:
            rt.launch(stream, rt.LaunchConfig(grid=tuple(r["grid"]), block=tuple(r["block"])), kernel, *arguments)
            stream.sync()
        kept.add([file], r, made[-1])


def kinds(timing_folder: Path) -> None:
    """Of the micro-benchmarks that execute one machine instruction: its latency, and how many of it a multiprocessor executes in a cycle."""
    found = {}
    for r in json.loads((timing_folder / "micro.json").read_text()).values():
        for counts in map(collections.Counter, r["sass"].values()):
            (opcode, often), *_ = counts.most_common(1)
            rate = next((p[4] for p in r["points"] if p[:2] == [1, 32]), None)
            if often >= 0.8 * counts.total() and r["group"] not in MEMORY and rate is not None:
                found.setdefault(opcode, [r["latency"], rate])
    lines = [f"{json.dumps(opcode)}: {figures}" for opcode, figures in found.items()]
    (OUT.parent / "kinds.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    programs_folder, timing_at, tools = map(Path, sys.argv[1:])
    sys.path.insert(0, str(tools))
    everything = Kept()
    programs(everything, programs_folder, timing_at)
    scaled(everything, programs_folder, timing_at)
    everything.write()
    kinds(timing_at)
