"""What the native engine runs of the recorded cases and programs, and what it leaves to numpy: a table in docs/engine.md.

python -m tools.engines            prints it
python -m tools.engines --write    puts it into the page
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.interpreter.recordings.recorded import results
from tests.interpreter.recordings.test_conformance import CASES, arrays
from tests.interpreter.recordings.test_programs import PROGRAMS, Process
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.launch import EngineUse

from .markdown import code, table

PAGE = Path(__file__).parents[1] / "docs" / "engine.md"
MARKS = re.compile(r"(<!-- engines -->\n).*?(<!-- /engines -->)", re.S)
MOST = 12  # instructions that are named


def cases() -> Iterator[EngineUse]:
    """The recorded cases of instructions."""
    for case in CASES:
        used = EngineUse()
        results(case, *arrays(case), used, engine="native")
        yield used


def programs() -> Iterator[EngineUse]:
    """The recorded programs."""
    for record in PROGRAMS.values():
        process, used = Process(record), EngineUse()
        try:
            for one in record["launches"]:
                used.add(process.launch(one, engine="native"))
        except ExecutionError:
            continue  # it is recorded for its fault
        yield used


def page() -> str:
    """The table, and the instructions that numpy ran."""
    rows, left = [], Counter[str]()
    for name, runs in (("instruction cases", list(cases())), ("programs", list(programs()))):
        whole = sum(not u.numpy_blocks and not u.left_to_numpy for u in runs)
        some = sum(not u.numpy_blocks and bool(u.left_to_numpy) for u in runs)
        rows.append((name, len(runs), whole, some, len(runs) - whole - some, f"{100 * whole / len(runs):.1f} %"))
        for u in runs:
            left.update(set(u.left_to_numpy))
    named = ", ".join(f"{code(word)} ({n})" for word, n in left.most_common(MOST))
    head = ("recorded on an H200", "run", "native whole", "native, single instructions in numpy", "numpy", "native whole")
    return f"{table(head, rows, right=range(1, 6))}\n\nInstructions that numpy ran, or that ended native execution, with the number of cases: {named}."


def main(write: bool) -> None:
    """Prints the table, or writes it into the page."""
    found = page()
    if write:
        PAGE.write_text(MARKS.sub(lambda m: f"{m[1]}\n{found}\n\n{m[2]}", PAGE.read_text(encoding="utf-8")))
    else:
        print(found)


if __name__ == "__main__":
    main("--write" in sys.argv)
