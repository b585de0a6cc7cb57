"""What an instruction asks a texture for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .positions import Array

CUBE, LINE, VOLUME = "cube", "1d", "3d"


@dataclass(frozen=True, slots=True)
class Request:
    """Coordinates and what else may differ by lane, as arrays that broadcast to one shape."""

    geometry: str  # 1d, 2d, 3d or cube
    coordinates: Sequence[Array]  # of float32, or of int32: the numbers of texels
    layer: Array | None = None
    level: Array | None = None
    gradients: tuple[Sequence[Array], Sequence[Array]] | None = None
    offset: Sequence[Array] = ()
    sample: Array | None = None  # of several within a texel

    def _arrays(self) -> Iterator[Array]:
        yield from self.coordinates
        yield from self.offset
        for vector in self.gradients or ():
            yield from vector
        yield from (x for x in (self.layer, self.level, self.sample) if x is not None)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all of them together."""
        return np.broadcast_shapes(*(x.shape for x in self._arrays()))

    def each(self, f: Callable[[Array], Array]) -> Request:
        """The same of other arrays."""
        layer, level, sample = (None if x is None else f(x) for x in (self.layer, self.level, self.sample))
        gradients = None if self.gradients is None else ([f(x) for x in self.gradients[0]], [f(x) for x in self.gradients[1]])
        return Request(self.geometry, [f(x) for x in self.coordinates], layer, level, gradients, [f(x) for x in self.offset], sample)
