"""Records as Python and as words."""

from __future__ import annotations

import ast
import inspect
from typing import Annotated

from warplab.interpreter.native.schedule.records import Array, Record, RecordLowering, RecordTable, Root


class Link(Record):
    """A record of a list."""

    value: int
    before: Link
    many: Annotated[Array[int], 2]


class Chain(Root):
    """The record that is known."""

    length: int
    head: Annotated[Link, Link.SIZE]
    links: RecordTable[Link]
    found: Array[Link]


def longest(chain: Chain, count: int) -> int:
    """Adds up values from the last link on, and keeps what it has seen."""
    total = seen = 0
    link = chain.links[count - 1]
    while link:
        total += link.value + link.many[1]
        chain.found[seen] = link
        seen += 1
        link = link.before
    for other in chain.found[:seen]:
        other.value = total
    chain.head.value = chain.masks[0]
    return total


LOWERED = """
total = seen = 0
link = S[5] + (count - 1) * 4
while link:
    total += S[link] + S[link + 2 + 1]
    S[S[6] + seen] = link
    seen += 1
    link = S[link + 1]
other.array = S[6]
for other.number in range(seen):
    other = S[other.array + other.number]
    S[other] = total
S[1] = F[0]
return total
"""


def test_the_text_runs_as_python() -> None:
    chain = Chain.with_arrays(lambda n: [0] * n, [7], {"links": 2 * Link.SIZE, "found": 2})
    first, last = (chain.links[i] for i in range(2))
    last.before = first
    first.value, last.value, last.many[1] = 3, 4, 5
    assert longest(chain, 2) == 12
    assert (first.value, last.value, chain.head.value) == (12, 12, 7)
    assert [link.at for link in chain.found[:2]] == [last.at, first.at]


def test_the_same_as_words() -> None:
    tree = ast.parse(inspect.getsource(longest)).body[0]
    lowered = RecordLowering(longest).visit(tree)
    assert [a.arg for a in lowered.args.args] == ["S", "F", "count"]
    text = "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in lowered.body[1:])
    assert text == LOWERED.strip()


def test_places_of_fields() -> None:
    assert [Link.place(name) for name in ("value", "before", "many")] == [0, 1, 2]
    assert (Link.SIZE, Chain.SIZE) == (4, 7)
    assert Chain.place("head.before") == Chain.place("head") + 1
