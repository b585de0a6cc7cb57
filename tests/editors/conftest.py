"""A browser, as the tests of the player have it."""

from tests.runtime.chromium import browser

__all__ = ["browser"]
