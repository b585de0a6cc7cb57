"""Random small programs: what the engine shows is allowed, what is sequentially consistent is allowed, and with fence.sc nothing else is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from warplab.runtime.litmus.judge import LitmusReport, judge
from warplab.runtime.run.runspec import directives

SEEDS = 12


class Does(NamedTuple):
    """One instruction of a thread."""

    what: str  # st, ld, add, exch, fence, bar
    at: str = ""
    value: int = 0
    words: str = ""  # behind the opcode, with dots


Threads = Sequence[Sequence[Does]]
SCOPES = ("cta", "cluster", "gpu", "sys")


def text(threads: Threads) -> str:
    """A kernel in which thread n of the launch does the n-th list; what it reads goes to `n_k`."""
    names = ["x", "y", *(f"r{n}_{k}" for n, does in enumerate(threads) for k, d in enumerate(does) if reads(d))]
    body = [".version 8.0", ".target sm_90", ".address_size 64", f".global .u32 {', '.join(names)};", ".visible .entry k()", "{"]
    body += [".reg .u32 %me, %c, %n, %r<16>;", ".reg .pred %p;", "mov.u32 %c, %ctaid.x;", "mov.u32 %n, %ntid.x;", "mov.u32 %me, %tid.x;"]
    body.append("mad.lo.u32 %me, %c, %n, %me;")
    for n in range(len(threads)):
        body += [f"setp.eq.u32 %p, %me, {n};", f"@%p bra P{n};"]
    body.append("ret;")
    for n, does in enumerate(threads):
        body.append(f"P{n}:")
        for k, d in enumerate(does):
            body.append(
                {
                    "st": f"st{d.words}.global.u32 [{d.at}], {d.value};",
                    "ld": f"ld{d.words}.global.u32 %r{k}, [{d.at}];",
                    "add": f"atom{d.words}.global.add.u32 %r{k}, [{d.at}], {d.value};",
                    "exch": f"atom{d.words}.global.exch.b32 %r{k}, [{d.at}], {d.value};",
                    "fence": f"fence{d.words};",
                    "bar": "barrier.sync 0;",
                }[d.what]
            )
        body += [f"st.global.u32 [r{n}_{k}], %r{k};" for k, d in enumerate(does) if reads(d)]
        body.append("ret;")
    return "\n".join([*body, "}"])


def reads(d: Does) -> bool:
    return d.what in ("ld", "add", "exch")


def judged(threads: Threads, launch: str, seeds: int) -> LitmusReport:
    return judge([text(threads).encode()], ["k.ptx"], directives(f"//@ run {launch}")[0], None, (), seeds)


def allowed(report: LitmusReport) -> set[tuple[int, ...]]:
    return {o.values for o in report.outcomes if o.allowed}


def interleavings(threads: Threads, at: tuple[int, ...], memory: dict[str, int]) -> Iterator[dict[str, int]]:
    """All ends of a memory to which everybody comes one after the other; barriers are left out."""
    over = True
    for n, does in enumerate(threads):
        if at[n] == len(does):
            continue
        over = False
        d, after = does[at[n]], dict(memory)
        if reads(d):
            after[f"r{n}_{at[n]}"] = memory[d.at]
        if d.what in ("st", "exch"):
            after[d.at] = d.value
        if d.what == "add":
            after[d.at] = memory[d.at] + d.value
        yield from interleavings(threads, (*at[:n], at[n] + 1, *at[n + 1 :]), after)
    if over:
        yield memory


def sequential(threads: Threads) -> set[tuple[int, ...]]:
    ends = interleavings(threads, (0,) * len(threads), {"x": 0, "y": 0})
    names = ["x", "y", *(f"r{n}_{k}" for n, does in enumerate(threads) for k, d in enumerate(does) if reads(d))]
    return {tuple(end[name] for name in names) for end in ends}


LAUNCHES = ("--grid 3 --block 1", "--grid 1 --block 3", "--grid 2 --block 2", "--grid 4 --block 1 --cluster 2")


@st.composite
def doing(draw: st.DrawFn) -> Does:
    what = draw(st.sampled_from(["st", "st", "ld", "ld", "add", "exch", "fence", "bar"]))
    scope = draw(st.sampled_from(SCOPES))
    order = {"st": ["", ".volatile", ".relaxed", ".release"], "ld": ["", ".volatile", ".relaxed", ".acquire"],
             "fence": [".acq_rel", ".sc"], "bar": [""]}.get(what, [".relaxed", ".acquire", ".release", ".acq_rel"])  # fmt: skip
    word = draw(st.sampled_from(order))
    words = f"{word}.{scope}" if word not in ("", ".volatile") else word
    return Does(what, draw(st.sampled_from("xy")), draw(st.integers(1, 2)), words)


def is_small(threads: Threads) -> bool:
    return sum(d.what in ("add", "exch") for does in threads for d in does) <= 2 and sum(map(len, threads)) <= 7


programs = st.lists(st.lists(doing(), min_size=1, max_size=3), min_size=2, max_size=3).filter(is_small)
few = settings(max_examples=20)


@few
@given(programs, st.sampled_from(LAUNCHES))
@example([[Does("st", "x", 1), Does("fence", words=".acq_rel.cta"), Does("st", "y", 1)],
          [Does("ld", "y", words=".relaxed.cta"), Does("fence", words=".acq_rel.gpu"), Does("st", "y", 2, ".relaxed.gpu")],
          [Does("ld", "y", words=".acquire.gpu"), Does("ld", "x")]], "--grid 2 --block 2")  # fmt: skip
def test_what_is_shown_is_allowed(threads: Threads, launch: str) -> None:
    report = judged(threads, launch, SEEDS)
    assert not report.escaped, "\n".join([launch, text(threads), *map(str, report.escaped)])


@few
@given(programs)
def test_what_is_sequentially_consistent_is_allowed(threads: Threads) -> None:
    threads = [[d for d in does if d.what != "bar"] for does in threads]
    assert sequential(threads) <= allowed(judged(threads, LAUNCHES[0], 0))


@few
@given(programs)
def test_with_fences_between_all_accesses_nothing_else_is(threads: Threads) -> None:
    strong = [[d._replace(words=".relaxed.gpu") for d in does if d.what not in ("bar", "fence")][:2] for does in threads]
    fenced = [[e for d in does for e in (Does("fence", words=".sc.gpu"), d)] for does in strong]
    sequence = sequential(strong)
    report = judged([does[1:] for does in fenced], LAUNCHES[0], 0)
    assert allowed(report) == sequence


@pytest.mark.parametrize("launch", LAUNCHES)
def test_the_examples_are_many(launch: str) -> None:
    """A store that nothing orders is seen late, and one that a fence orders is not."""
    loose = [[Does("st", "x", 1), Does("st", "y", 1)], [Does("ld", "y"), Does("ld", "x")]]
    tight = [[loose[0][0], Does("fence", words=".acq_rel.gpu"), loose[0][1]], loose[1]]
    shown = [{o.values[-2:] for o in judged(threads, launch, 60).outcomes if o.orders} for threads in (loose, tight)]
    assert (1, 0) in shown[0] and (1, 0) not in shown[1]
