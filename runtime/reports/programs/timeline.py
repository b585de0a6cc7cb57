"""The timeline of a program as text and as data: what its host, its copies and its kernels took, and what of that ran at once; all of it predicted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...clock.timeline import HOST, KERNELS, TimeSpan
from ..data import Data
from ..tables import number, percent, scaled, table

PREDICTED = "predicted; docs/transfers.md has the measured errors"
ENGINES = {KERNELS: "kernels", "h2d": "copies to the device", "d2h": "copies to the host", "device": "device memory", "peer": "copies to peers",
           HOST: "host"}  # fmt: skip
HEAD = ("what", "by", "times", "us", "each", "least", "most", "bytes", "GB/s")
FEW = 40  # spans that the text lists one by one


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """Everything of one name that one engine does."""

    name: str
    engine: str
    lengths: tuple[float, ...]
    bytes: int

    @property
    def cells(self) -> list[str]:
        """For HEAD."""
        total = sum(self.lengths)
        moved = (scaled(self.bytes, "B"), f"{self.bytes / total / 1e3:.1f}") if self.bytes and total else ("", "")
        lengths = (f"{x:,.1f}" for x in (total, total / len(self.lengths), min(self.lengths), max(self.lengths)))
        return [self.name, ENGINES[self.engine], number(len(self.lengths)), *lengths, *moved]


def rows(spans: Sequence[TimeSpan]) -> list[TimelineRow]:
    """The spans by engine and name, the longest of each engine first; those of devices before the host's."""
    found: dict[tuple[str, str], list[TimeSpan]] = {}
    for s in spans:
        found.setdefault((s.engine, s.name), []).append(s)
    order = list(ENGINES)
    made = [TimelineRow(name, engine, tuple(s.length for s in all_), sum(s.bytes for s in all_)) for (engine, name), all_ in found.items()]
    return sorted(made, key=lambda r: (order.index(r.engine), -sum(r.lengths)))


def stream_names(spans: Sequence[TimeSpan]) -> dict[str, str]:
    """The streams of a device as people know them: by the order in which they are given work; the nodes of a graph are one."""
    out: dict[str, str] = {}
    for s in spans:
        if s.stream not in out and s.engine != HOST:
            numbered = sum(shown.startswith("stream ") for shown in out.values()) + 1
            out[s.stream] = (
                "default stream"
                if s.stream.endswith(":0")
                else f"stream {numbered}"
                if ":" in s.stream
                else s.stream.partition(" node ")[0]
            )
    return out


def covered(spans: Iterable[TimeSpan]) -> list[tuple[float, float]]:
    """The stretches in which at least one span is under way."""
    out: list[tuple[float, float]] = []
    for s in sorted(spans, key=lambda s: s.begin):
        if out and s.begin <= out[-1][1]:
            out[-1] = out[-1][0], max(out[-1][1], s.end)
        else:
            out.append((s.begin, s.end))
    return out


def both(one: Sequence[tuple[float, float]], other: Sequence[tuple[float, float]]) -> float:
    """For how long two lists of stretches are under way at once."""
    return sum(max(0.0, min(end, stop) - max(start, begin)) for start, end in one for begin, stop in other)


def sentences(spans: Sequence[TimeSpan]) -> list[str]:
    """What a reader should see first: how long devices are busy, and how much of the copies runs beside kernels."""
    work = [s for s in spans if s.engine != HOST]
    if not work:
        return ["No device does anything."]
    out = []
    for device in sorted({s.device for s in work}):
        own = [s for s in work if s.device == device]
        whole = max(s.end for s in own) - min(s.begin for s in own)
        busy = sum(end - start for start, end in covered(own))
        kernels, copies = covered(s for s in own if s.engine == KERNELS), covered(s for s in own if s.engine not in (KERNELS, HOST))
        share = percent(busy / whole)
        out.append(f"Device {device} is at work for {busy:,.1f} of the {whole:,.1f} us from its first piece of work to its last ({share}).")
        copying, hidden = sum(end - start for start, end in copies), both(kernels, copies)
        if copying and kernels:
            out.append(f"It copies for {copying:,.1f} us, of which kernels hide {hidden:,.1f} us ({percent(hidden / copying)}).")
    staged = [s for s in work if "pageable" in s.name]
    if staged:
        took = sum(s.length for s in staged)
        out.append(f"The host waits {took:,.1f} us for copies of pageable memory ({number(len(staged))}); pinned memory is faster.")
    return out


def timeline_text(spans: Sequence[TimeSpan]) -> str:
    """The table for a terminal; a short program's spans one by one, too."""
    parts = [f"timeline ({PREDICTED})", *(f"  {s}" for s in sentences(spans)), "", table(HEAD, [r.cells for r in rows(spans)], left=2)]
    if len(spans) <= FEW:
        names = stream_names(spans) | {"": ""}
        ordered = sorted(spans, key=lambda s: s.begin)
        listed = [[s.name, ENGINES[s.engine], names[s.stream], f"{s.begin:,.1f}", f"{s.length:,.1f}"] for s in ordered]
        parts += ["", table(("what", "by", "stream", "begins at us", "us"), listed, left=3)]
    return "\n".join(parts) + "\n"


def timeline_data(spans: Sequence[TimeSpan]) -> Data:
    """All of it, in microseconds."""
    return {
        "predicted": True,
        "spans": [
            {"name": s.name, "engine": s.engine, "device": s.device, "stream": s.stream, "begin": round(s.begin, 3), "end": round(s.end, 3), "bytes": s.bytes}
            for s in spans
        ],
        "sentences": sentences(spans),
    }  # fmt: skip
