"""The texts of the files that a program's .loc lines name, as far as they are there."""

from __future__ import annotations

from pathlib import Path

from ..recording import Recording

MOST = 1 << 20  # bytes of a file that is shown


def source_texts(rec: Recording) -> dict[str, str]:
    """By the name that .loc gives, the text of each file."""
    out = {}
    for name in dict.fromkeys(i.source.rpartition(":")[0] for i in rec.track.instructions if i.source):
        path = Path(name)
        if path.is_file() and path.stat().st_size <= MOST:
            out[name] = path.read_text(encoding="utf-8", errors="replace")
    return out
