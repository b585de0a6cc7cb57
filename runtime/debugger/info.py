"""Commands that show the launch: info, and the thread that the debugger looks at."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from warplab.assembler.demangle import short_name

from ..errors import UsageError
from ..recording.places import instructions_at
from ..recording.telling import dim3, number, place
from ..recording.telling import thread_text as thread
from .breakpoints import breakpoints
from .prompt import Prompt
from .session import groups_at, interrupted, standing
from .variables import locals_, shown
from .words import command


@command(
    "info",
    "breakpoints, registers, args, locals, functions, variables, symbol, cuda kernels|blocks|warps|lanes|threads, line, frame, launches, events, record",
    "i",
)
def info(p: Prompt, text: str) -> None:
    """See the table."""
    word, _, rest = text.partition(" ")
    if word == "cuda":
        what = rest.split()
        if not what or what[0] not in _CUDA:
            raise UsageError(f"info cuda: there are {' '.join(_CUDA)}")
        _CUDA[what[0]](p)
        return
    found = [k for k in _INFO if word and k.startswith(word)]
    if not found:
        raise UsageError(f"info: there are {' '.join(_INFO)} and cuda {'|'.join(_CUDA)}")
    _INFO[found[0]](p, rest.strip())


def _registers(p: Prompt, text: str) -> None:
    rec, s = p.rec, p.session
    names = ["%" + t.lstrip("%$") for t in text.split()] or list(rec.track.registers.get(s.looked_at[0], {}))
    types = rec.track.registers.get(s.looked_at[0], {})
    for name in names:
        if name not in types:
            s.look().register(name)
        found = rec.held(name, np.array([s.lane]), s.step, s.looked_at)
        if found.known[0]:
            since = f"step {found.step[0]}" if found.step[0] >= 0 else "never written"
            p.say(f"{name:<10} .{types[name]:<5} {number(found.value[0]):<20} {number(found.value[0], 'x'):<20} {since}")
        elif text:
            p.say(f"{name:<10} .{types[name]:<5} <not written yet>")


def _args(p: Prompt, _: str) -> None:
    from warplab.isa.types import TYPES

    if not p.session.names.why_not:
        for line in shown(p, True) or ["No arguments."]:
            p.say(line)
        return
    t = p.rec.track
    for name, type, at, size in t.parameters:
        kind = TYPES[type].dtype
        raw = t.parameter_bytes[at : at + size]
        value = np.frombuffer(raw, kind)[0] if size == kind.itemsize else None
        known = "" if value is None or kind.itemsize < 8 else p.rec.name_of("global", int(value))
        p.say(
            f"{name} = "
            + (raw.hex() if value is None else number(value, "x" if known.endswith("[0]") else ""))
            + (f" <{known}>" if known.endswith("[0]") else "")
        )


def _line(p: Prompt, text: str) -> None:
    if text:
        for n in sorted(instructions_at(p.rec, text)):
            i = p.rec.track.instructions[n]
            p.say(f"{place(p.rec, i)}: {i.text}")
    else:
        p.show_place(full=True)


def _frame(p: Prompt, _: str) -> None:
    p.show_place(full=True)
    p.say(thread(p.rec, p.session.lane))


def _launches(p: Prompt, _: str) -> None:
    for n, rec in enumerate(p.launches):
        t = rec.track
        ended = t.ended.splitlines()[0] if t.ended else ""
        mark = "*" if n == p.number else " "
        p.say(
            f"{mark} {n + 1}  {short_name(t.kernel)}<<<{dim3(t.grid)}, {dim3(t.block)}>>>  {rec.step_count} steps"
            + (f"  {ended}" if ended else "")
        )


def _events(p: Prompt, _: str) -> None:
    first = p.rec.columns.first
    for e in p.rec.track.events[:200]:
        p.say(f"step {int(first[e.execution]) + max(e.step, 0)}: {e.kind}: {e.text}")


def _record(p: Prompt, _: str) -> None:
    t, rec = p.rec.track, p.rec
    p.say(
        f"{short_name(t.kernel)} on {t.device}: {rec.step_count} steps, {len(t.layout_of)} executions of segments, {len(t.accesses)} accesses"
    )
    if t.options:
        p.say("  " + ", ".join(f"--{k} {v}" for k, v in t.options.items()))
    if t.kept_blocks is not None:
        kept = np.flatnonzero(t.kept_blocks)
        p.say(f"  {kept.size} of {t.kept_blocks.size} blocks are recorded; memory shows what these blocks wrote (--record-limit, --blocks)")
    if t.stopped:
        p.say("  the limit was reached: what follows is not recorded (--record-limit)")
    if t.ended:
        p.say(f"  {t.ended.splitlines()[0]}")


def _functions(p: Prompt, text: str) -> None:
    for name in sorted(p.rec.track.registers):
        lines = [i.line for i in p.rec.track.instructions if i.function == name]
        if text in name:
            p.say(f"{short_name(name)}" + (f"  line {min(lines)}" if lines else ""))


def _variables(p: Prompt, text: str) -> None:
    for o in p.rec.track.objects:
        if text in o.name:
            p.say(f"{o.name:<16} .{o.space:<7} .{o.type:<5} {o.size:>10} bytes at {o.start:#x}")


def _symbol(p: Prompt, text: str) -> None:
    if not text:
        raise UsageError("info symbol: an address is expected")
    at = p.integer(text)
    name = p.rec.name_of("global", at)
    p.say(name if not name.startswith("global[") else f"No symbol matches {text.strip()}.")


_INFO: dict[str, Callable[[Prompt, str], None]] = {
    "breakpoints": lambda p, _: breakpoints(p), "watchpoints": lambda p, _: breakpoints(p), "registers": _registers, "args": _args, "locals": locals_,
    "line": _line, "frame": _frame, "launches": _launches, "events": _events, "record": _record,
    "functions": _functions, "variables": _variables, "symbol": _symbol,
    "display": lambda p, _: p.say("\n".join(f"{n}: {t}" for n, t in p.displays) or "There are no auto-display expressions now."),
}  # fmt: skip


def _kernels(p: Prompt) -> None:
    p.say("  Kernel  Grid       Block      Steps  Invocation")
    for n, rec in enumerate(p.launches):
        t = rec.track
        p.say(f"{'*' if n == p.number else ' '} {n:<7} {dim3(t.grid):<10} {dim3(t.block):<10} {rec.step_count:<6} {short_name(t.kernel)}")


def _groups(p: Prompt) -> list[tuple[int, list[int]]]:
    """The lanes of the thread's block by the step that each executes next; -1: it has ended."""
    rec, s = p.rec, p.session
    first = s.lane // rec.threads * rec.threads
    return groups_at(rec, np.arange(first, first + rec.threads), s.step)


def _blocks(p: Prompt) -> None:
    rec = p.rec
    c = rec.columns
    first: dict[int, int] = {}
    n0 = c.execution(p.session.step) if p.session.step < rec.step_count else len(c.layout)
    for n in range(n0, min(len(c.layout), n0 + 4096)):
        for b in np.unique(c.lanes_of(n).block).tolist():
            first.setdefault(b, max(int(c.first[n]), p.session.step))
    p.say("  Block      Next step")
    for b in sorted(first)[:64]:
        mark = "*" if p.session.lane // rec.threads == b else " "
        p.say(f"{mark} {dim3(rec.thread(b * rec.threads).block):<10} {first[b]}")
    if len(first) > 64:
        p.say(f"  ... {len(first)} blocks in all")


def _warps(p: Prompt) -> None:
    rec, s = p.rec, p.session
    p.say("  Wp  Lanes at line")
    by_warp: dict[int, list[tuple[str, int]]] = {}
    for step, lanes in _groups(p):
        line = standing(rec, step)
        for w, count in zip(*np.unique((np.array(lanes) % rec.threads) >> 5, return_counts=True), strict=True):
            by_warp.setdefault(int(w), []).append((line, int(count)))
    for w, places in sorted(by_warp.items()):
        mark = "*" if s.lane % rec.threads >> 5 == w else " "
        p.say(f"{mark} {w:<3} " + ", ".join(f"{count} {line}" for line, count in places))


def _lanes(p: Prompt) -> None:
    rec, s = p.rec, p.session
    p.say("  Ln  Thread     Next step  Line  Instruction")
    rows = []
    for step, lanes in groups_at(rec, rec.warp_of(s.lane), s.step):
        at = step if step >= 0 else interrupted(step)
        i = None if step == -1 else rec.columns.instruction(at)
        for lane in lanes:
            word = "ended" if i is None else str(at) if step >= 0 else "waits" if "wait" in standing(rec, step) else "-"
            text = f"{word:<10} {'' if i is None else i.line:<5} {'' if i is None else i.text}"
            rows.append(
                (lane, f"{'*' if lane == s.lane else ' '} {lane % rec.threads & 31:<3} {dim3(rec.thread(lane).thread):<10} {text}".rstrip())
            )
    for _, row in sorted(rows):
        p.say(row)


def _threads(p: Prompt) -> None:
    rec = p.rec
    p.say("  From thread  To thread    Count  Next step  Line")
    rows = []
    for step, lanes in _groups(p):
        own = np.array(sorted(lanes))
        for run in np.split(own, np.flatnonzero(np.diff(own) != 1) + 1):
            line = standing(rec, step).removeprefix("line ")
            rows.append(
                (
                    int(run[0]),
                    f"  {dim3(rec.thread(run[0]).thread):<12} {dim3(rec.thread(run[-1]).thread):<12} {run.size:<6} {max(step, 0):<10} {line}",
                )
            )
    for _, row in sorted(rows)[:256]:
        p.say(row)


_CUDA: dict[str, Callable[[Prompt], None]] = {"kernels": _kernels, "blocks": _blocks, "warps": _warps, "lanes": _lanes, "threads": _threads}


@command("cuda", "block (1,0,0) thread (17,0,0), or warp N lane N: looks at another thread")
def cuda(p: Prompt, text: str) -> None:
    """See the table."""
    rec, s = p.rec, p.session
    named = p.threads_of(text)
    t = rec.thread(s.lane)
    linear = s.lane % rec.threads
    if not text.split() or (not named and set(text.split()) - {"block", "thread", "warp", "lane", "kernel"}):
        raise UsageError("cuda: block X thread Y, or warp N lane N")
    kernel = named.get("kernel")
    if kernel is not None and kernel != p.number:
        if not isinstance(kernel, int) or kernel >= len(p.launches):
            raise UsageError(f"there is no kernel {kernel}: info cuda kernels lists them")
        p.number, p.listed = kernel, None
        p.say(f"[Switching focus to kernel {kernel}: {short_name(p.rec.track.kernel)}]")
        rec, s = p.rec, p.session
        t, linear = rec.thread(s.lane), s.lane % rec.threads
    if named.keys() & {"block", "thread", "warp", "lane"}:
        thread_: tuple[int, int, int] | int = named.get("thread", linear)
        if "warp" in named or "lane" in named:
            warp, lane = named.get("warp", linear >> 5), named.get("lane", linear & 31 if "warp" not in named else 0)
            assert isinstance(warp, int) and isinstance(lane, int)
            thread_ = warp * 32 + lane
        elif "block" in named and "thread" not in named:
            thread_ = 0
        s.focus(rec.lane(named.get("block", t.block), thread_))
        p.say(f"[Switching focus to {thread(rec, s.lane)}]")
        p.show_place()
    else:
        p.say(thread(rec, s.lane))


@command("thread", "[N, +N or -N]: looks at another thread of the block; without a number, says which one it looks at")
def thread_(p: Prompt, text: str) -> None:
    """See the table."""
    if re.fullmatch(r"[+-]\d+", text):
        own = p.session.lane % p.rec.threads
        cuda(p, f"thread {min(max(own + int(text), 0), p.rec.threads - 1)}")
    elif text:
        cuda(p, f"thread {text}")
    else:
        p.say(thread(p.rec, p.session.lane))
