"""Texts that a client shows: the PTX of the program, and the sources that .loc names."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Any

from warplab.interpreter.recorder.layout import RecordedInstruction

from ..errors import UsageError
from ..recording import places
from ..recording.questions import Recording
from .adapter import Adapter, Body, request
from .arguments import RequestArguments

PTX_TYPE = "text/x-ptx"
Source = dict[str, Any]


def folders(a: Adapter) -> list[Path]:
    """Where files are looked for that are not where the PTX says: `sourceFolders`, the program's folder, the client's."""
    if a.launched is None:
        return []
    base = Path(a.launched.text("cwd", "") or os.getcwd())
    program = a.launched.text("program", "")
    beside = [(base / program).parent] if program else []
    return [*(base / f for f in a.launched.words("sourceFolders")), *beside, base]


def file_of(a: Adapter, name: str) -> Path | None:
    """A source on this machine: where the PTX says, or a file of its name in one of the folders."""
    for path in (Path(name), *(f / PurePath(name).name for f in folders(a))):
        if path.is_absolute() and path.is_file():
            return path
    return None


def module_source(a: Adapter, module: int) -> Source:
    """The PTX of a module: its file if that holds the same text, else a reference to the text."""
    name, text = a.rec.track.texts[module]
    for path in (Path(name), *(f / PurePath(name).name for f in folders(a))):
        try:
            if path.is_file() and path.read_bytes().decode(errors="replace") == text:
                return {"name": path.name, "path": str(path.absolute())}
        except OSError:
            continue
    return {"name": f"{PurePath(name).stem or 'module'}.ptx", "sourceReference": module + 1}


def place_of(a: Adapter, i: RecordedInstruction) -> tuple[Source, int, int]:
    """The source, line and column at which a client shows an instruction."""
    file, _, line = i.source.rpartition(":")
    if a.session.by_source and file and line.isdecimal() and int(line):
        path = file_of(a, file)
        if path is not None:
            return {"name": path.name, "path": str(path)}, int(line) + a.first_line - 1, a.first_column
    return module_source(a, i.module), i.line + a.first_line - 1, i.column + a.first_column - 1


def module_of(rec: Recording, source: RequestArguments) -> int | None:
    """The module whose text a client means; None where it means another source."""
    reference = source.whole("sourceReference", 0)
    if reference:
        if not 1 <= reference <= len(rec.track.texts):
            raise UsageError(f"there is no source {reference}")
        return reference - 1
    path = PurePath(source.text("path", source.text("name", "")))
    if any(PurePath(f).name == path.name for f in places.source_files(rec)):
        return None
    found = [
        n for n, (name, _) in enumerate(rec.track.texts) if PurePath(name).name == path.name or f"{PurePath(name).stem}.ptx" == path.name
    ]
    if not found:
        raise UsageError(f"{path.name} is not a source of this launch")
    return found[0]


def instructions_of(a: Adapter, source: RequestArguments, line: int) -> frozenset[int]:
    """The instructions of a line as the client counts lines, or of the next one that has some."""
    wanted = line + 1 - a.first_line
    module = module_of(a.rec, source)
    if module is not None:
        return places.on_line(a.rec, wanted, [module])
    return places.on_source_line(a.rec, source.text("path", source.text("name", "")), wanted)


@request("source")
def source(a: Adapter, args: RequestArguments) -> Body:
    """The text of a source without a file."""
    inner = args.inner("source") if "source" in args.values else args
    reference = inner.whole("sourceReference", 0) or args.whole("sourceReference", 0)
    if not 1 <= reference <= len(a.rec.track.texts):
        raise UsageError(f"there is no source {reference}")
    return {"content": a.rec.track.texts[reference - 1][1], "mimeType": PTX_TYPE}


@request("loadedSources")
def loaded_sources(a: Adapter, args: RequestArguments) -> Body:
    """Everything that can be shown."""
    found = [path for name in places.source_files(a.rec) if (path := file_of(a, name)) is not None]
    own = [module_source(a, n) for n in range(len(a.rec.track.texts))]
    return {"sources": [*own, *({"name": p.name, "path": str(p)} for p in dict.fromkeys(found))]}


@request("breakpointLocations")
def breakpoint_locations(a: Adapter, args: RequestArguments) -> Body:
    """The lines that hold instructions."""
    inner = args.inner("source")
    module = module_of(a.rec, inner)
    lines = (
        places.code_lines(a.rec, module) if module is not None else places.source_lines(a.rec, inner.text("path", inner.text("name", "")))
    )
    first = args.whole("line") + 1 - a.first_line
    last = args.whole("endLine", args.whole("line")) + 1 - a.first_line
    return {"breakpoints": [{"line": n + a.first_line - 1} for n in lines if first <= n <= last]}
