"""Which launches the checkers of a run watch, in compute-sanitizer's words: kernels by a regular expression, and so many behind so many."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warplab.assembler.demangle import short_name

from ...errors import UsageError


@dataclass(frozen=True, slots=True)
class LaunchFilter:
    """Launches are counted that have the name of a kernel that is to be watched."""

    kernels: str = ""  # a regular expression that finds the names, or ""
    excluded: str = ""
    skip: int = 0
    count: int | None = None

    def __post_init__(self) -> None:
        for option, pattern in (("--kernel-regex", self.kernels), ("--kernel-regex-exclude", self.excluded)):
            try:
                re.compile(pattern)
            except re.error as e:
                raise UsageError(f"{option} {pattern!r} is no regular expression: {e}") from None

    def names(self, kernel: str) -> bool:
        """Is this a kernel that is to be watched?"""
        both = (kernel, short_name(kernel))
        if self.excluded and any(re.search(self.excluded, name) for name in both):
            return False
        return not self.kernels or any(re.search(self.kernels, name) for name in both)

    def takes(self, number: int) -> bool:
        """Is the launch watched that is the n-th of such kernels, from 0 on?"""
        return number >= self.skip and (self.count is None or number < self.skip + self.count)
