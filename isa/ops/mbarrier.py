"""mbarrier objects (PTX ISA 9.7.15.15): a barrier in 64 bits of shared memory that also counts bytes of asynchronous copies.

The object is opaque to programs; here it looks as on an H200.  From bit 1: expected arrivals (20 bits), outstanding bytes (21),
a zero, pending arrivals (20), parity of the phase; all counts negated.  A phase ends when both pending and bytes reach zero.
Copies may finish at once, so their bytes may be taken off before expect_tx adds them; the pending arrival keeps the phase open.
A count that leaves its range ends the launch: more arrivals than are pending, 2^20 bytes or more, 2^20 expected arrivals.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..facts import ALWAYS, Constant, Demand, Need, facts, when
from ..notation import instruction
from ..ports import Addresses, Array, CopyingLanes, Lanes, Mask
from ..primitives import primitive

Word: TypeAlias = NDArray[np.uint64]
F = TypeVar("F", bound=Callable[..., object])

_COUNT = np.uint64(0xFFFFF)
_BYTES = np.uint64(0x1FFFFF)
_EXPECTED_AT, _BYTES_AT, _PENDING_AT, _PHASE_AT = np.uint64(1), np.uint64(21), np.uint64(43), np.uint64(63)
_STATE = np.uint64(0xFFFFFFFF00000000)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
MOST = 0xFFFFF  # arrivals or bytes that an object counts


def advance(word: Word, arrivals: Word, dropped: Word, bytes_: Word) -> Word:
    """The object after some arrivals (which may also drop out of later phases) and with so many more bytes outstanding."""
    expected, pending, outstanding = _counted(word, arrivals, dropped, bytes_)
    phase = word >> _PHASE_AT
    done = (pending == _ZERO) & (outstanding == _ZERO)
    return _object(expected, np.where(done, expected, pending), outstanding, np.where(done, phase ^ _ONE, phase))


def _counted(word: Word, arrivals: Word, dropped: Word, bytes_: Word) -> tuple[Word, Word, Word]:
    """The arrivals that an object expects, those that are pending, and the bytes outstanding, whether or not the phase ends."""
    return (word >> _EXPECTED_AT) + dropped & _COUNT, (word >> _PENDING_AT) + arrivals & _COUNT, (word >> _BYTES_AT) - bytes_ & _BYTES


def _object(expected: Word, pending: Word, outstanding: Word, phase: Word) -> Word:
    word: Word = expected << _EXPECTED_AT | outstanding << _BYTES_AT | pending << _PENDING_AT | phase << _PHASE_AT
    return word


def _in_one_phase(word: Word, *amounts: Word) -> Word:
    """The object before each arrival and after the last, if none of them ends the phase: mostly a right guess."""
    sums = [np.concatenate(([_ZERO], np.cumsum(a, dtype=np.uint64))) for a in amounts]
    return _object(*_counted(word, *sums), word >> _PHASE_AT)


def expected_arrivals(word: Word) -> Word:
    """How many arrivals each phase of an object waits for."""
    return _ZERO - (word >> _EXPECTED_AT) & _COUNT


def pending_arrivals(word: Word) -> Word:
    """How many of them have not come in the current phase."""
    return _ZERO - (word >> _PENDING_AT) & _COUNT


def outstanding_bytes(word: Word) -> Word:
    """The bytes that the current phase waits for, negated; not zero where copies are under way."""
    return word >> _BYTES_AT & _BYTES


def _number(value: int) -> Word:
    return np.full((1, 1), value, np.uint64)


@primitive
def refuse_where(lanes: Lanes, message: str, bad: Mask, *values: Array) -> None:
    """Ends the launch if a lane that executes is bad; the message names the values of the first."""
    bad = bad if lanes.active is None else bad & lanes.active
    if bad.any():
        first = np.unravel_index(np.argmax(bad), bad.shape)
        lanes.refuse("mbarrier-overflow", message.format(*(int(np.broadcast_to(v, bad.shape)[first]) for v in values)), bad)


def _check(lanes: Lanes, before: Word, arrivals: Word, bytes_: Word) -> None:
    """The counts of an object stay in their ranges when it changes."""
    pending, more = pending_arrivals(before).astype(np.int64), arrivals.view(np.int64)
    left = pending - more
    text = (
        "an arrival by {} at an mbarrier that expects {} more in this phase: make the count of mbarrier.init the number of arrivals of a "
        "phase, and wait for the end of a phase before you arrive for the next"
    )
    refuse_where(lanes, text, left < 0, more, pending)
    refuse_where(lanes, f"an mbarrier counts {MOST} arrivals at most, and one more is expected", left > MOST)
    awaited = (outstanding_bytes(before) << np.uint64(43)).view(np.int64) >> np.int64(43)
    total = bytes_.view(np.int64) - awaited
    text = f"an mbarrier would wait for {{}} bytes, and counts {MOST} at most, above zero or below: expect fewer bytes in each phase"
    refuse_where(lanes, text, np.abs(total) > MOST, total)


def _change(lanes: Lanes, space: str, a: Addresses, arrivals: Array | int, dropped: Array | int, bytes_: Array | int) -> Word:
    amounts = [_number(v) if isinstance(v, int) else v.astype(np.uint64) for v in (arrivals, dropped, bytes_)]
    lanes.mbarrier("change", space, a, *amounts)
    return _advance(lanes, space, a, amounts)


def _advance(lanes: Lanes, space: str, a: Addresses, amounts: Sequence[Word]) -> Word:
    before: Word = lanes.update(space, a, "b64", advance, amounts, shortcut=_in_one_phase)
    _check(lanes, before, amounts[0], amounts[2])
    return before


def _arrive(lanes: Lanes, space: str, a: Addresses, arrivals: Array | int, dropped: Array | int = 0, bytes_: Array | int = 0) -> Word:
    """Gives the state before: phase and pending arrivals."""
    return _change(lanes, space, a, arrivals, dropped, bytes_) & _STATE


def complete_tx(lanes: Lanes, space: str, a: Addresses, bytes_: Array | int) -> None:
    """Takes bytes that a copy has delivered off what the mbarrier at a waits for."""
    count = _number(bytes_) if isinstance(bytes_, int) else bytes_.astype(np.uint64)
    _change(lanes, space, a, 0, 0, _ZERO - count)


def arrive_on(lanes: Lanes, space: str, a: Addresses, arrivals: int) -> None:
    """Arrivals that yield no state, as asynchronous copies make them."""
    _change(lanes, space, a, arrivals, 0, 0)


def expect_arrival(lanes: Lanes, space: str, a: Addresses) -> None:
    """The current phase of the mbarrier at a waits for one more arrival."""
    lanes.mbarrier("expect", space, a)
    _advance(lanes, space, a, [_number(v) for v in ((1 << 64) - 1, 0, 0)])


CTA = "shared shared::cta"
CLUSTER = "shared shared::cta shared::cluster"
ARRIVE = "release relaxed"
WAIT = "acquire relaxed"
NEEDS = {
    "shared::cta": Need(7.8, 80), "shared::cluster": Need(8.0, 90), "cluster": Need(8.0, 90), "relaxed": Need(8.6, 90),
}  # fmt: skip
EARLY = {**NEEDS, "relaxed": Need(8.0, 90)}


def _rows(
    head: str, operands: str, section: str, *, order: str = "", ss: str = CTA, ptx: float, sm: int, needs: dict[str, Need] = NEEDS
) -> Callable[[F], F]:
    """Decorates with a row, and with one that names order and scope (from PTX 8.0 on) where an order is given."""
    section = f"9.7.15.15.{section}"
    own = {"discards": True} if head.startswith("arrive") else None

    def register(meaning: F) -> F:
        instruction(f"mbarrier.{head}{{.ss}}.b64  {operands}", ss=ss, ptx=ptx, sm=sm, needs=needs, section=section, facts=own)(meaning)
        if order:
            row = f"mbarrier.{head}.sem.scope{{.ss}}.b64  {operands}"
            sets: dict[str, Any] = {"sem": order, "scope": "cta cluster", "ss": ss, "facts": own}
            instruction(row, ptx=max(ptx, 8.0), sm=sm, needs=needs, section=section, **sets)(meaning)
        return meaning

    return register


facts(
    "mbarrier",
    unit="barrier",
    opaque=True,
    pauses=True,
    refuses_addresses=True,
    address_space="shared",
    has_wide_addresses=True,
    memory_only=ALWAYS,
    leading="init inval expect_tx complete_tx arrive arrive_drop try_wait test_wait parity pending_count noComplete",
    demands=(Demand(Need(7.8, 90), "a count without .noComplete", when("arrive arrive_drop", without="noComplete expect_tx"), operands=3),),
    constants=(
        Constant("b", None, when("noComplete"), "a count of arrivals is above 0", forbidden=(0,)),
        Constant("b", (0, 1), when("parity")),
    ),
    no_result=when("arrive arrive_drop", also="shared::cluster"),
)


@_rows("init", "[a], b:u32", "9", ptx=7.0, sm=80)
def init(lanes: Lanes, a: Addresses, b: Array, *, ss: str = "generic") -> None:
    """Makes an mbarrier at a, whose phases wait for b arrivals."""
    lanes.mbarrier("init", ss, a, b)
    text = f"mbarrier.init for {{}} arrivals; an mbarrier counts 1 to {MOST}: give the number of arrivals that end a phase"
    refuse_where(lanes, text, np.broadcast_to((b == 0) | (b > MOST), a.shape), b)
    count = _ZERO - b.astype(np.uint64) & _COUNT
    lanes.store(ss, a, "b64", (count << _EXPECTED_AT | count << _PENDING_AT,))


@_rows("inval", "[a]", "10", ptx=7.0, sm=80)
def inval(lanes: Lanes, a: Addresses, *, ss: str = "generic") -> None:
    """Ends the mbarrier at a; its memory, still as it was, is free for other use."""
    lanes.mbarrier("inval", ss, a)
    lanes.load(ss, a, "b64")


@_rows("expect_tx", "[a], b:u32", "11", order="relaxed", ss=CLUSTER, ptx=8.0, sm=90, needs=EARLY)
def expect_tx(lanes: Lanes, a: Addresses, b: Array, *, ss: str = "generic", sem: str = "", scope: str = "") -> None:
    """The current phase waits for b more bytes."""
    _change(lanes, ss, a, 0, 0, b)


@_rows("complete_tx", "[a], b:u32", "12", order="relaxed", ss=CLUSTER, ptx=8.0, sm=90, needs=EARLY)
def complete(lanes: Lanes, a: Addresses, b: Array, *, ss: str = "generic", sem: str = "", scope: str = "") -> None:
    """b bytes fewer are outstanding in the current phase."""
    complete_tx(lanes, ss, a, b)


@_rows("arrive", "d, [a]{, b:u32}", "13", order=ARRIVE, ss=CLUSTER, ptx=7.0, sm=80)
@_rows("arrive.noComplete", "d, [a], b:u32", "13", ptx=7.0, sm=80)
@_rows("arrive.noComplete.release.cta", "d, [a], b:u32", "13", ptx=8.0, sm=80)
def arrive(lanes: Lanes, a: Addresses, b: Array | None = None, *, ss: str = "generic", sem: str = "", scope: str = "") -> Word:
    """b arrivals (1 where b is missing); d = the state before them, which names the phase."""
    return _arrive(lanes, ss, a, 1 if b is None else b)


@_rows("arrive_drop", "d, [a]{, b:u32}", "14", order=ARRIVE, ss=CLUSTER, ptx=7.0, sm=80)
@_rows("arrive_drop.noComplete", "d, [a], b:u32", "14", ptx=7.0, sm=80)
@_rows("arrive_drop.noComplete.release.cta", "d, [a], b:u32", "14", ptx=8.0, sm=80)
def arrive_drop(lanes: Lanes, a: Addresses, b: Array | None = None, *, ss: str = "generic", sem: str = "", scope: str = "") -> Word:
    """As arrive, and later phases expect b arrivals fewer."""
    count: Array | int = 1 if b is None else b
    return _arrive(lanes, ss, a, count, count)


@_rows("arrive.expect_tx", "d, [a], b:u32", "13", order=ARRIVE, ss=CLUSTER, ptx=8.0, sm=90)
def arrive_expect_tx(lanes: Lanes, a: Addresses, b: Array, *, ss: str = "generic", sem: str = "", scope: str = "") -> Word:
    """Adds b bytes to those that the phase waits for, then arrives once; d = the state before."""
    return _arrive(lanes, ss, a, 1, bytes_=b)


@_rows("arrive_drop.expect_tx", "d, [a], b:u32", "14", order=ARRIVE, ss=CLUSTER, ptx=8.0, sm=90)
def arrive_drop_expect_tx(lanes: Lanes, a: Addresses, b: Array, *, ss: str = "generic", sem: str = "", scope: str = "") -> Word:
    """As arrive.expect_tx, and later phases expect one arrival fewer."""
    return _arrive(lanes, ss, a, 1, 1, b)


def _phase(lanes: Lanes, ss: str, a: Addresses) -> Word:
    phase: Word = lanes.load(ss, a, "b64")[0] >> _PHASE_AT
    return phase


@primitive
def answer(lanes: Lanes, ss: str, a: Addresses, done: Mask) -> Mask:
    """Says which phases are over, and lets others run if a lane has to ask again."""
    lanes.mbarrier("wait", ss, a, done)
    if not (done if lanes.active is None else done | ~lanes.active).all():
        lanes.pause()
    return done


@_rows("test_wait", "p, [a], b", "16", order=WAIT, ptx=7.0, sm=80)
@_rows("try_wait", "p, [a], b{, c:u32}", "16", order=WAIT, ptx=7.8, sm=90)
def wait(
    lanes: CopyingLanes, a: Addresses, b: Word, c: Array | None = None, *, ss: str = "generic", sem: str = "", scope: str = ""
) -> Mask:
    """p = "the phase that the state b names has ended"; try_wait may take up to c nanoseconds to answer."""
    lanes.settle(ss, a)
    done: Mask = _phase(lanes, ss, a) != b >> _PHASE_AT
    return answer(lanes, ss, a, done)


@_rows("test_wait.parity", "p, [a], b:u32", "16", order=WAIT, ptx=7.1, sm=80)
@_rows("try_wait.parity", "p, [a], b:u32{, c:u32}", "16", order=WAIT, ptx=7.8, sm=90)
def wait_parity(
    lanes: CopyingLanes, a: Addresses, b: Array, c: Array | None = None, *, ss: str = "generic", sem: str = "", scope: str = ""
) -> Mask:
    """p = "the phase of parity b has ended": the current phase has the other one."""
    lanes.settle(ss, a)
    done: Mask = _phase(lanes, ss, a) != (b & np.uint32(1))
    return answer(lanes, ss, a, done)


@instruction("mbarrier.pending_count.b64  d:u32, a", ptx=7.0, sm=80, section="9.7.15.15.17")
def pending_count(a: Word) -> Array:
    """d = how many arrivals were pending in the state a."""
    return pending_arrivals(a).astype(np.uint32)
