"""Writes tests/data/tensor_copies.json.xz: the recorded tensor copies, with a checksum in place of the bytes that came out.

PYTHONPATH=tests/importroot python -m tests.hardware.select_tensor_copies FOLDER...    wants the folders of whole recordings
"""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.runtime.driver.tensor_cases import checksum

KEPT = ("name", "group", "maps", "buffers", "symbols", "launches", "expect")


def main() -> None:
    """Reads the recordings, writes what is carried."""
    texts: dict[str, int] = {"": 0}
    cases: list[dict[str, Any]] = []
    for folder in map(Path, sys.argv[1:]):
        with np.load(folder / "outputs.npz") as arrays:
            for line in (folder / "index.jsonl").read_text().splitlines():
                recorded = json.loads(line)
                text = (folder / recorded["ptx"]).read_text() if recorded.get("ptx") else ""
                case = {key: recorded[key] for key in KEPT if recorded.get(key)}
                case["text"] = texts.setdefault(text, len(texts))
                if recorded["outputs"] and "expect" not in recorded:
                    case["outputs"] = {name: checksum(arrays[key]) for name, key in recorded["outputs"].items()}
                cases.append(case)
    data = json.dumps({"texts": list(texts), "cases": cases}, separators=(",", ":")).encode()
    out = Path(__file__).parents[1] / "data" / "tensor_copies.json.xz"
    out.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(cases)} cases, {len(texts)} texts, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
