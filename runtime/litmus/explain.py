"""An explanation as text: the events of a cycle with what relates each to the next, or the events of an execution with what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from warplab.interpreter.litmus.events import GENERIC, Location, MemoryEvent
from warplab.interpreter.litmus.relations import bits
from warplab.interpreter.litmus.why import AXIOMS, RELATIONS, Explanation
from warplab.interpreter.order import SCOPES

NameOf = Callable[[Location, str], str]  # a location, and which of its addresses
_SCOPE = {scope: word for word, scope in SCOPES.items() if word != "gl"}


def event_text(x: Explanation, i: int, name_of: NameOf) -> str:
    """What an event does: `ld.acquire.gpu y = 1`."""
    assert x.candidate is not None
    e = x.candidate.events[i]
    if x.candidate.thread[i] is None and e.location is not None and e.written is not None:
        return f"{name_of(e.location, '')} = {_number(e.written, e.location)}"
    if e.barrier:
        number = e.barrier[2] if len(e.barrier) > 2 else ""
        return f"{e.barrier[0]} {number}: {'arrives and waits' if e.arrives and e.waits else 'arrives' if e.arrives else 'waits'}"
    if e.location is None:
        return f"fence.proxy.{e.proxy}" if e.order.proxy else f"fence.{_words(e)}"
    opcode = "atom" if e.is_atomic else "st" if e.read is None else "ld"
    values = [str(_number(v, e.location)) for v in (e.read, e.written) if v is not None]
    through = "" if e.proxy == GENERIC else f" through the {e.proxy} proxy"
    return f"{opcode}.{_words(e)} {name_of(e.location, e.address)} = {' -> '.join(values)}{through}"


def _words(e: MemoryEvent) -> str:
    o = e.order
    if not o.strong:
        return "weak"
    both = "sc" if o.sequential else "acq_rel" if o.acquires and o.releases else ""
    return f"{both or ('acquire' if o.acquires else 'release' if o.releases else 'relaxed')}.{_SCOPE[o.scope]}"


def _number(bits: int, location: Location) -> int:
    width = 8 * location[2]
    return bits - (1 << width) if bits >> (width - 1) else bits


def thread_text(x: Explanation, i: int) -> str:
    """Whose event it is."""
    thread = x.candidate.thread[i] if x.candidate is not None else None
    return "first" if thread is None else f"P{thread.number}"


def as_text(x: Explanation, name_of: NameOf) -> list[str]:
    """Lines of a report."""
    if x.candidate is None:
        return ["why: no way through the threads leaves these values, or it meets a barrier that never completes"]
    return list(_witness(x, name_of)) if x.is_allowed else list(_contradiction(x, name_of))


def _place(x: Explanation, i: int) -> str:
    assert x.candidate is not None
    line = x.candidate.events[i].line
    return f"{thread_text(x, i):5}  {f'line {line}' if line else '':8}"


def _contradiction(x: Explanation, name_of: NameOf) -> Iterator[str]:
    assert x.candidate is not None
    total = sum(x.broken.values())
    each = ", ".join(f"{axiom} {n}" for axiom, n in sorted(x.broken.items()))
    which = "the one execution" if total == 1 else f"each of {'the' if x.complete else 'the first'} {total} executions"
    yield f"why: {which} with this outcome breaks an axiom ({each})"
    yield f"{x.axiom}: {AXIOMS[x.axiom]}; but"
    texts = [event_text(x, step.i, name_of) for step in x.cycle]
    width = max(map(len, texts))
    for n, (step, text) in enumerate(zip(x.cycle, texts, strict=True), 1):
        yield f"  ({n})  {_place(x, step.i)}  {text:{width}}  --{step.relation}--> ({n % len(x.cycle) + 1})"
    yield "; ".join(f"{word}: {RELATIONS[word]}" for word in dict.fromkeys(step.relation for step in x.cycle))


def _witness(x: Explanation, name_of: NameOf) -> Iterator[str]:
    c = x.candidate
    assert c is not None
    source = {r: w for w, row in enumerate(x.sources) for r in bits(row)}
    yield "why: this execution breaks no axiom"
    texts = [event_text(x, i, name_of) for i in range(c.n)]
    width = max(map(len, texts))
    for i, text in enumerate(texts):
        given = f"  reads from ({source[i] + 1})" if i in source else ""
        yield f"  {f'({i + 1})':>4}  {_place(x, i)}  {text:{width}}{given}".rstrip()
    for location, order in x.coherence.items():
        # A partial order: each write with those that it comes before.
        pairs = [f"({a + 1}) before ({b + 1})" for a in c.writes[location] for b in bits(order[a]) if c.thread[a] is not None]
        if pairs:
            yield f"  coherence order of {name_of(location, '')}: {', '.join(pairs)}"


def as_json(x: Explanation, name_of: NameOf) -> dict[str, Any]:
    """The same as plain values."""
    c = x.candidate
    events = [] if c is None else [
        {"thread": thread_text(x, i), "line": e.line, "text": event_text(x, i, name_of)} for i, e in enumerate(c.events)
    ]  # fmt: skip
    return {
        "allowed": x.is_allowed, "axiom": x.axiom, "broken": dict(x.broken), "events": events,
        "cycle": [{"from": s.i, "relation": s.relation, "to": s.j} for s in x.cycle],
        "reads": [{"write": w, "read": r} for w, row in enumerate(x.sources) for r in bits(row)],
    }  # fmt: skip
