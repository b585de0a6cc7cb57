"""What has to be looked at to prove that the threads of a kernel do not race and read nothing unset: found from its plan.

Two accesses to shared memory can meet only if no barrier of their block lies between them.  Loads that meet no store need no look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warplab.isa.types import TYPES

from ...order import GPU, order_of
from ...plan import plan as P
from ...plan.uses import leaves, live_before, live_behind, successors, written
from ..emit.accesses import space_of
from ..emit.tracing import Tracing
from ..emit.watch import ALL_SET, NO_WRITES, WORD, WRITABLE, ProofWatch
from ..trace.code import Untraceable

POINTER = 8  # bytes of an address
WHOLE = 0xFFFFFFFF  # the mask of all lanes of a warp


def watch_of(plan: P.PlanFunction, tracing: Tracing) -> ProofWatch:
    """Which accesses are looked at; Untraceable where a proof is out of reach."""
    if plan.zeros or plan.frame_size:
        raise Untraceable("registers that may be unset, or local memory")
    accesses = [op for segment in plan.segments for op in _accesses(segment, tracing)]
    globals_ = [op for op in accesses if space_of(op) == "global"]
    origins = _origins(plan)
    stores = [op for op in globals_ if op.how != "load"]
    updates = [op for op in accesses if op.how == "lanes"]
    if len({(space_of(op), _size(op)) for op in updates}) > len({space_of(op) for op in updates}):
        raise Untraceable("updates of several sizes")
    if any(not origins[id(op)] for op in stores):
        raise Untraceable("a store to an address of unknown origin")
    stored = frozenset(place for op in stores for place in origins[id(op)])
    claiming, rights = set[int](), dict[int, int]()
    for op in globals_:
        if op.how == "store":
            claiming.add(id(op))
            rights[id(op)] = 0
        elif op.how == "load" and (origins[id(op)].isdisjoint(stored) or "nc" in op.site.instruction.modifiers):
            rights[id(op)] = ALL_SET | NO_WRITES
        else:
            claiming.add(id(op))
            rights[id(op)] = ALL_SET | WRITABLE
    claiming |= {id(op) for group in _intervals(plan, accesses) if any(op.how != "load" for op in group) for op in group}
    unit = min((_moved(op) for op in accesses if id(op) in claiming), default=WORD)
    return ProofWatch(rights, frozenset(claiming), min(unit, WORD), frozenset(_naming(plan)), stored, _may_meet(plan))


def _accesses(segment: P.Segment, tracing: Tracing) -> Iterator[P.Op]:
    """The loads, stores and updates of a segment, which has nothing else that matters."""
    if not _is_plain(segment.end):
        raise Untraceable("an end that orders some threads, or none")
    for op in segment.ops:
        if _is_update(op, tracing):
            yield op
            continue
        order = order_of(op.site.instruction)
        if order.strong and (order.proxy or not order.fence):  # other fences only order what has to be no race without them
            raise Untraceable("an operation that depends on what other threads do")
        if op.how not in ("load", "store"):
            if not tracing.harmless(op):
                raise Untraceable(op.meaning.form.opcode)
        elif not isinstance(op.sources[0], P.ParameterPlace):
            if space_of(op) not in ("global", "shared") or not tracing.harmless(op):
                raise Untraceable("an access to another memory")
            yield op


def _is_update(op: P.Op, tracing: Tracing) -> bool:
    """Is it an atomic update of whole words that no other one races with?"""
    order, settled = order_of(op.site.instruction), op.meaning.settled
    if op.how != "lanes" or op.meaning.form.facts.access not in ("atomic", "reduction") or not tracing.updates(op):
        return False
    if settled.get("vec") or _size(op) not in (WORD, 2 * WORD):
        return False
    return space_of(op) == "shared" or (space_of(op) == "global" and order.scope >= GPU)


def _may_meet(plan: P.PlanFunction) -> bool:
    """See LaunchProof: are there releases, and is there an atomic update by whose result threads that acquire may go?"""
    acquires = releases = answers = False
    for segment in plan.segments:
        live = live_behind(plan, segment)
        for op in reversed(segment.ops):
            order = order_of(op.site.instruction)
            acquires, releases = acquires or order.acquires, releases or order.releases
            answers |= order.strong and any(live >> slot & 1 for slot in written(op))
            live = live_before(op, live)
    return acquires and releases and answers


def _size(op: P.Op) -> int:
    """The bytes of an element that an access moves; 0 if that is no single number."""
    t = TYPES.get(str(op.meaning.settled.get("type")))
    return t.bytes if t is not None and t.elements == 1 else 0


def _moved(op: P.Op) -> int:
    """The bytes that an access of a lane moves."""
    access = op.meaning.access
    return _size(op) if access is None else access.type.bytes * access.elements


def _is_plain(end: P.End) -> bool:
    """Does a segment end without ordering threads, at a barrier of all threads of the block, or where a whole warp meets?"""
    match end:
        case P.Jump() | P.Branch() | P.Table():
            return True
        case P.Leave(what="ret" | "exit"):
            return True
        case P.Barrier(count=None, waits=True, reduction=None, guard=None):
            return True
        case P.Sync(guard=None):
            return True
    return False


def _naming(plan: P.PlanFunction) -> Iterator[int]:
    """The operations for whose lanes a warp waits, by their last operand."""
    for end in (x.end for x in plan.segments):
        if not isinstance(end, P.Sync) or end.mask is None or _constant(plan, end.mask) == WHOLE:
            continue
        following = plan.segments[end.past].ops[:1]
        if not any(op.how == "warps" and op.sources and op.sources[-1] == end.mask for op in following):
            raise Untraceable("lanes that wait for others")
        yield from map(id, following)


def _constant(plan: P.PlanFunction, source: P.Source) -> int | None:
    """What an operand is in all lanes, if the text says it."""
    if isinstance(source, P.SlotAs):
        source = source.slot
    if isinstance(source, int) and source >= plan.first_constant:
        return int(plan.constants[source - plan.first_constant].ravel()[0]) & WHOLE
    return None


def _intervals(plan: P.PlanFunction, accesses: Sequence[P.Op]) -> Iterator[Sequence[P.Op]]:
    """The accesses to shared memory that threads may execute between the same two barriers."""
    shared = {id(op) for op in accesses if space_of(op) == "shared"}
    starts = {0, *(x.end.past for x in plan.segments if isinstance(x.end, P.Barrier))}
    for start in starts:
        seen, left = {start}, [start]
        while left:
            end = plan.segments[left.pop()].end
            if not isinstance(end, P.Barrier):
                fresh = set(successors(end)) - seen
                seen |= fresh
                left += fresh
        yield [op for n in seen for op in plan.segments[n].ops if id(op) in shared]


Origins = dict[int, frozenset[P.ParameterPlace]]  # of the values of slots: the parameters of 64 bits from which they come


def _origins(plan: P.PlanFunction) -> Origins:
    """Where the addresses of accesses come from, by the ids of these."""
    entries: dict[int, Origins] = {0: {}}
    found: Origins = {}
    left = [0]
    while left:
        n = left.pop()
        now = dict(entries[n])
        for op in plan.segments[n].ops:
            places = frozenset(place for s in op.sources for place in _of_source(s, now))
            found[id(op)] = _of_source(op.sources[0], now) if op.sources else frozenset()
            if op.how == "load" and not isinstance(op.sources[0], P.ParameterPlace):
                places = frozenset()
            for slot in written(op):
                now[slot] = places if op.guard is None else places | now.get(slot, frozenset())
        for following in successors(plan.segments[n].end):
            before = entries.get(following)
            after = {slot: places | (before or {}).get(slot, frozenset()) for slot, places in now.items() if places}
            after = (before or {}) | after
            if before != after:
                entries[following] = after
                left.append(following)
    return found


def _of_source(source: P.Source, origins: Origins) -> frozenset[P.ParameterPlace]:
    if isinstance(source, P.ParameterPlace):
        return frozenset((source,)) if source.dtype is None or source.dtype.itemsize == POINTER else frozenset()
    return frozenset(place for slot in leaves(source) if type(slot) is int for place in origins.get(slot, ()))
