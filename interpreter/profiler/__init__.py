"""The profiler: an observer that counts what a launch does to the memory hierarchy and to control flow, as frozen values."""

from .counters import Counters
from .profile import AccessProfile, AllocationProfile, BranchProfile, KernelProfile, LineProfile, Sample, SiteProfile, TexelSample

__all__ = [
    "AccessProfile", "AllocationProfile", "BranchProfile", "Counters", "KernelProfile", "LineProfile", "Sample", "SiteProfile", "TexelSample",
]  # fmt: skip
