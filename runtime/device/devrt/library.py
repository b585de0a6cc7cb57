"""The functions that the driver adds to a program with libcudadevrt, as PTX: the files of this folder, with values for the words in braces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

from warplab.assembler.ir import Module

from .queue import MOST, PARAMETERS, QUEUE

PREFIXES = ("__cuda_syscall_cnpv2", "cnp")  # of what libcudadevrt calls, in its two versions
GRAPH_LAUNCH = "cudaGraphLaunch"
WORDS = {
    "graph_launch": GRAPH_LAUNCH,
    "queue": QUEUE,
    "parameters": PARAMETERS,
    "record": PARAMETERS + MOST,
    "invalid": 1,  # codes of CUDA's runtime
    "no_memory": 2,
    "not_supported": 801,
}


def driver_part(modules: Sequence[Module]) -> str:
    """What the driver adds to some modules; nothing where they neither have libcudadevrt nor launch graphs."""
    missing = {name for m in modules for name, f in m.functions.items() if not f.is_defined}
    missing -= {name for m in modules for name, f in m.functions.items() if f.is_defined}
    if not any(name.startswith(PREFIXES) or name == GRAPH_LAUNCH for name in missing):
        return ""
    folder = Path(__file__).parent
    once, launches = (Template(folder.joinpath(name).read_text(encoding="utf-8")) for name in ("grids.ptx", "launches.ptx"))
    parts = [once.substitute(WORDS), *(launches.substitute(WORDS, prefix=prefix) for prefix in PREFIXES)]
    if GRAPH_LAUNCH in missing:
        parts.append(Template(folder.joinpath("graphs.ptx").read_text(encoding="utf-8")).substitute(WORDS))
    return ".version 7.0\n.target sm_70\n.address_size 64\n" + "\n".join(parts)
