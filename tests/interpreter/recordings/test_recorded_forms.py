"""Kernels around one form each, as an H200 ran them: every bit that they leave, by a checksum; or that they fault."""

import functools
import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from warplab.interpreter.faults import Fault

from ..harness import Machine
from .operands import LANES, POISON, checksum, operands

KERNELS = json.loads(lzma.decompress((Path(__file__).parents[2] / "data/forms.json.xz").read_bytes()))["kernels"]
FAMILIES = sorted({k["name"].split()[0] for k in KERNELS})


@functools.cache  # the conformance page needs the answers, too
def compare(number: int) -> None:
    """Runs one kernel of KERNELS; an AssertionError says that it left something else."""
    k = KERNELS[number]
    machine, given = Machine(k["text"], "sm_90a", bytes=4 << 20, fmad="all"), operands(k["number"], k["mode"])
    out = machine.upload(np.full(k["rows"] * LANES, POISON))
    arguments = [machine.upload(given), out, machine.upload(given[: 1024 // LANES].copy())]
    with np.errstate(all="ignore"):
        if "fault" in k:
            with pytest.raises(Fault):
                machine.launch(1, LANES, arguments, max_seconds=60)
            return
        machine.launch(1, LANES, arguments, max_seconds=60)
        assert checksum(machine.download(out, np.uint64).reshape(-1, LANES)) == k["digest"], k["name"]


@pytest.mark.parametrize("family", FAMILIES)
def test_each_leaves_what_the_hardware_left(family: str) -> None:
    for number, k in enumerate(KERNELS):
        if k["name"].split()[0] == family:
            compare(number)
