"""The instructions of a thread or of a warp with the values that each read and wrote; who accesses what; lanes over time as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.demangle import short_name

from .columns import Numbers
from .questions import Recording
from .slices import cells, link
from .telling import number, thread_text

Array = NDArray[Any]
MOST_COLUMNS = 400  # of a picture or a table
HUES = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#76b7b2", "#9c755f", "#edc948")


def thread_rows(rec: Recording, lane: int) -> list[dict[str, Any]]:
    """Every instruction of a thread: its step, line and text, and what it read and wrote."""
    out = []
    for step in rec.steps(lane).tolist():
        one = link(rec, step, lane)
        numbers, active = rec.columns.taking_part(step)
        row: dict[str, Any] = {
            "step": step, "line": one.instruction.line, "source": one.instruction.source, "instruction": one.instruction.text,
            "active": bool(active[numbers == lane].any()), "read": {s.name: plain(s.value) for s in one.read},
            "written": {name: plain(v) for name, v in one.written},
        }  # fmt: skip
        stored = {c.name: plain(rec.cell_value(c, step + 1)) for kind, c in cells(rec, step, lane) if kind != "ld"}
        if stored:
            row["stored"] = stored
        if events := [e.text for e in rec.events_at(step, np.array([lane]))]:
            row["events"] = events
        out.append(row)
    return out


def warp_rows(rec: Recording, lanes: Numbers) -> list[dict[str, Any]]:
    """Every instruction of a warp: which lanes execute it, and what it wrote in them."""
    out = []
    for step in rec.steps(lanes).tolist():
        numbers, active = rec.columns.taking_part(step)
        own = lanes[np.isin(lanes, numbers[active])]
        n = rec.columns.execution(step)
        frame = rec.track.layouts[rec.columns.layout[n]].function, int(rec.columns.depth[n])
        i = rec.columns.instruction(step)
        written = {}
        for name in i.writes:
            if own.size:
                found = rec.held(name, own, step + 1, frame)
                if (found.step == step).all():
                    written[name] = found.value
        row: dict[str, Any] = {
            "step": step, "line": i.line, "source": i.source, "instruction": i.text, "lanes": (own % rec.threads & 31).tolist(),
            "written": {name: [plain(x) for x in v] for name, v in written.items()},
        }  # fmt: skip
        if events := [e.text for e in rec.events_at(step, lanes)]:
            row["events"] = events
        out.append(row)
    return out


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    v = np.asarray(value)
    if v.ndim:
        return [plain(x) for x in v]
    if v.dtype.kind == "f":
        return float(v) if np.isfinite(v) else str(float(v))
    return bool(v) if v.dtype.kind == "b" else int(v)


def thread_text_rows(rec: Recording, lane: int) -> list[str]:
    """The rows of a thread as text."""
    out = [thread_text(rec, lane)]
    for row in thread_rows(rec, lane):
        said = [f"{k} = {shown(v)}" for k, v in row["read"].items()]
        made = [f"{k} = {shown(v)}" for k, v in (*row["written"].items(), *row.get("stored", {}).items())]
        text = ", ".join(said) + (f" -> {', '.join(made)}" if made else "") + ("" if row["active"] else "(the guard does not hold)")
        text += "".join(f"   [{e}]" for e in row.get("events", ()))
        out.append(f"{row['step']:>6}  {row['line']:>5}  {row['instruction']:<44}  {text}".rstrip())
    return out


def warp_text_rows(rec: Recording, lanes: Numbers) -> list[str]:
    """The rows of a warp as text."""
    out = [f"{thread_text(rec, int(lanes[0])).rpartition(',')[0]}"]
    for row in warp_rows(rec, lanes):
        made = ", ".join(f"{k} = {along(v)}" for k, v in row["written"].items())
        made += "".join(f"   [{e}]" for e in row.get("events", ()))
        out.append(f"{row['step']:>6}  {row['line']:>5}  {ranges(row['lanes']):<12}  {row['instruction']:<44}  {made}".rstrip())
    return out


def shown(v: Any) -> str:
    """A value of a row as text."""
    return (
        "{" + ", ".join(map(shown, v)) + "}"
        if isinstance(v, list)
        else number(v)
        if isinstance(v, float)
        else str(int(v) if isinstance(v, bool) else v)
    )


def along(values: Sequence[Any]) -> str:
    """Values of lanes, short: one that all have, a line, or each.

    >>> along([3, 3, 3]), along([4, 8, 12]), along([1, 5, 2])
    ('3', '4 + 4 n', '{1, 5, 2}')
    """
    if all(v == values[0] for v in values) or len(values) == 1:
        return shown(values[0])
    if all(type(v) is int for v in values) and len({b - a for a, b in pairwise(values)}) == 1:
        return f"{values[0]} + {values[1] - values[0]} n"
    return "{" + ", ".join(map(shown, values)) + "}"


def ranges(lanes: Sequence[int]) -> str:
    """Lanes, short.

    >>> ranges([0, 1, 2, 5]), ranges([])
    ('0-2,5', 'none')
    """
    own = np.array(lanes)
    runs = np.split(own, np.flatnonzero(np.diff(own) != 1) + 1) if own.size else []
    return ",".join(str(r[0]) if r.size == 1 else f"{r[0]}-{r[-1]}" for r in runs) or "none"


# ---------------------------------------------------------------- who accesses what


def access_table(rec: Recording, lanes: Numbers, objects: Sequence[str] = ()) -> tuple[list[int], dict[int, dict[int, str]]]:
    """The steps at which lanes access memory, and for each lane and step what it accesses: `A[3]`, or `C[0]=` where it is written."""
    steps: list[int] = []
    table: dict[int, dict[int, str]] = {int(lane): {} for lane in lanes}
    for a in rec.track.accesses:
        if a.kind in ("call", "late"):
            continue
        step = rec.bytes.step_of(a)
        for r in rec.bytes.reached(a):
            for k in np.flatnonzero(np.isin(r.lane, lanes)).tolist():
                name = rec.name_of(r.space, int(r.address[k]))
                if objects and name.partition("[")[0] not in objects:
                    continue
                if not steps or steps[-1] != step:
                    steps.append(step)
                row = table[int(r.lane[k])]
                row[step] = f"{row[step]} " if step in row else ""
                row[step] += name + {"ld": "", "st": "="}.get(a.kind, "*")
    return list(dict.fromkeys(steps)), table


def access_text(rec: Recording, lanes: Numbers, objects: Sequence[str] = ()) -> list[str]:
    """That table as text: a row a thread, a column a step."""
    steps, table = access_table(rec, lanes, objects)
    kept = steps[:MOST_COLUMNS]
    heads = [f"line {rec.columns.instruction(s).line}" for s in kept]
    widths = [max(len(h), *(len(table[int(n)].get(s, "")) for n in lanes)) for h, s in zip(heads, kept, strict=True)]
    out = ["thread".ljust(12) + "  ".join(h.ljust(w) for h, w in zip(heads, widths, strict=True))]
    for lane in lanes.tolist():
        t = rec.thread(lane).thread
        cells_ = [table[lane].get(s, "").ljust(w) for s, w in zip(kept, widths, strict=True)]
        out.append((f"({t[0]},{t[1]},{t[2]})".ljust(12) + "  ".join(cells_)).rstrip())
    if len(steps) > len(kept):
        out.append(f"... {len(steps)} steps in all")
    return out


# ---------------------------------------------------------------- lanes over time


def lanes_picture(rec: Recording, lanes: Numbers) -> str:
    """Lanes over time: a row a lane, a column a step of the warp; the colour is that of the code; a hole is a lane that does not take part."""
    steps = rec.steps(lanes)
    more = steps.size - MOST_COLUMNS
    steps = steps[:MOST_COLUMNS]
    c = rec.columns
    blocks: dict[tuple[str, int], int] = {}
    for s in steps.tolist():
        layout = rec.track.layouts[c.layout[c.execution(s)]]
        blocks.setdefault((layout.function, layout.pc), len(blocks))
    wide, high, left, top = 14, 9, 60, 34
    width, height = left + wide * steps.size + 12, top + high * lanes.size + 26 + 16 * len(blocks)
    body: list[str] = []
    for n, s in enumerate(steps.tolist()):
        e = c.execution(s)
        layout, i = rec.track.layouts[c.layout[e]], c.instruction(s)
        hue = HUES[blocks[layout.function, layout.pc] % len(HUES)]
        numbers, active = c.taking_part(s)
        group, own = np.isin(lanes, numbers), np.isin(lanes, numbers[active])
        title = escape(f"step {s}, line {i.line}: {i.text}")
        x = left + wide * n
        for kind, chosen in (("", own), (' fill-opacity=".25"', group & ~own)):
            for run in np.split(np.flatnonzero(chosen), np.flatnonzero(np.diff(np.flatnonzero(chosen)) != 1) + 1):
                if run.size:
                    y, h = top + high * int(run[0]), high * run.size
                    body.append(
                        f'<rect x="{x}" y="{y}" width="{wide - 1}" height="{h - 1}" fill="{hue}"{kind}><title>{title}</title></rect>'
                    )
        for event in rec.events_at(s, lanes):
            if event.kind in ("met", "wait", "arrive", "fault"):
                word = escape(f"{event.kind}: {event.text}")
                body.append(f'<path d="M{x + wide - 1} {top}v{high * lanes.size}" class="mark"><title>{word}</title></path>')
        if n == 0 or i.line != c.instruction(int(steps[n - 1])).line:
            body.append(f'<text transform="translate({x + wide - 4} {top - 4}) rotate(-90)" class="small">{i.line}</text>')
    body.append(f'<text x="{left - 8}" y="{top - 5}" text-anchor="end">line</text>')
    for k in range(0, lanes.size, 4):
        body.append(f'<text x="{left - 8}" y="{top + high * k + 8}" text-anchor="end">lane {int(lanes[k]) % rec.threads & 31}</text>')
    y = top + high * lanes.size + 20
    several = len({function for function, _ in blocks}) > 1
    for (function, pc), k in blocks.items():
        layout = next(one for one in rec.track.layouts if (one.function, one.pc) == (function, pc))
        first = rec.track.instructions[layout.first] if layout.count else None
        body.append(f'<rect x="{left}" y="{y + 16 * k - 9}" width="10" height="10" fill="{HUES[k % len(HUES)]}"/>')
        named = f"{short_name(function)}, " if several else ""
        said = "" if first is None else f"{named}line {first.line}: {first.text}"
        body.append(f'<text x="{left + 16}" y="{y + 16 * k}">{escape(said)}</text>')
    if more > 0:
        body.append(
            f'<text x="{width - 8}" y="{top - 22}" text-anchor="end" class="small">the first {MOST_COLUMNS} of {more + MOST_COLUMNS} steps</text>'
        )
    width = max(width, 520)
    style = (
        "text{font:10px system-ui,sans-serif;fill:#222}.small{font-size:8px}.mark{stroke:#222;stroke-width:1.5;fill:none}svg{background:#fff}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}.mark{stroke:#ddd}svg{background:#16181c}}"
    )
    name = escape(f"{short_name(rec.track.kernel)}: {thread_text(rec, int(lanes[0])).rpartition(',')[0]}, lanes over time")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{name}">'
        f"<title>{name}</title><style>{style}</style>\n" + "\n".join(body) + "\n</svg>\n"
    )
