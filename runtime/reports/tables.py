"""Tables for the terminal, and numbers as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def counted(n: int, thing: str) -> str:
    """A number of things in words.

    >>> counted(1, "pass"), counted(32, "pass"), counted(2, "word")
    ('1 pass', '32 passes', '2 words')
    """
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}{'es' if thing.endswith('s') else 's'}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Columns as wide as they must be; the first `left` of them flush left, the others flush right.

    >>> print(table(["line", "n"], [["a", "1"], ["bb", "22"]]))
    line   n
    a      1
    bb    22
    """
    widths = [max(len(r[c]) for r in (head, *rows)) for c in range(len(head))]
    lines = []
    for r in (head, *rows):
        cells = [v.ljust(w) if c < left else v.rjust(w) for c, (v, w) in enumerate(zip(r, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def number(x: float) -> str:
    """1234567 as 1,234,567; ratios with three digits that matter.

    >>> number(1234567.0), number(0.24999), number(13.0), number(99.951)
    ('1,234,567', '0.25', '13', '100')
    """
    if float(x).is_integer():
        return f"{int(x):,}"
    if abs(x) >= 1000:
        return f"{x:,.0f}"
    text = f"{x:.3g}" if abs(x) < 99.95 else f"{x:.0f}"
    return text if "e" not in text else f"{x:.3e}"


def scaled(x: float, unit: str) -> str:
    """A large amount with a prefix.

    >>> scaled(19.5e12, "FLOP/s"), scaled(4096, "B")
    ('19.5 TFLOP/s', '4.1 kB')
    """
    for prefix, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(x) >= size:
            return f"{x / size:.3g} {prefix}{unit}" if x / size >= 10 else f"{x / size:.1f} {prefix}{unit}"
    return f"{x:.3g} {unit}"


def percent(part: float) -> str:
    """A share.

    >>> percent(0.5), percent(0.00012)
    ('50.0 %', '0.0 %')
    """
    return f"{100 * part:.1f} %"


def lane_ranges(lanes: Iterable[int]) -> str:
    """Lanes as ranges.

    >>> lane_ranges([0, 1, 2, 5, 31])
    '0-2, 5, 31'
    """
    out: list[list[int]] = []
    for lane in lanes:
        if out and lane == out[-1][1] + 1:
            out[-1][1] = lane
        else:
            out.append([lane, lane])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)
