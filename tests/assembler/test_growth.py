"""Reading grows with the text, not with its square: four times as many instructions take about four times as long."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.bench.bench_assembler import module, works
from warplab.assembler import check

STRAIGHT = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n.reg .b32 %r<{n}>;\n.reg .pred %p<{n}>;\n{body}ret;\n}}\n"


def chain(n: int) -> str:
    """One function of many blocks, each with a branch around it."""
    block = "add.s32 %r{0}, %r{1}, 1;\nsetp.lt.s32 %p{0}, %r{0}, 7;\n@%p{0} bra L{0};\nadd.s32 %r0, %r{0}, 1;\nL{0}:\n"
    body = "mov.u32 %r0, %tid.x;\n" + "".join(block.format(i, i - 1) for i in range(1, n))
    return STRAIGHT.format(n=n, body=body)


def seconds(work: Callable[[], object]) -> float:
    """CPU time of the best of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("name", ["parse", "check"])
def test_modules(name: str) -> None:
    """Many functions: a square would make it sixteen times."""
    small, large = (module(n)[0] for n in (3000, 12000))
    assert seconds(works(large)[name]) < 9 * seconds(works(small)[name])


def test_one_function() -> None:
    """Many blocks in one function."""
    assert check(chain(20)) == []
    small, large = chain(250), chain(1000)
    assert seconds(lambda: check(large)) < 9 * seconds(lambda: check(small))


def test_module_is_legal() -> None:
    """What is measured has no errors."""
    text, count = module(3000)
    assert count >= 3000
    assert not [d for d in check(text) if d.severity == "error"]
