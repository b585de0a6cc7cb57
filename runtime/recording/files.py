"""Recordings as files: numpy's npz, with a header in JSON.  What is read is checked before it is used; nothing in a file is executed.

Arrays that several records name are kept once: `blob` has their bytes, `arrays` a row for each (offset, dtype, rows, columns), and all else refers to
these rows.  -1 stands for nothing.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.recorder.lanes import LaneSet
from warplab.interpreter.recorder.layout import ENTRY, Column, RecordedInstruction, SegmentLayout
from warplab.interpreter.recorder.track import PAGE_BITS, NamedCells, RecordedAccess, RecordedEvent, Track
from warplab.isa.profiles import profile
from warplab.isa.types import TYPES

from ..errors import UsageError

Array = NDArray[Any]
T = TypeVar("T")
VERSION = 2
SUFFIX = ".wlrec"
DTYPES = ("bool", "uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32", "uint64", "int64", "float64")
MOST_BYTES = 8 << 30  # of a file when it is unpacked
COMPRESSED = 64 << 20  # bytes up to which a file is compressed
SPACES = ("global", "const", "shared", "shared::cta", "shared::cluster", "local", "generic", "param", "param::entry", "param::func")
KINDS = ("ld", "st", "atom", "red", "call", "late")
MOST_LANES = 1 << 31
MOST_TOGETHER = 1 << 24  # lanes of a group


# ---------------------------------------------------------------- writing


class _Writer:
    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int]] = []
        self.pieces: list[bytes] = []
        self.size = 0
        self._known: dict[int, tuple[Array, int]] = {}

    def array(self, a: Array | None) -> int:
        """The number of an array."""
        if a is None:
            return -1
        found = self._known.get(id(a))
        if found is None:
            flat = a if a.ndim == 2 else a.reshape(1, -1)
            raw = flat.tobytes()
            self.rows.append((self.size, DTYPES.index(flat.dtype.name), *flat.shape))
            padded = raw + bytes(-len(raw) % 16)
            self.pieces.append(padded)
            self.size += len(padded)
            found = self._known[id(a)] = a, len(self.rows) - 1
        return found[1]

    def value(self, v: Any) -> tuple[int, int]:
        """The number of a value's array, and its offset."""
        return (self.array(v[0]), v[1]) if isinstance(v, tuple) else (self.array(v), 0)


def save(track: Track, path: Path) -> None:
    """Writes a track to a file."""
    with path.open("wb") as f:
        write(track, f)


def write(track: Track, f: BinaryIO, compress: bool | None = None) -> None:
    """Writes a track; None: compressed where it is not large."""
    w = _Writer()
    values = [w.value(v) for row in track.values for v in row]
    accesses = [
        (
            a.execution,
            a.step,
            a.instruction,
            KINDS.index(a.kind),
            SPACES.index(a.space),
            a.lanes,
            *w.value(a.address),
            w.array(a.mask),
            a.count,
            len(a.after),
            len(a.values),
            a.source,
        )
        for a in track.accesses
    ]
    after = [w.value(v) for a in track.accesses for v in (*a.after, *a.values)]
    lanes = [(*one.shape, w.array(one.block), w.array(one.thread), w.array(one.alive)) for one in track.lanes]
    events = [(e.execution, e.step, e.lanes, w.array(e.mask)) for e in track.events]
    pages = [(k, w.array(v)) for k, v in track.pages.items()]
    shared = [(k, w.array(v)) for k, v in track.shared.items()]
    header = {
        "version": VERSION, "kernel": track.kernel, "grid": track.grid, "block": track.block, "cluster": track.cluster, "device": track.device,
        "options": track.options, "texts": track.texts, "parameters": track.parameters, "parameter_bytes": track.parameter_bytes.hex(),
        "objects": [asdict(o) for o in track.objects], "instructions": [asdict(i) for i in track.instructions],
        "registers": track.registers, "labels": track.labels,
        "frames": {f: [asdict(o) for o in found] for f, found in track.frames.items()},
        "layouts": [_layout(one) for one in track.layouts],
        "types": [a.type for a in track.accesses], "events": [(e.kind, e.text) for e in track.events],
        "shared_bytes": track.shared_bytes, "unset": track.unset, "ended": track.ended, "stopped": track.stopped,
    }  # fmt: skip
    columns = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8), "blocks": track.blocks,
        "executions": _rows(zip(track.layout_of, track.lanes_of, track.depth_of, track.done, track.base_of, strict=True), 5),
        "values": _rows(values, 2), "accesses": _rows(accesses, 13), "after": _rows(after, 2), "lanes": _rows(lanes, 5), "events": _rows(events, 4),
        "pages": _rows(pages, 2), "shared": _rows(shared, 2), "arrays": _rows(w.rows, 4), "blob": np.frombuffer(b"".join(w.pieces), np.uint8),
        "kept": np.empty(0, np.bool_) if track.kept_blocks is None else track.kept_blocks,
    }  # fmt: skip
    savez = np.savez_compressed if (w.size <= COMPRESSED if compress is None else compress) else np.savez
    savez(f, **columns)  # type: ignore[arg-type]


def _layout(one: SegmentLayout) -> dict[str, Any]:
    plain = {k: getattr(one, k) for k in ("function", "pc", "first", "count", "captures", "kept")}
    return {**plain, "columns": [asdict(c) for c in one.columns]}


def _rows(rows: Iterable[tuple[int, ...]], width: int) -> NDArray[np.int64]:
    return np.array(list(rows), np.int64).reshape(-1, width)


# ---------------------------------------------------------------- reading


class DamagedError(Exception):
    """What a file says can't be."""


def load(path: Path, most: int = MOST_BYTES) -> Track:
    """Reads a track of at most so many bytes when it is unpacked."""
    try:
        with zipfile.ZipFile(path) as z:
            if sum(i.file_size for i in z.infolist()) > most:
                raise DamagedError("it is larger than any recording")
        with np.load(path, allow_pickle=False) as found:
            data = {k: found[k] for k in found.files}
        return _FileReader(data).track()
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder") from None
    except (DamagedError, zipfile.BadZipFile, zlib.error, ValueError, KeyError, TypeError, OSError, EOFError, IndexError, OverflowError,
            AttributeError, NotImplementedError, RecursionError, MemoryError) as e:  # fmt: skip
        why = e.args[0] if isinstance(e, DamagedError) else "its parts do not fit together"
        raise UsageError(f"{path} is not a recording of warplab, or is damaged: {why}; record it again with warplab record") from None


def _need(holds: Any, why: str) -> None:
    if not holds:
        raise DamagedError(why)


def _text(x: Any) -> str:
    _need(isinstance(x, str), "a text is missing")
    return str(x)


def _number(x: Any, low: int = 0, high: int = MOST_LANES) -> int:
    _need(type(x) is int and low <= x <= high, "a number is out of range")
    return int(x)


def _list(x: Any, each: Callable[[Any], T]) -> list[T]:
    _need(isinstance(x, list), "a list is missing")
    return [each(e) for e in x]


def _words(x: Any) -> tuple[str, ...]:
    return tuple(_list(x, _text))


def _dim3(x: Any) -> tuple[int, int, int]:
    a, b, c = _list(x, lambda n: _number(n, 1))
    return a, b, c


def _table(x: Any, each: Callable[[Any], T]) -> dict[str, T]:
    _need(isinstance(x, dict), "a table is missing")
    return {_text(k): each(v) for k, v in x.items()}


class _FileReader:
    def __init__(self, data: dict[str, Array]) -> None:
        self.data = data
        raw = data["header"]
        _need(raw.dtype == np.uint8 and raw.ndim == 1, "it has no header")
        self.header: dict[str, Any] = json.loads(raw.tobytes())
        version = self.header.get("version")
        _need(version == VERSION, f"it has version {version}, and this warplab reads version {VERSION}")
        self.arrays = self._arrays()

    def _arrays(self) -> list[Array]:
        blob = self.data["blob"]
        _need(blob.dtype == np.uint8 and blob.ndim == 1, "its values are missing")
        out = []
        for at, kind, rows, columns in self.columns("arrays", 4).tolist():
            _need(0 <= kind < len(DTYPES) and rows >= 0 and columns >= 0 and at >= 0 and at % 16 == 0, "an array lies nowhere")
            dtype = np.dtype(DTYPES[kind])
            end = at + rows * columns * dtype.itemsize
            _need(end <= blob.size, "an array lies beyond the end")
            piece = blob[at:end]
            _need(dtype.kind != "b" or not (piece > 1).any(), "a flag is neither true nor false")
            out.append(piece.view(dtype).reshape(rows, columns))
        return out

    def columns(self, name: str, width: int) -> NDArray[np.int64]:
        """A table of numbers."""
        out = self.data[name]
        _need(out.dtype == np.int64 and out.ndim == 2 and out.shape[1] == width, f"its table of {name} is damaged")
        return out

    def array(self, n: int) -> Array | None:
        """An array by its number."""
        _need(-1 <= n < len(self.arrays), "an array is missing")
        return None if n < 0 else self.arrays[n]

    def value(self, n: int, delta: int, shape: tuple[int, int]) -> Any:
        """A value of lanes in a shape."""
        a = self.array(n)
        if a is None:
            return None
        _need(a.shape[0] in (1, shape[0]) and a.shape[1] in (1, shape[1]), "a value has another shape than its lanes")
        return (a, delta) if delta else a

    def track(self) -> Track:
        """All of it."""
        h = self.header
        grid, block = _dim3(h["grid"]), _dim3(h["block"])
        n, threads = int(np.prod([int(x) for x in grid], dtype=object)), int(np.prod([int(x) for x in block], dtype=object))
        blocks = self.data["blocks"]
        _need(
            blocks.dtype == np.int32 and blocks.shape == (n, 3) and n * threads < MOST_LANES << 20 and threads <= 1024,
            "its grid is damaged",
        )
        _need((blocks >= 0).all() and (blocks < np.array(grid)).all(), "a block lies outside its grid")
        track = Track(
            _text(h["kernel"]), grid, block, _dim3(h["cluster"]), _device(h["device"]), _table(h["options"], _text), blocks,
            [(_text(a), _text(b)) for a, b in _list(h["texts"], lambda x: x)],
            [(_text(a), _text(b), _number(c), _number(d)) for a, b, c, d in _list(h["parameters"], lambda x: x)],
            bytes.fromhex(_text(h["parameter_bytes"])), _list(h["objects"], _object), _list(h["instructions"], _instruction),
            _table(h["registers"], lambda x: _table(x, _type)), _table(h["labels"], lambda x: _table(x, _number)),
            _table(h["frames"], lambda x: _list(x, _object)),
            shared_bytes=_number(h["shared_bytes"]),
            unset=[(_number(a, 0, 1 << 62), _number(b, 0, 1 << 48)) for a, b in _list(h["unset"], lambda x: x)],
            ended=_text(h["ended"]), stopped=bool(h["stopped"]),
        )  # fmt: skip
        _need(all(i.module < len(track.texts) for i in track.instructions), "an instruction stands in no text")
        track.layouts = [self._layout(x, len(track.instructions)) for x in _list(h["layouts"], lambda x: x)]
        track.lanes = [self._lanes(row, n, threads) for row in self.columns("lanes", 5).tolist()]
        self._executions(track)
        self._accesses(track)
        words = _list(h["events"], lambda x: x)
        rows = self.columns("events", 4).tolist()
        _need(len(words) == len(rows), "its events are damaged")
        for (execution, step, lanes, mask), (kind, text) in zip(rows, words, strict=True):
            _need(0 <= execution <= len(track.layout_of) and 0 <= lanes < len(track.lanes) and step >= ENTRY, "an event belongs to nothing")
            track.events.append(
                RecordedEvent(execution, step, _text(kind), _text(text), lanes, self.value(mask, 0, track.lanes[lanes].shape))
            )
        for name, kept in (("pages", track.pages), ("shared", track.shared)):
            for key, number in self.columns(name, 2).tolist():
                piece = self.array(number)
                _need(piece is not None and piece.dtype == np.uint8 and key >= 0, "memory is damaged")
                assert piece is not None
                _need(piece.size <= 1 << PAGE_BITS or name == "shared", "memory is damaged")
                kept[key] = piece.ravel()
        kept_blocks = self.data["kept"]
        if kept_blocks.size:
            _need(kept_blocks.dtype == np.bool_ and kept_blocks.shape == (n,), "its blocks are damaged")
            track.kept_blocks = kept_blocks
        return track

    def _layout(self, x: Any, instructions: int) -> SegmentLayout:
        count, first, kept = _number(x["count"]), _number(x["first"]), _number(x["kept"])
        _need(first + count <= instructions, "a segment has no instructions")
        columns = []
        for c in _list(x["columns"], lambda c: c):
            one = Column(_number(c["step"], ENTRY, max(count - 1, 0)), _text(c["register"]), _text(c["role"]), _number(c["part"], 0, 8),
                         _number(c["at"], 0, max(kept - 1, 0)), bool(c["negated"]))  # fmt: skip
            _need(one.role in ("write", "guard", "unset"), "a value is of no kind")
            columns.append(one)
        return SegmentLayout(_text(x["function"]), _number(x["pc"]), first, count, tuple(columns), _number(x["captures"]), kept)

    def _lanes(self, row: list[int], blocks: int, threads: int) -> LaneSet:
        r, c, block, thread, alive = row
        b, t, a = self.array(block), self.array(thread), self.array(alive)
        _need(b is not None and t is not None and r > 0 and c > 0 and r * c <= MOST_TOGETHER, "lanes are missing")
        assert b is not None and t is not None
        for one, limit in ((b, blocks), (t, threads)):
            _need(one.dtype == np.int32 and one.shape[0] in (1, r) and one.shape[1] in (1, c), "lanes are damaged")
            _need(one.size and int(one.min()) >= 0 and int(one.max()) < limit, "there is no such lane")
        _need(a is None or (a.dtype == np.bool_ and a.shape[0] in (1, r) and a.shape[1] in (1, c)), "lanes are damaged")
        return LaneSet(b, t, (r, c), threads, a)

    def _executions(self, track: Track) -> None:
        values = self.columns("values", 2).tolist()
        at = 0
        for layout, lanes, depth, done, base in self.columns("executions", 5).tolist():
            _need(
                0 <= layout < len(track.layouts) and 0 <= lanes < len(track.lanes) and min(depth, base) >= 0, "an execution is of nothing"
            )
            one = track.layouts[layout]
            _need(0 <= done <= one.count and at + one.kept <= len(values), "an execution is damaged")
            shape = track.lanes[lanes].shape
            track.layout_of.append(layout)
            track.lanes_of.append(lanes)
            track.depth_of.append(depth)
            track.base_of.append(base)
            track.done.append(done)
            track.values.append(tuple([self.value(n, delta, shape) for n, delta in values[at : at + one.kept]]))
            at += one.kept
        _need(at == len(values), "there are values of no execution")

    def _accesses(self, track: Track) -> None:
        after = self.columns("after", 2).tolist()
        types = _list(self.header["types"], _type)
        rows = self.columns("accesses", 13).tolist()
        _need(len(types) == len(rows), "its accesses are damaged")
        at = 0
        for (execution, step, instruction, kind, space, lanes, address, delta, mask, count, n, m, source), type in zip(
            rows, types, strict=True
        ):
            _need(
                0 <= execution <= len(track.layout_of) and 0 <= lanes < len(track.lanes) and step >= ENTRY, "an access belongs to nothing"
            )
            _need(
                -1 <= instruction < len(track.instructions) and 0 <= kind < len(KINDS) and 0 <= space < len(SPACES), "an access is damaged"
            )
            _need(address >= 0 and 0 <= count <= 1 << 16 and min(n, m) >= 0 and n + m <= len(after) - at, "an access is damaged")
            shape = track.lanes[lanes].shape
            place = self.array(address)
            _need(place is not None and place.dtype.kind in "iu" and place.size, "an access has no address")
            left = tuple([self.value(k, d, shape) for k, d in after[at : at + n + m]])
            _need(all(v is not None for v in left), "an access has no value")
            at += n + m
            track.accesses.append(
                RecordedAccess(execution, step, instruction, KINDS[kind], SPACES[space], lanes, self.value(address, delta, shape),
                               self.value(mask, 0, shape), type, count, left[:n], left[n:], _number(source, -1, 1 << 62))
            )  # fmt: skip


def _device(x: Any) -> str:
    try:
        profile(_text(x))
    except ValueError:
        raise DamagedError("there is no such device") from None
    return str(x)


def _type(x: Any) -> str:
    _need(isinstance(x, str) and x in TYPES, "there is no such type")
    return str(x)


def _object(x: Any) -> NamedCells:
    shape = tuple(_list(x["shape"], lambda n: _number(n, 0, 1 << 48)))
    return NamedCells(
        _text(x["name"]), _text(x["space"]), _number(x["start"], 0, 1 << 62), _number(x["size"], 0, 1 << 48), _text(x["type"]), shape
    )


def _instruction(x: Any) -> RecordedInstruction:
    return RecordedInstruction(
        _text(x["function"]), _number(x["module"]), _number(x["line"]), _number(x["column"]), _text(x["text"]), _text(x["opcode"]), _text(x["source"]),
        _text(x["guard"]), _words(x["reads"]), _words(x["bases"]), _words(x["writes"]),
    )  # fmt: skip
