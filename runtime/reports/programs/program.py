"""What a whole program did: its timeline and its launches, as the name of a file asks for them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from warplab.interpreter.profiler import KernelProfile

from ...clock.timeline import TimeSpan


def report_as(path: str, profiles: Sequence[KernelProfile], spans: Sequence[TimeSpan]) -> str:
    """A page; text for .txt, data for .json."""
    if path.endswith(".txt"):
        from ..text import report
        from .timeline import timeline_text

        parts = [timeline_text(spans)] if spans else []
        return ("\n" + "-" * 80 + "\n\n").join([*parts, *(report(p) + "\n" for p in profiles)])
    if path.endswith(".json"):
        from ..data import as_data
        from .timeline import timeline_data

        return (
            json.dumps({"timeline": timeline_data(spans) if spans else None, "launches": [as_data(p) for p in profiles]}, indent=2) + "\n"
        )
    from ..page.html import page

    return page(profiles, spans=spans)
