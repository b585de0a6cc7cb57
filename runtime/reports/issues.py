"""What each scheduler of a multiprocessor issues in each cycle, as the model of time predicts it: as text, and as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from warplab.interpreter.profiler.launch_time import Issue, LaunchTime

from .drawn.svg import box, svg, text
from .tables import table

CELL, LEFT = 12, 80
COLUMNS = 120  # cycles of a row of the picture
WARP_HUES = 12


def issue_rows(t: LaunchTime, count: int) -> list[Issue]:
    """The instructions of the first so many cycles in which anything is issued."""
    cycles = sorted({i.cycle for i in t.issues})[:count]
    return [i for i in t.issues if cycles and i.cycle <= cycles[-1]]


def issue_text(t: LaunchTime, count: int) -> str:
    """A row for each cycle in which an instruction is issued, a column for each scheduler: warp, machine instruction, line of the PTX."""
    found = issue_rows(t, count)
    schedulers = 1 + max((i.scheduler for i in found), default=0)
    rows: list[list[str]] = []
    for cycle in sorted({i.cycle for i in found}):
        cells = ["; ".join(_said(i) for i in found if i.cycle == cycle and i.scheduler == n) for n in range(schedulers)]
        rows.append([str(cycle), *cells])
    return table(["cycle", *[f"scheduler {n}" for n in range(schedulers)]], rows, left=schedulers + 1)


def _said(i: Issue) -> str:
    return f"w{i.warp} {i.opcode}" + (f" :{i.line}" if i.line else "")


def issue_picture(t: LaunchTime, count: int) -> str:
    """Cycles from left to right, a row for each scheduler; the colour tells the warp."""
    found = issue_rows(t, count)
    if not found:
        return svg(200, 40, text(10, 24, "nothing was issued"), "issued instructions", alone=True)
    first, schedulers = found[0].cycle, 1 + max(i.scheduler for i in found)
    stripe = (schedulers + 2) * CELL
    last = (found[-1].cycle - first) // COLUMNS
    body = []
    for n in range(last + 1):
        y = 30 + n * stripe
        body.append(text(LEFT - 8, y + CELL * schedulers / 2 + 4, f"cycle {first + n * COLUMNS}", "end", True))
        body += [box(LEFT, y + k * CELL, COLUMNS * CELL, CELL - 2, "var(--card)") for k in range(schedulers)]
    for i in found:
        n, column = divmod(i.cycle - first, COLUMNS)
        hue = f"hsl({360 * (i.warp % WARP_HUES) // WARP_HUES} 60% 50%)"
        body.append(
            box(LEFT + column * CELL, 30 + n * stripe + i.scheduler * CELL, CELL - 2, CELL - 2, hue, f"cycle {i.cycle}: {_said(i)}")
        )
    body.append(text(LEFT, 18, f"{schedulers} schedulers, a square for each instruction, coloured by warp; predicted", soft=True))
    return svg(LEFT + COLUMNS * CELL + 10, 40 + (last + 1) * stripe, "".join(body), "instructions that each scheduler issues", alone=True)


def issue_data(issues: Sequence[Issue]) -> list[dict[str, int | str]]:
    """The same for JSON."""
    return [i._asdict() for i in issues]
