"""What cuBLASLt's calls are told through descriptors: a product, the layout of a matrix, what is preferred. Attributes are kept as bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from ....device.memory.host import host
from ...handlers.abi import write
from ...handlers.special import HandledCall
from .handles import LIBRARY

COMPUTE, SCALE, POINTER_MODE, OF_A, OF_B, OF_C, FILL, EPILOGUE, BIAS = range(9)  # attributes of a product
BIAS_STEP, MULTIPROCESSORS, FAST_SUMS, BIAS_TYPE = 10, 15, 25, 26
TYPE, ORDER, ROWS, COLUMNS, DISTANCE, COUNT, STEP = range(7)  # of a layout
PLAIN = 1  # the epilogue that does nothing
FULL = 2  # the fill mode of a whole matrix
UNKNOWN = -1  # the type of a bias that has that of the result
WORDS = {8: struct.Struct("<q"), 4: struct.Struct("<i")}


@dataclass(eq=False)
class LightDescriptor:
    """Attributes by their numbers."""

    attributes: dict[int, bytes]

    def number(self, attribute: int, otherwise: int = 0) -> int:
        """The value of one."""
        raw = self.attributes.get(attribute)
        return otherwise if raw is None else int.from_bytes(raw, "little", signed=True)


class ProductDescriptor(LightDescriptor):
    """A product."""


class MatrixLayout(LightDescriptor):
    """A matrix, or several at equal distances."""


class Preferences(LightDescriptor):
    """What an algorithm should be like; there is one."""


def _words(*values: tuple[int, int, int]) -> dict[int, bytes]:
    return {attribute: WORDS[size].pack(value) for attribute, size, value in values}


def _product(c: HandledCall) -> ProductDescriptor:
    given = (COMPUTE, 4, c.given["computeType"]), (SCALE, 4, c.given["scaleType"])
    usual = *((a, 4, 0) for a in (POINTER_MODE, OF_A, OF_B, OF_C)), (FILL, 4, FULL), (EPILOGUE, 4, PLAIN), (BIAS, 8, 0), (BIAS_STEP, 8, 0)
    return ProductDescriptor(_words(*given, *usual, (MULTIPROCESSORS, 4, 0), (BIAS_TYPE, 4, UNKNOWN)) | {FAST_SUMS: b"\0"})


def _layout(c: HandledCall) -> MatrixLayout:
    g = c.given
    shape = (TYPE, 4, g["type"]), (ORDER, 4, 0), (ROWS, 8, g["rows"]), (COLUMNS, 8, g["cols"]), (DISTANCE, 8, g["ld"])
    return MatrixLayout(_words(*shape, (COUNT, 4, 1), (STEP, 8, 0)))


@LIBRARY.answers("cublasLtMatmulDescCreate")
def create_product(c: HandledCall) -> None:
    """The description of a product."""
    c.out("matmulDesc", "ptr", LIBRARY.made(_product(c)))


@LIBRARY.answers("cublasLtMatmulDescInit_internal")
def begin_product(c: HandledCall) -> None:
    """The description of a product, in memory of the program."""
    LIBRARY.objects[c.given["matmulDesc"]] = _product(c)


@LIBRARY.answers("cublasLtMatrixLayoutCreate")
def create_layout(c: HandledCall) -> None:
    """The layout of a matrix."""
    c.out("matLayout", "ptr", LIBRARY.made(_layout(c)))


@LIBRARY.answers("cublasLtMatrixLayoutInit_internal")
def begin_layout(c: HandledCall) -> None:
    """The layout of a matrix, in memory of the program."""
    LIBRARY.objects[c.given["matLayout"]] = _layout(c)


@LIBRARY.answers("cublasLtMatmulPreferenceCreate")
def create_preference(c: HandledCall) -> None:
    """What is preferred."""
    c.out("pref", "ptr", LIBRARY.made(Preferences({})))


@LIBRARY.answers("cublasLtMatmulPreferenceInit_internal")
def begin_preference(c: HandledCall) -> None:
    """What is preferred, in memory of the program."""
    LIBRARY.objects[c.given["pref"]] = Preferences({})


def _named(c: HandledCall) -> tuple[int, LightDescriptor]:
    handle = next(c.given[name] for name in ("matmulDesc", "matLayout", "pref") if name in c.given)
    return handle, LIBRARY.object(handle, LightDescriptor)


@LIBRARY.answers("cublasLtMatmulDescDestroy", "cublasLtMatrixLayoutDestroy", "cublasLtMatmulPreferenceDestroy")
def destroy(c: HandledCall) -> None:
    """The end of a descriptor."""
    del LIBRARY.objects[_named(c)[0]]


@LIBRARY.answers("cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutSetAttribute", "cublasLtMatmulPreferenceSetAttribute")
def set_attribute(c: HandledCall) -> None:
    """Sets an attribute; those that are known have a size."""
    g, (_, found) = c.given, _named(c)
    known = found.attributes.get(g["attr"])
    LIBRARY.check(bool(g["buf"]) and g["sizeInBytes"] > 0 and (known is None or len(known) <= g["sizeInBytes"]))
    found.attributes[g["attr"]] = host().read(g["buf"], len(known) if known else g["sizeInBytes"]).tobytes()


@LIBRARY.answers("cublasLtMatmulDescGetAttribute", "cublasLtMatrixLayoutGetAttribute", "cublasLtMatmulPreferenceGetAttribute")
def get_attribute(c: HandledCall) -> None:
    """An attribute, or how large it is."""
    g, (_, found) = c.given, _named(c)
    raw = found.attributes.get(g["attr"], b"")
    LIBRARY.check(
        bool(raw) and (bool(g["sizeWritten"]) or g["sizeInBytes"] >= len(raw)) and g["sizeInBytes"] in (0, *range(len(raw), 1 << 16))
    )
    if g["sizeInBytes"]:
        write(g["buf"], raw)
    write(g["sizeWritten"], np.uint64(len(raw)).tobytes())
