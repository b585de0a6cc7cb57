"""What textures and surfaces are (PTX ISA 9.7.12.5-6, 9.7.13.4): txq, suq, istypep."""

from collections.abc import Callable

import numpy as np

from ..facts import Need, facts
from ..notation import instruction
from ..ports import Array, Lanes
from ..textures.queries import Resource, level_extent, surface_property, texture_property
from .texture import HANDLES

TXQ, ISTYPEP, SUQ = "9.7.12.5", "9.7.12.6", "9.7.13.4"

facts("txq suq", demands=HANDLES)
facts("txq", leading="level", handles=("texref",))
facts("suq", handles=("surfref",))
facts("istypep", refuses_addresses=True)


def _by_handle(lanes: Lanes, a: Array, answer: Callable[[Resource], Array | int]) -> Array:
    """What each lane's handle answers; 0 where it stands for nothing."""
    found = np.zeros((1, 1), np.uint32)
    for resource, mask in lanes.resources(a):
        value = np.uint32(0) if resource is None else np.asarray(answer(resource), np.uint32)
        found = np.where(True if mask is None else mask, value, found)
    return found


NOT_COMPILED = "The H200's driver compiles no module with this query; the answer is the manual's."
NOT_FOUND, NOT_SUPPORTED = "CUDA_ERROR_NOT_FOUND", "CUDA_ERROR_NOT_SUPPORTED"
_QUERIES = (  # what, of which variables, how the driver refuses it
    ("width height depth", ("texref",), ""),
    ("channel_data_type channel_order normalized_coords array_size num_mipmap_levels num_samples", ("texref",), NOT_FOUND),
    ("filter_mode addr_mode_0 addr_mode_1 addr_mode_2", ("texref", "samplerref"), NOT_FOUND),
    ("force_unnormalized_coords", ("samplerref",), NOT_FOUND),
)


def txq(lanes: Lanes, a: Array, *, query: str) -> Array:
    """d = a property of the texture or sampler a."""
    return _by_handle(lanes, a, lambda resource: texture_property(resource, query))


for _query, _kinds, _refused in _QUERIES:
    instruction(
        "txq.query.b32  d, [a]",
        query=_query,
        ptx=1.5,
        sm=10,
        needs={"array_size": Need(4.1, 10), "num_mipmap_levels": Need(4.1, 10), "num_samples": Need(4.1, 30)},
        section=TXQ,
        facts={"handles": _kinds, "not_compiled": _refused},
        doc=f"{txq.__doc__}{' ' + NOT_COMPILED if _refused else ''}",
    )(txq)


@instruction("txq.level.query.b32  d, [a], b:u32", query="width height depth", ptx=4.3, sm=30, section=TXQ)
def txq_level(lanes: Lanes, a: Array, b: Array, *, query: str) -> Array:
    """d = the extent of level b of the texture a; 0 if there is no such level."""
    return _by_handle(lanes, a, lambda resource: level_extent(resource.image, query, b))


def suq(lanes: Lanes, a: Array, *, query: str) -> Array:
    """d = a property of the surface a."""
    return _by_handle(lanes, a, lambda resource: surface_property(resource, query))


for _query, _refused in (("width height depth", ""), ("channel_data_type channel_order array_size memory_layout", NOT_SUPPORTED)):
    instruction(
        "suq.query.b32  d, [a]",
        query=_query,
        ptx=1.5,
        sm=11,
        needs={"array_size": Need(4.1, 20), "memory_layout": Need(4.2, 20)},
        section=SUQ,
        facts={"not_compiled": _refused},
        doc=f"{suq.__doc__}{' ' + NOT_COMPILED if _refused else ''}",
    )(suq)


@instruction("istypep.kind  p, a:u64", kind="texref samplerref surfref", ptx=4.0, sm=30, section=ISTYPEP)
def istypep(lanes: Lanes, a: Array, *, kind: str) -> Array:
    """p = "the handle a is that of a variable of the kind"; objects of the host are of none."""
    return lanes.is_variable(a, kind)
