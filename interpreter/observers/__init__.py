"""What listens to a launch: counters of the memory hierarchy and of the control flow, as frozen values."""

from .counters import Counters
from .profile import AccessProfile, AllocationProfile, BranchProfile, KernelProfile, LineProfile, Sample, SiteProfile

__all__ = ["AccessProfile", "AllocationProfile", "BranchProfile", "Counters", "KernelProfile", "LineProfile", "Sample", "SiteProfile"]
