"""A plugin of pytest: at most so many tests of a file, the same ones each time, and an end for those that take too long."""

from __future__ import annotations

import os
import signal
import zlib
from collections.abc import Iterator

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves the tests whose names have the smallest checksums."""
    most = int(os.environ.get("CLIENTS_MOST", 0))
    if 0 < most < len(items):
        kept = {id(i) for i in sorted(items, key=lambda i: zlib.crc32(i.nodeid.encode()))[:most]}
        items[:] = [i for i in items if id(i) in kept]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Ends a test after some time."""

    def too_late(*_: object) -> None:
        pytest.fail("it takes too long")

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(int(os.environ.get("CLIENTS_SECONDS", 120)))
    try:
        return (yield)
    finally:
        signal.alarm(0)
