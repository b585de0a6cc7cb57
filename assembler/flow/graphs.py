"""Pure graph algorithms over successor lists: depth first order, dominators, post-dominators, natural loops, data flow.

Node 0 is the entry.  flow.py gives them the basic blocks of a function; they know nothing of PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush

Graph = Sequence[Sequence[int]]


@dataclass(frozen=True, eq=False)
class Loop:
    """A natural loop: all nodes from which a back edge to the header is reached without passing the header."""

    index: int
    header: int
    latches: tuple[int, ...]  # the nodes that branch back
    own: tuple[int, ...]  # the nodes that are in no loop inside this one
    parent: int | None  # index of the loop around it
    depth: int  # 1 for an outermost one
    inside: list[Loop] = field(default_factory=list, repr=False)  # the loops directly inside

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """All nodes, ascending; gathered when asked for, since deep nests would hold each node many times."""
        found: list[int] = []
        work = [self]
        while work:
            loop = work.pop()
            found += loop.own
            work += loop.inside
        return tuple(sorted(found))


def postorder(successors: Graph, roots: Iterable[int]) -> list[int]:
    """Depth first, the first successor first; a node stands after all that were first reached through it."""
    seen = [False] * len(successors)
    order: list[int] = []
    for root in roots:
        if seen[root]:
            continue
        seen[root] = True
        stack = [(root, iter(successors[root]))]
        while stack:
            node, rest = stack[-1]
            for s in rest:
                if not seen[s]:
                    seen[s] = True
                    stack.append((s, iter(successors[s])))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def predecessors(successors: Graph) -> list[list[int]]:
    """The nodes that lead to each node, each once, ascending."""
    found: list[list[int]] = [[] for _ in successors]
    for node, following in enumerate(successors):
        for s in dict.fromkeys(following):
            found[s].append(node)
    return found


def dominators(order: Sequence[int], before: Graph) -> list[int | None]:
    """The immediate dominator of each node of a reverse postorder; None for its first and for nodes outside it.

    Cooper, Harvey and Kennedy: meet the predecessors' dominators in reverse postorder until nothing changes.
    """
    place = [-1] * len(before)
    for i, b in enumerate(order):
        place[b] = i
    idom = [-1] * len(order)  # by place
    idom[0] = 0
    changed = True
    while changed:
        changed = False
        for i, b in enumerate(order[1:], 1):
            new = -1
            for p in before[b]:
                j = place[p]
                if j < 0 or idom[j] < 0:
                    continue
                if new < 0:
                    new = j
                    continue
                while new != j:
                    while new > j:
                        new = idom[new]
                    while j > new:
                        j = idom[j]
            if idom[i] != new:
                idom[i] = new
                changed = True
    result: list[int | None] = [None] * len(before)
    for i, b in enumerate(order[1:], 1):
        result[b] = order[idom[i]]
    return result


def post_dominators(successors: Graph, order: Sequence[int], before: Graph) -> list[int | None]:
    """The immediate post-dominator of each node; None where only the end of all paths is one.

    The end is a virtual node after every node without successors; a cycle that nothing leaves is tied to it by its last node.
    """
    end = len(successors)
    reached = set(order)
    backward = [[p for p in ps if p in reached] for ps in before]
    last = [b for b in order if not successors[b]]
    seen = set(postorder(backward, last))
    for b in reversed(order):
        if b not in seen:
            last.append(b)
            seen.add(b)
            work = [b]
            while work:
                fresh = [p for p in backward[work.pop()] if p not in seen]
                seen.update(fresh)
                work += fresh
    forward = [list(s) for s in successors]
    for b in last:
        forward[b].append(end)
    found = dominators(postorder([*backward, last], [end])[::-1], [*forward, []])
    return [None if d == end else d for d in found[:end]]


def solve(successors: Graph, states: Sequence[int], through: Callable[[int, int], int], order: Sequence[int]) -> list[int]:
    """Data flow over bit masks: for each node the least mask that holds what it begins with and what `through(node, mask)` leaves behind each
    predecessor.  Only nodes of the order are gone through, the first in it first; it is a reverse postorder, for speed.
    """
    found, place = list(states), {b: i for i, b in enumerate(order)}
    waiting = list(range(len(order)))
    queued = set(waiting)
    while waiting:
        i = heappop(waiting)
        queued.discard(i)
        behind = through(order[i], found[order[i]])
        for s in successors[order[i]]:
            if behind & ~found[s]:
                found[s] |= behind
                if s in place and place[s] not in queued:
                    queued.add(place[s])
                    heappush(waiting, place[s])
    return found


def intervals(idom: Sequence[int | None], order: Sequence[int]) -> dict[int, tuple[int, int]]:
    """When a walk of the dominator tree enters and leaves each node: a dominates b where b's interval lies in a's."""
    children: list[list[int]] = [[] for _ in idom]
    for b in order[1:]:
        parent = idom[b]
        assert parent is not None
        children[parent].append(b)
    enter: dict[int, int] = {}
    found: dict[int, tuple[int, int]] = {}
    time = 0
    stack = [order[0]]
    while stack:
        b = stack[-1]
        if b in enter:
            found[b] = (enter[b], time)
            stack.pop()
            continue
        time += 1
        enter[b] = time
        stack += children[b]
    return found


def natural_loops(successors: Graph, order: Sequence[int], before: Graph, idom: Sequence[int | None]) -> tuple[Loop, ...]:
    """The loops, an outer one before those inside it, in the reverse postorder of their headers."""
    place = {b: i for i, b in enumerate(order)}
    times = intervals(idom, order)
    latches: dict[int, list[int]] = {}
    for b in order:
        for s in dict.fromkeys(successors[b]):
            if times[s][0] <= times[b][0] and times[b][1] <= times[s][1]:
                latches.setdefault(s, []).append(b)
    headers = sorted(latches, key=place.__getitem__)
    inner: dict[int, int] = {}  # node -> header of its innermost loop
    outer: dict[int, int] = {}  # header -> header of the loop around it
    for header in reversed(headers):
        # Walk back from the latches; a loop found before is one node, entered at its outermost header.
        work, seen = list(latches[header]), {header}
        while work:
            b = work.pop()
            b = inner.get(b, b)
            while b in outer:
                b = outer[b]
            if b in seen or b not in place:
                continue
            seen.add(b)
            if b in inner:
                outer[b] = header
            else:
                inner[b] = header
            work += before[b]
        inner[header] = header
    members: dict[int, list[int]] = {h: [] for h in headers}
    for b, header in inner.items():
        members[header].append(b)
    loops: list[Loop] = []
    numbers: dict[int, int] = {}
    for header in headers:
        parent = numbers[outer[header]] if header in outer else None
        numbers[header] = len(loops)
        depth = 1 if parent is None else loops[parent].depth + 1
        loop = Loop(len(loops), header, tuple(sorted(latches[header])), tuple(sorted(members[header])), parent, depth)
        loops.append(loop)
        if parent is not None:
            loops[parent].inside.append(loop)
    return tuple(loops)


def loop_order(successors: Graph, order: Sequence[int], loops: Sequence[Loop], loop_of: Sequence[int | None]) -> list[int]:
    """A reverse postorder that keeps loops together: whatever follows a loop stands after all of it.

    The nodes of one nesting level are ordered with each loop directly inside as a single node, innermost levels first.
    """
    root = len(loops)
    edges: list[dict[int, dict[int, None]]] = [{} for _ in range(root + 1)]  # by level: node -> what it leads to, in order

    def level(node: int) -> int:
        found = loop_of[node]
        return root if found is None else found

    def depth(at: int) -> int:
        return 0 if at == root else loops[at].depth

    def around(at: int) -> int:
        parent = loops[at].parent
        return root if parent is None else parent

    for b in order:
        edges[level(b)].setdefault(b, {})
        for s in successors[b]:
            # Both ends climb to the innermost loop that holds both, where a loop counts as its header.
            start, at, end, other = b, level(b), s, level(s)
            while at != other:
                if depth(at) >= depth(other):
                    start, at = loops[at].header, around(at)
                else:
                    end, other = loops[other].header, around(other)
            if start != end:
                edges[at].setdefault(start, {})[end] = None
    for loop in loops:
        edges[root if loop.parent is None else loop.parent].setdefault(loop.header, {})
    orders: list[list[int]] = [[] for _ in range(root + 1)]
    for index in (*range(root - 1, -1, -1), root):
        inside = [n for n in loops if n.parent is None] if index == root else loops[index].inside
        whole = {n.header: orders[n.index] for n in inside}
        names = list(edges[index])
        number = {b: i for i, b in enumerate(names)}
        graph = [[number[s] for s in edges[index][b]] for b in names]
        entry = order[0] if index == root else loops[index].header
        for i in reversed(postorder(graph, [number[entry]])):
            orders[index] += whole.get(names[i], [names[i]])
    return orders[root]
