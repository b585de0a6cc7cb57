"""Derives sobol.npz: what of Joe and Kuo's direction numbers (new-joe-kuo-6) cannot be computed, from the copy that SciPy brings.

pip install scipy
python -m tools.derive_sobol
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from warplab.runtime.exec.standins.curand import sobol

TO = Path(sobol.__file__).with_name("sobol.npz")


def packed(polynomials: Any, first: Any) -> dict[str, Any]:
    """The polynomial of each dimension; the bits of its first numbers above the last, which is set: by degree, number, dimension."""
    degrees = np.array([int(p).bit_length() - 1 for p in polynomials])
    bits: list[Any] = []
    for degree in np.unique(degrees[1:]).tolist():
        rows = first[degrees == degree]
        bits += [(rows[:, n, None] >> np.arange(n, 0, -1) & 1).ravel() for n in range(1, degree)]
    return {"polynomials": polynomials.astype(np.uint32), "chosen": np.packbits(np.concatenate(bits).astype(np.uint8))}


if __name__ == "__main__":
    with np.load(str(files("scipy.stats").joinpath("_sobol_direction_numbers.npz"))) as file:
        polynomials, first = (file[name][: sobol.DIMENSIONS] for name in ("poly", "vinit"))
    np.savez_compressed(TO, **packed(polynomials, first))
