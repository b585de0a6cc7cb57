"""Atomic operations of many lanes on few places: all at once as one lane after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warplab.interpreter.memory.atomics import update
from warplab.interpreter.observe import Observer
from warplab.isa.ops.atomic import CHANGES, GLOBAL_ADD, Change
from warplab.isa.ports import Shortcut
from warplab.isa.types import TYPES

from ..harness import Array, Machine, kernel

Operation = tuple[Change, Shortcut | None]
OPERATIONS: dict[str, tuple[Operation, str]] = {f"{op}.{type}": (how, type) for (op, type), how in CHANGES.items()}
OPERATIONS |= {f"global.add.{type}": (how, type) for type, how in GLOBAL_ADD.items()}

# Zeros, subnormals, the least and greatest normal numbers, ordinary ones, infinities and NaNs, of both signs, by width of the type.
SPECIAL = {
    2: [0, 1, 0x3FF, 0x400, 0x401, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7E55, 0x7F, 0x80, 0x81, 0x3F80, 0x7F7F, 0x7F80, 0x7F81, 0x7FFF],
    4: [0, 1, 0x7FFFFF, 0x800000, 0x800001, 0x1000000, 0x3F800000, 0x3F800001, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC12345, 0x7FFFFFFF],
    8: [0, 1, (1 << 52) - 1, 1 << 52, (1 << 52) + 1, 0x3FF << 52, (0x7FF << 52) - 1, 0x7FF << 52, (0x7FF << 52) + 1, 0xFFF123 << 40],
}


def in_turn(view: Array, place: Array, change: Change, operands: list[Array]) -> Array:
    """What update stands for."""
    old = np.empty((place.size, *view.shape[1:]), view.dtype)
    for lane, at in enumerate(place.tolist()):
        old[lane] = view[at]
        view[at : at + 1] = change(view[at : at + 1], *[o[lane : lane + 1] for o in operands])
    return old


def numbers(rng: np.random.Generator, count: int, width: int, kind: str, shape: tuple[int, ...]) -> Array:
    """Bits of one kind: anything, what is special about floats, small numbers, or floats of about one size."""
    size = (count, *shape)
    sign = rng.integers(0, 2, size, np.uint64) << np.uint64(8 * width - 1)
    if kind == "any":
        bits = rng.integers(0, 1 << 8 * width, size, np.uint64, endpoint=False) if width < 8 else rng.integers(0, 1 << 63, size, np.uint64)
    elif kind == "special":
        bits = rng.choice(np.array(SPECIAL[width], np.uint64), size) | sign
    elif kind == "subnormal":
        bits = rng.integers(0, {2: 0x600, 4: 0xC00000, 8: 3 << 51}[width], size, np.uint64) | sign
    elif kind == "small":
        bits = rng.integers(0, 5, size, np.uint64)
    elif kind == "one":
        bits = np.full(size, rng.integers(0, 7), np.uint64)
    else:
        float_bits = rng.standard_normal(size).astype({2: np.float16, 4: np.float32, 8: np.float64}[width])
        return float_bits.view(f"u{width}")
    return bits.astype(f"u{width}")


KINDS = st.sampled_from(["any", "special", "subnormal", "small", "one", "normal"])


@pytest.mark.parametrize("name", OPERATIONS)
@given(st.integers(0, 1 << 32), KINDS, KINDS, st.integers(2, 150), st.integers(1, 4), st.booleans(), st.booleans())
def test_as_one_after_the_other(name: str, seed: int, before: str, kind: str, lanes: int, places: int, rare: bool, returns: bool) -> None:
    (change, shortcut), type = OPERATIONS[name]
    rng = np.random.default_rng(seed)
    dtype, width = TYPES[type].dtype, TYPES[type].dtype.itemsize
    row = (2,) if type == "b128" else ()
    view = numbers(rng, places, width, before, row).view(dtype)
    operands = [numbers(rng, lanes, width, kind, row).view(dtype) for _ in range(2 if name.startswith("cas") else 1)]
    if rare:  # a few lanes that are not as the others
        for o in operands:
            o[rng.integers(0, lanes, 3)] = numbers(rng, 3, width, "special", row).view(dtype)
    place = rng.integers(0, places, lanes)
    want = view.copy()
    with np.errstate(all="ignore"):
        found = in_turn(want, place, change, operands)
        got = update(view, place, change, operands, shortcut, returns)
    np.testing.assert_array_equal(view.view(f"u{width}"), want.view(f"u{width}"))
    if returns:
        assert got is not None
        np.testing.assert_array_equal(got.view(f"u{width}"), found.view(f"u{width}"))


@pytest.mark.parametrize("name", [name for name, ((_, shortcut), type) in OPERATIONS.items() if shortcut is not None and type != "b128"])
def test_ordinary_operands_take_few_steps(name: str) -> None:
    (change, shortcut), type = OPERATIONS[name]
    dtype, lanes, calls = TYPES[type].dtype, 1 << 14, 0
    rng = np.random.default_rng(3)
    if dtype.kind == "f":
        operand = rng.standard_normal(lanes).astype(dtype)
    elif type.startswith("bf16"):
        operand = (rng.standard_normal(lanes).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    else:
        operand = np.full(lanes, 1000, dtype)

    def counted(*arrays: Array) -> Array:
        nonlocal calls
        calls += 1
        return change(*arrays)

    update(np.zeros(1, dtype), np.zeros(lanes, np.intp), counted, [operand], shortcut, True)
    assert calls < lanes // 20


@pytest.mark.parametrize("op", ["red.global", "atom.global"])
@pytest.mark.parametrize("type", ["f16x2", "bf16x2"])
def test_pairs_of_halves_on_few_places(op: str, type: str) -> None:
    lanes, places = 512, 3
    to = "%r2, " if op.startswith("atom") else ""
    body = f""".reg .u64 %p<4>; .reg .b32 %r<4>; ld.param.u64 %p1, [out]; ld.param.u64 %p2, [given]; ld.param.u64 %p3, [found];
    mov.u32 %r1, %tid.x; mul.wide.u32 %p0, %r1, 4; add.u64 %p2, %p2, %p0; add.u64 %p3, %p3, %p0; ld.global.b32 %r3, [%p2];
    rem.u32 %r1, %r1, {places}; mul.wide.u32 %p0, %r1, 4; add.u64 %p1, %p1, %p0;
    mov.b32 %r2, 0; {op}.add.noftz.{type} {to}[%p1], %r3; st.global.b32 [%p3], %r2; ret;"""
    rng = np.random.default_rng(5)
    operand = rng.standard_normal((lanes, 2)).astype(np.float32)
    bits = operand.astype(np.float16).view(np.uint16) if type == "f16x2" else (operand.view(np.uint32) >> 16).astype(np.uint16)
    machine = Machine(kernel("p out, p given, p found", body))
    out, given_, found = (machine.upload(x) for x in (np.zeros(places, np.uint32), bits, np.zeros(lanes, np.uint32)))
    machine.launch(1, lanes, [out, given_, found])
    change, dtype = CHANGES["add", type][0], TYPES[type].dtype
    view = np.zeros(2 * places, dtype)
    place = (np.arange(lanes) % places * 2)[:, None] + np.arange(2)
    want = in_turn(view, place.ravel(), change, [bits.view(dtype).ravel()])
    assert machine.download(out).tobytes() == view.tobytes()
    assert machine.download(found).tobytes() == (want.tobytes() if to else bytes(4 * lanes))


@pytest.mark.parametrize(
    ("code", "returns"),
    [
        ("atom.global.add.u32 %r2, [%p1], %r1;", [False]),
        ("atom.global.add.u32 %r2, [%p1], %r1; mov.b32 %r2, 5;", [False]),
        ("atom.global.add.u32 %r2, [%p1], %r1; @%q mov.b32 %r2, 5; st.global.u32 [%p3], %r2;", [True]),
        ("@%q atom.global.add.u32 %r2, [%p1], %r1; st.global.u32 [%p3], %r2;", [True]),
        ("atom.global.add.u32 %r2, [%p1], %r1; @%q bra SKIP; st.global.u32 [%p3], %r2; SKIP:", [True]),
        (
            "atom.global.add.u32 %r2, [%p1], %r1; @%q bra SKIP; add.u32 %r3, %r1, 1; SKIP: atom.global.exch.b32 %r2, [%p1], %r3;",
            [False] * 2,
        ),
        ("atom.global.cas.b32 %r2, [%p1], %r1, %r3;", [False]),
        ("atom.global.add.u32 %r2, [%p1], %r1; atom.global.add.u32 %r3, [%p1+4], %r2;", [True, False]),
        ("LOOP: atom.global.add.u32 %r2, [%p1], %r1; add.u32 %r3, %r3, 1; setp.lt.u32 %q, %r3, 3; @%q bra LOOP;", [False] * 3),
        ("LOOP: add.u32 %r1, %r1, %r2; atom.global.add.u32 %r2, [%p1], %r1; setp.lt.u32 %q, %r1, 99; @%q bra LOOP;", [True]),
    ],
)
def test_what_nobody_reads_is_not_computed(code: str, returns: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Quiet launches know what is read; observed ones see all results, and leave the same memory."""
    asked = list[bool]()

    def counted(view: Array, place: Array, change: Change, operands: list[Array], shortcut: Shortcut | None, wanted: bool) -> Array | None:
        asked.append(wanted)
        return update(view, place, change, operands, shortcut, wanted)

    monkeypatch.setattr("warplab.interpreter.memory.general.update", counted)
    body = f""".reg .u64 %p<4>; .reg .b32 %r<4>; .reg .pred %q; ld.param.u64 %p1, [out]; ld.param.u64 %p3, [found];
    mov.u32 %r1, %tid.x; mul.wide.u32 %p0, %r1, 4; add.u64 %p3, %p3, %p0; setp.lt.u32 %q, %r1, 7; mov.b32 %r2, 1; mov.b32 %r3, 0;
    {code} ret;"""
    left = []
    for observers in ((), (Observer(),)):
        machine = Machine(kernel("p out, p found", body))
        out, found = (machine.upload(np.zeros(n, np.uint32)) for n in (2, 32))
        machine.launch(1, 32, [out, found], observers, engine="numpy")
        left.append((machine.download(out).tolist(), machine.download(found).tolist()))
        if not observers:
            assert asked[: len(returns)] == returns and set(asked) == set(returns)
            asked.clear()
    assert all(asked)
    assert left[0] == left[1]
