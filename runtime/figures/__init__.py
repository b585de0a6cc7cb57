"""The figures of lectures, for numbers of one's own: accesses, occupancy, rooflines and divergence as SVG, in notebooks and as files."""

from __future__ import annotations

from .divergence import divergence
from .figure import Figure
from .residency import occupancy
from .roofs import roofline
from .sliders import SlidingFigure, sliders
from .warp import banks, coalescing

__all__ = ["Figure", "SlidingFigure", "banks", "coalescing", "divergence", "occupancy", "roofline", "sliders"]
