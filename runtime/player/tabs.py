"""A report and the player of its launches as two tabs of one page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..recording import Recording
from .page import fragment

LIMIT = 8 << 20  # bytes of a player beside a report
RECORDED = 64 << 20  # bytes of a launch's recording
MOST = 8  # launches
STYLE = """
.tabbed > input { position: absolute; opacity: 0; pointer-events: none; }
.tabbed > nav { display: flex; gap: 4px; padding: 10px 16px 0; font: 14px ui-sans-serif, system-ui, sans-serif; }
.tabbed > nav label { padding: 3px 12px; border-radius: 6px; cursor: pointer; opacity: .7; }
.tabbed > section { display: none; }
#tab-report:checked ~ nav [for=tab-report], #tab-player:checked ~ nav [for=tab-player] { opacity: 1; box-shadow: inset 0 -2px currentColor; border-radius: 0; }
#tab-report:checked ~ .report, #tab-player:checked ~ .player { display: block; }
.tabbed > input:focus-visible ~ nav { outline: 2px solid; outline-offset: 2px; }
#tab-player:checked ~ nav { background: light-dark(#faf8f4, #131519); }
.tabbed .player .wlp { height: calc(100vh - 40px); }
"""
SCRIPT = """
const shown = () => { if (/[#&](step|lane)=/.test(location.hash)) document.getElementById("tab-player").checked = true; };
addEventListener("hashchange", shown);
shown();
"""


def with_player(name: str, report: str, recordings: Sequence[Recording]) -> str:
    """The body of a page; a link to #step=51&lane=17 opens the player there.  Without a recorded step, the report alone."""
    shown = [r for r in recordings if r.step_count][:MOST]
    if not shown:
        return report
    tabs = "".join(
        f'<input type="radio" name="tab" id="tab-{k}"{" checked" * (k == "report")} aria-label="{escape(word)}">'
        for k, word in (("report", name), ("player", "Player"))
    )
    labels = f'<label for="tab-report">{escape(name)}</label><label for="tab-player">Player</label>'
    return (
        f'<style>{STYLE}</style><div class="tabbed">{tabs}<nav>{labels}</nav><section class="report">{report}</section>'
        f'<section class="player">{fragment(shown, LIMIT)}</section></div><script>{{{SCRIPT}}}</script>'
    )
