"""The functions that the driver adds to a program with libcudadevrt, as PTX: the files of this folder, with values for the words in braces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

from warplab.assembler.ir import Module

from .queue import MOST, PARAMETERS, QUEUE

PREFIXES = ("__cuda_syscall_cnpv2", "cnp")  # of what libcudadevrt calls, in its two versions
WORDS = {
    "queue": QUEUE,
    "parameters": PARAMETERS,
    "record": PARAMETERS + MOST,
    "invalid": 1,  # codes of CUDA's runtime
    "no_memory": 2,
    "not_supported": 801,
}


def wants_launches(modules: Sequence[Module]) -> bool:
    """Is libcudadevrt among some modules?"""
    return any(name.startswith(PREFIXES) and f.body is None for m in modules for name, f in m.functions.items())


def driver_part() -> str:
    """What the driver adds."""
    folder = Path(__file__).parent
    once, launches = (Template(folder.joinpath(name).read_text(encoding="utf-8")) for name in ("grids.ptx", "launches.ptx"))
    parts = [once.substitute(WORDS), *(launches.substitute(WORDS, prefix=prefix) for prefix in PREFIXES)]
    return ".version 7.0\n.target sm_70\n.address_size 64\n" + "\n".join(parts)
