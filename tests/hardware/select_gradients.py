"""Writes tests/data/textures/gradients.npz from what record_gradients.cu recorded.

python -m tests.hardware.select_gradients FOLDER [LANES]    wants the folder of the recording; LANES of each configuration's levels are kept
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).parents[1] / "data" / "textures" / "gradients.npz"
RECORD = np.dtype([("lane", "<u2"), ("texel", "<u2"), ("weight", "<u2")])
KINDS = {"levels": np.dtype("<f4"), "footprints": RECORD}
FOOTPRINTS = 8  # so many times fewer of them are kept


def main() -> None:
    """Reads the recording, writes what is carried."""
    folder, lanes = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 400
    kept: dict[str, Any] = {}
    for kind, dtype in KINDS.items():
        raw, at = (folder / f"{kind}.bin").read_bytes(), 0
        heads, clamps = [], []
        while at < len(raw):
            head = np.frombuffer(raw, "<i4", 8, at)
            inputs = np.frombuffer(raw, "<f4", 9 * head[5], at + 40).reshape(-1, 9)
            records = np.frombuffer(raw, dtype, head[6], at + 40 + inputs.nbytes)
            heads.append(head)
            clamps.append(np.frombuffer(raw, "<f4", 2, at + 32))
            at += 40 + inputs.nbytes + records.nbytes
            few = lanes if kind == "levels" else lanes // FOOTPRINTS
            k = len(heads) - 1
            kept[f"{kind}-inputs-{k}"] = inputs[:few]
            kept[f"{kind}-{k}"] = np.rint(records[:few] * 256).astype(np.int16) if kind == "levels" else records[records["lane"] < few]
        kept[f"{kind}-heads"], kept[f"{kind}-clamps"] = np.array(heads), np.array(clamps)
    np.savez_compressed(OUT, **kept)


if __name__ == "__main__":
    main()
