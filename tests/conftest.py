"""Property tests are judged by their results: a busy machine does not fail them.  The processes that tests start share bytecode."""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("warplab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("warplab")
gc.set_threshold(20_000)  # of the many objects that tests make and keep, few are in circles


def pytest_configure(config: pytest.Config) -> None:
    """Where Python is told to leave no bytecode beside the sources, each process would compile all of warplab, for longer than it runs."""
    cache: pytest.Cache | None = getattr(config, "cache", None)
    if cache is not None and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = str(cache.mkdir("bytecode"))


def pytest_collection_finish() -> None:
    """What has been made for all tests stays to the end: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()
