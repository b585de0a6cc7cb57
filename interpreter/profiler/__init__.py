"""The profiler: an observer that counts what a launch does to the memory hierarchy and to control flow, as frozen values."""

from .counters import Counters
from .profile import KernelProfile
from .sites import AccessProfile, AllocationProfile, BranchProfile, LineProfile, Sample, SiteProfile, TexelSample

__all__ = [
    "AccessProfile", "AllocationProfile", "BranchProfile", "Counters", "KernelProfile", "LineProfile", "Sample", "SiteProfile", "TexelSample",
]  # fmt: skip
