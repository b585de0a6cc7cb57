"""What a profile suggests: sentences with a reason, a line and a number, each of a kind that EXPLANATIONS describes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from warplab.interpreter.profiler import AccessProfile, KernelProfile, SiteProfile

from .tables import lane_ranges, number, percent, scaled

NOTEWORTHY = 0.05  # of all sectors, passes or branches: less is not worth a sentence
FEW = 4  # lanes that are not a pattern

EXPLANATIONS: dict[str, str] = {
    "uncoalesced": (
        "The lanes of a warp access memory in one request, and memory transfers sectors of 32 bytes. Neighbouring lanes that read "
        "neighbouring words share sectors: 32 words of 4 bytes need 4. Lanes that are far apart need a sector each, and most of "
        "each sector is wasted. Let the thread index run along the contiguous dimension, or load a tile in that order "
        "and transpose it in shared memory."
    ),
    "misaligned": (
        "If the first address of a warp is not a multiple of 32 bytes, the warp touches one sector more than necessary. Align the "
        "start of each row (pad the pitch), or let the first lanes of a block process the unaligned part."
    ),
    "bank-conflict": (
        "Shared memory has 32 banks of 4 bytes; word w lies in bank w mod 32. An access takes one pass (wavefront) for each "
        "different word that its lanes need of one bank. If rows have 32 words, a column lies in a single bank: one word of "
        "padding per row spreads it over all banks."
    ),
    "divergence": (
        "If its lanes disagree about a branch, a warp executes both sides in turn, and the lanes of the other side are idle. "
        "Arrange the work so that the condition is the same for all 32 lanes: by warp index, not by lane index."
    ),
    "partial-warps": (
        "If the block size is not a multiple of 32, the last warp of each block has idle lanes, and costs as much as a full warp."
    ),
    "contention": (
        "Atomic operations of several lanes on one word are executed one after the other. Reduce within the warp or the block "
        "first (shuffles, shared memory), and let one lane update global memory."
    ),
    "occupancy": (
        "A multiprocessor hides latency by switching between resident warps. Registers, shared memory and block size limit how "
        "many blocks are resident; the scarcest resource decides."
    ),
    "tail": (
        "Blocks execute in waves of as many blocks as are resident on the device. If the last wave is not full, part of the device is idle."
    ),
    "small-grid": (
        "With fewer blocks than multiprocessors, some multiprocessors have no work. Use smaller blocks, or give each thread less work."
    ),
    "local-memory": (
        "Local memory lies in device memory. It holds arrays that are indexed at run time, variables whose address is taken, and "
        "spilled registers."
    ),
    "reuse": "The kernel loads the same bytes repeatedly. Keep a tile in shared memory, or compute more results per thread from registers.",
    "memory-bound": "Left of the ridge of the roofline, memory bandwidth limits the kernel: fewer bytes per operation make it faster.",
    "constant-serial": (
        "Constant memory serves one address per pass: lanes with different addresses are served in turn. Put tables that lanes "
        "index differently into shared or global memory."
    ),
    "padding": "Threads whose index lies beyond the data do nothing, but their warps are launched and scheduled.",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """One suggestion; `cost` ranks them."""

    kind: str
    line: int | None
    text: str
    cost: float
    more: tuple[int, ...] = ()  # further lines of which the same is said

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.line else self.text

    @property
    def place(self) -> str:
        """`line 3`, or `lines 3, 5`."""
        return f"lines {', '.join(map(str, (self.line, *self.more)))}" if self.more else f"line {self.line}"

    @property
    def explanation(self) -> str:
        """What is behind this kind."""
        return EXPLANATIONS[self.kind]

    @property
    def page(self) -> str:
        """The command that prints what the documents say about this kind."""
        return f"warplab docs profiling {self.kind}"


def advice(p: KernelProfile) -> tuple[Advice, ...]:
    """Suggestions for a launch, the most expensive first."""
    same: dict[tuple[str, str], list[Advice]] = {}
    for a in (*_accesses(p), *_control(p), *_shape(p), *_balance(p)):
        same.setdefault((a.kind, a.text), []).append(a)
    joined = []
    for first, *others in same.values():
        lines = sorted({a.line for a in (first, *others) if a.line is not None})
        joined.append(replace(first, line=lines[0] if lines else None, cost=sum(a.cost for a in (first, *others)), more=tuple(lines[1:])))
    return tuple(sorted(joined, key=lambda a: -a.cost))


# ---------------------------------------------------------------- memory


def _accesses(p: KernelProfile) -> Iterator[Advice]:
    sectors = max(1, sum(a.units for a in p.accesses if a.space == "global"))
    passes = max(1, sum(a.units for a in p.accesses if a.space == "shared"))
    for site in p.sites:
        for a in site.accesses:
            if a.space == "global" and a.excess >= NOTEWORTHY * sectors:
                yield _atomic(p, site, a, sectors) if a.kind in ("red", "atom") else _global(p, site, a, sectors)
            elif a.space == "shared" and a.conflicts >= NOTEWORTHY * passes:
                yield _shared(site, a, passes)
            elif a.space == "const" and a.units > 1.5 * a.requests:
                each = a.units / a.requests
                yield Advice("constant-serial", site.line, f"{number(each)} passes a constant load where one address would need 1", 0.2)
    local = p.total("units", "local")
    if local:
        first = next(s.line for s in p.sites if any(a.space == "local" for a in s.accesses))
        text = f"{number(local)} sectors of local memory move: an array indexed at run time, or an address taken, lives in device memory"
        yield Advice("local-memory", first, text, local / (local + sectors))


def _unit(p: KernelProfile) -> str:
    return "sectors" if p.device.global_rule == "sectors" else "transactions"


def _global(p: KernelProfile, site: SiteProfile, a: AccessProfile, total: int) -> Advice:
    each, least = a.units / a.requests, a.ideal / a.requests
    head = f"{number(each)} {_unit(p)} per request where {number(least)} would do: "
    cost = a.excess / total
    step = stride(a)
    if step is not None and abs(step) == a.width:
        start = next(x for x in a.sample.addresses if x is not None) % 32 if a.sample else 0
        return Advice("misaligned", site.line, f"{head}the first lane starts {start} bytes into a sector; align it to 32 bytes", cost)
    active = sum(x is not None for x in a.sample.addresses) if a.sample is not None else 32
    if step == 0 or active <= FEW:  # a halo, or what one lane does for all
        return Advice("uncoalesced", site.line, f"{head}only {active} of 32 lanes take part", cost)
    if step is None:
        why = "the lanes' addresses are scattered; sort the work by address or stage it through shared memory"
    else:
        why = f"neighbouring lanes are {abs(step)} bytes apart; transpose or stage through shared memory"
    return Advice("uncoalesced", site.line, head + why, cost)


def _atomic(p: KernelProfile, site: SiteProfile, a: AccessProfile, total: int) -> Advice:
    text = f"{number(a.units / a.requests)} {_unit(p)} per atomic request where {number(a.ideal / a.requests)} would do: "
    most = _most_on_one(a)
    why = f"up to {most} lanes of a warp change one word" if most > 1 else "lanes update words far apart"
    return Advice("contention", site.line, f"{text}{why}; combine within the warp or block first", a.excess / total)


def _shared(site: SiteProfile, a: AccessProfile, total: int) -> Advice:
    head = f"{number(a.units / a.requests)} passes per shared access where {number(a.ideal / a.requests)} would do: "
    cost = a.conflicts / total
    if a.kind in ("red", "atom") and (most := _most_on_one(a)) > 1:
        return Advice("contention", site.line, f"{head}up to {most} lanes of a warp change one word; give each warp its own copy", cost)
    step = stride(a)
    if step:
        words = abs(step) // 4
        return Advice("bank-conflict", site.line, f"{head}lanes are {words} words apart; pad rows by a word or permute them", cost)
    return Advice("bank-conflict", site.line, f"{head}the lanes access different words of one bank", cost)


def stride(a: AccessProfile) -> int | None:
    """The one distance between neighbouring active lanes of the sample, None where there is none."""
    if a.sample is None:
        return None
    there = [(lane, x) for lane, x in enumerate(a.sample.addresses) if x is not None]
    steps = {(y - x) // (j - i) for (i, x), (j, y) in pairwise(there)}
    return steps.pop() if len(steps) == 1 else None if steps else 0


def _most_on_one(a: AccessProfile) -> int:
    if a.sample is None:
        return 0
    there = [x for x in a.sample.addresses if x is not None]
    return max((there.count(x) for x in set(there)), default=0)


# ---------------------------------------------------------------- control flow


def _control(p: KernelProfile) -> Iterator[Advice]:
    branches = sum(s.branch.divergent for s in p.sites if s.branch)
    if p.simt_efficiency < 0.9:
        for s in p.sites:
            if s.branch and s.branch.divergent > 0.1 * s.branch.executed and s.branch.divergent >= NOTEWORTHY * branches:
                share = s.branch.divergent / s.branch.executed
                mask = (
                    f" (most often lanes {lane_ranges(n for n in range(32) if s.branch.masks[0][0] >> n & 1)} take it)"
                    if s.branch.masks
                    else ""
                )
                text = f"the lanes of {percent(share)} of the warps diverge here{mask}; "
                text += f"an average instruction has {number(32 * p.simt_efficiency)} of 32 lanes"
                yield Advice("divergence", s.line, text, (1 - p.simt_efficiency) * s.branch.divergent / branches)
    if p.block_threads % 32:
        idle = p.padding_lanes / (p.warps_launched * 32)
        text = f"blocks of {p.block_threads} threads leave {32 - p.block_threads % 32} lanes of their last warp idle"
        text += f" ({percent(idle)} of all lanes)"
        yield Advice("partial-warps", None, text, idle)


# ---------------------------------------------------------------- the launch as a whole


def _shape(p: KernelProfile) -> Iterator[Advice]:
    o, device = p.occupancy, p.device
    if o.blocks and o.fraction < 0.5:
        steps = "; ".join(s for s in o.sentences if " win " in s)
        text = f"occupancy is {percent(o.fraction)}: {' and '.join(o.limiters)} allow {number(o.blocks)} blocks per multiprocessor"
        yield Advice("occupancy", None, f"{text}; {steps}" if steps else text, 0.3 * (0.5 - o.fraction))
    if p.blocks < device.multiprocessors:
        text = f"{p.blocks} blocks for {device.multiprocessors} multiprocessors: {device.multiprocessors - p.blocks} have no work"
        yield Advice("small-grid", None, text, 0.001 * (1 - p.blocks / device.multiprocessors))  # a test, more often than not
    elif 0 < p.wave_efficiency < 0.8:
        text = f"the grid makes {p.waves:.2f} waves: the last one leaves {percent(1 - p.wave_efficiency)} of all block slots empty"
        yield Advice("tail", None, text, 0.2 * (1 - p.wave_efficiency))
    if p.threads > p.idle_threads > 0.1 * p.threads:
        text = f"{percent(p.idle_threads / p.threads)} of the threads write nothing"
        yield Advice("padding", None, text, 0.2 * p.idle_threads / p.threads)


def _balance(p: KernelProfile) -> Iterator[Advice]:
    asked, different, moved, flops = p.total("bytes", "global", "ld"), p.dram_read, p.dram_bytes, sum(p.flops.values())
    if different and asked > 4 * different and flops and p.intensity < p.device.ridge:
        busiest = max((s for s in p.sites if any(a.space == "global" for a in s.accesses)),
                      key=lambda s: sum(a.bytes for a in s.accesses if a.space == "global" and a.kind == "ld"))  # fmt: skip
        text = (
            f"threads load {scaled(asked, 'B')} of which {scaled(different, 'B')} are different: each byte is loaded {number(asked / different)} times, "
            f"{number(p.intensity)} FLOP per byte loaded; keep a tile in shared memory or registers"
        )
        yield Advice("reuse", busiest.line, text, 0.5)
    if flops and moved and p.dram_intensity < p.device.ridge:
        text = (
            f"{number(p.dram_intensity)} FLOP per byte of device memory, {p.device.device}'s ridge point is {number(p.device.ridge)}: "
            f"bandwidth bounds this kernel to {scaled(p.dram_intensity * p.device.memory_bandwidth, 'FLOP/s')} of {scaled(p.device.peak_fp32, 'FLOP/s')}"
        )
        yield Advice("memory-bound", None, text, 0.01)
