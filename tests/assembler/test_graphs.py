"""The graph algorithms against brute force on random graphs."""

import itertools
import random

import pytest

from warplab.assembler.flow import graphs


def reach(successors, start, without=-1):
    seen, work = set(), [start] if start != without else []
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work += [s for s in successors[node] if s != without]
    return seen


def random_graph(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 14)
    return [[rng.randrange(n) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))] for _ in range(n)]


def structured_graph(seed):
    """Nested ifs, loops, breaks and continues: reducible by construction."""
    rng = random.Random(seed)
    successors = [[]]

    def new():
        successors.append([])
        return len(successors) - 1

    def statement(at, depth, loop):
        """Grows from node `at`; returns the node where control goes on, or None."""
        kind = rng.choice(["if", "loop", "seq", "break", "continue", "plain"] if depth else ["plain", "break"])
        if kind == "plain":
            return at
        if kind == "seq":
            middle = statement(at, depth - 1, loop)
            return None if middle is None else statement(middle, depth - 1, loop)
        if kind in ("break", "continue"):
            if loop is None:
                return at
            onward = new()
            pair = [loop[kind == "continue"], onward]
            rng.shuffle(pair)
            successors[at] += pair
            return onward
        if kind == "if":
            join, sides = new(), [new(), new()]
            successors[at] += sides
            for side in sides:
                end = statement(side, depth - 1, loop)
                if end is not None:
                    successors[end].append(join)
            return join
        header, body, after = new(), new(), new()
        successors[at].append(header)
        pair = [body, after]
        rng.shuffle(pair)
        successors[header] += pair
        end = statement(body, depth - 1, (after, header))
        if end is not None:
            successors[end].append(header)
        return after

    statement(0, 4, None)
    return successors


def analyse(successors):
    order = graphs.postorder(successors, [0])[::-1]
    before = graphs.predecessors(successors)
    idom = graphs.dominators(order, before)
    loops = graphs.natural_loops(successors, order, before, idom)
    loop_of = [None] * len(successors)
    for loop in loops:
        for b in loop.own:
            loop_of[b] = loop.index
    return order, before, idom, loops, loop_of


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("make", [random_graph, structured_graph])
def test_dominators_and_loops(make, seed):
    successors = make(seed)
    order, _, idom, loops, _ = analyse(successors)
    reached = reach(successors, 0)
    assert set(order) == reached
    dominates = {(a, b) for a in reached for b in reached - reach(successors, 0, a)}
    for b in reached - {0}:
        strict = {a for a in reached if (a, b) in dominates and a != b}
        nearest = next(a for a in strict if all((other, a) in dominates for other in strict))
        assert idom[b] == nearest
    backs = {(u, h) for u in reached for h in successors[u] if (h, u) in dominates}
    assert {loop.header for loop in loops} == {h for _, h in backs}
    for loop in loops:
        latches = {u for u, h in backs if h == loop.header}
        assert set(loop.latches) == latches
        inside = {loop.header} | {b for b in reached if any(u in reach(successors, b, loop.header) for u in latches)}
        assert list(loop.blocks) == sorted(inside)
        if loop.parent is not None:
            outer = loops[loop.parent]
            assert inside < set(outer.blocks) and loop.depth == outer.depth + 1
        for other in loops:
            if loop.index != other.index and loop.header in other.blocks:
                assert other.index < loop.index and loop.depth > other.depth


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("make", [random_graph, structured_graph])
def test_post_dominators(make, seed):
    successors = make(seed)
    order, before, *_ = analyse(successors)
    ends = {b for b in order if not successors[b]}
    ipdom = graphs.post_dominators(successors, order, before)
    if not all(ends & reach(successors, b) for b in order):
        return  # where nothing leaves a cycle, the choice of its end is free
    for b in order:
        strict = {a for a in order if a != b and not ends & reach(successors, b, a)}
        assert ipdom[b] in strict if strict else ipdom[b] is None
        if strict:
            assert all(other == ipdom[b] or not ends & reach(successors, ipdom[b], other) for other in strict)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("make", [random_graph, structured_graph])
def test_loop_order_keeps_loops_together(make, seed):
    successors = make(seed)
    order, _, _, loops, loop_of = analyse(successors)
    rpo = graphs.loop_order(successors, order, loops, loop_of)
    assert sorted(rpo) == sorted(order) and rpo[0] == 0
    place = {b: i for i, b in enumerate(rpo)}
    for loop in loops:
        places = sorted(place[b] for b in loop.blocks)
        assert places[0] == place[loop.header]
        assert places == list(range(places[0], places[0] + len(places)))
    if make is structured_graph:
        backs = {(u, loop.header) for loop in loops for u in loop.latches}
        for u, following in itertools.compress(enumerate(successors), [b in place for b in range(len(successors))]):
            assert all(place[u] < place[s] or (u, s) in backs for s in following)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("make", [random_graph, structured_graph])
def test_data_flow_finds_what_reaches_each_node(make, seed):
    """Each node begins with a bit of its own and stops some bits: a bit reaches all that a path of nodes leads to which let it pass."""
    successors, rng = make(seed), random.Random(seed)
    order = analyse(successors)[0]
    n = len(successors)
    stops = [rng.getrandbits(n) for _ in range(n)]
    found = graphs.solve(successors, [1 << b for b in range(n)], lambda b, bits: bits & ~stops[b], order)
    for bit in range(n):
        letting = [[s for s in following if not stops[b] >> bit & 1 and b in order] for b, following in enumerate(successors)]
        assert reach(letting, bit) == {b for b in range(n) if found[b] >> bit & 1}


def test_a_long_chain_of_nested_loops_is_quick():
    n = 3000
    successors = [[i + 1] for i in range(n)]
    successors += [[n - 1 - i, n + 1 + i] for i in range(n)] + [[]]
    order, before, _, loops, loop_of = analyse(successors)
    assert len(loops) == n and loops[-1].depth == n
    assert len(graphs.loop_order(successors, order, loops, loop_of)) == len(successors)
    assert graphs.post_dominators(successors, order, before)[0] == 1
