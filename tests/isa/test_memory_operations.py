"""Atomics, mbarriers, asynchronous copies and cluster addresses, over a small memory that serves one lane at a time."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import warplab.isa.ops  # noqa: F401  (fills FORMS)
from warplab.isa.notation import resolve
from warplab.isa.ports import Shortcut
from warplab.isa.spaces import SHARED_BASE, SPACES, cluster_address, cluster_offset, cluster_rank
from warplab.isa.special import SPECIAL, register
from warplab.isa.types import TYPES

Bits = NDArray[Any]
RECORDED = np.load(Path(__file__).parents[1] / "data" / "warp" / "memory_operations.npz")
SIZE = 4096


class Port:
    """Global memory from address 0 and the shared memory of four CTAs; the lanes in `active` are served in ascending order."""

    def __init__(self, active: Bits | None = None, rank: int = 0) -> None:
        self.active = active
        self.rank = rank
        self.memory = np.zeros(SIZE, np.uint8)
        self.shared = np.zeros((4, SIZE), np.uint8)
        self.pauses = 0

    def place(self, space: str, address: int, size: int) -> Bits:
        """The bytes at one lane's address."""
        if space.startswith("shared") or (space == "generic" and address >= SHARED_BASE):
            at = np.array([address & 0xFFFFFFFF], np.uint64)
            rank, offset = int(cluster_rank(at, np.array([self.rank]))[0]), int(cluster_offset(at)[0])
            assert offset + size <= SIZE
            return self.shared[rank, offset : offset + size]
        assert address + size <= SIZE, f"outside of memory: {address}"
        return self.memory[address : address + size]

    def lanes(self, *shapes: tuple[int, ...]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
        shape = np.broadcast_shapes(*shapes, (1, 1) if self.active is None else self.active.shape)
        active = np.broadcast_to(True if self.active is None else self.active, shape)
        return shape, [tuple(at) for at in np.argwhere(active)]

    @contextmanager
    def only(self, lanes: Bits) -> Iterator[None]:
        before = self.active
        self.active = lanes if before is None else lanes & before
        yield
        self.active = before

    def later(self, work: Callable[["Port"], Callable[[], None] | None], **when: object) -> None:
        """Copies come at once, so that nothing is ever waited for."""
        write = work(self)
        if write is not None:
            write()

    def close_group(self, group: str) -> None:
        pass

    def wait_groups(self, group: str, most: int, *, read: bool = False) -> None:
        pass

    def settle(self, space: str, address: Bits) -> None:
        pass

    def load(self, space: str, address: Bits, type: str, count: int = 1) -> tuple[Bits, ...]:
        kind = TYPES[type]
        shape, lanes = self.lanes(address.shape)
        packed = (kind.elements,) if kind.elements > 1 else ()
        found = [np.zeros(shape + packed, kind.dtype) for _ in range(count)]
        for at in lanes:
            for k, values in enumerate(found):
                start = int(np.broadcast_to(address, shape)[at]) + k * kind.bytes
                values[at] = self.place(space, start, kind.bytes).view(kind.dtype).reshape(packed)
        return tuple(found)

    def store(self, space: str, address: Bits, type: str, values: Sequence[Bits]) -> None:
        kind = TYPES[type]
        width = 1 if kind.elements > 1 else 0
        shape, lanes = self.lanes(address.shape, *(v.shape[: v.ndim - width] for v in values))
        for at in lanes:
            for k, value in enumerate(values):
                assert value.dtype == kind.dtype
                whole = np.broadcast_to(value, shape + value.shape[value.ndim - width :]) if width else np.broadcast_to(value, shape)
                start = int(np.broadcast_to(address, shape)[at]) + k * kind.bytes
                self.place(space, start, kind.bytes)[:] = np.atleast_1d(whole[at]).view(np.uint8)

    def update(
        self,
        space: str,
        address: Bits,
        type: str,
        change: Callable[..., Bits],
        operands: Sequence[Bits],
        *,
        shortcut: Shortcut | None = None,
        returns: bool = True,
    ) -> Bits:
        kind = TYPES[type]
        packed = (kind.elements,) if kind.elements > 1 else ()
        shape, lanes = self.lanes(address.shape, *(o.shape[:2] for o in operands))
        found = np.zeros(shape + packed, kind.dtype)
        for at in lanes:
            place = self.place(space, int(np.broadcast_to(address, shape)[at]), kind.bytes)
            old = place.view(kind.dtype).copy()
            found[at] = old.reshape(packed)
            given_ = [np.atleast_1d(np.broadcast_to(o, shape + o.shape[2:])[at]) for o in operands]
            with np.errstate(all="ignore"):
                new = change(old.reshape(1, *packed), *(g.reshape(1, *g.shape[: len(packed)]) if packed else g for g in given_))
            assert new.dtype == kind.dtype
            assert not isinstance(shortcut, np.ufunc) or (shortcut(old, given_[0]) == new).all()
            place[:] = np.ascontiguousarray(new).reshape(-1).view(np.uint8)
        return found

    def special(self, name: str) -> Bits:
        return np.full((1, 1), {"%cluster_ctarank": self.rank}[name], np.uint32)

    def space_of(self, address: Bits, space: str) -> Bits:
        anywhere = np.asarray(address >= np.uint64(SHARED_BASE))
        if space == "shared::cluster":
            return anywhere
        assert space == "shared"
        return anywhere & (cluster_rank(address & np.uint64(0xFFFFFFFF), np.array([[self.rank]])) == self.rank)

    def mbarrier(self, what: str, space: str, address: Bits, *amounts: Bits) -> None:
        pass

    def pause(self) -> None:
        self.pauses += 1

    def rows(self) -> "Rows":
        return Rows(self, np.ones((1, 1), np.bool_) if self.active is None else self.active)


class Rows(Port):
    """The active lanes of a port one below the other."""

    def __init__(self, port: Port, active: Bits) -> None:
        super().__init__(None, port.rank)
        self.port, self.whole = port, active
        self.memory, self.shared = port.memory, port.shared
        self.count = int(active.sum())

    def take(self, value: Bits) -> Bits:
        return np.broadcast_to(value, self.whole.shape)[self.whole][:, None]

    def among(self, chosen: Bits | None, columns: int) -> "Rows":
        assert chosen is None and columns
        return Rows(self.port, self.whole)


def perform(port: Port, spelling: str, *operands: Any) -> Any:
    """Runs one instruction; numbers become (1, 1) arrays of the operand's type, addresses are uint64."""
    opcode, *words = spelling.split(".")
    found = resolve(opcode, tuple(words))
    assert found is not None, spelling
    form, modifiers = found
    values = []
    for operand, value in zip((o for o in form.operands if not o.is_destination), operands, strict=False):
        kind = None if operand.address or operand.constant else form.type_of(operand, modifiers)
        if operand.constant or isinstance(value, tuple):
            values.append(value)
        elif operand.address:
            values.append(np.atleast_2d(np.asarray(value, np.uint64)))
        else:
            assert kind is not None
            values.append(value if isinstance(value, np.ndarray) else np.array([[value]], kind.dtype))
    assert form.meaning is not None
    needs_port = next(iter(inspect.signature(form.meaning).parameters)) == "lanes"
    with np.errstate(all="ignore"):
        return form.bind(modifiers)(*([port] if needs_port else []), *values)


def spread(n: int, size: int) -> Bits:
    return np.arange(n, dtype=np.uint64)[None, :] * np.uint64(size)


# ---------------------------------------------------------------- atom and red


def signed(value: int, bits: int) -> int:
    return value - 2**bits if value >> bits - 1 else value


def reference(op: str, kind: str, old: int, b: int, c: int) -> int:
    """One atomic operation on plain numbers."""
    bits = int(kind[1:])

    def number(v: int) -> int:
        return signed(v, bits) if kind[0] == "s" else v

    match op:
        case "add":
            return (old + b) % (1 << bits)
        case "min" | "max":
            return min(old, b, key=number) if op == "min" else max(old, b, key=number)
        case "and":
            return old & b
        case "or":
            return old | b
        case "xor":
            return old ^ b
        case "inc":
            return 0 if old >= b else old + 1
        case "dec":
            return b if old == 0 or old > b else old - 1
        case "exch":
            return b
    return c if old == b else old


INTEGER_FORMS = [
    *(f"{op}.{t}" for op in ("add", "min", "max") for t in ("u32", "s32", "u64")), "min.s64", "max.s64", "inc.u32", "dec.u32",
    *(f"{op}.{t}" for op in ("and", "or", "xor", "exch", "cas") for t in ("b32", "b64")), "cas.b16",
]  # fmt: skip


@given(st.data(), st.sampled_from(INTEGER_FORMS), st.sampled_from(["", ".global", ".shared", ".relaxed.gpu.global", ".acq_rel.cta"]))
def test_integer_atomics(data: st.DataObject, form: str, where: str) -> None:
    """Eight lanes on three places, some of them inactive, one after the other."""
    op, kind = form.split(".")
    width = TYPES[kind].bytes
    numbers = st.one_of(st.integers(0, 4), st.integers(0, 2 ** (8 * width) - 1))
    row = st.lists(numbers, min_size=8, max_size=8)
    b, c = data.draw(row), data.draw(row)
    places = data.draw(st.lists(st.integers(0, 2), min_size=8, max_size=8))
    active = data.draw(st.lists(st.booleans(), min_size=8, max_size=8))
    state = data.draw(st.lists(numbers, min_size=3, max_size=3))
    port = Port(np.array([active]))
    space = "shared" if "shared" in where else "global"
    for k, value in enumerate(state):
        port.place(space, 8 * k, width)[:] = np.array([value], f"u{width}").view(np.uint8)
    typed = [np.array([x], f"u{width}").view(TYPES[kind].dtype) for x in (b, c)]
    address = np.array([places], np.uint64) * np.uint64(8)
    old = perform(port, f"atom{where}.{form}", address, *typed[: 2 if op == "cas" else 1])
    for lane in range(8):
        if active[lane]:
            assert int(old.view(f"u{width}")[0, lane]) == state[places[lane]]
            state[places[lane]] = reference(op, kind, state[places[lane]], b[lane], c[lane])
    assert [int(port.place(space, 8 * k, width).view(f"u{width}")[0]) for k in range(3)] == state
    if op not in ("exch", "cas") and "acq_rel" not in where:
        again = Port(np.array([active]))
        assert perform(again, f"red{where}.{form}", address, typed[0]) is None


@pytest.mark.parametrize("key", [key for key in RECORDED.files if key[:4] in ("f32.", "f64.") and not key.endswith("pairs")])
def test_float_add(key: str) -> None:
    """Global memory flushes f32 and keeps f64 NaNs as they are; shared memory does neither, also through a generic address."""
    kind = key[:3]
    spelling, _, where = key[4:].partition("-")
    shared = where == "s" or "shared" in spelling
    pairs, wanted = RECORDED[f"{kind}.pairs"], RECORDED[key]
    dtype = TYPES[kind].dtype
    port = Port()
    address = spread(len(pairs), dtype.itemsize)
    space = "shared" if shared else "global"
    port.store(space, address, kind, (np.ascontiguousarray(pairs[None, :, 0]).view(dtype),))
    generic = "." not in spelling.replace(f".add.{kind}", "").strip(".")
    target = address + np.uint64(SHARED_BASE) if shared and generic else address
    perform(port, spelling, target, np.ascontiguousarray(pairs[None, :, 1]).view(dtype))
    np.testing.assert_array_equal(port.load(space, address, kind)[0].view(wanted.dtype)[0], wanted)


def test_one_generic_add_on_both_memories() -> None:
    port = Port()
    tiny = np.array([[1, 1]], np.uint32).view(np.float32)
    perform(port, "red.add.f32", np.array([[0, SHARED_BASE]], np.uint64), tiny)
    assert (port.memory[:4].view(np.uint32)[0], port.shared[0, :4].view(np.uint32)[0]) == (0, 1)


@pytest.mark.parametrize("key", [key for key in RECORDED.files if key.startswith("vector.")])
def test_vectors(key: str) -> None:
    spelling = key.removeprefix("vector.")
    kind, count = TYPES[spelling.split(".")[3]], int(spelling.split(".")[2][1:])
    table = RECORDED[key]
    first, second, after, found = (np.ascontiguousarray(table[:, k]).view(kind.dtype).reshape(1, -1, count) for k in range(4))
    port = Port()
    address = spread(first.shape[1], count * kind.bytes)
    port.store("global", address, kind.name, [first[..., k] for k in range(count)])
    got = perform(port, spelling, address, tuple(np.ascontiguousarray(second[..., k]) for k in range(count)))
    unsigned = f"u{kind.bytes}"
    np.testing.assert_array_equal(np.stack(got, -1).view(unsigned), found.view(unsigned))
    np.testing.assert_array_equal(np.stack(port.load("global", address, kind.name, count), -1).view(unsigned), after.view(unsigned))


def test_128_bits() -> None:
    port = Port()
    low, high = np.array([[3, 5]], np.uint64), np.array([[4, 6]], np.uint64)
    address = spread(2, 16)
    assert [x.tolist() for x in perform(port, "atom.exch.b128", address, (low, high))] == [[[0, 0]], [[0, 0]]]
    compare = (np.array([[3, 5]], np.uint64), np.array([[4, 7]], np.uint64))
    got = perform(port, "atom.cas.b128", address, compare, (np.array([[9]], np.uint64), np.array([[8]], np.uint64)))
    assert [x.tolist() for x in got] == [[[3, 5]], [[4, 6]]]
    assert port.memory[:32].view(np.uint64).tolist() == [9, 8, 5, 6]


# ---------------------------------------------------------------- mbarrier


def test_mbarrier_as_recorded() -> None:
    """States and the word that lay in memory at the end."""
    port = Port()
    for step, state in zip(RECORDED["mbarrier.steps"], RECORDED["mbarrier.states"], strict=True):
        spelling, _, operand = str(step).partition(" ")
        got = perform(port, spelling, 0, *([int(operand)] if operand else []))
        if got is not None:
            assert int(got[0, 0]) >> 32 == int(state) >> 32, step
    assert int(port.shared[0, :8].view(np.uint64)[0]) == int(RECORDED["mbarrier.word"])


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), st.integers(1, 3)),
        st.tuples(st.just("arrive_drop"), st.just(1)),
        st.tuples(st.just("arrive.expect_tx"), st.integers(0, 64)),
        st.tuples(st.just("expect_tx"), st.integers(0, 64)),
        st.tuples(st.just("complete_tx"), st.integers(0, 64)),
    ),
    max_size=30,
)


@given(st.integers(1, 6), STEPS)
def test_mbarrier_against_counting(expected: int, steps: list[tuple[str, int]]) -> None:
    port = Port()
    perform(port, "mbarrier.init.shared.b64", 0, expected)
    pending, outstanding, phase = expected, 0, 0
    state = None
    for name, amount in steps:
        arrivals = {"arrive": amount, "arrive_drop": 1, "arrive.expect_tx": 1}.get(name, 0)
        if arrivals > pending or (name == "arrive_drop" and expected <= 1):
            continue  # what the manual leaves undefined
        before = pending, phase
        result = perform(port, f"mbarrier.{name}.shared.b64", 0, *([] if name == "arrive_drop" else [amount]))
        expected -= name == "arrive_drop"
        outstanding += amount if "expect" in name else -amount if name == "complete_tx" else 0
        pending -= arrivals
        if pending == 0 and outstanding == 0:
            pending, phase = expected, phase + 1
        if result is not None:
            state = result, before
            count = perform(port, "mbarrier.pending_count.b64", result)
            assert int(count[0, 0]) == before[0]
        for parity in (0, 1):
            done = perform(port, "mbarrier.test_wait.parity.shared.b64", 0, parity)
            assert bool(done[0, 0]) == (phase % 2 != parity)
        if state is not None and phase - state[1][1] <= 1:
            assert bool(perform(port, "mbarrier.try_wait.shared.b64", 0, state[0])[0, 0]) == (phase != state[1][1])


def test_a_failed_wait_pauses() -> None:
    port = Port(np.array([[True, False]]))
    perform(port, "mbarrier.init.shared.b64", [0, 8], np.array([[1, 1]], np.uint32))
    assert not perform(port, "mbarrier.try_wait.parity.shared.b64", [0, 8], 0)[0, 0]
    assert port.pauses == 1
    assert perform(port, "mbarrier.try_wait.parity.shared.b64", [0, 8], 1)[0, 0]
    assert port.pauses == 1


# ---------------------------------------------------------------- asynchronous copies


@given(st.sampled_from([4, 8, 16]), st.data())
def test_cp_async(n: int, data: st.DataObject) -> None:
    """A lane that keeps nothing may point anywhere."""
    kept = data.draw(st.lists(st.integers(0, n), min_size=6, max_size=6))
    active = data.draw(st.lists(st.booleans(), min_size=6, max_size=6))
    port = Port(np.array([active]))
    port.memory[:] = np.random.default_rng(0).integers(1, 256, SIZE)
    port.shared[:] = 0xCC
    source = [16 * (lane + 3) if kept[lane] else 2**40 for lane in range(6)]
    perform(port, "cp.async.ca.shared.global", [16 * lane for lane in range(6)], source, n, np.array([kept], np.uint32))
    for lane in range(6):
        start = 16 * (lane + 3)
        wanted = port.memory[start : start + kept[lane]].tolist() + [0] * (n - kept[lane]) if active[lane] else [0xCC] * n
        assert port.shared[0, 16 * lane : 16 * lane + 16].tolist() == wanted + [0xCC] * (16 - n)
    ignored = np.array([[not k for k in kept]])
    form = resolve("cp", ("async", "cg", "shared", "global"))
    assert form is not None and form[0].meaning is not None
    port.shared[:] = 0xCC
    form[0].bind(form[1])(port, spread(6, 16), np.array([source], np.uint64), n, ignored)
    for lane in range(6):
        start = 16 * (lane + 3)
        wanted = port.memory[start : start + n].tolist() if kept[lane] else [0] * n
        assert port.shared[0, 16 * lane : 16 * lane + n].tolist() == (wanted if active[lane] else [0xCC] * n)


@given(st.lists(st.integers(0, 6), min_size=3, max_size=3), st.lists(st.booleans(), min_size=3, max_size=3))
def test_bulk_copies_of_different_sizes(units: list[int], active: list[bool]) -> None:
    port = Port(np.array([active]))
    port.memory[:] = np.arange(SIZE) % 251 + 1
    sizes = np.array([[16 * u for u in units]], np.uint32)
    barriers = [3000, 3008, 3016]
    perform(port, "mbarrier.init.shared.b64", barriers, 1)
    perform(port, "mbarrier.arrive.expect_tx.shared.b64", barriers, sizes)
    perform(port, "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", [0, 256, 512], [0, 256, 512], sizes, barriers)
    done = perform(port, "mbarrier.test_wait.parity.shared.b64", barriers, 0)
    perform(port, "cp.async.bulk.global.shared::cta.bulk_group", [1024, 1280, 1536], [0, 256, 512], sizes)
    for lane, size in enumerate(sizes[0]):
        start = 256 * lane
        wanted = port.memory[start : start + size] if active[lane] else np.zeros(size)
        assert (port.shared[0, start : start + size] == wanted).all() and not port.shared[0, start + size : start + 256].any()
        if active[lane]:
            assert done[0, lane] and (port.memory[1024 + start : 1024 + start + size] == wanted).all()


def test_multicast() -> None:
    port = Port(rank=1)
    port.memory[:32] = np.arange(1, 33)
    for rank in range(4):
        perform(port, "mbarrier.init.shared.b64", int(cluster_address(np.array([512], np.uint64), np.array([rank]))[0]), 1)
    head = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    perform(port, head, 64, 0, 32, 512, 0b1001)
    assert [bool(port.shared[rank, 64:96].any()) for rank in range(4)] == [True, False, False, True]
    perform(port, "mbarrier.arrive.expect_tx.shared::cluster.b64", int(cluster_address(np.array([512], np.uint64), np.array([3]))[0]), 32)
    assert port.shared[3, 512:520].view(np.int64)[0] < 0  # its phase has ended


@pytest.mark.parametrize("key", [key for key in RECORDED.files if key.startswith("reduce.")])
def test_bulk_reductions(key: str) -> None:
    form = key.removeprefix("reduce.")
    table = RECORDED[key]
    size = table[:, 0].nbytes
    port = Port()
    port.memory[:size] = np.ascontiguousarray(table[:, 0]).view(np.uint8)
    port.shared[0, :size] = np.ascontiguousarray(table[:, 1]).view(np.uint8)
    perform(port, f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{form}", 0, 0, size)
    np.testing.assert_array_equal(port.memory[:size].view(table.dtype), table[:, 2])


def test_stores_that_an_mbarrier_counts() -> None:
    port = Port()
    perform(port, "mbarrier.init.shared.b64", 512, 1)
    pair = (np.array([[7]], np.uint32), np.array([[8]], np.uint32))
    perform(port, "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32", 16, pair, 512)
    perform(port, "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32", 16, 5, 512)
    assert port.shared[0, 16:24].view(np.uint32).tolist() == [12, 8]
    perform(port, "mbarrier.arrive.expect_tx.shared.b64", 512, 12)
    assert perform(port, "mbarrier.test_wait.parity.shared.b64", 512, 0)[0, 0]
    perform(port, "st.bulk.weak.shared::cta", 16, 8, 0)
    assert not port.shared[0, 16:24].any()


# ---------------------------------------------------------------- policies, clusters, special registers


def test_policies_as_recorded() -> None:
    for name, value in zip(RECORDED["policy.names"], RECORDED["policy.values"], strict=True):
        spelling, _, fraction = str(name).partition(",")
        assert int(perform(Port(), spelling, *([float(fraction)] if fraction else []))[0, 0]) == int(value), name


@given(st.integers(0, 2**24 - 1), st.integers(0, 15), st.integers(0, 15), st.sampled_from([0, SHARED_BASE]))
def test_cluster_addresses(offset: int, rank: int, own: int, base: int) -> None:
    port = Port(rank=own)
    a = np.array([[base + offset]], np.uint64)
    mapped = perform(port, "mapa.u64", a, rank)
    assert perform(port, "getctarank.u64", mapped)[0, 0] == rank and perform(port, "getctarank.u64", a)[0, 0] == own
    assert int(mapped[0, 0]) & 0xFFFFFF == offset and int(mapped[0, 0]) >> 32 == base >> 32
    again = perform(port, "mapa.shared::cluster.u32", mapped.astype(np.uint32), own)
    assert perform(port, "getctarank.shared::cluster.u32", again)[0, 0] == own


def test_special_registers() -> None:
    found = register("%tid.y")
    assert found is SPECIAL["%tid"] and "u16" in found.mov_types and "u64" not in found.mov_types
    assert register("%tid") is None and register("%laneid.x") is None and register("%nothing") is None
    laneid, gridid = register("%laneid"), register("%gridid")
    assert laneid is not None and laneid.mov_types == ("b32", "u32", "s32") and laneid.cvt_types == ("u16", "s16", "u32", "s32")
    assert gridid is not None and {"u16", "u32", "u64"} <= set(gridid.mov_types)
    assert SPACES["shared"].atom and not SPACES["const"].st


def test_constant_operands() -> None:
    def allowed(spelling: str, operand: str) -> list[int]:
        opcode, *words = spelling.split(".")
        found = resolve(opcode, tuple(words))
        assert found is not None
        rules = [r for r in found[0].facts.constants if r.operand == operand and r.when.holds(words)]
        return [n for n in range(300) if all(r.allowed is None or n in r.allowed for r in rules)]

    assert allowed("cp.async.ca.shared.global", "n") == [4, 8, 16] and allowed("cp.async.cg.shared.global", "n") == [16]
    assert allowed("setmaxnreg.inc.sync.aligned.u32", "n") == list(range(24, 257, 8))
    assert allowed("cp.async.wait_group", "n") == list(range(300))


ILLEGAL = """
    atom.add.s64 atom.min.f32 atom.add.f16 atom.add.noftz.f32 atom.and.u32 atom.sc.add.u32 atom.local.add.u32 atom.weak.add.u32
    atom.shared.v2.add.f32 atom.v8.add.f32 atom.v2.add.f64 atom.shared.add.L2::cache_hint.u32 atom.cas.L2::cache_hint.b32
    atom.sub.u32 atom.exch.u32 atom.cas.b8 red.exch.b32 red.cas.b32 red.acquire.add.u32 red.acq_rel.gpu.add.u32 red.async.add.u32
    membar membar.gpu membar.cluster fence fence.sc fence.acq_rel fence.relaxed.gpu fence.proxy.async.shared fence.proxy.alias.cta
    mbarrier.init.u64 mbarrier.init.shared::cluster.b64 mbarrier.arrive.release.b64 mbarrier.arrive.cluster.b64
    mbarrier.arrive.acquire.cta.b64 mbarrier.arrive.noComplete.relaxed.cta.b64 mbarrier.test_wait.shared::cluster.b64
    mbarrier.pending_count.shared.b64 mbarrier.expect_tx.release.cta.b64 prefetch.shared.L1 prefetchu.L2 prefetch.global.tensormap
    prefetch.local.L2::evict_last discard.L1 applypriority.L2::evict_last mapa.shared.u32 getctarank.b64
    createpolicy.fractional.L2::evict_last.L2::evict_last.b64 cp.async.shared.global cp.async.cs.shared.global
    cp.async.ca.shared::cluster.global cp.async.bulk.shared.global.mbarrier::complete_tx::bytes cp.async.bulk.global.shared::cta
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.f32 st.async.b32 nanosleep.s32 pmevent.u32
    suld.p.1d.b32.trap tex.1d.v2.f32.f32 tex.cube.v4.f32.s32 txq.width.u32 suq.num_samples.b32 sured.b.and.2d.u32.trap
    multimem.red.weak.add.u32 multimem.st.f16
"""


@pytest.mark.parametrize("spelling", ILLEGAL.split())
def test_illegal(spelling: str) -> None:
    opcode, *tail = spelling.split(".")
    assert resolve(opcode, tuple(tail)) is None
