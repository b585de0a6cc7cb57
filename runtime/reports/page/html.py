"""A profile as one HTML page: no network, no scripts beyond what a details element does, readable in light and dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from warplab.assembler.demangle import short_name
from warplab.interpreter.profiler import KernelProfile, LineProfile, SiteProfile
from warplab.interpreter.profiler.metrics import METRICS
from warplab.interpreter.timing.roofs import roofs

from ...clock.timeline import TimeSpan
from ..advice import advice
from ..compare import HEAD, changes
from ..drawn import svg
from ..drawn import time as time_svg
from ..drawn import timeline as timeline_svg
from ..drawn.roofline import roofline
from ..programs import timeline
from ..roofs import bound, intensities, quantization, roof_rows
from ..tables import number, percent, scaled
from ..text import cost, heading
from ..time import limit, origin, slow_lines, waits
from .highlight import STYLE as HIGHLIGHT
from .highlight import ptx_line
from .side_by_side import STYLE as SIDES
from .side_by_side import side_by_side
from .sources import source_text

COLUMNS = ("machine", "lanes", "sectors/req", "passes/req", "local", "diverged")
PAGE_STYLE = """
.wl { color: var(--ink); background: var(--page); font: 14px/1.45 ui-sans-serif, system-ui, sans-serif; }
.wl { max-width: 1080px; margin: 0 auto; padding: 16px; }
.wl h1 { font-size: 20px; }
.wl h2 { font-size: 16px; margin: 26px 0 8px; border-bottom: 1px solid var(--line); }
.wl .tiles { display: flex; flex-wrap: wrap; gap: 10px; }
.wl .tile { background: var(--card); border-radius: 8px; padding: 8px 14px; }
.wl .tile b { display: block; font-size: 18px; }
.wl .tile span { color: var(--soft); font-size: 12px; }
.wl table { border-collapse: collapse; }
.wl td, .wl th { padding: 1px 8px; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.wl th { color: var(--soft); font-weight: 500; }
.wl td.l, .wl th.l { text-align: left; }
.wl a { color: var(--good); }
.wl .code td { font: 12px/1.5 ui-monospace, monospace; }
.wl .code td.l { white-space: pre; }
.wl .scroll { overflow-x: auto; }
.wl .heat { position: relative; }
.wl .heat i { position: absolute; inset: 1px auto 1px 0; background: var(--warm); opacity: .35; border-radius: 2px; }
.wl .advice li { margin: 6px 0; }
.wl .advice p { color: var(--soft); margin: 4px 0 4px 12px; max-width: 75ch; }
.wl summary { cursor: pointer; }
.wl .quiet { color: var(--soft); }
.wl svg { max-width: 100%; height: auto; }
.wl .lanes svg { max-width: none; width: max(100%, 700px); }
"""


def page(
    profiles: Sequence[KernelProfile], others: Sequence[KernelProfile] = (), *, fragment: bool = False, tabs: Callable[[str, str], str] | None = None,
    spans: Sequence[TimeSpan] = (), launched: Sequence[str] = (),
) -> str:  # fmt: skip
    """All launches in one page, or the part that a notebook shows.

    `others` are launches of another program, which these are compared with; `tabs` puts the report, by its name, beside something else; `spans` are
    the timeline of the program; `launched` says of each launch who has made it, where that is known.
    """
    shown = [*profiles, *others]
    body = (
        "".join(launch(p, f"{n}-", launched[n] if n < len(launched) else "") for n, p in enumerate(shown)) or "<p>Nothing was launched.</p>"
    )
    if others:
        body = "".join(_comparison(n, len(profiles) + n, a, b) for n, (a, b) in enumerate(zip(profiles, others, strict=False))) + body
    elif len(shown) > 1:
        body = _overview(shown) + body
    body = _timeline(spans) + body
    inner = f'<style>{svg.STYLE}{PAGE_STYLE}{HIGHLIGHT}{SIDES}</style><div class="wl">{body}</div>'
    if fragment:
        return inner
    name = escape(short_name(profiles[0].kernel) if profiles else "nothing")
    inner = tabs("Profile", inner) if tabs is not None else inner
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>warplab profile: {name}</title>'
        f"<style>body {{ margin: 0; background: var(--page); }}</style></head><body>{inner}</body></html>\n"
    )


def _comparison(i: int, j: int, a: KernelProfile, b: KernelProfile) -> str:
    """Every counter of two launches, and what became of it."""
    names = (f'{letter}: <a href="#{n}-launch">{escape(heading(p))}</a>' for letter, n, p in (("A", i, a), ("B", j, b)))
    rows = [_row(f"<{escape(name)}", *map(escape, values)) for name, *values in changes(a, b)]
    return f"<h1>{'<br>'.join(names)}</h1>{_table([f'<{HEAD[0]}', *HEAD[1:]], rows)}"


def _timeline(spans: Sequence[TimeSpan]) -> str:
    """The host, its copies and its launches over time."""
    if not spans:
        return ""
    rows = [_row(f"<{escape(r.cells[0])}", f"<{r.cells[1]}", *r.cells[2:]) for r in timeline.rows(spans)]
    head = [f"<{h}" if n < 2 else h for n, h in enumerate(timeline.HEAD)]
    said = "".join(f"<p>{escape(s)}</p>" for s in timeline.sentences(spans))
    return (
        f"<h1>Timeline, predicted</h1><p class='quiet'>{escape(timeline.PREDICTED)}</p>"
        f'{said}<div class="scroll lanes">{timeline_svg.lanes(spans)}</div><div class="scroll">{_table(head, rows)}</div>'
    )


def _overview(profiles: Sequence[KernelProfile]) -> str:
    """A row for each launch, with a link to it."""
    rows = []
    for n, p in enumerate(profiles):
        link = f'<<a href="#{n}-launch">{escape(heading(p))}</a>'
        lanes, moved = f"{32 * p.simt_efficiency:.1f}", scaled(p.dram_bytes, "B")
        conflicts = number(p.total("conflicts", "shared"))
        rows.append(
            _row(link, number(p.instructions), lanes, percent(p.occupancy.fraction), number(p.total("units", "global")), moved, conflicts)
        )
    head = ("<launch", "warp instructions", "lanes of 32", "occupancy", "global sectors", "device memory moved", "bank conflicts")
    return f"<h1>{len(profiles)} launches</h1>{_table(head, rows)}"


def launch(p: KernelProfile, prefix: str = "", launched: str = "") -> str:
    """One launch, and who has made it."""
    by = f"<p class='quiet'>launched {'<br>'.join(map(escape, launched.splitlines()))}</p>" if launched else ""
    parts = [f'<section id="{prefix}launch"><h1>{escape(heading(p))}</h1>{by}', _tiles(p), _advice(p, prefix)]
    parts += [_time(p, prefix), side_by_side(p, prefix), _source(p, prefix)]
    parts.append(f"<h2>Active lanes over the launch</h2>{svg.timeline(p)}")
    parts.append(f"<h2>Occupancy</h2>{svg.residency(p)}<p class='quiet'>{escape('; '.join(p.occupancy.sentences))}</p>")
    if said := quantization(p):
        parts.append(f"<p>{escape(said[:1].upper() + said[1:])}.</p>")
    if roofs(p):
        parts.append(_roofs(p))
    parts.append(f"<h2>Caches</h2>{svg.rates(p)}")
    parts += [_accesses(p, prefix), _allocations(p), _branches(p), _metrics(p), "</section>"]
    return "".join(parts)


def _roofs(p: KernelProfile) -> str:
    """The roofline, and the times below each roof."""
    head, *rows = roof_rows(p)
    body = _table([f"<{head[0]}", *head[1:]], [_row(f"<{escape(name)}", *map(escape, cells)) for name, *cells in rows])
    picture = f"{roofline(p)}<p class='quiet'>{escape(intensities(p))}</p>" if p.flops else ""
    return f"<h2>Roofs</h2>{picture}<p>{escape(bound(p))}</p>{body}"


def _tiles(p: KernelProfile) -> str:
    tiles = [
        (number(p.instructions), "warp instructions"),
        (f"{32 * p.simt_efficiency:.1f}", "lanes of 32 per instruction"),
        (percent(p.occupancy.fraction), "occupancy"),
        (scaled(p.global_bytes, "B"), "global memory requested"),
        (scaled(p.dram_bytes, "B"), "device memory moved"),
        (number(p.total("conflicts", "shared")), "bank conflicts"),
    ]
    if p.flops:
        tiles.append((number(p.intensity), "FLOP per byte loaded"))
    if p.time is not None:
        tiles.append((f"{p.time.cycles:,.0f}", "cycles, predicted"))
    return '<div class="tiles">' + "".join(f'<div class="tile"><b>{a}</b><span>{b}</span></div>' for a, b in tiles) + "</div>"


def _time(p: KernelProfile, prefix: str) -> str:
    """What was predicted of its time."""
    t = p.time
    if t is None:
        return ""
    bound, rows = limit(t), []
    for line, code, part, reasons in slow_lines(p, t, 10):
        most = sorted(((n, r) for r, n in reasons.items()), reverse=True)[:3]
        said = ", ".join(f"{'issued' if r == 'selected' else r} {percent(n / sum(reasons.values()))}" for n, r in most)
        rows.append(_row(f'<<a href="#{prefix}line{line}">{line}</a>', f"<{escape(code)}", percent(part), f"<{said}"))
    parts = [
        f"<h2>Time, predicted</h2><p class='quiet'>{escape(origin(t))}</p>",
        f"<p>{t.cycles:,.0f} cycles, {1e6 * t.seconds:,.1f} µs at {t.clock_hz / 1e6:,.0f} MHz; {percent(t.issue_slots)} of the issue slots are used. "
        f"{escape(bound[:1].upper() + bound[1:])}.</p><p>Warps wait, in cycles for each instruction: {escape(waits(t))}.</p>",
        f"<h3>What the warps of a multiprocessor do</h3>{time_svg.states(t)}",
    ]
    if len(t.occupancy) > 1:
        parts.append(f"<h3>Cycles against occupancy</h3>{time_svg.by_occupancy(t)}")
    parts.append(f"<h3>Lines that warps spend most time on</h3>{_table(('<line', '<text', 'of their time', '<mostly'), rows, 'code')}")
    return "".join(parts)


def _advice(p: KernelProfile, prefix: str) -> str:
    rows = []
    for a in advice(p):
        where = f'<a href="#{prefix}line{a.line}">{a.place}</a>: ' if a.line else ""
        rows.append(
            f"<li><details><summary>{where}{escape(a.text)}</summary><p>{escape(a.explanation)} <span>({a.page})</span></p></details></li>"
        )
    return f'<h2>Advice</h2><ol class="advice">{"".join(rows)}</ol>' if rows else '<h2>Advice</h2><p class="quiet">Nothing stands out.</p>'


def _source(p: KernelProfile, prefix: str) -> str:
    """Texts with the heat of each line; the PTX first, then the lines of source files that are not there."""
    out = []
    hottest = max((cost(x) for x in p.lines()), default=0) or 1
    for name, text in p.texts.items():
        by_line = {x.line: x for x in p.lines(name)}
        values = {n: _line_values(x) for n, x in by_line.items()}
        used = [i for i in range(len(COLUMNS)) if any(v[i] for v in values.values())]  # columns that are empty are left out
        head = ("line", "warps", *(COLUMNS[i] for i in used), "<PTX")
        rows = []
        for n, line in enumerate(text.split("\n"), 1):
            x = by_line.get(n)
            bar = "" if x is None else f'<i style="width:{100 * cost(x) / hottest:.0f}%"></i>{number(x.warps)}'
            cells = f'<td class="heat">{bar}</td>' + "".join(f"<td>{values[n][i] if n in values else ''}</td>" for i in used)
            code = f'<td class="l"><code>{ptx_line(line) or " "}</code></td>'
            rows.append(f'<tr id="{prefix}line{n}"><td class="quiet">{n}</td>{cells}{code}</tr>')
        out.append(f'<h2>{escape(name)}</h2><div class="scroll">{_table(head, rows, "code")}</div>')
    for file, lines in p.source_lines().items():
        if source_text(file):  # it stands beside the PTX
            continue
        rows = [_row(str(x.line), number(x.warps), number(x.sectors), number(x.shared_passes)) for x in lines]
        out.append(f'<h2>{escape(file)}</h2><div class="scroll">{_table(("line", "warps", "sectors", "passes"), rows, "code")}</div>')
    return "".join(out)


def _line_values(x: LineProfile) -> tuple[str, ...]:
    """The cells of a line, for COLUMNS."""
    shared = sum(a.requests for a in x.accesses if a.space == "shared")
    return (
        number(x.machine),
        f"{32 * x.efficiency:.1f}",
        f"{x.sectors / x.requests:.1f}" if x.requests else "",
        f"{x.shared_passes / shared:.1f}" if shared else "",
        number(x.local_sectors) if x.local_sectors else "",
        number(x.divergent) if x.divergent else "",
    )


def _row(*cells: str) -> str:
    """A row of a table; a cell that begins with < is flush left."""
    return "<tr>" + "".join(f'<td class="l">{c[1:]}</td>' if c.startswith("<") else f"<td>{c}</td>" for c in cells) + "</tr>"


def _table(head: Sequence[str], rows: Sequence[str], kind: str = "") -> str:
    heads = "".join(f'<th class="l">{h[1:]}</th>' if h.startswith("<") else f"<th>{h}</th>" for h in head)
    return f'<table class="{kind}"><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _accesses(p: KernelProfile, prefix: str) -> str:
    drawn = [(s, a, a.sample) for s in p.sites for a in s.accesses if a.sample is not None and a.space in ("global", "shared")]
    worst = max(drawn, key=lambda d: d[1].excess, default=None)
    out = []
    for s, a, sample in drawn:
        picture = svg.shared(p.device, sample) if a.space == "shared" else svg.memory(p.device, sample)
        opened = " open" if worst is not None and a is worst[1] else ""
        each = f"{a.units / a.requests:.1f} {'passes' if a.space == 'shared' else 'sectors'} a request"
        title = f"{_where(s, prefix)} <code>{escape(s.text)}</code> {each}"
        out.append(f'<details{opened} class="access"><summary>{title}</summary>{picture}</details>')
    for fetch in p.sites:
        for a in fetch.accesses:
            if a.texels is not None:
                title = f"{_where(fetch, prefix)} <code>{escape(fetch.text)}</code> {a.units / a.requests:.1f} sectors per request"
                out.append(f'<details class="access"><summary>{title}</summary>{svg.texels(a.texels, a.kind)}</details>')
    return f"<h2>Accesses: the worst warp of each</h2>{''.join(out)}" if out else ""


def _where(s: SiteProfile, prefix: str) -> str:
    return f'<a href="#{prefix}line{s.line}">line {s.line}</a>'


def _allocations(p: KernelProfile) -> str:
    if not p.allocations:
        return ""
    rows = [
        _row(f"<{escape(a.name)}", scaled(a.size, "B"), number(a.loaded), number(a.stored), number(a.atomics), number(a.hits))
        for a in p.allocations
    ]
    return f"<h2>Allocations, in sectors</h2>{_table(('<allocation', 'size', 'loaded', 'stored', 'atomics', 'L1 hits'), rows)}"


def _branches(p: KernelProfile) -> str:
    rows = []
    for s in p.sites:
        if s.branch and s.branch.divergent:
            masks = ", ".join(f"{m:#010x} ({number(n)})" for m, n in s.branch.masks[:4])
            rows.append(_row(str(s.line), number(s.branch.executed), number(s.branch.divergent), f"<<code>{masks}</code>"))
    head = ("line", "executed", "diverged", "<lanes that took it")
    return f"<h2>Branches on which warps diverged</h2>{_table(head, rows)}" if rows else ""


def _metrics(p: KernelProfile) -> str:
    values = p.metrics
    rows = [_row(f"<{escape(m.plain)}", number(values[m.name]), f"<<code>{m.name}</code>", f"<{escape(m.sentence)}") for m in METRICS]
    table = _table(("<counter", "value", "<name", "<meaning"), rows, "metrics")
    return f'<h2>Counters</h2><details><summary>all {len(METRICS)}</summary><div class="scroll">{table}</div></details>'
