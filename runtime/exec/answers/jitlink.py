"""nvJitLink's calls: what NVIDIA's library would make into machine code stays PTX, linked as cuLinkAddData links it.

Only LTO-IR needs NVIDIA's own code, which makes PTX of it: a second copy of the library, whose functions are not redirected.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps

from warplab.interpreter.ptxas.contraction import Fmad

from ...device.memory.host import host
from ...device.modules.loading import CodeOptions, ProgramSource, link, linked_image, parsed, sources, with_libraries
from ...device.modules.targets import check_targets, rules_only
from ...errors import ApiError
from .abi import read_array, write
from .lto import LtoFailed, LtoLink, lto_library
from .special import AnsweredCall, answers

_TABLE = """\
handle:ptr* numOptions:u32 options:ptr& | Create
handle:ptr | Complete
handle:ptr* | Destroy
handle:ptr inputType:i32 data:ptr size:u64 name:str | AddData
handle:ptr inputType:i32 fileName:str | AddFile
handle:ptr size:u64* | GetErrorLogSize GetInfoLogSize GetLinkedCubinSize GetLinkedPtxSize
handle:ptr out:ptr | GetErrorLog GetInfoLog GetLinkedCubin GetLinkedPtx
major:u32* minor:u32* | Version
"""
PREFIX = "nvJitLink"
RELEASES = ("12_0", "12_1", "12_2", "12_3", "12_4", "12_5", "12_6", "12_8", "12_9", "13_0", "13_1", "13_2", "13_3", "13_4", "13_5")
CALLS = re.sub(
    r"\| (.*)", lambda m: "| " + " ".join(f"{PREFIX}{n} " + " ".join(f"__{PREFIX}{n}_{r}" for r in RELEASES) for n in m[1].split()), _TABLE
)
UNRECOGNISED_OPTION, MISSING_ARCH, INVALID_INPUT, PTX_COMPILE, INTERNAL = 1, 2, 3, 4, 6
LTO, LIBRARY = 3, 6  # kinds of inputs
VERSION = (13, 0)
_handles = itertools.count(0x30_0000_0000, 0x10)


@dataclass(eq=False)
class JitLink:
    """What is to be linked."""

    device: str
    options: list[str]
    inputs: list[ProgramSource] = field(default_factory=list)
    libraries: list[ProgramSource] = field(default_factory=list)
    lto: LtoLink | None = None
    error: str = ""
    image: bytes = b""

    @property
    def told(self) -> CodeOptions:
        """What the options say of the code."""
        words = dict(o.partition("=")[::2] for o in self.options)
        fused: Fmad = "all" if words.get("-fma", "1") != "0" else "none"
        registers = words.get("-maxrregcount", "")
        return CodeOptions(fused if "-fma" in words else None, int(registers) if registers.isdecimal() else 0)


_links: dict[int, JitLink] = {}


def call(name: str) -> Callable[[Callable[[AnsweredCall], int]], Callable[[AnsweredCall], int]]:
    """Enters the answer to a call, under the names of all releases; its codes are not those of the driver."""

    def enter(work: Callable[[AnsweredCall], int]) -> Callable[[AnsweredCall], int]:
        @wraps(work)
        def answer(c: AnsweredCall) -> int:
            try:
                return work(c)
            except ApiError as e:
                return INVALID_INPUT if e.name == "CUDA_ERROR_INVALID_HANDLE" else INTERNAL

        return answers(PREFIX + name, *(f"__{PREFIX}{name}_{r}" for r in RELEASES))(answer)

    return enter


@call("Create")
def create(c: AnsweredCall) -> int:
    """A link for an architecture."""
    g = c.given
    options = [host().string(at).decode(errors="replace") for at in read_array("ptr", g["options"], g["numOptions"])]
    device = next((o.partition("=")[2] for o in options if o.startswith("-arch=")), "")
    if not device:
        return MISSING_ARCH
    handle = next(_handles)
    _links[handle] = JitLink(device.replace("compute_", "sm_"), options)
    c.out("handle", "ptr", handle)
    return 0


@call("Destroy")
def destroy(c: AnsweredCall) -> int:
    """Ends a link."""
    (handle,) = read_array("ptr", c.given["handle"], 1)
    return 0 if _links.pop(handle, None) is not None else INVALID_INPUT


def _add(j: JitLink, kind: int, data: bytes, name: str) -> int:
    try:
        found = sources(data, j.device, name, rules_only())
        if kind != LIBRARY:
            for s in found:
                module = parsed(s.data, s.name)
                if not s.chosen and not rules_only():
                    check_targets(module, j.device)
    except ApiError as e:
        j.error = e.message
        return PTX_COMPILE
    (j.libraries if kind == LIBRARY else j.inputs).extend(found)
    return 0


def _link(c: AnsweredCall) -> JitLink:
    found = _links.get(c.given["handle"])
    if found is None:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the handle stands for no link")
    return found


@call("AddData")
def add_data(c: AnsweredCall) -> int:
    """An input in memory."""
    g = c.given
    name = host().string(g["name"]).decode(errors="replace") if g["name"] else "<input>"
    if g["inputType"] == LTO:
        j = _link(c)
        if j.lto is None:
            j.lto = LtoLink(lto_library(), j.options)
        return j.lto.add(LTO, g["data"], g["size"], g["name"])
    return _add(_link(c), g["inputType"], host().read(g["data"], g["size"]).tobytes(), name)


@call("AddFile")
def add_file(c: AnsweredCall) -> int:
    """An input in a file."""
    name = host().string(c.given["fileName"]).decode(errors="surrogateescape")
    try:
        with open(name, "rb") as file:
            return _add(_link(c), c.given["inputType"], file.read(), name)
    except OSError as e:
        _link(c).error = str(e)
        return INVALID_INPUT


@call("Complete")
def complete(c: AnsweredCall) -> int:
    """Links."""
    j = _link(c)
    try:
        if j.lto is not None:
            j.inputs.append(ProgramSource(j.lto.ptx(), "<LTO-IR>"))
            j.lto = None
        j.inputs = with_libraries(j.inputs, j.libraries)
        link([parsed(s.data, s.name) for s in j.inputs])
    except LtoFailed as e:
        j.error, j.lto = str(e), None
        return e.code
    except ApiError as e:
        j.error = e.message
        return INTERNAL
    j.image = linked_image(j.inputs, j.told)
    return 0


def _results(name: str, raw: Callable[[JitLink], bytes]) -> None:
    """Enters the two calls of a result: its size, and itself."""

    @call(f"Get{name}Size")
    def size(c: AnsweredCall) -> int:
        c.out("size", "u64", len(raw(_link(c))))
        return 0

    @call(f"Get{name}")
    def content(c: AnsweredCall) -> int:
        write(c.given["out"], raw(_link(c)))
        return 0


_results("LinkedCubin", lambda j: j.image)
_results("LinkedPtx", lambda j: b"\n".join(s.data.rstrip(b"\0") for s in j.inputs) + b"\0")
_results("ErrorLog", lambda j: j.error.encode() + b"\0")
_results("InfoLog", lambda j: b"\0")


@call("Version")
def version(c: AnsweredCall) -> int:
    """The version of the interface."""
    c.out("major", "u32", VERSION[0])
    c.out("minor", "u32", VERSION[1])
    return 0
