"""A recording that is too large for a page is shown in fewer blocks, or up to an earlier step; which, is said."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.recorder.cutting import cut_to_blocks, cut_to_executions
from warplab.interpreter.recorder.track import Track

from ..recording import Recording
from ..recording.files import write

LIMIT = 30 << 20  # bytes of a page
OPENED = 160 << 20  # bytes of a recording when the page has unpacked it
ROW = 40  # bytes of an execution, an access or a value beside its array
TOO_MANY = 400_000  # executions: the page looks at each when it is opened


def fitted(rec: Recording, limit: int = LIMIT) -> tuple[Recording, bytes, str]:
    """What of a recording a page of so many bytes has room for: its file, and a sentence about what is left out."""
    track = rec.track
    while True:
        small = unpacked_bytes(track) <= OPENED and len(track.layout_of) <= TOO_MANY
        packed = _file(track) if small else b""
        if small and 4 * len(packed) // 3 <= limit:
            break
        share = limit / max(4 * len(packed) // 3, 1) if small else OPENED / max(unpacked_bytes(track), 1)
        cut = _fewer(track, min(share, TOO_MANY / max(len(track.layout_of), 1)))
        if cut is None:
            break
        track = cut
    return rec if track is rec.track else Recording(track), packed, _sentence(rec.track, track)


def _file(track: Track) -> bytes:
    out = io.BytesIO()
    write(track, out, compress=True)
    return out.getvalue()


def unpacked_bytes(track: Track) -> int:
    """Bytes of a recording, nearly."""
    seen: dict[int, int] = {}
    rows = len(track.layout_of) + len(track.events)
    for group in (*track.values, *[(a.address, a.mask, *a.after, *a.values) for a in track.accesses]):
        for v in group:
            array = v[0] if isinstance(v, tuple) else v
            rows += 1
            if array is not None:
                seen[id(array)] = array.nbytes
    lanes = {id(x): x.nbytes for one in track.lanes for x in (one.block, one.thread, one.alive) if x is not None}
    pages = sum(p.nbytes for p in track.pages.values())
    return sum(seen.values()) + sum(lanes.values()) + pages + ROW * rows


def _fewer(track: Track, share: float) -> Track | None:
    """About this share of a track; None where nothing can be left out."""
    executed = executed_blocks(track)
    if executed.size > 1:
        count = max(min(int(executed.size * share * 0.9), executed.size - 1), 1)
        blocks = np.zeros(len(track.blocks), np.bool_)
        blocks[[*_matter(track), *executed.tolist()][:count]] = True
        return cut_to_blocks(track, blocks)
    count = min(int(len(track.layout_of) * share * 0.9), len(track.layout_of) - 1)
    return cut_to_executions(track, count) if count > 0 else None


def _matter(track: Track) -> list[int]:
    """The blocks of the first fault and the first finding."""
    out = []
    for kind in ("fault", "finding"):
        for e in track.events:
            if e.kind == kind:
                lanes = track.lanes[e.lanes]
                mask = lanes.active if e.mask is None else lanes.active & lanes.full(e.mask)
                out += (lanes.numbers[mask][:1] // lanes.threads).tolist()
                break
    return out


def executed_blocks(track: Track) -> NDArray[np.int64]:
    """The blocks that are in a track."""
    used = [track.lanes[n].block.ravel() for n in set(track.lanes_of)]
    return np.unique(np.concatenate([np.empty(0, np.int64), *used])).astype(np.int64)


def _sentence(whole: Track, track: Track) -> str:
    """What is left out, by the page or already by the recording."""
    blocks = executed_blocks(track)
    x, y, z = track.grid
    said = []
    if 0 < blocks.size < x * y * z:
        first, last = int(blocks[0]), int(blocks[-1])
        ranged = blocks.size > 2 and last - first + 1 == blocks.size
        some = [first, last] if ranged else blocks[:4].tolist()
        named = (" to " if ranged else ", ").join(_name(track, b) for b in some) + (
            ", ..." if len(some) < blocks.size and not ranged else ""
        )
        each = "block" if blocks.size == 1 else "blocks"
        has = "The recording has" if track is whole else "The page has room for"
        said.append(f"{has} {blocks.size} of {x * y * z} blocks: {each} {named}. `warplab record --html --blocks` chooses others.")
    if track.stopped and (track is whole or not whole.stopped):
        kept = "a larger `--record-limit`" if track is whole else "`warplab record -o`"
        said.append(f"It shows the first {sum(track.done):,} steps; {kept} keeps all of them.")
    return " ".join(said)


def _name(track: Track, block: int) -> str:
    """A block's coordinates."""
    used = 3 if track.grid[2] > 1 else 2 if track.grid[1] > 1 else 1
    at = track.blocks[block].tolist()[:used]
    return str(at[0]) if used == 1 else f"({','.join(map(str, at))})"
