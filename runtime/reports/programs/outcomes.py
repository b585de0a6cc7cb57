"""What a run came to, in a few words, for pages and notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...run.outcome import Outcome, RunBuffer

SHOWN = 12  # elements of an array


def verdict(o: Outcome) -> tuple[str, str]:
    """A word (ok, FAILED, FAULT) and the sentences behind it."""
    if o.failure:
        return "FAULT", o.failure
    if o.mismatches:
        return "FAILED", "\n".join(f"{m.text}: {m}" for m in o.mismatches)
    checks = f"{o.checked} check{'s' * (o.checked != 1)} passed" if o.checked else "done"
    if o.errors:
        return "FAILED", f"{checks}; the checkers found {len(o.errors)} error{'s' * (len(o.errors) != 1)}"
    return "ok", checks


def preview(b: RunBuffer) -> str:
    """The first elements of an array after the run."""
    from ...run.inputs.values import as_numbers

    assert b.after is not None
    flat = as_numbers(b.after, b.type).ravel()
    cells = [np.format_float_positional(x, trim="0", precision=6) if flat.dtype.kind == "f" else str(x) for x in flat[:SHOWN]]
    return ", ".join(cells) + (f", ... {flat.size} in all" if flat.size > SHOWN else "")
