"""Initialised arrays: many plain numbers at once are what each would be alone."""

from __future__ import annotations

import numpy as np
import pytest

from ..conftest import Host

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("u8", 0, 255), ("s16", -32768, 32767), ("b32", -(2**31), 2**32 - 1), ("u64", 0, 2**64 - 1), ("s64", -(2**63), 2**63 - 1)],
)
@pytest.mark.parametrize("count", [3, 200])
def test_arrays_of_numbers(host: Host, kind: str, low: int, high: int, count: int) -> None:
    bits = int(kind[1:])
    numbers = [low, high, *(low + (high - low) * n // count for n in range(count - 2))]
    module = host("cuModuleLoadData", f"{HEAD}.global .{kind} t[{count + 2}] = {{{', '.join(map(str, numbers))}}};\0".encode())
    at, size = host("cuModuleGetGlobal", module, b"t")
    assert size == (count + 2) * bits // 8
    want = [n % 2**bits for n in numbers] + [0, 0]
    assert host.download(at, np.zeros(count + 2, f"u{bits // 8}")).tolist() == want
