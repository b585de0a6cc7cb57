"""A page that shows recordings: the player's script, the recording files in base64, and what the page knows beside them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from warplab.assembler.demangle import short_name
from warplab.interpreter.memory.general import OFFSET_BITS
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE

from ..recording import Recording
from .costs import access_costs
from .fitting import LIMIT, fitted
from .sources import source_texts

Sources = bool | Mapping[str, str]
HEAD = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
STYLE = "html { color-scheme: light dark; background: light-dark(#faf8f4, #131519); } body { margin: 0; }"
SWITCH = 'html[data-theme="light"] { color-scheme: light; } html[data-theme="dark"] { color-scheme: dark; }'


def page(recordings: Sequence[Recording], limit: int = LIMIT, *, sources: Sources = True) -> str:
    """One page with the player of some recordings; `limit`: bytes of the page.

    `sources`: the texts of the files that .loc names, or whether they are read.  A recording of somebody else's may name any file of this machine.
    """
    name = escape(short_name(recordings[0].track.kernel))
    return (
        f'<!DOCTYPE html><html lang="en"><head>{HEAD}<title>{name}: warplab</title><style>{STYLE}{SWITCH}</style></head>'
        f"<body>{fragment(recordings, limit, sources=sources)}</body></html>\n"
    )


def fragment(recordings: Sequence[Recording], limit: int = LIMIT, *, sources: Sources = True) -> str:
    """The player as a part of a page; a page has room for one."""
    launches, pieces = [], []
    for n, whole in enumerate(recordings):
        rec, packed, note = fitted(whole, limit // len(recordings))
        launches.append({"file": f"wlp-recording-{n}", "extras": _extras(rec, note, sources)})
        pieces.append(f'<script type="text/plain" id="wlp-recording-{n}">{base64.b64encode(packed).decode()}</script>')
    said = json.dumps(launches).replace("<", "\\u003c")
    return (
        '<div class="wlp"><noscript>The player needs JavaScript.</noscript></div>'
        f'{"".join(pieces)}<script type="application/json" id="wlp-launches">{said}</script><script>{_script()}</script>'
    )


@cache
def _script() -> str:
    return files(__package__).joinpath("player.js").read_text(encoding="utf-8").replace("</script", "<\\/script")


def _extras(rec: Recording, note: str, sources: Sources) -> dict[str, Any]:
    """What the page knows beside the recording."""
    start = next((e for e in rec.track.events if e.kind in ("fault", "finding")), None)
    place = None
    if start is not None:
        found = rec.event(rec.track.events.index(start))
        step = int(rec.columns.first[min(start.execution, len(rec.columns.first) - 1)]) + max(start.step, 0)
        place = None if found is None else {"step": min(step, rec.step_count - 1), "lane": int(found[1][0])}
    texts = sources if isinstance(sources, Mapping) else source_texts(rec) if sources else {}
    return {
        "title": short_name(rec.track.kernel), "sources": texts, "note": note, "start": place, "costs": access_costs(rec),
        "windows": {"shared": SHARED_BASE, "local": LOCAL_BASE, "size": WINDOW_SIZE, "offsetBits": OFFSET_BITS},
    }  # fmt: skip
