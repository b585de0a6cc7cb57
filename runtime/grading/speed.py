"""Points for speed: a submission's predicted time over that of the lab's reference, on the same device and in the same language.

A prediction is the same on every machine. Where the reference is left out, as in the zip of an autograder, `times.json` has its times.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..errors import UsageError
from ..sources import CPP
from .lab import Lab, LabTest, Submission, references_of

TIMES = "times.json"
SLOW = "right, and"  # the beginning of what is said of a submission whose results are right


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker said of one test, or why it was ended."""

    wrong: str
    seconds: float
    ended: str = ""  # time, memory, crash
    cycles: float = 0.0  # that the launches take, where the test has points for speed


def language(submission: Submission) -> str:
    """What a submission is written in."""
    return "cuda" if any(name.endswith(CPP) for name in submission.files) else "ptx"


def with_times(lab: Lab, run: Callable[[Lab, int, Submission], Answer]) -> Lab:
    """The lab with its reference's times: predicted by running its tests, or read where there is no reference."""
    if lab.times or not any(t.speed for t in lab.tests):
        return lab
    references = references_of(lab)
    if not references:
        return replace(lab, times=_read(lab))
    times = {}
    for reference in references:
        for n, t in enumerate(lab.tests):
            if t.speed:
                try:
                    answer = run(lab, n, reference)
                except UsageError:  # no compiler here, and so no submissions in this language
                    continue
                if not answer.wrong and answer.cycles > 0:
                    times[f"{t.name}/{language(reference)}"] = answer.cycles
    return replace(lab, times=times)


def as_json(times: Mapping[str, float]) -> str:
    """The text of times.json."""
    return json.dumps(dict(times), indent=2) + "\n"


def _read(lab: Lab) -> dict[str, float]:
    path = lab.folder / TIMES
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): float(cycles) for name, cycles in found.items()}
    except OSError:
        raise UsageError(f"{lab.folder}: points for speed need a reference, or its times in {TIMES}") from None
    except (ValueError, TypeError, AttributeError):
        raise UsageError(f"{path} is damaged: --bundle and --handout write it") from None


def scored(lab: Lab, test: LabTest, submission: Submission, answer: Answer) -> tuple[float, str]:
    """The points of a test, and what is to be said of them."""
    if answer.wrong or not test.speed:
        return (0.0 if answer.wrong else test.points), answer.wrong
    times = lab.times
    reference = times.get(f"{test.name}/{language(submission)}") or next(
        (c for k, c in times.items() if k.startswith(f"{test.name}/")), 0.0
    )
    if not reference:
        return 0.0, "the lab's own reference does not pass this test: tell your teacher"
    ratio = answer.cycles / reference
    earned = next((points for most, points in test.speed if ratio <= most), 0.0)
    if earned == test.points:
        return earned, ""
    table = ", ".join(f"{points:g} up to {most:g} times" for most, points in test.speed)
    return (
        earned,
        f"{SLOW} {ratio:.2f} times as slow as the reference: {answer.cycles:,.0f} cycles, not {reference:,.0f} (points: {table})",
    )
