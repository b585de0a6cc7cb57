"""What a whole program did: its timeline and its launches, as the name of a file asks for them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from warplab.interpreter.profiler import KernelProfile

from ...clock.timeline import TimeSpan


def report_as(path: str, profiles: Sequence[KernelProfile], spans: Sequence[TimeSpan], launched: Sequence[str] = ()) -> str:
    """A page; text for .txt, data for .json; `launched` says of each launch who has made it, where that is known."""
    told = [*launched, *[""] * (len(profiles) - len(launched))]
    if path.endswith(".txt"):
        from ..text import report
        from .timeline import timeline_text

        parts = [timeline_text(spans)] if spans else []
        return ("\n" + "-" * 80 + "\n\n").join([*parts, *(report(p, launched=text) + "\n" for p, text in zip(profiles, told, strict=True))])
    if path.endswith(".json"):
        from ..data import as_data
        from .timeline import timeline_data

        launches = [as_data(p, launched=text) for p, text in zip(profiles, told, strict=True)]
        return json.dumps({"timeline": timeline_data(spans) if spans else None, "launches": launches}, indent=2) + "\n"
    from ..page.html import page

    return page(profiles, spans=spans, launched=told)
