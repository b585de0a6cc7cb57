"""Cube maps: the face that a direction meets, and the texels beyond a face's edges; bit for bit as sm_90 has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..sfu.ordinary import rcp
from .digits import in_texels, total
from .positions import Array

# Of each face, +x -x +y -y +z -z: the axes that s and t run along, and their directions.
S_AXIS, S_SIGN = np.array([2, 2, 0, 0, 0, 0]), np.array([-1, 1, 1, 1, 1, -1])
AXIS, SIGN = np.array([0, 0, 1, 1, 2, 2]), np.array([1, -1, 1, -1, 1, -1])
T_AXIS, T_SIGN = np.array([1, 1, 2, 2, 1, 1]), np.array([-1, -1, 1, -1, -1, -1])


def projected(direction: Sequence[Array]) -> tuple[Array, list[Array]]:
    """The face that each direction meets, and where: from 0 to 1 along s and t."""
    scaled = _on_cube(np.stack(np.broadcast_arrays(*direction)).astype(np.float32))
    face = _face(scaled)
    s, t, _ = _along(scaled, face)
    return face, [(s + 1) * 0.5, (t + 1) * 0.5]


def moved(direction: Sequence[Array], gradient: Sequence[Array], extent: int) -> tuple[list[Array], Array]:
    """How far a gradient moves the points that directions meet, in texels: along s and t of their faces, and through the cube.

    Also which points reach another face.  The way to one beside their own is the sum of the ways to the edge and beyond it; the opposite
    one is as far away as a face is wide.
    """
    vector = np.stack(np.broadcast_arrays(*direction)).astype(np.float32)
    start = _on_cube(vector)
    face = _face(start)
    s, t, _ = _along(start, face)
    s_end, t_end, above = _along(_on_cube(vector + np.stack(np.broadcast_arrays(*gradient[:3])).astype(np.float32)), face)
    beyond_s = (np.abs(s_end) >= np.abs(t_end)) & (np.abs(above) < np.abs(s_end))
    beyond_t = ~beyond_s & (np.abs(t_end) > np.abs(above))
    behind = (above < 0) & ~beyond_s & ~beyond_t
    steps = []
    for start_at, end, beyond in ((s, s_end, beyond_s), (t, t_end, beyond_t)):
        side = np.sign(end)
        around = total(*(in_texels((1 - x) * 0.5, extent) for x in (side * start_at, above)))
        within = in_texels(((end - start_at) * 0.5).astype(np.float32).astype(np.float64), extent)
        steps.append(np.where(beyond, side * around, within))
    return [*steps, in_texels(behind.astype(np.float64), extent)], beyond_s | beyond_t | behind


def _on_cube(vector: Array) -> Array:
    """Where directions (3, ...) meet the cube, as float64."""
    size = np.abs(vector)
    scaled = (vector * rcp(np.maximum(np.maximum(size[0], size[1]), size[2]), True)).astype(np.float64)
    found: Array = np.where(scaled == scaled, scaled, 0.0)
    return found


def _face(point: Array) -> Array:
    size = np.abs(point)
    axis: Array = np.where(size[2] >= np.maximum(size[0], size[1]), 2, np.where(size[1] >= size[0], 1, 0))
    axis = 2 * axis + (np.take_along_axis(point, axis[None], 0)[0] < 0)
    return axis


def _along(point: Array, face: Array) -> tuple[Array, Array, Array]:
    """A point as s and t of a face, and its height above the cube's middle."""
    s, t, height = (
        sign[face] * np.take_along_axis(point, axis[face][None], 0)[0] for axis, sign in ((S_AXIS, S_SIGN), (T_AXIS, T_SIGN), (AXIS, SIGN))
    )
    return s, t, height


def across_edges(face: Array, row: Array, column: Array, size: Any) -> tuple[Array, Array, Array, Array]:
    """Texels by face, row and column, those beyond one edge on the face that adjoins there; and which lie beyond two, where there is none."""
    face, row, column, size = np.broadcast_arrays(face, row, column, size)
    beyond_s, beyond_t = (column < 0) | (column >= size), (row < 0) | (row >= size)
    # The middle of each texel, twice as far from the cube's middle as the faces are wide.
    s, t = 2 * column + 1 - size, 2 * row + 1 - size
    outward = size - (beyond_s | beyond_t)  # a texel beyond an edge lies half a texel below the old face
    s, t = np.clip(s, -size, size), np.clip(t, -size, size)
    point = np.zeros((3, *face.shape), np.int64)
    np.put_along_axis(point, (face >> 1)[None], (outward * np.where(face & 1, -1, 1))[None], 0)
    np.put_along_axis(point, S_AXIS[face][None], (s * S_SIGN[face])[None], 0)
    np.put_along_axis(point, T_AXIS[face][None], (t * T_SIGN[face])[None], 0)
    axis = np.where(beyond_s, S_AXIS[face], np.where(beyond_t, T_AXIS[face], face >> 1))
    new = 2 * axis + (np.take_along_axis(point, axis[None], 0)[0] < 0)
    s = S_SIGN[new] * np.take_along_axis(point, S_AXIS[new][None], 0)[0]
    t = T_SIGN[new] * np.take_along_axis(point, T_AXIS[new][None], 0)[0]
    inside = [np.clip((x + size - 1) >> 1, 0, size - 1) for x in (t, s)]
    return new, inside[0], inside[1], beyond_s & beyond_t


def share_weights(weights: Array, missing: Array) -> Array:
    """Weights where one texel of a quad is missing: the two beside it receive a third of its weight each, the opposite one the rest."""
    lost = np.where(missing, weights, 0).sum(axis=(-3, -2), keepdims=True)
    third = (2 * lost + 3) // 6
    opposite = missing[..., ::-1, ::-1, :]
    return np.where(missing, 0, weights + np.where(opposite, lost - 2 * third, third))


def share_touch(touched: Array, missing: Array) -> Array:
    """Which texels count where the missing one would have counted: the three others."""
    return ~missing & (touched | (missing & touched).any(axis=(-3, -2), keepdims=True))
