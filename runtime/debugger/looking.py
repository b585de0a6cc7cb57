"""Commands that look: values, memory, threads, the text, and why a value is what it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from warplab.assembler.demangle import short_name
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE

from ..errors import UsageError
from ..recording.conditions import LanesAt
from ..recording.differences import difference, told
from ..recording.expressions import parse_expression
from ..recording.places import instructions_at
from ..recording.questions import Cell, Recording
from ..recording.slices import origin as born
from ..recording.slices import why as reasons
from ..recording.telling import dim3, number, origin_lines, place
from ..recording.telling import link_lines as link
from ..recording.telling import thread_text as thread
from .moving import breakpoints
from .prompt import CONTEXT, Prompt
from .showing import FORMATS, WIDTHS, typed
from .words import command, described, execute

MOST_WRITERS = 20
MOST_LINKS = 12
MOST_EXAMINED = 1 << 16


# ---------------------------------------------------------------- values


@command("print", "[/FORMAT] EXPRESSION, or c[0]@8: its value", "p", "inspect")
def print_(p: Prompt, text: str) -> None:
    """See the table."""
    if not text:
        raise UsageError("print needs an expression, such as %r5 or c[0]@8")
    value = p.shown(text)
    p.counted += 1
    p.say(f"${p.counted} = {value}")


@command("output", "EXPRESSION: its value alone")
def output(p: Prompt, text: str) -> None:
    """See the table."""
    p.say(p.shown(text))


@command("display", "EXPRESSION: shows it at each stop")
def display(p: Prompt, text: str) -> None:
    """See the table."""
    if text:
        p.shown(text)
        p.displays.append((max([n for n, _ in p.displays], default=0) + 1, text))
    for n, one in p.displays[-1:] if text else p.displays:
        p.say(f"{n}: {one} = {p.shown(one)}")


@command("undisplay", "[N]: shows it no longer")
def undisplay(p: Prompt, text: str) -> None:
    """See the table."""
    p.displays = [d for d in p.displays if text and str(d[0]) not in text.split()]


@command("x", "/COUNT FORMAT SIZE ADDRESS or NAME: memory, such as x/8fw c or x/4xg 0x10000")
def examine(p: Prompt, text: str) -> None:
    """See the table."""
    m = re.fullmatch(r"(?:/(\d*)([a-z]*)\s+)?(.+)", text)
    if m is None:
        raise UsageError("x needs an address or a name, such as x/8fw c")
    count = int(m[1] or 1)
    letters = m[2] or ""
    form = next((f for f in letters if f in FORMATS and f not in WIDTHS), "x")
    width = next((WIDTHS[w] for w in letters if w in WIDTHS), 4)
    if set(letters) - set(FORMATS) - set(WIDTHS) or not 0 < count <= MOST_EXAMINED:
        raise UsageError(f"x/{m[1] or ''}{letters}: formats are {' '.join(FORMATS)}, sizes b h w g")
    space, owner, at = _address(p, m[3])
    if form == "f" and width == 1:
        width = 4
    raw = p.rec.bytes.held(space, owner, at, count * width, p.session.step)
    each = {8: 2, 4: 4, 2: 8, 1: 8}[width]
    values = typed(raw, form, width)
    for k in range(0, count, each):
        line = "\t".join(number(v, form) for v in values[k : k + each])
        p.say(f"{at + k * width:#x} <{p.rec.name_of(space, at + k * width)}>:\t{line}")


def _address(p: Prompt, text: str) -> tuple[str, int, int]:
    """A space, an owner and an address: of `c`, `&c[3]`, `tile[2]`, `%rd4`, `0x10000`."""
    rec, s = p.rec, p.session
    name = text.strip().lstrip("&")
    if re.fullmatch(r"[A-Za-z_$][\w$.]*(\[[^\]]*\])*", name) and any(o.name == name.partition("[")[0] for o in rec.track.objects):
        cell = p.cell(name)
        return cell.space, cell.owner, cell.address
    at = p.integer(text)
    for space, base, owner in (("shared", SHARED_BASE, s.lane // rec.threads), ("local", LOCAL_BASE, s.lane)):
        if base <= at < base + WINDOW_SIZE:
            return space, owner, at - base
    return "global", 0, at


# ---------------------------------------------------------------- info


@command("info", "breakpoints, registers, args, cuda kernels|blocks|warps|lanes|threads, line, frame, launches, events, record", "i")
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
    names = ["%" + t.lstrip("%$") for t in text.split()] or list(rec.track.registers.get(s.frame[0], {}))
    types = rec.track.registers.get(s.frame[0], {})
    for name in names:
        if name not in types:
            s.look().register(name)
        found = rec.held(name, np.array([s.lane]), s.step, s.frame)
        if found.known[0]:
            since = f"step {found.step[0]}" if found.step[0] >= 0 else "never written"
            p.say(f"{name:<10} .{types[name]:<5} {number(found.value[0]):<20} {number(found.value[0], 'x'):<20} {since}")
        elif text:
            p.say(f"{name:<10} .{types[name]:<5} <not written yet>")


def _args(p: Prompt, _: str) -> None:
    from warplab.isa.types import TYPES

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


_INFO: dict[str, Callable[[Prompt, str], None]] = {
    "breakpoints": lambda p, _: breakpoints(p), "watchpoints": lambda p, _: breakpoints(p), "registers": _registers, "args": _args,
    "line": _line, "frame": _frame, "launches": _launches, "events": _events, "record": _record,
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
    return _where(rec, np.arange(first, first + rec.threads), s.step)


def _where(rec: Recording, lanes: np.ndarray[tuple[int], np.dtype[np.int64]], step: int) -> list[tuple[int, list[int]]]:
    c = rec.columns
    left, out = lanes, []
    if step < rec.step_count:
        near = np.flatnonzero(c.touching(lanes))
        for n in near[np.searchsorted(near, c.execution(step)) :].tolist():
            if not left.size:
                break
            if not c.done[n]:
                continue
            has = c.lanes_of(n).places(left) >= 0
            if has.any():
                out.append((max(int(c.first[n]), step), left[has].tolist()))
                left = left[~has]
    if left.size:
        out.append((-1, left.tolist()))
    return out


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
        line = "ended" if step < 0 else f"line {rec.columns.instruction(step).line}"
        for w, count in zip(*np.unique((np.array(lanes) % rec.threads) >> 5, return_counts=True), strict=True):
            by_warp.setdefault(int(w), []).append((line, int(count)))
    for w, places in sorted(by_warp.items()):
        mark = "*" if s.lane % rec.threads >> 5 == w else " "
        p.say(f"{mark} {w:<3} " + ", ".join(f"{count} {line}" for line, count in places))


def _lanes(p: Prompt) -> None:
    rec, s = p.rec, p.session
    p.say("  Ln  Thread     Next step  Line  Instruction")
    rows = []
    for step, lanes in _where(rec, rec.warp_of(s.lane), s.step):
        i = None if step < 0 else rec.columns.instruction(step)
        for lane in lanes:
            text = f"{'ended' if i is None else step:<10} {'' if i is None else i.line:<5} {'' if i is None else i.text}"
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
            line = "ended" if step < 0 else str(rec.columns.instruction(step).line)
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


@command("thread", "the thread that the debugger looks at")
def thread_(p: Prompt, text: str) -> None:
    """See the table."""
    if text:
        cuda(p, f"thread {text}")
    else:
        p.say(thread(p.rec, p.session.lane))


# ---------------------------------------------------------------- text


@command("backtrace", "the calls of the thread that are open", "bt", "where")
def backtrace(p: Prompt, _: str) -> None:
    """See the table."""
    frames = p.rec.backtrace(p.session.lane, p.session.step)
    for n, f in enumerate(frames):
        p.say(f"#{n}  {place(p.rec, f.instruction)}")
    if not frames:
        p.say("the thread has ended")


@command("list", "[LINE or FUNCTION]: the text around the thread's place, or around another one", "l")
def list_(p: Prompt, text: str) -> None:
    """See the table."""
    rec, s = p.rec, p.session
    at = rec.next_step(s.lane, s.step)
    here = rec.columns.instruction(at) if at is not None else None
    if text:
        i = rec.track.instructions[min(instructions_at(rec, text))]
        module, first = i.module, max(i.line - CONTEXT, 1)
    elif p.listed is not None:
        module, first = p.listed
    elif here is not None:
        module, first = here.module, max(here.line - CONTEXT, 1)
    else:
        module, first = 0, 1
    lines = rec.track.texts[module][1].splitlines()
    if first > len(lines):
        raise UsageError(f"Line number {first} out of range; the text has {len(lines)} lines.")
    for n in range(first, min(first + 2 * CONTEXT, len(lines) + 1)):
        mark = "=>" if here is not None and here.module == module and here.line == n else "  "
        p.say(f"{mark} {n}\t{lines[n - 1]}".rstrip())
    p.listed = module, first + 2 * CONTEXT


# ---------------------------------------------------------------- why


@command("why", "%f3 or c[7]: the instructions that its value comes from, the last one first")
def why(p: Prompt, text: str) -> None:
    """See the table."""
    links = reasons(p.rec, p.target(text), p.session.lane, p.session.step)
    if not links:
        p.say(f"nothing has written {text.strip()} before step {p.session.step}")
    for one in links[:MOST_LINKS]:
        for line in link(p.rec, one):
            p.say(line)
    if len(links) > MOST_LINKS:
        p.say(f"  ... {len(links)} instructions in all")


@command("writers", "c[7]: every step that wrote it")
def writers(p: Prompt, text: str) -> None:
    """See the table."""
    cell = p.cell(text)
    assert isinstance(cell, Cell)
    found = p.rec.writers(cell)
    if not found:
        p.say(f"nothing writes {text.strip()}")
    for step, lane in found[:MOST_WRITERS]:
        i = p.rec.columns.instruction(min(step, p.rec.step_count - 1))
        old, new = (number(p.rec.cell_value(cell, step + n)) for n in (0, 1))
        p.say(f"step {step}, line {i.line}: {i.text}   {thread(p.rec, lane)}: {old} -> {new}")
    if len(found) > MOST_WRITERS:
        p.say(f"... {len(found)} writes in all")


@command("origin", "nan, inf or uninitialised: where the first bad value in memory was born")
def origin(p: Prompt, text: str) -> None:
    """See the table."""
    found = born(p.rec, text or "nan")
    for line in origin_lines(p.rec, text or "nan", found):
        p.say(line)
    if found is not None and found.way:
        p.session.step, p.session.lane, p.session.is_new = found.way[0].step, found.way[0].lane, False


@command("diff", "FILE.wlrec: the first store that differs in another recording, and where its value comes from in both")
def diff(p: Prompt, text: str) -> None:
    """See the table."""
    if not text:
        raise UsageError("diff needs the file of another recording")
    other = Recording.load(text)
    for line in told(p.rec, other, difference(p.rec, other), ("this", text)):
        p.say(line)


@command("at", "EXPRESSION: its value in every lane of the thread's warp")
def at_(p: Prompt, text: str) -> None:
    """See the table."""
    rec, s = p.rec, p.session
    values = parse_expression(text).evaluate(LanesAt(rec, s.step, rec.warp_of(s.lane), s.frame))
    for k in range(0, values.size, 8):
        p.say(f"  {k:>2}: " + "  ".join(number(v) for v in values[k : k + 8]))


# ---------------------------------------------------------------- the prompt itself


@command("help", "[COMMAND]: what a command does", "h")
def help_(p: Prompt, text: str) -> None:
    """See the table."""
    rows = [(names, says) for names, says in described() if not text or text in names.split(", ")]
    if not rows:
        raise UsageError(f"there is no command {text}")
    for names, says in rows:
        p.say(f"{names:<28} {says}")


@command("echo", "TEXT: prints it")
def echo(p: Prompt, text: str) -> None:
    """See the table."""
    p.say(text.replace("\\n", ""))


@command("source", "FILE: executes the commands of a file")
def source(p: Prompt, text: str) -> None:
    """See the table."""
    try:
        lines = Path(text).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as e:
        raise UsageError(f"{text}: {e.strerror if isinstance(e, OSError) else 'not a text'}") from None
    p.depth += 1
    if p.depth > 16:
        raise UsageError(f"{text} sources itself")
    try:
        for line in lines:
            if not p.over:
                execute(p, line)
    finally:
        p.depth -= 1


@command("quit", "ends the debugger", "q", "exit")
def quit_(p: Prompt, _: str) -> None:
    """See the table."""
    p.over = True
