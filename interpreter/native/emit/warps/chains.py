"""Matrix instructions whose sums are chains of fma: each lane computes the elements of the result that it holds, with operands from other lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa import fragments
from warplab.isa.floats import binary64
from warplab.isa.floats.binary32 import canonical, fma32
from warplab.isa.fragments import Layout
from warplab.isa.ops import mma as isa_mma
from warplab.isa.ops import wmma as isa_wmma
from warplab.isa.ops.mma import size

from ...trace.code import VectorCode
from ...trace.symbol import SymbolicArray, lift
from ...trace.ufuncs import select
from .matrices import Registers, full
from .product import LANES
from .rules import Warp, rule

F64 = np.dtype(np.float64)


class FragmentElements:
    """The registers of a fragment, from which each lane may take an element."""

    def __init__(self, registers: Sequence[SymbolicArray], layout: Layout) -> None:
        self.registers = registers
        self.layout = layout

    def taken(self, row: NDArray[Any], column: NDArray[Any], tile: NDArray[Any] | int = 0) -> Any:
        """The element that each lane asks for."""
        of = self.layout
        places = of.places()[(tile * of.rows + row) * of.columns + column]
        which, where = np.divmod(places, self.registers[0].lanes)
        out: Any = None
        for r in np.unique(which):
            v = self.registers[r].shuffled(where.tolist())
            out = v if out is None else select(_lanes(v.code, which == r), v, out)
        return out


def _lanes(code: VectorCode, lanes: NDArray[np.bool_]) -> SymbolicArray:
    words = ", ".join("i1 true" if x else "i1 false" for x in lanes)
    return SymbolicArray(code, f"<{words}>", np.dtype(np.bool_), len(lanes))


def _chain(warp: Any, a: Registers, b: Registers, c: Registers, layouts: Sequence[Layout], rounding: str) -> Registers:
    """See tensor.fma_chain; the layouts are those of A, B and C."""
    code = warp.code
    inputs = [[full(warp, r, F64) for r in registers] for registers in (a, b, c)]
    x, y = (FragmentElements(*o) for o in zip(inputs[:2], layouts[:2], strict=True))
    out = []
    for register, total in enumerate(inputs[2]):
        row, column = layouts[2].row[register, :, 0], layouts[2].column[register, :, 0]
        for k in range(layouts[0].columns):
            along = np.full(LANES, k)
            given = ", ".join(f"{v.type} {v.value}" for v in (x.taken(row, along), y.taken(along, column), total))
            total = SymbolicArray(code, code.emit(f"call {total.type} @{_fma(warp.helpers, rounding)}({given})"), F64)
        out.append(total)
    return tuple(out)


def _fma(helpers: Any, rounding: str) -> str:
    """The name of the function of one step of such a chain."""
    name = f"chain_{rounding}"
    if name not in helpers.texts:
        code = VectorCode(LANES, helpers.module, "c")
        a, b, c = (SymbolicArray(code, f"%{n}", F64) for n in ("a", "b", "c"))
        r: Any = binary64.quiet(binary64.fma64(a, b, c, rounding), b, c, a)  # type: ignore[arg-type]
        given = ", ".join(f"{v.type} {v.value}" for v in (a, b, c))
        rooms = [f"  {room} = alloca {t}, align 64" for room, t in code.rooms.items()]
        lines = [f"define internal {r.type} @{name}({given}) noinline {{", "entry:", *rooms, *code.lines, f"  ret {r.type} {r.value}", "}"]
        helpers.texts[name] = "\n".join(lines)
    return name


@rule(isa_mma.mma_f64)
def mma_f64(warp: Warp, a: Registers, b: Registers, c: Registers, *, shape: str, rnd: str = "rn") -> Registers:
    """A chain in the order of k, which begins with c."""
    m, n, k = size(shape)
    return _chain(warp, a, b, c, (fragments.layout_a(m, k, 64), fragments.layout_b(k, n, 64), fragments.layout_c(m, n, 64)), rnd)


@rule(isa_wmma.wmma_f64)
def wmma_f64(warp: Warp, a: Registers, b: Registers, c: Registers, *, alayout: str, blayout: str, shape: str, rnd: str = "rn") -> Registers:
    """The same."""
    return _chain(warp, a, b, c, [isa_wmma.fragment(role, shape, "f64") for role in "abc"], rnd)


@rule(isa_mma.mma_quads)
def mma_quads(
    warp: Warp, a: Registers, b: Registers, c: Registers, *, alayout: str, blayout: str, dtype: str, atype: str, ctype: str
) -> Registers:
    """Chains in f32 from 0, onto which c is put; where d is f16, two chains of two."""
    halves = [FragmentElements([full(warp, r, np.dtype(np.float16)) for r in v], of)
              for v, of in ((a, fragments.quad_a(alayout == "row")), (b, fragments.quad_b(blayout == "row")))]  # fmt: skip
    given = FragmentElements([full(warp, r, np.dtype(f"f{isa_mma.BITS[ctype] // 8}")) for r in c], fragments.quad_c(isa_mma.BITS[ctype]))
    of = fragments.quad_c(isa_mma.BITS[dtype])

    def element(register: int, e: int) -> Any:
        assert of.tile is not None
        row, column, tile = (v[register, :, e] for v in (of.row, of.column, of.tile))
        z = given.taken(row, column, tile).astype(np.float32)

        def chain(first: int, end: int) -> Any:
            total = lift(z.code, 0, z.dtype, LANES)
            for k in range(first, end):
                along = np.full(LANES, k)
                x, y = halves[0].taken(row, along, tile), halves[1].taken(along, column, tile)
                total = fma32(x.astype(np.float32), y.astype(np.float32), total)  # type: ignore[assignment, arg-type]
            return total

        return canonical((z + chain(0, 2) + chain(2, 4)).astype(np.float16) if dtype == "f16" else chain(0, 4) + z)

    if dtype == "f32":
        return tuple(element(r, 0) for r in range(of.registers))
    words = [[element(r, e).view(np.uint16).astype(np.uint32) for e in range(2)] for r in range(of.registers)]
    return tuple(low | high << np.uint32(16) for low, high in words)
