"""The functions with which an object registers and launches its kernels, in a runtime that was linked in and has lost its symbols.

No name is left of them. But the host code tells where they are: what it hands the description of a fat binary, in section .nvFatBinSegment, is
__cudaRegisterFatBinary. The others follow it, in an order that the releases of CUDA share. What the host code hands each of them must agree
with that order; else nothing is taken for known, and the object's kernels are refused as a whole.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from .host_code import HostCode

DESCRIPTION = struct.Struct("<IIQQ")  # of a fat binary: the magic number, a version, its address, the address of what belongs to it
MAGIC = 0x466243B1
KERNEL, POP = "__cudaRegisterFunction", "__cudaPopCallConfiguration"
ALWAYS = ("__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary")  # what each piece of host code calls
VARIABLES = ("__cudaRegisterVar", "__cudaRegisterManagedVar")
WITHOUT_KERNELS = {*ALWAYS, *VARIABLES, "__cudaInitModule"}  # what code that has none may call
OLD = ("__cudaRegisterTexture", "__cudaRegisterSurface")  # only until CUDA 11, which also has the function of the next line
BINDS_BY_NAME = "cudaBindTexture"
NEW = ("__cudaGetKernel", "__cudaLaunchKernel", "__cudaLaunchKernel_ptsz")  # only from CUDA 12 on
ORDER = (
    *ALWAYS, *VARIABLES, "__cudaRegisterHostVar", *OLD, KERNEL, "__cudaInitModule",
    "__cudaPushCallConfiguration", POP, *NEW,
)  # fmt: skip
NEAR = 128  # bytes of code before a call: they load its arguments
ON_STACK = re.compile(rb"[\x48\x4c]\x8d[\x40-\xbf]")  # lea reg, [reg + distance]
RESULTS = 2  # of the four addresses of variables that POP is handed, so many are loaded right before the call


def descriptions(raw: bytes, address: int) -> set[int]:
    """The addresses of the descriptions of fat binaries in a section."""
    places = range(0, len(raw) - DESCRIPTION.size + 1, 8)
    return {address + at for at in places if DESCRIPTION.unpack_from(raw, at)[0] == MAGIC}


def registration(code: HostCode, starts: Sequence[int], described: set[int], known: Iterable[str]) -> dict[str, int]:
    """name -> which of the functions that begin at `starts` it is; `known`: the names of the functions that were found otherwise."""
    begin = set(starts)
    firsts = {called for at in code.takes(described) if (called := code.next_call(at, begin)) is not None}
    missing = NEW if BINDS_BY_NAME in known else OLD
    order = [name for name in ORDER if name not in missing]
    fitting = []
    for first in (bisect_left(starts, at) for at in firsts):  # other functions, too, may be handed a description
        found = {name: first + n for n, name in enumerate(order)}
        if first + len(order) < len(starts) and _fits(code, {starts[n]: name for name, n in found.items()}, begin):
            fitting.append(found)
    return fitting[0] if len(fitting) == 1 else {}


def _fits(code: HostCode, names: Mapping[int, str], begin: set[int]) -> bool:
    """Are functions called as they are if these are their names?"""
    sites = code.calls(names)
    called = {name for name, places in sites.items() if places}
    if not called.issuperset(ALWAYS) or not (called.issuperset((KERNEL, POP)) or called.issubset(WITHOUT_KERNELS)):
        return False
    take_function = [not begin.isdisjoint(code.taken_between(at - NEAR, at)) for at in sites[KERNEL]]
    take_results = [len(ON_STACK.findall(code.between(at - NEAR, at))) >= RESULTS for at in sites[POP]]
    return all(2 * sum(x) >= len(x) for x in (take_function, take_results))
