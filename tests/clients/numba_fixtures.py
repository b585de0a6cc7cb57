"""A plugin of pytest: the fixture that numba-cuda's tests want, which its package does not have."""

import pytest


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    """Sets what its repository has an option for: whether FileCheck's input is kept after a failure."""
    request.cls._dump_failed_filechecks = False
