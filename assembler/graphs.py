"""Pure graph algorithms over successor lists: depth first order, dominators, post-dominators, natural loops.

Node 0 is the entry.  flow.py gives them the basic blocks of a function; they know nothing of PTX.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Graph = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A natural loop: all nodes from which a back edge to the header is reached without passing the header."""

    index: int
    header: int
    latches: tuple[int, ...]  # the nodes that branch back
    blocks: tuple[int, ...]  # ascending, those of inner loops too
    parent: int | None  # index of the loop around it
    depth: int  # 1 for an outermost one


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
    for header in reversed(headers):
        if header in outer:
            members[outer[header]] += members[header]
    loops: list[Loop] = []
    numbers: dict[int, int] = {}
    for header in headers:
        parent = numbers[outer[header]] if header in outer else None
        numbers[header] = len(loops)
        depth = 1 if parent is None else loops[parent].depth + 1
        loops.append(Loop(len(loops), header, tuple(sorted(latches[header])), tuple(sorted(members[header])), parent, depth))
    return tuple(loops)


def loop_order(successors: Graph, order: Sequence[int], loops: Sequence[Loop], loop_of: Sequence[int | None]) -> list[int]:
    """A reverse postorder that keeps loops together: whatever follows a loop stands after all of it.

    The nodes of one nesting level are ordered with each loop directly inside as a single node, innermost levels first.
    """
    root = len(loops)
    own: list[list[int]] = [[] for _ in range(root + 1)]  # the nodes and the loops that stand directly in each loop
    inside: list[list[Loop]] = [[] for _ in range(root + 1)]
    for b in order:
        found = loop_of[b]
        own[root if found is None else found].append(b)
    for loop in loops:
        inside[root if loop.parent is None else loop.parent].append(loop)
    orders: list[list[int]] = [[] for _ in range(root + 1)]
    for index in (*range(root - 1, -1, -1), root):
        entry = order[0] if index == root else loops[index].header
        leads = {b: successors[b] for b in own[index]}
        level = {b: b for b in own[index]}  # node -> the node that stands for it here
        whole = {}
        for loop in inside[index]:
            leads[loop.header] = [s for b in loop.blocks for s in successors[b]]
            whole[loop.header] = orders[loop.index]
            level.update(dict.fromkeys(loop.blocks, loop.header))
        names = list(leads)
        number = {b: i for i, b in enumerate(names)}
        graph = [[number[level[s]] for s in leads[b] if s in level and level[s] != b] for b in names]
        for n in reversed(postorder(graph, [number[level[entry]]])):
            orders[index] += whole.get(names[n], [names[n]])
    return orders[root]
