"""Products of matrices in tensor memory and shared memory (PTX ISA 9.7.18.10): tcgen05.mma, its sparse, scaled and .ws forms."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..facts import Need
from ..floats import tensor
from ..notation import instruction
from ..ports import Addresses, Array, Lanes, Mask
from ..tensor_columns import TensorMemory
from ..tensor_memory import descriptors, layouts, products
from ..tensor_memory.descriptors import MmaShape
from ..tensor_memory.layouts import DataPath
from .tcgen05 import GROUP, ILLEGAL, NEED, OUTSIDE, at, cell, check_columns, issuers, read_shared

F = TypeVar("F", bound=Callable[..., Any])

ONLY_A = {"kind::i8": Need(8.6, 100, "a")}
BLOCKS = {"block16": Need(8.8, 100, "f"), "block32": Need(8.8, 100, "f")}
PLAIN = "kind::f16 kind::tf32 kind::f8f6f4 kind::i8"
SCALED = {"mxf8f6f4": "scale_vec::1X block32", "mxf4": "scale_vec::2X block32", "mxf4nvf4": "scale_vec::2X scale_vec::4X block16 block32"}
A = ("a:b64", "[a]")
SPARSE = (("", ""), (".sp", ", [e]"))
COLLECT_A = tuple(f"collector::a::{use}" for use in ("fill", "use", "lastuse", "discard"))
COLLECT_B = tuple(f"collector::b{n}::{use}" for n in range(4) for use in ("fill", "use", "lastuse", "discard"))


# ---------------------------------------------------------------- one multiplication


@dataclass(frozen=True, slots=True)
class Multiplication:
    """One instruction of one thread: its shape, the CTAs that take part, and where it finds what."""

    lanes: Lanes
    mask: Mask  # the thread
    shape: MmaShape
    path: DataPath
    ctas: tuple[int, ...]
    d: int
    a: int
    a_in_tensor: bool
    b: int
    metadata: int
    shifts: bool
    factors: tuple[int, int]  # addresses
    chunks: int  # of k, each with a factor
    zeros: int  # the descriptor of columns that count as zeros, 0: none

    def refuse(self, kind: str, text: str) -> None:
        """Ends the launch with a fault of the thread."""
        self.lanes.refuse(kind, text, self.mask)

    def start(self, address: int, what: str) -> tuple[int, int]:
        """The lane and the column of an address: lane 0, or 16 where matrices lie in halves."""
        lane, column = cell(address)
        allowed = (0, 16) if self.path.halves else (0,)
        if lane not in allowed:
            self.refuse(OUTSIDE, f"{what} begins at lane {lane}; with M = {self.shape.m} it does at {' or '.join(map(str, allowed))}")
        return lane, column

    def checked(self, memory: TensorMemory, column: int, count: int, what: str) -> None:
        """These columns have been allocated."""
        check_columns(self.lanes, memory, column, count, what, self.mask)

    def shared_matrix(self, descriptor: int, cta: int, rows: int, k: int, kind: str, turned: bool, what: str) -> Array:
        """The codes of a matrix in shared memory, (rows, k)."""
        s = self.shape
        matrix = descriptors.matrix(descriptor)
        if turned and (matrix.chunk == 32) != (s.bits == 32):
            raise ValueError("128-byte swizzling of 32 bytes goes with a transposed matrix of 32-bit elements, and no other does")
        outer, inner = (-(-rows * s.bits // 128), k) if turned else (rows, -(-k * s.bits // 128))
        pieces = read_shared(self.lanes, cta, matrix.pieces(outer, inner, turned), what, self.mask)
        return products.from_shared(pieces, s, kind, turned)[:rows, :k]

    def a_matrix(self, cta: int, bank: int) -> Array:
        """The codes of a CTA's rows of A, (rows, stored)."""
        s = self.shape
        if not self.a_in_tensor:
            return self.shared_matrix(self.a, cta, self.path.rows, s.stored, s.a, s.turned[0], "A")
        memory, (lane, column) = self.lanes.tensor_cores.memory(cta), self.start(self.a, "A")
        count = s.stored * s.bits // 32
        self.checked(memory, column, count, "A")
        rows = self.path.lanes(bank) + lane
        if self.shifts:
            rows = np.append(rows[1:], rows[-1])
        return products.from_tensor(memory.cells[rows, column : column + count], s, s.a)

    def b_matrix(self) -> Array:
        """The codes of B, (n, k): each CTA of the group has its part of the columns in its shared memory."""
        s = self.shape
        shift = descriptors.column_shift(self.zeros, s) if self.zeros else 0
        each = s.n // s.ctas
        parts = [self.shared_matrix(self.b, cta, each + shift, s.k, s.b, s.turned[1], "B") for cta in self.ctas]
        return np.concatenate([part[shift:] for part in parts])

    def kept(self, cta: int, bank: int) -> Array | None:
        """The columns that the stored elements of A stand in, (rows, stored); None where A is dense."""
        s = self.shape
        if not s.sparse:
            return None
        memory, (lane, column) = self.lanes.tensor_cores.memory(cta), self.start(self.metadata, "the metadata")
        self.checked(memory, column, 1 + s.selector if s.bits >= 16 else 2, "the metadata")
        nibbles = layouts.metadata(memory.cells, self.path, bank, lane, column, s)
        if (nibbles >> 2 == nibbles & 3).any() and s.bits < 32:
            self.refuse(ILLEGAL, "the metadata of A names one element of a group twice")
        return tensor.kept(nibbles[..., None].astype(np.intp), s.bits)[..., 0]

    def block_factors(self, which: int, cta: int, bank: int, rows: int, joint: int) -> tensor.Terms:
        """The factors of A (0) or B (1) for some rows, (chunks, rows)."""
        s, memory = self.shape, self.lanes.tensor_cores.memory(cta)
        lane, column = cell(self.factors[which])
        name, first = ("A", "B")[which], s.factor_ids[which]
        step = {1: 1, 2: 2, 4: 4, 3: 1, 6: 2}[self.chunks]
        if lane or first % step:
            self.refuse(
                ILLEGAL,
                f"the factors of {name} begin at lane 0 and at a byte that is a multiple of {step}; here at lane {lane}, byte {first}",
            )
        self.checked(memory, column, layouts.factor_columns(joint, self.chunks, first), f"the factors of {name}")
        codes = layouts.factors(memory.cells, self.path.rows * bank, column, rows, self.chunks, first, joint)
        return tensor.terms(codes, s.factors)

    def run(self, keeps: bool, scale: int, disabled: Array) -> None:
        """D = A * B, and D * 2**-scale added where it `keeps` D; `disabled` lanes, (CTAs, 128), are left as they are."""
        s, path = self.shape, self.path
        lane, column = self.start(self.d, "D")
        width = s.n // path.banks
        for cta in self.ctas:
            self.checked(self.lanes.tensor_cores.memory(cta), column, width, "D")
        b = self.b_matrix()
        zeros = descriptors.zero_columns(self.zeros, s.m, s.n) if self.zeros else None
        if s.kind == "i8":
            b_terms = None
            b = b if zeros is None else np.where(zeros[:, None], b.dtype.type(0), b)
        else:
            b_terms = products.numbers(b, s.b, s.negates[1])
            b_terms = b_terms if zeros is None else products.zeroed(b_terms, zeros)
        results = []
        for number, cta in enumerate(self.ctas):
            memory = self.lanes.tensor_cores.memory(cta)
            for bank in range(path.banks):
                columns = slice(bank * width, bank * width + width)
                a, kept = self.a_matrix(cta, bank), self.kept(cta, bank)
                rows = path.lanes(bank) + lane
                cells = memory.cells[rows, column : column + width]
                before = cells if keeps else np.zeros_like(cells)
                if b_terms is None:
                    words = products.integer_product(a, b[columns], before, kept, (s.a, s.b), s.saturates)
                else:
                    left, right = products.numbers(a, s.a, s.negates[0]), b_terms[:, columns]
                    if s.factors:
                        left = tensor.scaled(left, self.block_factors(0, cta, bank, path.rows, path.rows))
                        right = tensor.scaled(right, self.block_factors(1, cta, bank, width, width))
                    words = products.float_product(left, right, products.accumulator(before, s.d, scale), kept, s.d)
                enabled = ~disabled[number, rows]
                results.append((memory, rows[enabled], words[enabled]))
        for memory, rows, words in results:
            memory.cells[rows, column : column + width] = words


def _multiply(
    lanes: Lanes, group: str, kind: str, d: Addresses, a: Array, b: Array, rest: tuple[Any, ...], addressed: tuple[str, ...],
    *, sp: bool = False, ws: bool = False, ashift: bool = False, chunks: int = 0,
) -> None:  # fmt: skip
    """One of the rows below; `rest` are its operands behind b."""
    operands = list(rest)
    e = operands.pop(0) if sp else 0
    i = operands.pop(0)
    mask_words: tuple[Array, ...] = operands.pop(0) if isinstance(operands[0], tuple) else ()
    x, y = (operands.pop(0), operands.pop(0)) if chunks else (0, 0)
    s, last = operands[0], operands[1] if len(operands) > 1 else 0
    scale, z = (0, last) if ws else (last, 0)
    for place, mask, ctas in issuers(lanes, group):

        def one(value: Any, place: int = place, shape: tuple[int, ...] = mask.shape) -> int:
            return at(value, place, shape)

        try:
            shape = descriptors.instruction(one(i), kind.removeprefix("kind::"), len(ctas), sp, ws)
            if ashift and shape.m // len(ctas) != 128:
                raise ValueError(f".ashift goes with M = {128 * len(ctas)}; the instruction descriptor says {shape.m}")
            own_chunks = chunks if shape.k != 96 else chunks * 3 // 2
            Multiplication(
                lanes, mask, shape, layouts.data_path(shape), ctas, one(d), one(a), "a" in addressed, one(b), one(e), ashift,
                (one(x), one(y)), own_chunks, one(z),
            ).run(bool(one(s)), int(scale), _disabled([one(word) for word in mask_words], len(ctas)))  # fmt: skip
        except ValueError as wrong:
            lanes.refuse(ILLEGAL, str(wrong), mask)


def _disabled(words: list[int], ctas: int) -> Mask:
    """Which lanes of each CTA a mask of one bit a lane names."""
    if not words:
        return np.zeros((ctas, 128), np.bool_)
    return np.unpackbits(np.array(words, np.uint32).view(np.uint8), bitorder="little").astype(np.bool_).reshape(ctas, 128)


# ---------------------------------------------------------------- rows


def _rows(meaning: F) -> F:
    """Registers tcgen05.mma and tcgen05.mma.sp without factors, with A in shared memory and in tensor memory."""
    for a, (sparse, meta), (group, count) in itertools.product(A, SPARSE, (("cta_group::1", 4), ("cta_group::2", 8))):
        for mask, scale in itertools.product(("", f", k*{count}:b32"), ("", ", #z")):
            # Shifting needs an A in tensor memory, whose collector then may not keep it.
            for shift, collect in (("", COLLECT_A), (".ashift", COLLECT_A[2:]))[: 1 + (a == "[a]")]:
                instruction(
                    f"tcgen05.mma{sparse}.group.kind{shift}{{.collector}}  [d], {a}, b:b64{meta}, i:b32{mask}, {{!}}s{scale}",
                    group=group, kind=PLAIN if not scale else "kind::f16 kind::tf32", collector=collect,
                    section="9.7.18.10.9.2" if sparse else "9.7.18.10.9.1", needs={} if scale else ONLY_A, **NEED,
                )(meaning)  # fmt: skip
    return meaning


@_rows
def mma(
    lanes: Lanes, d: Addresses, a: Array, b: Array, *rest: Any, group: str, kind: str, collector: str = "", sp: bool = False,
    ashift: bool = False, addressed: tuple[str, ...] = (),
) -> None:  # fmt: skip
    """D at d = A * B, plus D * 2**-z where s is true.

    A lies in tensor memory at [a] or in shared memory as the descriptor a says, B as b says; i says what they are.  Lanes whose bit is
    set in k keep their D.  Of a sparse A the metadata at e says which half of its elements is stored; .ashift takes each row of A
    from the next lane, but for the last.
    """
    _multiply(lanes, group, kind, d, a, b, rest, addressed, sp=sp, ashift=ashift)


def _scaled_rows(meaning: F) -> F:
    """Registers the forms with factors."""
    for a, (sparse, meta), (kind, vectors) in itertools.product(A, SPARSE, SCALED.items()):
        # The size of the scaled blocks may be left out from PTX 8.8 on, where the kind leaves no choice.
        for written in (".vectors", "")[: 1 + (kind != "mxf4nvf4")]:
            sizes: dict[str, Any] = {"vectors": vectors} if written else {}
            instruction(
                f"tcgen05.mma{sparse}.group.kind.block_scale{written}{{.collector}}  [d], {a}, b:b64{meta}, i:b32, [x], [y], {{!}}s",
                group=GROUP, kind=f"kind::{kind}", collector=COLLECT_A, section="9.7.18.10.9.2" if sparse else "9.7.18.10.9.1",
                **sizes,
                ptx=(8.7 if kind == "mxf4nvf4" else 8.6) if written else 8.8, sm=100, arch="f",
                needs={k: v for k, v in BLOCKS.items() if k in vectors.split()} if written else {},
            )(meaning)  # fmt: skip
    return meaning


@_scaled_rows
def mma_scaled(
    lanes: Lanes, d: Addresses, a: Array, b: Array, *rest: Any, group: str, kind: str, vectors: str = "", collector: str = "",
    sp: bool = False, addressed: tuple[str, ...] = (),
) -> None:  # fmt: skip
    """D at d = A * B, plus D where s is true, A and B being multiplied chunk by chunk along k by the factors in tensor memory at x and y."""
    chunks = 1 if kind == "kind::mxf8f6f4" else 4 if vectors in ("scale_vec::4X", "block16") else 2
    _multiply(lanes, group, kind, d, a, b, rest, addressed, sp=sp, chunks=chunks)


def _stationary_rows(meaning: F) -> F:
    """Registers the forms that keep B in the tensor core."""
    for a, (sparse, meta) in itertools.product(A, SPARSE):
        instruction(
            f"tcgen05.mma.ws{sparse}.cta_group::1.kind{{.collector}}  [d], {a}, b:b64{meta}, i:b32, {{!}}s{{, z:b64}}",
            kind=PLAIN, collector=COLLECT_B, section="9.7.18.10.9.4" if sparse else "9.7.18.10.9.3", needs=ONLY_A, **NEED,
        )(meaning)  # fmt: skip
    return meaning


@_stationary_rows
def mma_ws(
    lanes: Lanes, d: Addresses, a: Array, b: Array, *rest: Any, kind: str, collector: str = "", sp: bool = False,
    addressed: tuple[str, ...] = (),
) -> None:  # fmt: skip
    """D at d = A * B, plus D where s is true; z shifts the columns of B and says which count as zeros."""
    _multiply(lanes, "cta_group::1", kind, d, a, b, rest, addressed, sp=sp, ws=True)
