"""How the debugger prints what x shows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMATS = "xduotafc"
WIDTHS = {"b": 1, "h": 2, "w": 4, "g": 8}


def typed(raw: NDArray[np.uint8], form: str, size: int) -> list[Any]:
    """Bytes as the numbers of x/8fw."""
    kind = np.dtype(f"f{size}") if form == "f" and size > 1 else np.dtype(f"u{size}")
    return list(raw.view(kind))
