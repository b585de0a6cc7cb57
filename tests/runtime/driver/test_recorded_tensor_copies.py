"""Tensor copies against an H200: every byte that they leave, by a checksum, and every refusal."""

from __future__ import annotations

import functools
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from warplab.runtime.driver.api import current

from ..conftest import Host, context, model_only
from .tensor_cases import CallFailed, TensorCase

RECORDED = json.loads(lzma.decompress((Path(__file__).parents[2] / "data" / "tensor_copies.json.xz").read_bytes()))
CASES: list[dict[str, Any]] = RECORDED["cases"]
GROUPS = sorted({c["group"] for c in CASES})


@functools.cache
def compare(number: int) -> None:
    """Runs one case in a context of its own, once for the test below and for the conformance page."""
    with context() as host:
        (refused if "expect" in CASES[number] else left)(CASES[number], host)


def left(case: dict[str, Any], host: Host) -> None:
    """A case must leave what was recorded."""
    assert TensorCase(host, case).run(RECORDED["texts"][case["text"]]) == case.get("outputs", {}), case["name"]


def refused(case: dict[str, Any], host: Host) -> None:
    """A call of a case must fail."""
    with pytest.raises(CallFailed) as e:
        TensorCase(host, case).run(RECORDED["texts"][case["text"]])
    assert e.value.args == (case["expect"]["call"], case["expect"]["error"])


@pytest.mark.parametrize("group", GROUPS)
def test_each_leaves_what_the_hardware_left(group: str) -> None:
    for number, case in enumerate(CASES):
        if case["group"] == group and "expect" not in case:
            compare(number)


@model_only
@pytest.mark.parametrize("group", ["multicast", "programs", "reduce", "replace", "store"])
def test_copies_that_come_late_leave_the_same(group: str, host: Host) -> None:
    current().options.schedule = 1
    try:
        for case in CASES:
            if case["group"] == group and "expect" not in case:
                left(case, host)
    finally:
        current().options.schedule = None


@pytest.mark.parametrize("number", [pytest.param(n, id=c["name"]) for n, c in enumerate(CASES) if "expect" in c])
def test_each_is_refused_where_the_hardware_refused_it(number: int) -> None:
    compare(number)
