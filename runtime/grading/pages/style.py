"""What the pages about grades share: style, for screen and paper, and a script that sorts tables."""

from __future__ import annotations

from html import escape

from ...reports.drawn.svg import STYLE
from ...reports.page.html import PAGE_STYLE

GRADES = """
.wl td.bad { color: var(--bad); }
.wl td small { display: block; color: var(--soft); }
.wl pre { background: var(--card); padding: 8px; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.wl .bar { background: var(--good); display: inline-block; height: 10px; }
.wl .scroll { margin: 0 -4px; }
.wl .grades th { cursor: pointer; vertical-align: bottom; }
.wl .grades th:focus-visible { outline: 2px solid var(--good); }
.wl .grades th[aria-sort=ascending]::after { content: " \\25b4"; }
.wl .grades th[aria-sort=descending]::after { content: " \\25be"; }
.wl .grades td { border-top: 1px solid var(--line); padding: 4px 8px; vertical-align: top; }
.wl .grades th.t { white-space: normal; max-width: 110px; }
.wl .names { white-space: normal; max-width: 60ch; min-width: 26ch; }
@media print {
:root { --ink: #000; --soft: #444; --line: #bbb; --page: #fff; --card: #fff; --bad: #a00; --good: #456; }
.wl { max-width: none; font-size: 11px; }
.wl .scroll { overflow: visible; }
.wl details, .wl tr, .wl pre { break-inside: avoid; }
.wl summary { list-style: none; }
.wl .screen { display: none; }
}
"""
# A click on the head of a column sorts by it: by data-n where cells have numbers, else by text.
SORT = """
for (const table of document.querySelectorAll('table.grades')) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((th, n) => {
    th.tabIndex = 0;
    const sort = () => {
      const down = th.getAttribute('aria-sort') === 'ascending';
      const key = row => row.cells[n].dataset.n ?? row.cells[n].textContent;
      const rows = [...body.rows].sort((a, b) => key(a).localeCompare(key(b), undefined, {numeric: true}));
      if (down) rows.reverse();
      heads.forEach(h => h.removeAttribute('aria-sort'));
      th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      body.append(...rows);
    };
    th.addEventListener('click', sort);
    th.addEventListener('keydown', e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); sort(); } });
  });
}
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(d => d.open = true));
"""


def whole_page(title: str, body: str) -> str:
    """A page of its own: no network, light and dark."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}{PAGE_STYLE}{GRADES}body {{ margin: 0; background: var(--page); }}</style></head>"
        f'<body><div class="wl">{body}</div><script>{SORT}</script></body></html>\n'
    )
