"""CUDA C++ and its PTX side by side: each line of the source has a colour, which the instructions that it became have, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from warplab.interpreter.profiler import KernelProfile

from ..tables import number
from ..text import cost
from .highlight import ptx_line
from .sources import source_text

STYLE = """
.wl .sides { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 10px; }
.wl .sides > div { max-height: 75vh; overflow: auto; border: 1px solid var(--line); border-radius: 8px; }
.wl .sides table { width: 100%; }
.wl .sides .of { background: hsl(var(--hue) 80% 50% / .15); }
.wl .sides .of > td:first-child { border-left: 4px solid hsl(var(--hue) 70% 50%); }
.wl .sides .idle { color: var(--soft); }
.wl .sides td:first-child { border-left: 4px solid transparent; }
.wl .sides tr:target { outline: 2px solid var(--good); outline-offset: -2px; }
@media (max-width: 760px) { .wl .sides { grid-template-columns: minmax(0, 1fr); } .wl .sides > div { max-height: 50vh; } }
"""
_HIDDEN = re.compile(r"\s*(?:\.(?:loc|file|version|target|address_size|reg|local|branchtargets)\b.*|//.*|[{}()]*|\.param\b.*|)\s*")
_SECTION = re.compile(r"\s*\.section\b")
TAB = "\t"  # before each instruction of nvcc
_TURN = 137.5  # degrees between the colours of neighbours, which no two of few lines come near


def side_by_side(p: KernelProfile, prefix: str) -> str:
    """A part for each source file whose text is there; nothing where no .loc names one."""
    return "".join(_of(p, prefix, n, file) for n, file in enumerate(p.source_lines()) if source_text(file))


def _of(p: KernelProfile, prefix: str, n: int, file: str) -> str:
    lines = {x.line: x for x in p.source_lines()[file] if x.line}  # 0: of no line, says the compiler
    hues = {line: round(k * _TURN) % 360 for k, line in enumerate(sorted(lines))}
    hottest = max(map(cost, lines.values()), default=0) or 1
    became: dict[int, str] = {}
    right = list(_instructions(p, prefix, n, file, hues, became))
    left = []
    for line, text in enumerate(source_text(file), 1):
        x = lines.get(line)
        bar = "" if x is None else f'<i style="width:{100 * cost(x) / hottest:.0f}%"></i>{number(x.warps)}'
        of = f' class="of" style="--hue:{hues[line]}"' if line in hues else ""
        where = f'<a href="#{became[line]}">{line}</a>' if line in became else str(line)
        code = f'<td class="l"><code>{escape(text) or " "}</code></td>'
        left.append(f'<tr id="{prefix}s{n}-{line}"{of}><td>{where}</td><td class="heat">{bar}</td>{code}</tr>')
    table = '<div><table class="code"><tbody>{}</tbody></table></div>'
    name = escape(Path(file).name)
    return (
        f"<h2>{name} and its PTX</h2><p class='quiet'>An instruction has the colour of the line that it was compiled from; the numbers are "
        f"warp instructions. Line numbers lead to the other side.</p>"
        f'<div class="sides">{table.format("".join(left))}{table.format("".join(right))}</div>'
    )


def _instructions(p: KernelProfile, prefix: str, n: int, file: str, hues: dict[int, int], became: dict[int, str]) -> Iterator[str]:
    """The rows of the PTX; `became` gets the first row of each source line."""
    for k, (module, text) in enumerate(p.texts.items()):
        origin = {
            s.line: s.source[1] for s in p.sites if s.module == module and s.source is not None and s.source[0] == file and s.source[1]
        }
        warps = {x.line: x.warps for x in p.lines(module)}
        if not origin:
            continue
        for line, code in enumerate(text.split("\n"), 1):
            if _SECTION.match(code):
                break
            if line not in warps and _HIDDEN.fullmatch(code):
                continue
            source, here = origin.get(line), f"{prefix}p{n}-{k}-{line}"
            if source is not None:
                became.setdefault(source, here)
            of = f' class="of" style="--hue:{hues[source]}"' if source is not None else ' class="idle"'
            where = f'<a href="#{prefix}s{n}-{source}">{source}</a>' if source is not None else ""
            count = number(warps[line]) if line in warps else ""
            yield f'<tr id="{here}"{of}><td>{where}</td><td>{count}</td><td class="l"><code>{ptx_line(code.removeprefix(TAB).expandtabs(8))}</code></td></tr>'
