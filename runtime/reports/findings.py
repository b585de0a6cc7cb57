"""Findings of the checkers as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from warplab.interpreter.checkers.findings import Finding


def as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Each finding as a table of plain values."""
    return [asdict(f) for f in findings]
