"""Reports that are kept in a file: what has not changed since is not graded again.

A submission is the same as long as its bytes are, and the lab as long as all its files are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .lab import Lab, Submission
from .report import Report, TestReport

_TYPES = {
    "name": str,
    "message": str,
    "hint": str,
    "ended": str,
    "hidden": bool,
    "passed": bool,
    "points": float,
    "earned": float,
    "seconds": float,
}


def kept(path: Path, lab: Lab, submissions: Sequence[Submission], again: Iterable[str]) -> dict[str, Report]:
    """The reports of a file that still hold, by submission; `again`: submissions that are to be graded anew."""
    anew = set(again)
    if unknown := sorted(anew - {s.name for s in submissions}):
        raise UsageError(f"--regrade {unknown[0]}: no submission has this name (there are {', '.join(s.name for s in submissions)[:500]})")
    if not path.exists():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        found = {name: (given["digest"], _report(given["report"])) for name, given in data["submissions"].items()}
        same = data["lab"] == digest_of_lab(lab)
    except OSError as e:
        raise UsageError(f"{path}: {e.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{path} holds no results: name a file that --results has written, or one that does not exist") from None
    return {
        s.name: found[s.name][1]
        for s in submissions
        if same and s.name in found and s.name not in anew and found[s.name][0] == digest_of(s)
    }


def as_json(lab: Lab, submissions: Sequence[Submission], reports: Sequence[Report]) -> str:
    """The text of the file."""
    by_name = {s.name: s for s in submissions}
    rows = {r.name: {"digest": digest_of(by_name[r.name]), "report": {**r.to_json(), "path": r.path}} for r in reports}
    return json.dumps({"lab": digest_of_lab(lab), "submissions": rows}, indent=1)


def digest_of(submission: Submission) -> str:
    """Of a submission's files."""
    return _digest(submission.files)


def digest_of_lab(lab: Lab) -> str:
    """Of all files of a lab but the wrong submissions."""
    files = {p.relative_to(lab.folder).as_posix(): p for p in lab.folder.rglob("*") if p.is_file() and not p.is_symlink()}
    return _digest({name: p.read_bytes() for name, p in files.items() if name.partition("/")[0] not in ("wrong", "__pycache__")})


def _digest(files: Mapping[str, bytes]) -> str:
    out = hashlib.sha256()
    for name, data in sorted(files.items()):
        out.update(f"{name}\0{len(data)}\0".encode(errors="surrogateescape") + data)
    return out.hexdigest()


def _report(given: Mapping[str, Any]) -> Report:
    return Report(str(given["name"]), tuple(_test(t) for t in given["tests"]), str(given["path"]))


def _test(given: Mapping[str, Any]) -> TestReport:
    values = {f.name: given[f.name] for f in fields(TestReport)}
    for name, value in values.items():
        kind = _TYPES[name]
        if not isinstance(value, (int, float) if kind is float else kind):
            raise ValueError(name)
    return TestReport(**values)
