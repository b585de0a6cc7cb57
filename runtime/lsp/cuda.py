"""CUDA C++ in an editor: the PTX of its lines, and what the compiler says of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from warplab.assembler.ir import Function, Instruction, Location
from warplab.assembler.listing import listing
from warplab.assembler.parse import parse_all

from ..compilers.messages import messages
from ..errors import ApiError, UsageError
from ..sources import program_of
from .launches import Remark

SHOWN = 40  # instructions of a line


@dataclass(frozen=True, slots=True)
class CompiledText:
    """What a compiler makes of a file."""

    instructions: dict[int, list[str]] = field(default_factory=dict)  # by line, from 1
    remarks: tuple[Remark, ...] = ()
    problem: str = ""  # why there is nothing

    def hover(self, line: int) -> str:
        """The PTX of a line, in Markdown."""
        found = self.instructions.get(line, ())
        if not found:
            return ""
        more = f"\n\nand {len(found) - SHOWN} instructions more" if len(found) > SHOWN else ""
        return "```ptx\n" + "\n".join(found[:SHOWN]) + "\n```" + more


def compiled(path: Path) -> CompiledText:
    """Compiles a file as it is saved."""
    try:
        made = program_of(str(path), path.read_bytes())
    except ApiError as e:
        said = tuple(_remarks(e.message, str(path)))
        return CompiledText({}, said, "" if said else e.message)
    except (UsageError, OSError) as e:
        return CompiledText({}, (), str(e))
    return CompiledText(_by_line(made.text(), path), tuple(_remarks(made.log, str(path))))


def _remarks(log: str, name: str) -> list[Remark]:
    return [Remark(m.line, "error" if m.severity == "error" else "warning", "nvcc", m.code, m.message) for m in messages(log, name)]


def _by_line(text: str, path: Path) -> dict[int, list[str]]:
    """The instructions by the line that .loc names for them."""
    module, _ = parse_all(text)
    own = {n for n, name in module.files.items() if Path(name).name == path.name}
    found: dict[int, list[str]] = {}
    for f in module.items:
        if not isinstance(f, Function) or f.body is None:
            continue
        line = 0
        for s in listing(f).statements:
            if isinstance(s, Location):
                line = s.line if s.file in own else 0
            elif line and isinstance(s, Instruction):
                found.setdefault(line, []).append(re.sub(r"\s+", " ", text[s.span.start : s.span.end]))
    return found
