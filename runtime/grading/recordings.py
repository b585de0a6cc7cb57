"""Pages that play what a submission did in the tests that it failed.

The process that runs a test records it; what it hands over was influenced by a submission, and is checked when it is read.
"""

from __future__ import annotations

import base64
import binascii
import io
import itertools
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from warplab.interpreter.observe import Observer
from warplab.interpreter.recorder.recorder import Recorder

from ..device.launches.observing import observing
from ..errors import UsageError
from ..player import page
from ..recording import Recording
from ..recording.files import write
from .compiling import BuiltFile
from .judge import judge
from .lab import Lab, LabTest, Submission
from .report import Report
from .supervise import Worker

LAST = -1  # launch of a test: the one at which it fails
RECORDED = 32 << 20  # bytes of a launch's recording
PAGE = 8 << 20  # bytes of a page
UNPACKED = 256 << 20  # bytes of a recording that is accepted
Pages = dict[tuple[str, str], Path]  # by submission and test


def recorded(lab: Lab, test: LabTest, submission: Submission, built: Mapping[str, BuiltFile], launch: int = LAST) -> tuple[str, int]:
    """The recording of a launch of a test in base64, and its number; nothing where there is no such launch."""
    launches = itertools.count()
    kept: list[tuple[int, Recorder]] = []

    def make(_: object) -> Observer:
        n = next(launches)
        if launch not in (LAST, n):
            return Observer()
        kept[:] = [(n, Recorder(RECORDED))]
        return kept[0][1]

    with observing(make):
        judge(lab, test, submission, built)
    if not kept or kept[0][1].track is None:
        return "", 0
    out = io.BytesIO()
    write(kept[0][1].finish(), out, compress=True)
    return base64.b64encode(out.getvalue()).decode(), kept[0][0]


def write_pages(lab: Lab, submissions: Sequence[Submission], reports: Sequence[Report], folder: Path) -> Pages:
    """Writes a page for each visible test that a submission fails, and says where each is."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {s.name: s for s in submissions}
    out: Pages = {}
    worker = Worker()
    try:
        for r in reports:
            for number, t in enumerate(r.tests):
                if t.passed or t.hidden or t.ended:
                    continue
                rec = read_recording(worker.record(lab, number, by_name[r.name])[0])
                if rec is not None and rec.step_count:
                    path = _free(folder, f"{r.name}-{t.name}", set(out.values()))
                    path.write_text(page([rec], PAGE, sources=False), encoding="utf-8")
                    out[r.name, t.name] = path
    finally:
        worker.close()
    return out


def read_recording(text: str) -> Recording | None:
    """A recording that a worker hands over; None where it is none."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    if not data:
        return None
    with tempfile.NamedTemporaryFile(suffix=".wlrec") as file:
        file.write(data)
        file.flush()
        try:
            return Recording.load(file.name, UNPACKED)
        except UsageError:
            return None


def _free(folder: Path, name: str, taken: set[Path]) -> Path:
    """A file for a page, by a name that any system accepts."""
    plain = re.sub(r"[^\w.-]+", "_", name).strip("._")[:80] or "test"
    path, n = folder / f"{plain}.html", 1
    while path in taken:
        n += 1
        path = folder / f"{plain}-{n}.html"
    return path
