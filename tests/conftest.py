"""Property tests are judged by their results: a busy machine does not fail them.  The processes that tests start share bytecode."""

import os
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("warplab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("warplab")


def pytest_configure(config: pytest.Config) -> None:
    """Where Python is told to leave no bytecode beside the sources, each process would compile all of warplab, for longer than it runs."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        folder = os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="warplab-bytecode-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
