"""What the panels of the screen show: lines of words, each with a role that the screen gives a colour."""

from __future__ import annotations

import numpy as np

from warplab.interpreter.recorder.track import NamedCells
from warplab.isa.types import TYPES

from ..debugger.prompt import Prompt
from ..debugger.session import groups_at, interrupted, standing
from ..errors import UsageError
from ..recording.conditions import Break
from ..recording.slices import cells
from ..recording.telling import number, place, thread_text

Piece = tuple[str, str]  # a text and its role
Line = list[Piece]
LANES = 32
WIDEST = 14  # characters of an element
MARKS = {"fault": "✗", "finding": "◆", "branch": "⋎", "met": "│", "arrive": "╷", "reconverge": "⋏"}
RANK = list(MARKS)  # what is shown where several happen in one column


def title(p: Prompt) -> Line:
    """Where the debugger stands."""
    rec, s = p.rec, p.session
    return [(f" step {min(s.step, rec.step_count)} of {rec.step_count} ", "step"), (f" {thread_text(rec, s.lane)}", "soft")]


def timeline(p: Prompt, width: int) -> Line:
    """The whole launch in one row: where it diverges, waits and faults, and where the debugger stands."""
    rec = p.rec
    total = max(rec.step_count, 1)
    row = ["─"] * width
    first = rec.columns.first
    for e in rec.track.events:
        if e.kind not in MARKS:
            continue
        at = min((int(first[e.execution]) + max(e.step, 0)) * width // total, width - 1)
        if row[at] == "─" or RANK.index(e.kind) < next(n for n, k in enumerate(RANK) if MARKS[k] == row[at]):
            row[at] = MARKS[e.kind]
    here = min(p.session.step * width // total, width - 1)
    return [("".join(row[:here]), "soft"), (row[here] if row[here] != "─" else "●", "here"), ("".join(row[here + 1 :]), "soft")]


def source(p: Prompt, height: int) -> tuple[str, list[Line]]:
    """The text around the place, with breakpoints and the lanes of the warp that stand at each line."""
    rec, s = p.rec, p.session
    frames = rec.backtrace(s.lane, s.step)
    if frames:
        here = frames[min(s.level, len(frames) - 1)].instruction
    else:
        last = rec.previous_step(s.lane, s.step)
        if last is None:
            return "Source", []
        here = rec.columns.instruction(last)
    lines = rec.track.texts[here.module][1].splitlines()
    first = max(min(here.line - height // 2, len(lines) - height + 1), 1)
    stops = {
        rec.track.instructions[n].line
        for stop in s.stops
        if isinstance(stop.condition, Break) and stop.enabled
        for n in stop.condition.instructions
        if rec.track.instructions[n].module == here.module
    }
    counts: dict[int, int] = {}
    for step, lanes in groups_at(rec, rec.warp_of(s.lane), s.step):
        if step != -1:
            i = rec.columns.instruction(step if step >= 0 else interrupted(step))
            if i.module == here.module:
                counts[i.line] = counts.get(i.line, 0) + len(lanes)
    out: list[Line] = []
    for n in range(first, min(first + height, len(lines) + 1)):
        own = n == here.line
        lanes_here = f"{counts[n]:>3} " if n in counts else "    "
        out.append([
            ("●" if n in stops else " ", "stop"), (lanes_here, "lanes"), ("▶" if own and frames else " ", "here"), (f"{n:>5} ", "soft"),
            (lines[n - 1].expandtabs(4), "own" if own else "text"),
        ])  # fmt: skip
    return place(rec, here), out


def lanes(p: Prompt, height: int) -> list[Line]:
    """The warps of the block: which lanes of each execute together, wait or have ended."""
    rec, s = p.rec, p.session
    first = s.lane // rec.threads * rec.threads
    groups = groups_at(rec, np.arange(first, first + rec.threads), s.step)
    warps = -(-rec.threads // LANES)
    strips = [["·"] * min(LANES, rec.threads - LANES * w) for w in range(warps)]
    where: list[dict[str, None]] = [{} for _ in range(warps)]
    own_step = next((step for step, found in groups if s.lane in found), -1)
    for step, found in groups:
        letter = "■" if step == own_step and step != -1 else "·" if step == -1 else "□"
        for lane in found:
            w, k = divmod(lane - first, LANES)
            strips[w][k] = letter
            where[w][standing(rec, step)] = None
    own = (s.lane - first) // LANES
    start = max(min(own - height // 2, warps - height), 0)
    out: list[Line] = []
    for w in range(start, min(start + height, warps)):
        k = (s.lane - first) % LANES if w == own else -1
        strip = "".join(strips[w])
        text = ", ".join(where[w])
        row: Line = [(f"{'▶' if w == own else ' '}{w:>3} ", "here" if w == own else "soft")]
        row += [(strip, "text")] if k < 0 else [(strip[:k], "own"), (strip[k], "here"), (strip[k + 1 :], "own")]
        out.append([*row, (f" {text}", "soft")])
    return out


def registers(p: Prompt, height: int) -> list[Line]:
    """The registers of the thread: those that its last instruction wrote are marked, those that were written last come first where room is short."""
    rec, s = p.rec, p.session
    function, _ = s.looked_at
    types = rec.track.registers.get(function, {})
    before = rec.previous_step(s.lane, s.step)
    rows = []
    for name, type in types.items():
        found = rec.held(name, np.array([s.lane]), s.step, s.looked_at)
        if found.known[0]:
            used = rec.used_type(function, name)
            value = found.value
            if used[0] == "f" and TYPES[used].bytes == value.dtype.itemsize and value.dtype.kind in "iu":
                value = value.view(TYPES[used].dtype)
            rows.append((int(found.step[0]), name, type, number(value[0]), number(found.value[0], "x")))
    shown = {r[1] for r in sorted(rows, reverse=True)[: max(height, 0)]}
    out: list[Line] = []
    for step, name, type, value_, bits in rows:
        if name in shown:
            new = step >= 0 and step == before
            since = f"step {step}" if step >= 0 else "never written"
            out.append([(f"{name:<9} ", "own" if new else "text"), (f".{type:<5}", "soft"), (f"{value_:<14} ", "here" if new else "text"),
                        (f"{since:<14} {bits}", "soft")])  # fmt: skip
    return out


def memory(p: Prompt, height: int, width: int) -> list[Line]:
    """Arrays, from the element that the thread has accessed last or is about to access."""
    rec, s = p.rec, p.session
    step = rec.next_step(s.lane, s.step)
    touched = {c.address: kind for kind, c in cells(rec, step, s.lane)} if step is not None else {}
    block = s.lane // rec.threads
    objects = [o for o in rec.track.objects if o.space in ("global", "shared") and o.name != "kernel parameters" and o.size]
    near = sorted(objects, key=lambda o: (not any(o.start <= a < o.start + o.size for a in touched), o.space != "shared"))
    out: list[Line] = []
    for o in near:
        if len(out) >= height:
            break
        out += _elements(p, o, block, touched, width)
    return out[:height]


def _elements(p: Prompt, o: NamedCells, block: int, touched: dict[int, str], width: int) -> list[Line]:
    rec, s = p.rec, p.session
    t = TYPES.get(o.type, TYPES["b8"])
    kind = t.dtype if t.elements == 1 else np.dtype(f"u{t.bytes}")
    total = o.size // kind.itemsize
    at = next(((a - o.start) // kind.itemsize for a in sorted(touched) if o.start <= a < o.start + o.size), 0)
    each = max((width - 10) // (WIDEST + 1), 1)
    first = max(min(at // each * each, total - 1), 0)
    count = min(2 * each, total - first)
    shape = "".join(f"[{d}]" for d in o.shape) or f"[{total}]"
    out: list[Line] = [[(f"{o.name}", "own"), (f" {o.space} .{o.type}{shape}", "soft")]]
    try:
        raw = rec.bytes.held(o.space, block if o.space == "shared" else 0, o.start + first * kind.itemsize, count * kind.itemsize, s.step)
    except UsageError:
        return [*out, [("  not in the recording", "soft")]]
    values = raw.view(kind)
    for k in range(0, count, each):
        row: Line = [(f"{first + k:>8}: ", "soft")]
        for n in range(k, min(k + each, count)):
            address = o.start + (first + n) * kind.itemsize
            row.append((f"{number(values[n]):>{WIDEST}} ", "here" if address in touched else "text"))
        out.append(row)
    return out
