"""cuSPARSE's handles, and descriptors of sparse matrices, dense matrices and vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....cudart.api import context
from ...handlers.special import HandledCall
from ..calls import StandIn
from ..memory import CUDA_TYPES, Array, NumberType, matrix, vector

CUSPARSE = StandIn("cuSPARSE", not_initialized=1, invalid_value=3, failed=6, not_supported=10)
VERSION = (12, 6, 0)
STATUSES = {
    0: ("CUSPARSE_STATUS_SUCCESS", "success"),
    1: ("CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"),
    2: ("CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"),
    3: ("CUSPARSE_STATUS_INVALID_VALUE", "invalid value"),
    4: ("CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"),
    6: ("CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"),
    7: ("CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"),
    10: ("CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"),
}
ROWS = 2  # the order of a dense matrix whose rows are dense
INDICES: dict[int, np.dtype[Any]] = {1: np.dtype("u2"), 2: np.dtype("i4"), 3: np.dtype("i8")}  # by cusparseIndexType_t
CSR, CSC, COO = "Csr", "Csc", "Coo"


@dataclass
class SparseHandle:
    """What calls share."""

    stream: int = 0
    mode: int = 0


@dataclass
class SparseMatrix:
    """A sparse matrix: rows or columns one behind the other, or triples."""

    form: str
    rows: int
    columns: int
    count: int
    offsets: int  # of triples their rows
    indices: int
    values: int
    types: tuple[NumberType, NumberType]  # of offsets and indices
    base: int
    kind: NumberType

    def outer(self) -> Array:
        """The rows, or in the form CSC the columns, of all values."""
        if self.form == COO:
            return vector(self.offsets, self.count, 1, self.types[0], False).astype(np.int64) - self.base
        lines = self.columns if self.form == CSC else self.rows
        ends = vector(self.offsets, lines + 1, 1, self.types[0], False).astype(np.int64)
        return np.repeat(np.arange(lines), ends[1:] - ends[:-1])

    def triples(self) -> tuple[Array, Array, Array]:
        """The rows, the columns and the values."""
        outer = self.outer()
        inner = vector(self.indices, self.count, 1, self.types[1], False).astype(np.int64) - self.base
        values = self.kind.load(vector(self.values, self.count, 1, self.kind, False))
        return (inner, outer, values) if self.form == CSC else (outer, inner, values)


@dataclass
class DenseVector:
    """A vector."""

    size: int
    values: int
    kind: NumberType

    def view(self) -> Array:
        """Its numbers."""
        return vector(self.values, self.size, 1, self.kind)


@dataclass
class DenseMatrix:
    """A dense matrix."""

    rows: int
    columns: int
    distance: int
    values: int
    kind: NumberType
    by_rows: bool

    def view(self) -> Array:
        """Its numbers."""
        if self.by_rows:
            return matrix(self.values, self.columns, self.rows, self.distance, self.kind).T
        return matrix(self.values, self.rows, self.columns, self.distance, self.kind)


def sparse_handle(c: HandledCall) -> SparseHandle:
    """The handle of a call."""
    return CUSPARSE.object(c.given["handle"], SparseHandle)


def number_type(c: HandledCall, name: str) -> NumberType:
    """The type of numbers that a call names."""
    found = CUDA_TYPES.get(c.given[name])
    if found is None:
        raise CUSPARSE.refuse(f"numbers of cudaDataType {c.given[name]}")
    return found


def _index_type(c: HandledCall, name: str) -> NumberType:
    CUSPARSE.check(c.given[name] in INDICES)
    found = INDICES[c.given[name]]
    return NumberType(found, found)


# ---------------------------------------------------------------- handles


@CUSPARSE.answers("cusparseCreate")
def create(c: HandledCall) -> None:
    """A new handle."""
    context()
    c.out("handle", "ptr", CUSPARSE.made(SparseHandle()))


@CUSPARSE.answers("cusparseDestroy")
def destroy(c: HandledCall) -> None:
    """The end of a handle."""
    sparse_handle(c)
    del CUSPARSE.objects[c.given["handle"]]


@CUSPARSE.answers("cusparseGetVersion")
def version(c: HandledCall) -> None:
    """The release that the stand-in passes for."""
    c.out("version", "i32", VERSION[0] * 1000 + VERSION[1] * 100 + VERSION[2])


@CUSPARSE.answers("cusparseGetProperty")
def release(c: HandledCall) -> None:
    """A part of the release."""
    CUSPARSE.check(0 <= c.given["type"] < 3)
    c.out("value", "i32", VERSION[c.given["type"]])


@CUSPARSE.answers("cusparseGetErrorName")
def error_name(c: HandledCall) -> int:
    """The name of a code."""
    return c.strings.string(STATUSES.get(c.given["status"], ("CUSPARSE_STATUS_UNKNOWN", ""))[0].encode())


@CUSPARSE.answers("cusparseGetErrorString")
def error_text(c: HandledCall) -> int:
    """What a code means."""
    return c.strings.string(STATUSES.get(c.given["status"], ("", "unknown error"))[1].encode())


@CUSPARSE.answers("cusparseSetStream")
def set_stream(c: HandledCall) -> None:
    """The stream of later calls."""
    sparse_handle(c).stream = c.given["streamId"]


@CUSPARSE.answers("cusparseGetStream")
def get_stream(c: HandledCall) -> None:
    """The stream of later calls."""
    c.out("streamId", "ptr", sparse_handle(c).stream)


@CUSPARSE.answers("cusparseSetPointerMode")
def set_mode(c: HandledCall) -> None:
    """Where scalars are."""
    sparse_handle(c).mode = c.given["mode"]


@CUSPARSE.answers("cusparseGetPointerMode")
def get_mode(c: HandledCall) -> None:
    """Where scalars are."""
    c.out("mode", "i32", sparse_handle(c).mode)


# ---------------------------------------------------------------- descriptors


def _sparse(form: str) -> None:
    @CUSPARSE.answers(f"cusparseCreate{form}", f"cusparseCreateConst{form}")
    def answer(c: HandledCall) -> None:
        g = c.given
        CUSPARSE.check(min(g["rows"], g["cols"], g["nnz"]) >= 0 and g["base"] in (0, 1))
        indices = _index_type(c, "indicesType")
        types = indices if form == COO else _index_type(c, "offsetsType"), indices
        offsets = g["rowIndices" if form == COO else "offsets"]
        out = SparseMatrix(
            form, g["rows"], g["cols"], g["nnz"], offsets, g["indices"], g["values"], types, g["base"], number_type(c, "valueType")
        )
        c.out("descr", "ptr", CUSPARSE.made(out))


for _form in (CSR, CSC, COO):
    _sparse(_form)


@CUSPARSE.answers("cusparseCreateDnVec", "cusparseCreateConstDnVec")
def create_vector(c: HandledCall) -> None:
    """A vector."""
    CUSPARSE.check(c.given["size"] >= 0)
    c.out("descr", "ptr", CUSPARSE.made(DenseVector(c.given["size"], c.given["values"], number_type(c, "valueType"))))


@CUSPARSE.answers("cusparseCreateDnMat", "cusparseCreateConstDnMat")
def create_matrix(c: HandledCall) -> None:
    """A dense matrix."""
    g, by_rows = c.given, c.given["order"] == ROWS
    CUSPARSE.check(g["order"] in (1, ROWS) and min(g["rows"], g["cols"]) >= 0 and g["ld"] >= (g["cols"] if by_rows else g["rows"]))
    c.out("descr", "ptr", CUSPARSE.made(DenseMatrix(g["rows"], g["cols"], g["ld"], g["values"], number_type(c, "valueType"), by_rows)))


@CUSPARSE.answers("cusparseDestroySpMat", "cusparseDestroyDnVec", "cusparseDestroyDnMat")
def destroy_descriptor(c: HandledCall) -> None:
    """The end of a descriptor; null is ignored."""
    CUSPARSE.objects.pop(c.given["descr"], None)


@CUSPARSE.answers("cusparseSpMatGetSize")
def sparse_size(c: HandledCall) -> None:
    """The sizes of a sparse matrix."""
    a = CUSPARSE.object(c.given["descr"], SparseMatrix)
    for name, value in (("rows", a.rows), ("cols", a.columns), ("nnz", a.count)):
        c.out(name, "i64", value)


@CUSPARSE.answers("cusparseCsrSetPointers", "cusparseCscSetPointers")
def set_pointers(c: HandledCall) -> None:
    """Where a sparse matrix stands."""
    a = CUSPARSE.object(c.given["descr"], SparseMatrix)
    a.offsets, a.indices, a.values = c.given["offsets"], c.given["indices"], c.given["values"]


@CUSPARSE.answers("cusparseDnVecSetValues", "cusparseDnMatSetValues", "cusparseSpMatSetValues")
def set_values(c: HandledCall) -> None:
    """Where values stand."""
    found = CUSPARSE.object(c.given["descr"], object)
    assert isinstance(found, SparseMatrix | DenseVector | DenseMatrix)
    found.values = c.given["values"]
