"""When ptxas notices an error: while it reads, at the end of a function or of the text, or once all else is right.

A syntax error hides what it would have noticed later, so errors are handed on in the order in which they are noticed.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Sequence

from ..diagnostics import Diagnostic
from ..ir import Function, Module

OF_FUNCTIONS = frozenset({"unknown-label"})  # noticed with the closing brace, where they are about a statement of the body
OF_TEXTS = frozenset({"version-target", "no-debug"})
LAST = frozenset({"unresolved", "too-much-const", "too-much-shared", "too-many-parameters", "address-size", "target-mismatch"})


def ordered(module: Module | None, found: Collection[Diagnostic]) -> list[Diagnostic]:
    """Errors in the order in which they are noticed, then warnings in the order of the text."""
    bodies = [(f.body.span.start, f.body.span.end) for f in module.items if isinstance(f, Function) and f.body] if module else []

    def noticed(d: Diagnostic) -> tuple[int, int, int]:
        start = d.span.start
        if d.severity != "error":
            return 3, start, start
        if d.code in LAST:
            return 2, start, start
        if d.code in OF_TEXTS:
            return 1, start, start
        return 0, _end(bodies, start) if d.code in OF_FUNCTIONS else start, start

    return sorted(found, key=noticed)


def _end(bodies: Sequence[tuple[int, int]], at: int) -> int:
    """Where the body ends that has this offset, or the offset itself."""
    i = bisect.bisect_right(bodies, (at, at)) - 1
    return bodies[i][1] if i >= 0 and bodies[i][0] <= at < bodies[i][1] else at
