"""What cells come to, as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from warplab.assembler.diagnostics import Diagnostic
from warplab.interpreter.checkers.findings import Finding, as_text

from ..grading.report import Report, once, points
from ..grading.report import as_text as report_text
from ..player import page
from ..recording import Recording
from ..reports.programs.outcomes import preview, verdict
from ..run.inputs.values import as_numbers

if TYPE_CHECKING:
    from ..run.outcome import Outcome

PLAYER = 16 << 20  # bytes of a player in a notebook
HEIGHT = 640  # pixels of it
BAD = "color:light-dark(#b3261e,#ff8a80)"
CELL = "text-align:left;vertical-align:top;font-family:ui-monospace,monospace;padding:2px 10px"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table of texts."""
    top = "".join(f'<th scope="col" style="{CELL}">{escape(h)}</th>' for h in head)
    body = "".join("<tr>" + "".join(f'<td style="{CELL};white-space:pre-wrap">{escape(c)}</td>' for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True, slots=True)
class Checked:
    """PTX without errors."""

    text: str
    warnings: tuple[Diagnostic, ...]

    def __repr__(self) -> str:
        said = [d.render(self.text, "cell.ptx") for d in self.warnings]
        return "\n\n".join([*said, "no errors; --grid, --block and --arg behind %%ptx, or a //@ run comment, run it"])


@dataclass(frozen=True, slots=True)
class Graded:
    """What the tests of a lab say of a program."""

    report: Report

    def __repr__(self) -> str:
        return report_text((self.report,))

    def _repr_html_(self) -> str:
        r, said = self.report, {t.name: text for t, text in once(self.report)}
        rows = [["ok" if t.passed else "failed", t.name, f"{points(t.earned)}/{points(t.points)}", said.get(t.name, "")] for t in r.tests]
        return table(("", "test", "points", "reason"), [*rows, ["", "all", f"{points(r.score)}/{points(r.total)}", ""]])


@dataclass(frozen=True, slots=True)
class FoundTable:
    """What the checkers found."""

    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.findings)

    def __repr__(self) -> str:
        return as_text(self.findings)

    def _repr_html_(self) -> str:
        if not self.findings:
            return "<p>The checkers found nothing.</p>"
        rows = [
            (f.kind, _where(f), f"{f.instruction}\n{f.other_instruction}".strip(), f.message, f"{f.block}, {f.thread}", f.help)
            for f in self.findings
        ]
        return table(("finding", "line", "instruction", "what happened", "block, thread", "help"), rows)


def _where(f: Finding) -> str:
    lines = [str(x) for x in (f.line, f.other_line) if x is not None]
    sources = [s.rpartition("/")[2] for s in (f.source, f.other_source) if s]
    return "\n".join(dict.fromkeys(sources or lines))


@dataclass(frozen=True, slots=True)
class RunTable:
    """What runs came to: `result["c"]` is an array."""

    parts: tuple[tuple[str, Outcome], ...]

    @property
    def arrays(self) -> dict[str, Any]:
        """All arrays of the runs, by name."""
        return {b.name: as_numbers(b.after, b.type) for _, o in self.parts for b in o.buffers.values() if b.after is not None}

    @property
    def good(self) -> bool:
        """Did all end, as expected and without findings?"""
        return all(o.code == 0 for _, o in self.parts)

    def __getitem__(self, name: str) -> Any:
        found = self.arrays
        if name not in found:
            raise KeyError(f"there is no array {name}; there are {', '.join(found)}")
        return found[name]

    def __repr__(self) -> str:
        lines = []
        for what, o in self.parts:
            lines.append(f"{verdict(o)[0]} {what}: {verdict(o)[1]}")
            lines += [f"  {b.name} = {preview(b)}" for b in o.buffers.values() if b.after is not None and b.changed]
            if o.findings:
                lines.append(as_text(o.findings))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        out = []
        for what, o in self.parts:
            word, said = verdict(o)
            style = "" if word == "ok" else f' style="{BAD}"'
            out.append(f"<p><b{style}>{escape(word)}</b> {escape(what)}</p><pre{style}>{escape(said)}</pre>")
            rows = [(b.name, b.type, "x".join(map(str, b.before.shape)), preview(b)) for b in o.buffers.values() if b.after is not None]
            out.append(table(("array", "type", "shape", "values"), rows))
            if o.findings:
                out.append(FoundTable(o.findings)._repr_html_())
        return "".join(out)


@dataclass(frozen=True, slots=True)
class PlayedRun:
    """Recorded launches: the player, or the questions that a Recording answers."""

    launches: tuple[Recording, ...]

    def __getitem__(self, number: int) -> Recording:
        return self.launches[number]

    def __repr__(self) -> str:
        return "\n".join(f"{r.track.kernel}: {r.step_count} steps recorded" for r in self.launches)

    def _repr_html_(self) -> str:
        whole = escape(page(list(self.launches), PLAYER), quote=True)
        return f'<iframe title="player" srcdoc="{whole}" sandbox="allow-scripts" style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
